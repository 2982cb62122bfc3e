//! `mpirun`: decides what runs, what a failure means and when the job ends.
//!
//! **The loop** waits in one `poll` on: the links to the node daemons (`nodes`), signals, and, while there is
//! something to write, standard output and standard error. It always reads the links, so a report
//! never waits behind output that the user's pipe does not take (`link` has the window).
//!
//! **One verdict.** The first thing that goes wrong decides the exit status and is reported; what
//! follows from ending the job is not news. Rules are in `verdict`, nowhere else; `suspects` has ranks wait that only
//! noticed somebody else's end. Daemons leave ranks that are ending a time to finish (`daemon/own_endings.rs`).
//!
//! **If a daemon dies**, its ranks die with it and everything else below it is handed to this
//! process, which ends it. The other daemons are told to end the job.

pub(crate) mod daemon;
mod files;
pub mod mpir;
mod nodes;
mod output;
mod pump;
mod sink;
mod suspects;
mod verdict;

use crate::cli::output::{AtTimeLimit, Verbosity};
use crate::cli::{CommandLine, Refusal};
use crate::daemon::feed::{Feed, Wait};
use crate::help::{framed, is_framed, paragraph};
use crate::link::{FromNode, Stream, ToNode, portion};
use crate::stacks::Frames;
use crate::{descendants, plan, remote, signals};
use nodes::{LostDaemon, Nodes};
use output::Output;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use sink::Credit;
use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use suspects::Suspects;
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
    nodes: Nodes,
    /// Standard input for ranks of several nodes.
    feed: Option<Feed>,
    signals: signals::Signals,
    output: Output,
    /// Written and not made known to the daemon, by rank and stream; made known from so much on.
    written: HashMap<(u32, usize), usize>,
    portion: usize,
    verdict: Verdict,
    suspects: Suspects,
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
    /// Processes by rank, until all run.
    started: BTreeMap<u32, u32>,
    /// The user has asked for the end.
    interrupted: bool,
}

impl Job {
    /// None: the user wanted to see the plan and no more.
    fn start(line: &CommandLine) -> Result<Option<Job>, String> {
        let limit = line.job.time_limit(std::env::var_os("MPIEXEC_TIMEOUT").as_deref())?;
        let interactive = [rustix::stdio::stdout(), rustix::stdio::stderr()].map(rustix::termios::isatty);
        if line.job.output.xml {
            return Err(paragraph("missing-option", &["output xml", crate::cli::table::NOT_YET]));
        }
        let survey = plan::survey(line)?;
        signals::restore_default(libc::SIGCHLD);
        descendants::adopt_orphans()?;
        // Daemons on other machines say what those are made of, so they come before the plan.
        let request = survey.request.as_ref().filter(|_| !line.job.do_not_launch);
        let mut gathered = request.map(remote::start::gather).transpose()?;
        let others = gathered.as_ref().map(remote::hub::Gathered::facts).unwrap_or_default();
        let mut plan = match plan::make(line, interactive.contains(&true), survey, others) {
            Ok(plan) => plan,
            Err(why) => {
                gathered.into_iter().for_each(remote::hub::Gathered::dismiss);
                return Err(why);
            }
        };
        if let Some(gathered) = &gathered {
            plan.launch.secret = gathered.secret.clone();
        }
        tell_plan(&plan, line)?;
        if line.job.do_not_launch {
            return Ok(None);
        }
        let programs = plan.launch.places.iter();
        let programs = programs.map(|place| plan.launch.programs[place.program as usize].program.clone());
        let programs: Vec<_> = programs.collect();
        // The daemons come first and signals are taken after: they inherit the mask that we were
        // started with. A signal in between ends mpirun, and the daemons notice.
        let (size, map, names) = (plan.launch.map.size(), plan.launch.map.clone(), &plan.launch.node_names);
        let name_of = |rank| map.node_of(rank).map(|node| names[node as usize].clone()).unwrap_or_default();
        let output = Output::new(line.job.output.clone(), &plan.hostname, size, &name_of)
            .map_err(|why| paragraph("output-file", &[&why]))?;
        // Without other machines all processes are on this one, whatever their nodes are called.
        let here = |_| plan.hostname.clone();
        let there = |rank| name_of(rank);
        let hosts: Vec<String> = match &gathered {
            None => (0..size).map(here).collect(),
            Some(_) => (0..size).map(there).collect(),
        };
        let table = mpir::Table::new(&hosts, &programs);
        let launches = plan.split();
        let libraries = (!line.job.no_prefix).then(crate::settings::own_libraries).flatten();
        let daemons = nodes::start(&launches, names, &plan.machines, gathered.take(), libraries.as_deref());
        let daemons = daemons.map_err(|why| no_daemon(&why))?;
        let forwarded = forwarded(line.job.forward_signals.as_deref());
        let signals = signals::Signals::take(&wanted_signals(&forwarded))?;
        // The node with the most ranks has the smallest windows.
        let portion = portion(launches.iter().map(|launch| launch.local_ranks.len()).max().unwrap_or(1));
        let (nodes, feed) = daemons.launch(launches, map.clone())?;
        Ok(Some(Job {
            verdict: Verdict::new(programs, size, plan.permits_singletons),
            nodes,
            feed,
            signals,
            output,
            written: HashMap::new(),
            portion,
            suspects: Suspects::default(),
            help: BTreeMap::new(),
            limit: limit.map(|limit| (limit, Instant::now() + limit)),
            forwarded,
            status_ends_job: line.job.status_ends_job,
            aggregate_help: line.job.aggregate_help,
            at_limit: line.job.at_time_limit,
            verbose: line.job.verbosity >= Verbosity::Verbose,
            census: None,
            table,
            started: BTreeMap::new(),
            interrupted: false,
        }))
    }

    /// Until everything has ended and has been written. Returns the exit status.
    fn run(&mut self) -> u8 {
        let mut last_words = None;
        while !self.over() {
            let now = Instant::now();
            self.output.advance(now);
            if let Some((limit, _)) = self.limit.take_if(|(_, at)| *at <= now) {
                self.reach_limit(limit);
            }
            if let Some((limit, _)) = self.census.take_if(|(_, until)| *until <= now) {
                self.end_at_limit(limit);
            }
            for lost in self.nodes.look(now) {
                self.lose_daemon(&lost);
            }
            // Where everything has ended, no better cause comes.
            let by = if self.nodes.done() { now + CENSUS } else { now };
            if let Some((node, message)) = self.suspects.due(by) {
                self.judge(node, &message);
            }
            if self.nodes.done() {
                self.output.end_all();
                self.write_if_ready(0);
                self.write_if_ready(1);
            }
            if self.nodes.done() && self.interrupted {
                let until = *last_words.get_or_insert(now + LAST_WORDS);
                if until <= now {
                    self.give_up_output();
                    break;
                }
            }
            if !self.over() {
                self.wait(last_words);
            }
        }
        self.nodes.dismiss();
        if let Some(text) = self.verdict.strangers() {
            eprint!("{text}");
        }
        self.say_how_often();
        self.verdict.status()
    }

    /// Nothing runs, and nothing is left to say or to write.
    fn over(&self) -> bool {
        self.nodes.done() && self.output.is_empty() && self.suspects.deadline().is_none()
    }

    fn reach_limit(&mut self, limit: Duration) {
        if !(self.at_limit.state || self.at_limit.stack_traces) || !self.nodes.reachable() {
            return self.end_at_limit(limit);
        }
        self.census = Some((limit, Instant::now() + CENSUS));
        if self.at_limit.stack_traces {
            self.report("mpirun: the time limit has passed; reading the stacks of all processes\n");
        }
        let frames = if self.verbose { Frames::All } else { Frames::OfTheProgram };
        self.nodes.begin_census(self.at_limit.stack_traces.then_some(frames));
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
        let limits = [self.limit, self.census].map(|limit| limit.map(|(_, at)| at));
        let deadline = limits
            .into_iter()
            .chain([last_words, self.output.deadline(), self.suspects.deadline(), self.nodes.look_at()])
            .flatten()
            .min();
        let timeout = deadline.map(|at| {
            let left = at.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
            Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() }
        });
        let ready = {
            let feed = self.feed.as_mut().map_or(Wait::Over, Feed::turn);
            if feed == Wait::Over {
                self.feed = None;
            }
            // Looked at in the next turn of the loop, whatever is ready.
            self.nodes.pump();
            let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
            let (links, link_fds): (Vec<usize>, Vec<_>) = self.nodes.links().into_iter().unzip();
            fds.extend(link_fds);
            let first_sink = fds.len();
            let wanted: Vec<usize> = (0..2).filter(|&i| !self.output.sink(i).is_empty()).collect();
            fds.extend(
                wanted.iter().map(|&i| PollFd::from_borrowed_fd(self.output.sink(i).fd(), PollFlags::OUT)),
            );
            let behind_sinks = fds.len();
            fds.extend(self.nodes.pumps());
            if let Some(feeding) = &self.feed {
                match feed {
                    Wait::Source => fds.push(PollFd::from_borrowed_fd(feeding.source(), PollFlags::IN)),
                    Wait::Readers(all) => {
                        let reader = |place| PollFd::from_borrowed_fd(feeding.reader(place), PollFlags::OUT);
                        fds.extend(all.into_iter().map(reader));
                    }
                    Wait::Over => {}
                }
            }
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
            for (fd, &i) in fds[first_sink..behind_sinks].iter().zip(&wanted) {
                sinks[i] = is_ready(fd);
            }
            let ready = links.into_iter().zip(&fds[1..]).filter(|(_, fd)| is_ready(fd)).map(|(node, _)| node);
            (is_ready(&fds[0]), ready.collect::<Vec<usize>>(), sinks)
        };
        let (signals, heard, sinks) = ready;
        // First: what is heard below is written, too, and would take the room that poll saw.
        for (i, ready) in sinks.into_iter().enumerate() {
            if ready {
                self.write(i);
            }
        }
        if signals {
            self.take_signals();
        }
        heard.into_iter().for_each(|link| self.hear(link));
    }

    fn hear(&mut self, link: usize) {
        let heard = self.nodes.hear(link);
        heard.messages.into_iter().for_each(|(node, message)| self.take(node, message));
        heard.lost.iter().for_each(|lost| self.lose_daemon(lost));
    }

    fn take(&mut self, node: usize, message: FromNode) {
        match message {
            FromNode::Output { stream, rank, more, bytes } => {
                let (i, fate) = self.output.take((rank, stream), more, bytes);
                self.count_written(&fate.credits);
                if let Some(why) = fate.trouble {
                    self.verdict.decide_if_all_is_well(1);
                    self.report(&paragraph("output-file-lost", &[&why]));
                }
                self.write_if_ready(i);
            }
            FromNode::Started(all) => self.note_started(node, all),
            FromNode::State { rank, pid, state, stack } => self.show_state(rank, pid, &state, &stack),
            FromNode::Counted => {
                if self.nodes.note_counted(node)
                    && let Some((limit, _)) = self.census.take()
                {
                    self.end_at_limit(limit);
                }
            }
            FromNode::Crashed { rank, report } => self.verdict.note_crash(rank, report),
            FromNode::OtherMpi { library, .. } => self.verdict.note_stranger(library),
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
            // Noted by `nodes`.
            FromNode::Done | FromNode::Exchange(_) | FromNode::Took { .. } => {}
            failure => self.fail(node, &failure),
        }
    }

    /// Any of these may be a failure: the verdict knows.
    fn fail(&mut self, node: usize, message: &FromNode) {
        if self.suspects.keep(node, message) || !self.status_ends_job && self.verdict.tolerate(message) {
            return;
        }
        self.judge(node, message);
    }

    fn judge(&mut self, node: usize, message: &FromNode) {
        let name = match message {
            // Said by the node of the rank that waits.
            FromNode::NeverInit { rank, .. } => self.nodes.name_of(*rank),
            _ => self.nodes.name(node),
        };
        if let Some(report) = self.verdict.consider(name, message) {
            self.suspects.forget();
            self.report(&report);
            self.table.abort(&report);
            match verdict::leaves_time(message) {
                true => self.nodes.tell_all(&ToNode::LetEnd { grace_ms: milliseconds(GRACE_AFTER_FAILURE) }),
                false => self.end(GRACE_AFTER_FAILURE),
            }
        }
    }

    /// When everything runs, a debugger is told.
    fn note_started(&mut self, node: usize, all: Vec<(u32, u32)>) {
        for &(rank, pid) in &all {
            self.output.place(rank, self.nodes.name(node), pid);
        }
        self.started.extend(all);
        if self.nodes.note_started(node) {
            self.table.publish(&std::mem::take(&mut self.started).into_iter().collect::<Vec<_>>());
            self.nodes.tell_all(&ToNode::Release);
        }
    }

    fn show_state(&mut self, rank: u32, pid: u32, state: &str, stack: &str) {
        let node = self.nodes.name_of(rank);
        let stack = if self.at_limit.stack_traces { stack } else { "" };
        let text = format!("Rank {rank} on node {node} (process {pid}): {state}\n{stack}");
        self.report(&text);
    }

    fn end(&mut self, grace: Duration) {
        self.nodes.tell_all(&ToNode::Terminate { grace_ms: milliseconds(grace) });
    }

    fn report(&mut self, text: &str) {
        self.output.report(Stream::Err.index(), text);
        self.write_if_ready(Stream::Err.index());
    }

    /// A daemon is gone without goodbye, and its ranks with it.
    fn lose_daemon(&mut self, lost: &LostDaemon) {
        self.suspects.forget();
        if self.verdict.decide(1) {
            self.report(&paragraph("daemon-died", &[&lost.node, &lost.pid.to_string(), &lost.how]));
        }
        // The others first, because what is left of this one may take a while.
        self.end(GRACE_AFTER_FAILURE);
        if let Some(left) = daemon::end_orphans(&self.signals, &self.nodes.children()) {
            self.report(&paragraph("daemon-failed", &[&lost.node, &left]));
        }
        // A census that its ranks are missing from is complete without them.
        if let Some((limit, _)) = self.census.take() {
            self.end_at_limit(limit);
        }
    }

    fn take_signals(&mut self) {
        while let Some(number) = self.signals.next() {
            match number {
                libc::SIGCHLD => {}
                libc::SIGTSTP if self.forwarded.contains(&number) => {
                    self.nodes.tell_all(&ToNode::Signal(number));
                    // The ranks have been told; now this process stops as its user expects. It
                    // finds SIGCONT among its signals when it goes on.
                    let _ = rustix::process::kill_process(
                        rustix::process::getpid(),
                        rustix::process::Signal::STOP,
                    );
                }
                _ if self.forwarded.contains(&number) => self.nodes.tell_all(&ToNode::Signal(number)),
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
            Err(sink::ClosedSink { credits, why }) => {
                self.count_written(&credits);
                if why == Errno::PIPE {
                    // Like a program whose reader went away.
                    for stream in self.output.streams_of(i) {
                        self.nodes.tell_all(&ToNode::Closed(stream));
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
                self.nodes.tell_of(rank, &ToNode::Written { rank, stream, bytes });
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

/// Signals that are passed on: none (`none`), or the usual ones and those named.
fn forwarded(asked: Option<&[i32]>) -> Vec<i32> {
    let usual = [libc::SIGUSR1, libc::SIGUSR2, libc::SIGTSTP, libc::SIGCONT, libc::SIGABRT, libc::SIGALRM];
    match asked {
        Some([]) => Vec::new(),
        more => usual.into_iter().chain(more.unwrap_or_default().iter().copied()).collect(),
    }
}

/// Signals that end the job and those that are passed on to it. A signal that mpirun was told to ignore (nohup,
/// a job in a shell's background) stays ignored.
fn wanted_signals(forwarded: &[i32]) -> Vec<i32> {
    let mut all = vec![libc::SIGCHLD];
    let ending = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
    all.extend(ending.iter().chain(forwarded).filter(|&&number| !signals::is_ignored(number)));
    all
}

/// A daemon that cannot be started is reported before there is a job.
fn no_daemon(why: &daemon::CannotStart) -> String {
    paragraph("no-daemon", &[&why.reason, &why.looked_at])
}

/// A time in the unit of the link.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
