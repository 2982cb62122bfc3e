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
//!
//! **Jobs.** Processes may ask for more jobs (`spawn`), which run beside the first (`running`). Connected jobs share the
//! verdict and end together; another has a verdict, and a report, of its own. mpirun's own status is that of the first
//! failure.

mod births;
mod coming;
pub(crate) mod daemon;
mod files;
mod hearing;
pub mod mpir;
mod nodes;
mod opening;
mod output;
mod pump;
mod running;
mod singleton;
mod sink;
mod slots;
mod spawn;
mod state;
mod suspects;
mod verdict;

use crate::cli::output::Verbosity;
use crate::cli::{CommandLine, Refusal};
use crate::daemon::feed::{Feed, Wait};
use crate::help::{is_framed, paragraph};
use crate::link::{Stream, ToNode, portion};
use crate::stacks::Frames;
use crate::{descendants, plan, remote, signals};
use coming::Underway;
use opening::{forwarded, no_daemon, tell_plan, wanted_signals};
use output::Output;
use oxmpi_wireup::own_launcher::Identity;
use running::Running;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use singleton::Alone;
pub(crate) use singleton::STAND_IN;
use state::{GRACE_AFTER_FAILURE, Launcher, Universe, milliseconds};
use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use suspects::Suspects;
use verdict::Verdict;

/// Between SIGTERM and SIGKILL when the user wants the end.
const GRACE_FOR_USER: Duration = Duration::from_secs(2);
/// How long output is still written after a job that was not let finish.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long a census may take. Stacks of many ranks are read one after the other.
const CENSUS: Duration = Duration::from_secs(60);

/// The whole program.
pub fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if singleton::is_asked_for(&words) {
        return match singleton::begin().and_then(|(line, alone)| Launcher::start(&line, Some(alone))) {
            Ok(launcher) => ExitCode::from(launcher.map_or(0, |mut launcher| launcher.run())),
            Err(why) => refuse(&why),
        };
    }
    let line = match CommandLine::parse(words) {
        Ok(line) => line,
        Err(Refusal::Clap(why)) => {
            // Where it cannot be printed there is nobody to tell.
            let _ = why.print();
            return if why.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
        Err(Refusal::Text(why)) => return refuse(&why),
        Err(Refusal::Say(text)) => {
            oxmpi_system::answer!("{text}");
            return ExitCode::SUCCESS;
        }
    };
    let started = opening::with_name_server(line).and_then(|line| Launcher::start(&line, None));
    match started {
        Ok(Some(mut launcher)) => ExitCode::from(launcher.run()),
        Ok(None) => ExitCode::SUCCESS,
        Err(why) => refuse(&why),
    }
}

fn refuse(why: &str) -> ExitCode {
    match is_framed(why) {
        true => oxmpi_system::report!("{why}"),
        false => oxmpi_system::reportln!("mpirun: {why}"),
    }
    ExitCode::FAILURE
}

impl Launcher {
    /// None: the user wanted to see the plan and no more. `alone`: the process that the first job stands for.
    fn start(line: &CommandLine, alone: Option<Alone>) -> Result<Option<Launcher>, String> {
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
        let facts = others.clone();
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
        let stands_for = alone.as_ref().map(|alone| alone.process);
        if let Some(Identity { job_id, tree, secret }) = alone.map(|alone| alone.identity) {
            (plan.launch.job_id, plan.launch.tree, plan.launch.secret) = (job_id, tree, secret);
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
        let parts = plan.split();
        let libraries = (!line.job.no_prefix).then(crate::settings::own_libraries).flatten();
        let daemons = nodes::start(&plan.launch, &plan.machines, gathered.take(), libraries.as_deref(), None);
        let daemons = daemons.map_err(|why| no_daemon(&why))?;
        let forwarded = forwarded(line.job.forward_signals.as_deref());
        let mask = signals::mask();
        let signals = signals::Signals::take(&wanted_signals(&forwarded))?;
        // The node with the most ranks has the smallest windows.
        let portion = portion(parts.iter().map(|part| part.places.len()).max().unwrap_or(1));
        let counts = plan.launch.apps.iter().map(|app| app.ranks);
        let (nodes, feed) = daemons.launch(&plan.launch, parts)?;
        let first = Running {
            verdict: Verdict::new(programs, size, plan.permits_singletons).of_process(stands_for),
            suspects: Suspects::default(),
            id: plan.launch.job_id,
            base: 0,
            size,
            portion,
            started: BTreeMap::new(),
            programs: line.apps.iter().cloned().zip(counts).collect(),
            on_nodes: plan.on_nodes(),
            birth: None,
            start_by: line.job.spawn_timeout.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
            stillborn: false,
            links: BTreeMap::new(),
            nodes,
            feed,
        };
        let universe = Universe {
            tree: plan.launch.tree,
            secret: plan.launch.secret.clone(),
            names: plan.names.clone(),
            facts,
            granted: plan.granted.clone(),
            size: plan.launch.universe,
            next: size,
            jobs: 1,
        };
        Ok(Some(Launcher {
            jobs: vec![first],
            underway: Underway::default(),
            waiting: slots::Queue::default(),
            signals,
            mask,
            output,
            written: HashMap::new(),
            help: BTreeMap::new(),
            limit: limit.map(|limit| (limit, Instant::now() + limit)),
            forwarded,
            census: None,
            table,
            interrupted: false,
            status: None,
            otherwise: 0,
            universe,
            line: line.clone(),
            interactive: interactive.contains(&true),
            services: BTreeMap::new(),
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
            for at in 0..self.jobs.len() {
                for lost in self.jobs[at].nodes.look(now) {
                    self.lose_daemon(at, &lost);
                }
                if self.jobs[at].start_by.take_if(|by| *by <= now).is_some() {
                    self.end_late_start(at);
                }
                // Where everything has ended, no better cause comes.
                let by = if self.jobs[at].nodes.done() { now + CENSUS } else { now };
                if let Some((node, message)) = self.jobs[at].suspects.due(by) {
                    self.judge(at, node, &message);
                }
            }
            self.bring_jobs();
            self.let_go();
            if self.done() {
                self.output.end_all();
                self.write_if_ready(0);
                self.write_if_ready(1);
            }
            if self.done() && self.interrupted {
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
        let left = std::mem::take(&mut self.jobs);
        left.into_iter().for_each(|job| self.dismiss(job));
        self.underway.finish();
        self.say_how_often();
        self.status.unwrap_or(self.otherwise)
    }

    /// Nothing runs, and nothing is left to say or to write.
    fn over(&self) -> bool {
        self.jobs.iter().all(Running::is_over) && self.output.is_empty()
    }

    /// Jobs that are over go, but for the first one of a mpirun that has no other.
    fn let_go(&mut self) {
        while self.jobs.len() > 1
            && let Some(at) = self.jobs.iter().position(Running::is_over)
        {
            let job = self.jobs.remove(at);
            self.output.forget_job(job.base, job.size);
            self.written.retain(|(process, _), _| !job.has(*process));
            self.dismiss(job);
        }
    }

    /// The end of a job: its daemons go, and mpirun's status may follow from it.
    fn dismiss(&mut self, mut job: Running) {
        let agents = job.nodes.dismiss();
        self.underway.retire(agents);
        if let Some(text) = job.verdict.strangers().filter(|_| !job.stillborn) {
            oxmpi_system::report!("{text}");
        }
        match job.verdict.status() {
            0 => {}
            _ if job.stillborn || self.line.job.children_apart && !job.is_first() => {}
            status => _ = self.status.get_or_insert(status),
        }
    }

    fn reach_limit(&mut self, limit: Duration) {
        let at_limit = self.at_limit();
        let reachable = self.jobs.iter().any(|job| job.nodes.reachable());
        if !(at_limit.state || at_limit.stack_traces) || !reachable {
            return self.end_at_limit(limit);
        }
        self.census = Some((limit, Instant::now() + CENSUS));
        if at_limit.stack_traces {
            self.report("mpirun: the time limit has passed; reading the stacks of all processes\n");
        }
        let verbose = self.line.job.verbosity >= Verbosity::Verbose;
        let frames = if verbose { Frames::All } else { Frames::OfTheProgram };
        let stacks = at_limit.stack_traces.then_some(frames);
        self.jobs.iter_mut().for_each(|job| job.nodes.begin_census(stacks));
    }

    /// A job has not started in time.
    fn end_late_start(&mut self, at: usize) {
        let seconds = self.line.job.spawn_timeout.unwrap_or_default();
        let why = paragraph("start-timeout", &[&seconds.to_string()]);
        let status = libc::ETIMEDOUT as u8;
        if !self.miscarry(at, &why) && self.jobs[at].verdict.decide(status) {
            self.report(&why);
            let grace_ms = milliseconds(GRACE_AFTER_FAILURE);
            self.end_connected(at, status, &ToNode::Terminate { grace_ms });
        }
    }

    fn wait(&mut self, last_words: Option<Instant>) {
        let limits = [self.limit, self.census].map(|limit| limit.map(|(_, at)| at));
        let deadline = limits
            .into_iter()
            .chain([last_words, self.output.deadline(), self.underway.deadline(), self.waiting.deadline()])
            .chain(
                self.jobs.iter().flat_map(|job| [job.suspects.deadline(), job.nodes.look_at(), job.start_by]),
            )
            .flatten()
            .min();
        let timeout = deadline.map(|at| {
            let left = at.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
            Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() }
        });
        let ready = {
            let mut feeds = Vec::with_capacity(self.jobs.len());
            for job in &mut self.jobs {
                let feed = job.feed.as_mut().map_or(Wait::Over, Feed::turn);
                if feed == Wait::Over {
                    job.feed = None;
                }
                feeds.push(feed);
                // Looked at in the next turn of the loop, whatever is ready.
                job.nodes.pump();
            }
            let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
            let mut links = Vec::new();
            for (at, job) in self.jobs.iter().enumerate() {
                for (link, fd) in job.nodes.links() {
                    links.push((at, link));
                    fds.push(fd);
                }
            }
            let first_sink = fds.len();
            let wanted: Vec<usize> = (0..2).filter(|&i| !self.output.sink(i).is_empty()).collect();
            fds.extend(
                wanted.iter().map(|&i| PollFd::from_borrowed_fd(self.output.sink(i).fd(), PollFlags::OUT)),
            );
            let behind_sinks = fds.len();
            for (job, feed) in self.jobs.iter().zip(feeds) {
                fds.extend(job.nodes.pumps());
                let Some(feeding) = &job.feed else { continue };
                match feed {
                    Wait::Source => fds.push(PollFd::from_borrowed_fd(feeding.source(), PollFlags::IN)),
                    Wait::Readers(all) => {
                        let reader = |place| PollFd::from_borrowed_fd(feeding.reader(place), PollFlags::OUT);
                        fds.extend(all.into_iter().map(reader));
                    }
                    Wait::Over => {}
                }
            }
            // They have their turn whatever is ready.
            fds.extend(self.underway.fds());
            match poll(&mut fds, timeout.as_ref()) {
                Ok(_) => {}
                Err(Errno::INTR) => return,
                Err(why) => {
                    // Nothing can be waited for any more. The daemon notices that we are gone.
                    oxmpi_system::reportln!("mpirun: cannot wait: {why}");
                    std::process::exit(1);
                }
            }
            let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
            let mut sinks = [false; 2];
            for (fd, &i) in fds[first_sink..behind_sinks].iter().zip(&wanted) {
                sinks[i] = is_ready(fd);
            }
            let ready = links.into_iter().zip(&fds[1..]).filter(|(_, fd)| is_ready(fd)).map(|(link, _)| link);
            (is_ready(&fds[0]), ready.collect::<Vec<(usize, usize)>>(), sinks)
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
        heard.into_iter().for_each(|(at, link)| self.hear(at, link));
    }

    fn take_signals(&mut self) {
        while let Some(number) = self.signals.next() {
            match number {
                libc::SIGCHLD => {}
                libc::SIGTSTP if self.forwarded.contains(&number) => {
                    self.tell_all(&ToNode::Signal(number));
                    // The ranks have been told; now this process stops as its user expects. It
                    // finds SIGCONT among its signals when it goes on.
                    let _ = rustix::process::kill_process(
                        rustix::process::getpid(),
                        rustix::process::Signal::STOP,
                    );
                }
                _ if self.forwarded.contains(&number) => self.tell_all(&ToNode::Signal(number)),
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
        if self.decide(128 + number as u8) {
            self.report(&paragraph("interrupted", &[&name]));
        }
        self.end(GRACE_FOR_USER);
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
                oxmpi_system::reportln!(
                    "mpirun: {more} more messages of the kind {component} / {topic} came from other processes"
                );
            }
        }
    }
}
