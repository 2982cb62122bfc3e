//! The loop of a daemon: everything that happens, and what follows from it.

use super::ending::Phase;
use super::feed::Feed;
use super::own_endings::OwnEndings;
use super::remote_state::RemoteState;
use super::state::{ANSWER, BELOW, DIRECT, Daemon, FEED, INPUT, LINK, OUTPUTS, PROMPT, SERVER, SIGNALS};
use super::{ending, ranks};
use crate::direct::Links;
use crate::link::{DownMessage, Ending, Exchange, FromNode, Peer, Stdin, Stream, ToNode};
use crate::{descendants, failed, signals};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::process::WaitOptions;
use std::process::Stdio;
use std::time::{Duration, Instant};

impl Daemon {
    /// Starts every rank. The first that cannot be started is reported; mpirun then ends the job.
    pub(super) fn start(&mut self) -> Result<(), String> {
        if let Stdin::Copies(_) = self.launch.stdin {
            self.feed = Some(Feed::new()?);
        }
        let foreign = self.launch.programs.iter().position(|p| crate::program::foreign(&p.program).is_some());
        let place = |which| self.launch.places.iter().position(|place| place.program as usize == which);
        if let Some(local) = foreign.and_then(place) {
            let rank = self.launch.local_ranks[local];
            self.say(&FromNode::CannotStart { rank, errno: libc::ENOEXEC, limits: String::new() });
            self.phase.force();
            return ranks::close_stdin();
        }
        for local in 0..self.launch.local_ranks.len() {
            let stdin = self.stdin_of(local)?;
            match ranks::start(&self.launch, local, self.server.name(), &self.mask, stdin) {
                Ok(rank) => {
                    self.children.insert(rank.pid, local);
                    self.ranks.push(rank);
                    for stream in Stream::ALL {
                        self.watch_output(local, stream)?;
                    }
                }
                Err(ranks::Refused { errno, limits }) => {
                    self.say(&FromNode::CannotStart { rank: self.launch.local_ranks[local], errno, limits });
                    self.phase.force();
                    break;
                }
            }
        }
        if self.ranks.len() == self.launch.local_ranks.len() {
            let all = self.launch.local_ranks.iter().zip(&self.ranks);
            let all = all.map(|(&rank, process)| (rank, process.number())).collect();
            self.say(&FromNode::Started(all));
        }
        self.give_input();
        // A rank has it; were it kept here, who writes to it would not notice that it is gone.
        ranks::close_stdin()
    }

    fn stdin_of(&mut self, local: usize) -> Result<Stdio, String> {
        let rank = self.launch.local_ranks[local];
        Ok(match (&self.launch.stdin, &mut self.feed) {
            (Stdin::Rank(reader), _) if *reader == rank => Stdio::inherit(),
            (Stdin::Copies(readers), Some(feed)) if readers.contains(&rank) => {
                feed.add().map_err(failed("cannot make a pipe for standard input"))?.into()
            }
            _ => Stdio::null(),
        })
    }

    pub(super) fn serve(&mut self) -> Result<(), String> {
        let mut ready = Vec::with_capacity(128);
        // Messages that came behind the launch are there already, and wake nobody.
        self.hear_mpirun();
        while !self.finished {
            self.advance();
            if self.finished {
                break;
            }
            self.watch_link();
            let timeout = self.next_deadline().map(until);
            ready.clear();
            let spare = rustix::buffer::spare_capacity(&mut ready);
            match epoll::wait(&self.epoll, spare, timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(why) => {
                    // Nothing can be waited for any more: the job must not be left alone.
                    ending::kill_all(&self.kept());
                    return Err(format!("cannot wait: {why}"));
                }
            }
            for event in &ready {
                match event.data.u64() {
                    LINK => self.hear_mpirun(),
                    SIGNALS => self.take_signals(),
                    SERVER => self.hear_ranks(),
                    FEED => self.give_input(),
                    INPUT => self.give_own_input(),
                    BELOW => self.hear_below(),
                    DIRECT => self.hear_daemons(),
                    output => self.read_output(output - OUTPUTS),
                }
            }
        }
        Ok(())
    }

    fn hear_mpirun(&mut self) {
        self.link.flush();
        let peer = self.link.receive();
        loop {
            let down = match self.link.take::<DownMessage>() {
                Ok(None) => break,
                Ok(Some(down)) => self.hand_down(down),
                Err(why) => Err(why),
            };
            match down {
                Ok(Some(message)) => self.obey(message),
                Ok(None) => {}
                Err(why) => {
                    self.say(&FromNode::Failed(format!("mpirun sent an impossible frame: {why}")));
                    self.phase.force();
                    break;
                }
            }
        }
        if peer == Peer::Gone {
            self.lose_mpirun();
        }
    }

    fn obey(&mut self, message: ToNode) {
        match message {
            ToNode::Job(_) | ToNode::Part(_) => {}
            ToNode::Written { rank, stream, bytes } => self.note_written(rank, stream, bytes),
            ToNode::Release => self.server.release(),
            ToNode::Census { stacks } => self.take_census(stacks),
            ToNode::Closed(stream) => {
                // The ranks then learn of it as they would without us: SIGPIPE, or EPIPE.
                for rank in &mut self.ranks {
                    rank.outputs[stream.index()] = None;
                }
            }
            ToNode::Signal(number) => {
                for rank in self.ranks.iter().filter(|rank| rank.running) {
                    rank.signal(number);
                }
            }
            ToNode::LetEnd { grace_ms } => self.let_end(Duration::from_millis(grace_ms)),
            ToNode::Terminate { grace_ms } => self.end(Duration::from_millis(grace_ms)),
            ToNode::Exchange(exchange) => self.hear_other_nodes(exchange),
            ToNode::Input(bytes) => self.take_input(bytes),
            ToNode::Jobs { rank, reply } => self.server.reply(rank, reply),
        }
    }

    /// Ends everything, politely before the grace is over.
    fn end(&mut self, grace: Duration) {
        self.own_endings = None;
        self.hurry = true;
        self.phase.ask(grace);
    }

    /// Begins the time in which ranks may end by themselves, unless it has begun or all are being ended.
    fn let_end(&mut self, grace: Duration) {
        if self.own_endings.is_none() && self.phase == Phase::Running {
            let processes = descendants::all_but(&self.kept());
            self.own_endings = Some(OwnEndings::new(grace, Instant::now(), &processes));
        }
    }

    /// Looks whether the time is over in which ranks may end by themselves.
    fn look_at_own_endings(&mut self, now: Instant) {
        let kept = self.kept();
        if let Some(time) = &mut self.own_endings
            && time.deadline() <= now
            && time.look(now, &descendants::all_but(&kept))
        {
            let grace = time.grace;
            self.end(grace);
        }
    }

    /// Events and questions of other nodes' ranks.
    fn hear_other_nodes(&mut self, exchange: Exchange) {
        match exchange {
            Exchange::Fence => self.server.pass_fence(),
            Exchange::Gone { rank } => self.server.lose_far(rank),
            Exchange::Never { rank, pid } => {
                self.server.never_comes(rank, pid);
                self.hear_ranks();
            }
            Exchange::Ask { from, proc, key } => {
                let (values, whole) = self.server.values(proc, &key, ANSWER);
                self.say(&FromNode::Exchange(Exchange::Answer { to: from, proc, key, values, whole }));
            }
            Exchange::Answer { proc, key, values, whole, .. } => {
                self.server.receive_values(proc, &key, values, whole);
                self.hear_ranks();
            }
        }
    }

    /// Messages of other daemons; where one answers, ranks may have more to ask.
    fn hear_daemons(&mut self) {
        if self.hear_direct() {
            self.hear_ranks();
        }
    }

    fn take_signals(&mut self) {
        while let Some(number) = self.signals.next() {
            if number != libc::SIGCHLD {
                self.say(&FromNode::Failed(format!("it got {}", signals::name(number))));
                self.phase.ask(ending::GRACE);
            }
        }
        self.reap();
    }

    /// Looks at every child that has ended, ranks and others.
    fn reap(&mut self) {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    let ending = match (status.exit_status(), status.terminating_signal()) {
                        (Some(code), _) => Ending::Exit(code),
                        (_, Some(number)) => Ending::Signal { number, core: status.as_raw() & 0x80 != 0 },
                        // Not asked for: only stopped or continued.
                        _ => continue,
                    };
                    match self.children.remove(&pid) {
                        Some(local) => self.ended(local, ending),
                        None => {
                            self.remote.iter_mut().for_each(|remote| remote.note_reaped(pid));
                            self.phase.note_progress();
                        }
                    }
                }
                Ok(None) => return self.look_for_childless(),
                Err(Errno::INTR) => {}
                // No child is left, and so nothing below us.
                Err(_) => return self.phase.childless(),
            }
        }
    }

    /// Agents are children and none of the job's.
    fn look_for_childless(&mut self) {
        let kept = self.kept();
        if self.phase != Phase::Running && !kept.is_empty() && descendants::all_but(&kept).is_empty() {
            self.phase.childless();
        }
    }

    /// Everything that follows from the present state and the time.
    fn advance(&mut self) {
        let now = Instant::now();
        self.pause_and_resume();
        if self.launch.interactive {
            self.show_prompts(now);
        }
        let due = self.vanishing.iter().position(|(at, _)| *at <= now);
        if let Some((_, local)) = due.map(|at| self.vanishing.swap_remove(at)) {
            let rank = self.launch.local_ranks[local];
            self.report_crash(rank);
            let pid = self.pid_of(rank);
            self.say(&FromNode::Vanished { rank, pid });
        }
        if self.phase == Phase::Running && self.children.is_empty() {
            // All ranks have ended. Processes that they left running are ended, too.
            self.phase.ask(ending::GRACE);
            self.reap();
        }
        self.look_at_own_endings(now);
        self.look_at_links(now);
        if self.look_at_direct_links(now) {
            self.hear_ranks();
        }
        self.look_for_strangers(now);
        if matches!(self.phase, Phase::Asking(_)) {
            self.save_last_words();
        }
        let kept = self.kept();
        if let Some(stuck) = self.phase.advance(now, &kept) {
            self.say(&FromNode::Failed(stuck));
        }
        if matches!(self.phase, Phase::Over | Phase::Said) {
            self.finish();
        }
    }

    /// Nothing is left below us: the rest of the output, and goodbye. In a hurry the window is
    /// no matter: what dead processes left in their pipes has a bound of its own.
    fn finish(&mut self) {
        self.hear_ranks();
        for local in 0..self.ranks.len() {
            for stream in Stream::ALL {
                if self.hurry {
                    // As often as emptying the largest pipe takes; a stranger may go on writing.
                    let _ = (0..64).all(|_| self.forward(local, stream));
                } else {
                    self.drain(local, stream);
                    if self.linked && !self.has_room(local, stream) {
                        return; // mpirun's next word lets us go on
                    }
                }
                // The process that holds the other end now is none of this job.
                if let Some(output) = self.ranks[local].outputs[stream.index()].take() {
                    let rank = self.launch.local_ranks[local];
                    let promised = output.has_promised();
                    self.end_output(rank, stream, promised, output.into_rest());
                }
            }
        }
        if self.phase.say_done() {
            // Here, since mpirun may end this process as soon as all have said so; and later again, since others may ask until then.
            self.write_counts();
            self.say(&FromNode::Done);
        }
        self.link.flush();
        // Others may still ask for what our ranks have published.
        let stays = self.several_nodes();
        self.finished = !self.linked || self.link.unsent() == 0 && !stays;
    }

    fn watch_link(&self) {
        if self.linked {
            let mut flags = EventFlags::IN;
            flags.set(EventFlags::OUT, self.link.unsent() > 0);
            let _ = epoll::modify(&self.epoll, &self.link, EventData::new_u64(LINK), flags);
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let vanishing = self.vanishing.iter().map(|(at, _)| *at).min();
        let prompts = self.ranks.iter().filter(|_| self.launch.interactive).flat_map(|rank| &rank.outputs);
        let prompt =
            prompts.flatten().filter_map(|output| output.waiting_since()).min().map(|at| at + PROMPT);
        let look = self.remote.as_ref().map(RemoteState::deadline);
        let direct = self.direct.as_ref().and_then(Links::deadline);
        let strangers = self.strangers.deadline().filter(|_| !self.children.is_empty());
        let own_endings = self.own_endings.as_ref().map(OwnEndings::deadline);
        [vanishing, prompt, look, direct, strangers, own_endings, self.phase.deadline()]
            .into_iter()
            .flatten()
            .min()
    }
}

/// The time from now to `at`, in the kernel's form.
fn until(at: Instant) -> rustix::event::Timespec {
    let left = at.saturating_duration_since(Instant::now());
    // Rounded up to a millisecond, the unit of older kernels: waking early would be waking twice.
    let millis = left.as_micros().div_ceil(1000) as u64;
    rustix::event::Timespec {
        tv_sec: i64::try_from(millis / 1000).unwrap_or(i64::MAX),
        tv_nsec: ((millis % 1000) * 1_000_000) as i64,
    }
}
