//! `mpirun`: decides what runs, what a failure means and when the job ends.
//!
//! **The loop** waits in one `poll` on: the link to the node daemon, signals, and, while there is
//! something to write, standard output and standard error. It always reads the link, so a report
//! never waits behind output that the user's pipe does not take (`link` has the window).
//!
//! **One verdict.** The first thing that goes wrong decides the exit status and is reported; what
//! follows from ending the job is not news. Rules are in `verdict`, nowhere else.
//!
//! **If the daemon dies**, the ranks die with it and everything else below it is handed to this
//! process, which ends it.

mod daemon;
mod files;
pub mod mpir;
mod output;
mod sink;
mod verdict;

use crate::cli::output::{AtTimeLimit, Verbosity};
use crate::cli::{CommandLine, Refusal};
use crate::help::{framed, is_framed, paragraph};
use crate::link::{Channel, FromNode, Peer, Stream, ToNode, portion};
use crate::stacks::Frames;
use crate::{descendants, plan, signals};
use daemon::NodeDaemon;
use output::Output;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use sink::Credit;
use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use verdict::Verdict;

/// Between SIGTERM and SIGKILL when a rank has failed, and when the user wants the end.
const GRACE_AFTER_FAILURE: Duration = Duration::from_secs(1);
const GRACE_FOR_USER: Duration = Duration::from_secs(2);
/// How long output is still written after a job that was not let finish.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long a census may take. Stacks of many ranks are read one after the other.
const CENSUS: Duration = Duration::from_secs(60);

/// The whole program.
pub fn main() -> ExitCode {
    let line = match CommandLine::parse(std::env::args_os().skip(1)) {
        Ok(line) => line,
        Err(Refusal::Clap(why)) => {
            // Where it cannot be printed there is nobody to tell.
            let _ = why.print();
            return if why.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
        Err(Refusal::Text(why)) => return refuse(&why),
        Err(Refusal::Say(text)) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
    };
    match Job::start(&line) {
        Ok(Some(mut job)) => ExitCode::from(job.run()),
        Ok(None) => ExitCode::SUCCESS,
        Err(why) => refuse(&why),
    }
}

fn refuse(why: &str) -> ExitCode {
    match is_framed(why) {
        true => eprint!("{why}"),
        false => eprintln!("mpirun: {why}"),
    }
    ExitCode::FAILURE
}

/// A job that runs.
struct Job {
    daemon: NodeDaemon,
    link: Channel,
    /// The daemon's end of the link is closed.
    link_over: bool,
    signals: signals::Signals,
    output: Output,
    /// Written and not made known to the daemon, by rank and stream; made known from so much on.
    written: HashMap<(u32, usize), usize>,
    portion: usize,
    verdict: Verdict,
    /// Help messages printed, and how many more of the same kind there were.
    help: BTreeMap<(String, String), u32>,
    limit: Option<(Duration, Instant)>,
    /// Signals that are passed on.
    forwarded: Vec<i32>,
    /// A status that is not 0 ends the job; else it only decides mpirun's own.
    status_ends_job: bool,
    aggregate_help: bool,
    at_limit: AtTimeLimit,
    /// Frames of the library are shown, too.
    verbose: bool,
    /// The limit has passed, and the daemon is counting: until when it may.
    census: Option<(Duration, Instant)>,
    table: mpir::Table,
    /// The user has asked for the end.
    interrupted: bool,
    done: bool,
}

impl Job {
    /// None: the user wanted to see the plan and no more.
    fn start(line: &CommandLine) -> Result<Option<Job>, String> {
        let limit = line.job.time_limit(std::env::var_os("MPIEXEC_TIMEOUT").as_deref())?;
        let interactive = [rustix::stdio::stdout(), rustix::stdio::stderr()].map(rustix::termios::isatty);
        let plan = plan::make(line, interactive.contains(&true))?;
        if line.job.output.xml {
            return Err(paragraph("missing-option", &["output xml", crate::cli::table::NOT_YET]));
        }
        tell_plan(&plan, line)?;
        if line.job.do_not_launch {
            return Ok(None);
        }
        let programs = plan.launch.places.iter();
        let programs = programs.map(|place| plan.launch.programs[place.program as usize].program.clone());
        let programs: Vec<_> = programs.collect();
        signals::restore_default(libc::SIGCHLD);
        descendants::adopt_orphans()?;
        // The daemon comes first and signals are taken after: it inherits the mask that we were
        // started with. A signal in between ends mpirun, and the daemon notices.
        let node = plan.launch.node_names.first().cloned().unwrap_or_default();
        let output = Output::new(line.job.output.clone(), &node, plan.launch.size)
            .map_err(|why| paragraph("output-file", &[&why]))?;
        let table = mpir::Table::new(&node, &programs);
        let (daemon, link) = NodeDaemon::start(node).map_err(|why| paragraph_line(&why))?;
        let forwarded = forwarded(line.job.forward_signals.as_deref());
        let signals = signals::Signals::take(&wanted_signals(&forwarded))?;
        let mut link =
            Channel::new(link).map_err(|why| format!("cannot use the link to the daemon: {why}"))?;
        let size = plan.launch.size;
        let portion = portion(plan.launch.local_ranks.len());
        link.send(&ToNode::Launch(Box::new(plan.launch))).map_err(|why| why.to_string())?;
        Ok(Some(Job {
            verdict: Verdict::new(daemon.node.clone(), programs, size),
            daemon,
            link,
            link_over: false,
            signals,
            output,
            written: HashMap::new(),
            portion,
            help: BTreeMap::new(),
            limit: limit.map(|limit| (limit, Instant::now() + limit)),
            forwarded,
            status_ends_job: line.job.status_ends_job,
            aggregate_help: line.job.aggregate_help,
            at_limit: line.job.at_time_limit,
            verbose: line.job.verbosity >= Verbosity::Verbose,
            census: None,
            table,
            interrupted: false,
            done: false,
        }))
    }

    /// Until everything has ended and has been written. Returns the exit status.
    fn run(&mut self) -> u8 {
        let mut last_words = None;
        while !(self.done && self.output.is_empty()) {
            let now = Instant::now();
            self.output.advance(now);
            if let Some((limit, _)) = self.limit.take_if(|(_, at)| *at <= now) {
                self.reach_limit(limit);
            }
            if let Some((limit, _)) = self.census.take_if(|(_, until)| *until <= now) {
                self.end_at_limit(limit);
            }
            if self.done {
                self.output.end_all();
                self.write_if_ready(0);
                self.write_if_ready(1);
            }
            if self.done && self.interrupted {
                let until = *last_words.get_or_insert(now + LAST_WORDS);
                if until <= now {
                    self.give_up_output();
                    break;
                }
            }
            if !(self.done && self.output.is_empty()) {
                self.wait(last_words);
            }
        }
        self.daemon.wait();
        self.say_how_often();
        self.verdict.status()
    }

    fn reach_limit(&mut self, limit: Duration) {
        if !(self.at_limit.state || self.at_limit.stack_traces) || self.link_over {
            return self.end_at_limit(limit);
        }
        self.census = Some((limit, Instant::now() + CENSUS));
        if self.at_limit.stack_traces {
            self.report("mpirun: the time limit has passed; reading the stacks of all processes\n");
        }
        let frames = if self.verbose { Frames::All } else { Frames::OfTheProgram };
        self.tell(&ToNode::Census { stacks: self.at_limit.stack_traces.then_some(frames) });
    }

    fn end_at_limit(&mut self, limit: Duration) {
        let hint = match self.at_limit {
            AtTimeLimit { stack_traces: false, state: false } => "timeout-hint",
            AtTimeLimit { stack_traces: false, .. } => "timeout-hint-stacks",
            AtTimeLimit { state: false, .. } => "timeout-hint-state",
            _ => "timeout-hint-none",
        };
        let hint = crate::help::section(hint).unwrap_or_default();
        self.report(&paragraph("timeout", &[&limit.as_secs().to_string(), hint]));
        self.verdict.decide(libc::ETIMEDOUT as u8);
        self.interrupted = true;
        self.end(GRACE_AFTER_FAILURE);
    }

    fn wait(&mut self, last_words: Option<Instant>) {
        let mut link_wants = PollFlags::empty();
        if !self.link_over {
            link_wants = PollFlags::IN;
            link_wants.set(PollFlags::OUT, self.link.unsent() > 0);
        }
        let limits = [self.limit, self.census].map(|limit| limit.map(|(_, at)| at));
        let deadline = limits.into_iter().chain([last_words, self.output.deadline()]).flatten().min();
        let timeout = deadline.map(|at| {
            let left = at.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
            Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() }
        });
        let ready = {
            let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
            if !self.link_over {
                fds.push(PollFd::new(&self.link, link_wants));
            }
            let first_sink = fds.len();
            let wanted: Vec<usize> = (0..2).filter(|&i| !self.output.sink(i).is_empty()).collect();
            fds.extend(
                wanted.iter().map(|&i| PollFd::from_borrowed_fd(self.output.sink(i).fd(), PollFlags::OUT)),
            );
            match poll(&mut fds, timeout.as_ref()) {
                Ok(_) => {}
                Err(Errno::INTR) => return,
                Err(why) => {
                    // Nothing can be waited for any more. The daemon notices that we are gone.
                    eprintln!("mpirun: cannot wait: {why}");
                    std::process::exit(1);
                }
            }
            let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
            let mut sinks = [false; 2];
            for (fd, &i) in fds[first_sink..].iter().zip(&wanted) {
                sinks[i] = is_ready(fd);
            }
            (is_ready(&fds[0]), !self.link_over && is_ready(&fds[1]), sinks)
        };
        let (signals, link, sinks) = ready;
        // First: what is heard below is written, too, and would take the room that poll saw.
        for (i, ready) in sinks.into_iter().enumerate() {
            if ready {
                self.write(i);
            }
        }
        if signals {
            self.take_signals();
        }
        if link {
            self.hear_daemon();
        }
    }

    fn hear_daemon(&mut self) {
        self.link.flush();
        let peer = self.link.receive();
        loop {
            match self.link.take::<FromNode>() {
                Ok(Some(message)) => self.take(message),
                Ok(None) => break,
                Err(why) => {
                    self.fail(&FromNode::Failed(format!("it sent an impossible frame: {why}")));
                    self.link_over = true;
                    break;
                }
            }
        }
        if peer == Peer::Gone || self.link_over {
            self.link_over = true;
            if !self.done {
                self.lose_daemon();
            }
        }
    }

    fn take(&mut self, message: FromNode) {
        match message {
            FromNode::Output { stream, rank, more, bytes } => {
                let (i, through) = self.output.take((rank, stream), more, bytes);
                self.count_written(&through.credits);
                if let Some(why) = through.trouble {
                    self.verdict.decide_if_all_is_well(1);
                    self.report(&paragraph("output-file-lost", &[&why]));
                }
                // Most output can be written at once, which saves a turn of the loop.
                self.write_if_ready(i);
            }
            FromNode::Started(all) => self.start_debugger(&all),
            FromNode::State { rank, pid, state, stack } => self.show_state(rank, pid, &state, &stack),
            FromNode::Counted => {
                if let Some((limit, _)) = self.census.take() {
                    self.end_at_limit(limit);
                }
            }
            FromNode::Crashed { rank, report } => self.verdict.note_crash(rank, report),
            FromNode::Help { component, topic, text, .. } => {
                let key = (component, topic);
                match self.help.get_mut(&key) {
                    Some(more) if self.aggregate_help => *more += 1,
                    _ => {
                        self.report(&framed(&text));
                        self.help.insert(key, 0);
                    }
                }
            }
            FromNode::Done => self.done = true,
            failure => self.fail(&failure),
        }
    }

    /// Whatever may be a failure: the verdict knows.
    fn fail(&mut self, message: &FromNode) {
        if !self.status_ends_job && self.verdict.tolerate(message) {
            return;
        }
        if let Some(report) = self.verdict.consider(message) {
            self.report(&report);
            self.table.abort(&report);
            self.end(GRACE_AFTER_FAILURE);
        }
    }

    /// Everything runs: what a debugger waits for.
    fn start_debugger(&mut self, all: &[(u32, u32)]) {
        let node = self.daemon.node.clone();
        for &(rank, pid) in all {
            self.output.place(rank, &node, pid);
        }
        self.table.publish(all);
        self.tell(&ToNode::Release);
    }

    fn show_state(&mut self, rank: u32, pid: u32, state: &str, stack: &str) {
        let node = &self.daemon.node;
        let stack = if self.at_limit.stack_traces { stack } else { "" };
        let text = format!("Rank {rank} on node {node} (process {pid}): {state}\n{stack}");
        self.report(&text);
    }

    fn end(&mut self, grace: Duration) {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.tell(&ToNode::Terminate { grace_ms });
    }

    fn tell(&mut self, message: &ToNode) {
        if !self.link_over {
            // These messages are short: they can always be made.
            let _ = self.link.send(message);
        }
    }

    fn report(&mut self, text: &str) {
        self.output.report(Stream::Err.index(), text);
        self.write_if_ready(Stream::Err.index());
    }

    /// The daemon is gone without goodbye.
    fn lose_daemon(&mut self) {
        let how = self.daemon.end_and_describe();
        let (node, pid) = (self.daemon.node.clone(), self.daemon.number().to_string());
        if self.verdict.decide(1) {
            self.report(&paragraph("daemon-died", &[&node, &pid, &how]));
        }
        if let Some(left) = daemon::end_orphans(&self.signals) {
            self.report(&paragraph("daemon-failed", &[&node, &left]));
        }
        self.done = true;
    }

    fn take_signals(&mut self) {
        while let Some(number) = self.signals.next() {
            match number {
                libc::SIGCHLD => {}
                libc::SIGTSTP if self.forwarded.contains(&number) => {
                    self.tell(&ToNode::Signal(number));
                    // The ranks have been told; now this process stops as its user expects. It
                    // finds SIGCONT among its signals when it goes on.
                    let _ = rustix::process::kill_process(
                        rustix::process::getpid(),
                        rustix::process::Signal::STOP,
                    );
                }
                _ if self.forwarded.contains(&number) => self.tell(&ToNode::Signal(number)),
                _ => self.interrupt(number),
            }
        }
    }

    fn interrupt(&mut self, number: i32) {
        let name = signals::name(number);
        if self.interrupted {
            self.report(&paragraph("forced", &[&name]));
            return self.end(Duration::ZERO);
        }
        self.interrupted = true;
        if self.verdict.decide(128 + number as u8) {
            self.report(&paragraph("interrupted", &[&name]));
        }
        self.end(GRACE_FOR_USER);
    }

    fn write_if_ready(&mut self, i: usize) {
        let now = Timespec::default();
        let mut fds = [PollFd::from_borrowed_fd(self.output.sink(i).fd(), PollFlags::OUT)];
        if poll(&mut fds, Some(&now)) == Ok(1) {
            self.write(i);
        }
    }

    /// One write to a sink that can take it.
    fn write(&mut self, i: usize) {
        match self.output.write(i) {
            Ok(credit) => self.count_written(credit.as_slice()),
            Err(sink::Lost { credits, why }) => {
                self.count_written(&credits);
                if why == Errno::PIPE {
                    // Like a program whose reader went away.
                    for stream in self.output.streams_of(i) {
                        self.tell(&ToNode::Closed(stream));
                    }
                    return self.verdict.decide_if_all_is_well(128 + libc::SIGPIPE as u8);
                }
                // The work goes on without its words, as it would on a disk that is full.
                self.verdict.decide_if_all_is_well(1);
                let name = ["standard output", "standard error"][i];
                self.report(&paragraph("output-sink-lost", &[name, &why.to_string()]));
            }
        }
    }

    fn count_written(&mut self, credits: &[Credit]) {
        for &Credit { rank, stream, bytes } in credits {
            let sum = self.written.entry((rank, stream.index())).or_default();
            *sum += bytes;
            if *sum >= self.portion {
                let bytes = std::mem::take(sum) as u64;
                self.tell(&ToNode::Written { rank, stream, bytes });
            }
        }
    }

    fn give_up_output(&mut self) {
        let lost = self.output.pending();
        // Standard error may be what stands still: only if it takes it.
        let i = Stream::Err.index();
        if self.output.sink(i).is_empty() {
            self.report(&paragraph("output-lost", &[&lost.to_string()]));
        }
    }

    fn say_how_often(&mut self) {
        for ((component, topic), more) in std::mem::take(&mut self.help) {
            if more > 0 {
                eprintln!(
                    "mpirun: {more} more messages of the kind {component} / {topic} came from other processes"
                );
            }
        }
    }
}

/// Says what the plan has to say before anything starts.
fn tell_plan(plan: &plan::Plan, line: &CommandLine) -> Result<(), String> {
    if line.job.verbosity > Verbosity::Quiet {
        plan.warnings.iter().for_each(|warning| eprint!("{warning}"));
    }
    print!("{}", plan.shown);
    eprint!("{}", plan.reported);
    let own = std::process::id();
    match line.job.report_pid.as_deref() {
        None => Ok(()),
        Some("-") => {
            println!("{own}");
            Ok(())
        }
        Some("+") => {
            eprintln!("{own}");
            Ok(())
        }
        Some(file) => std::fs::write(file, format!("{own}\n"))
            .map_err(|why| paragraph("cannot-read", &[file, &why.to_string()])),
    }
}

/// What is passed on: nothing (`none`), or the usual ones and those named.
fn forwarded(asked: Option<&[i32]>) -> Vec<i32> {
    let usual = [libc::SIGUSR1, libc::SIGUSR2, libc::SIGTSTP, libc::SIGCONT, libc::SIGABRT, libc::SIGALRM];
    match asked {
        Some([]) => Vec::new(),
        more => usual.into_iter().chain(more.unwrap_or_default().iter().copied()).collect(),
    }
}

/// What ends the job and what is passed on to it. A signal that mpirun was told to ignore (nohup,
/// a job in a shell's background) stays ignored.
fn wanted_signals(forwarded: &[i32]) -> Vec<i32> {
    let mut all = vec![libc::SIGCHLD];
    let ending = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
    all.extend(ending.iter().chain(forwarded).filter(|&&number| !signals::is_ignored(number)));
    all
}

/// A daemon that cannot be started is reported before there is a job.
fn paragraph_line(why: &daemon::CannotStart) -> String {
    format!("\n{}", paragraph("no-daemon", &[&why.reason, &why.looked_at]))
}
