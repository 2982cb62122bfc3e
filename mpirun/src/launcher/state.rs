//! The launcher: all jobs that run, what they print, and what every part of the loop needs of both.

use super::coming::Underway;
use super::mpir;
use super::output::Output;
use super::running::{Running, connected};
use super::sink::{self, Credit};
use super::slots::Queue;
use crate::cli::CommandLine;
use crate::cli::output::AtTimeLimit;
use crate::help::{paragraph, section};
use crate::link::{Stream, ToNode};
use crate::plan::NamedNodes;
use crate::remote::facts::NodeFacts;
use crate::signals;
use oxmpi_wireup::Secret;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// Between SIGTERM and SIGKILL when a rank has failed.
pub(super) const GRACE_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Everything that mpirun runs.
pub(super) struct Launcher {
    /// The first is the command line's, as long as it is there; those that processes have asked for follow.
    pub(super) jobs: Vec<Running>,
    /// Jobs that wait for their daemons.
    pub(super) underway: Underway,
    /// Jobs that wait for slots.
    pub(super) waiting: Queue,
    pub(super) signals: signals::Signals,
    /// The mask that mpirun was started with.
    pub(super) mask: libc::sigset_t,
    pub(super) output: Output,
    /// Written and not made known to the daemon, by process and stream.
    pub(super) written: HashMap<(u32, usize), usize>,
    /// Help messages printed, and how many more of the same kind there were.
    pub(super) help: BTreeMap<(String, String), u32>,
    pub(super) limit: Option<(Duration, Instant)>,
    /// Signals that are passed on.
    pub(super) forwarded: Vec<i32>,
    /// The limit has passed, and the daemons are counting: until when they may.
    pub(super) census: Option<(Duration, Instant)>,
    pub(super) table: mpir::Table,
    /// The user has asked for the end.
    pub(super) interrupted: bool,
    /// mpirun's own status, as the first job that failed has it; those of jobs that have gone.
    pub(super) status: Option<u8>,
    pub(super) otherwise: u8,
    /// The base of the plans of later jobs.
    pub(super) universe: Universe,
    pub(super) line: CommandLine,
    pub(super) interactive: bool,
    /// Ports by the names of services.
    pub(super) services: BTreeMap<String, String>,
}

/// Facts that are the same for all jobs of one mpirun.
pub(super) struct Universe {
    pub(super) tree: u64,
    pub(super) secret: Secret,
    pub(super) names: NamedNodes,
    /// The make of other machines, by node.
    pub(super) facts: BTreeMap<usize, NodeFacts>,
    /// Nodes that may be used, and their slots where somebody said how many.
    pub(super) granted: Vec<(String, Option<u32>)>,
    /// MPI_UNIVERSE_SIZE of the first job.
    pub(super) size: u32,
    /// Number of the next process among all.
    pub(super) next: u32,
    /// Number of the next job, as output is marked with it.
    pub(super) jobs: u32,
}

impl Launcher {
    pub(super) fn at_limit(&self) -> AtTimeLimit {
        self.line.job.at_time_limit
    }

    /// Nothing runs.
    pub(super) fn done(&self) -> bool {
        self.jobs.iter().all(|job| job.nodes.done())
    }

    /// All jobs hear it.
    pub(super) fn tell_all(&mut self, message: &ToNode) {
        self.jobs.iter_mut().for_each(|job| job.nodes.tell_all(message));
    }

    pub(super) fn end(&mut self, grace: Duration) {
        self.tell_all(&ToNode::Terminate { grace_ms: milliseconds(grace) });
    }

    /// The time limit has passed, and everything that is to be told before the end has been.
    pub(super) fn end_at_limit(&mut self, limit: Duration) {
        let hint = match self.at_limit() {
            AtTimeLimit { stack_traces: false, state: false } => "timeout-hint",
            AtTimeLimit { stack_traces: false, .. } => "timeout-hint-stacks",
            AtTimeLimit { state: false, .. } => "timeout-hint-state",
            _ => "timeout-hint-none",
        };
        let hint = section(hint).unwrap_or_default();
        self.report(&paragraph("timeout", &[&limit.as_secs().to_string(), hint]));
        self.decide(libc::ETIMEDOUT as u8);
        self.interrupted = true;
        self.end(GRACE_AFTER_FAILURE);
    }

    /// Until when a job that is started now may take to start.
    pub(super) fn start_by(&self) -> Option<Instant> {
        self.line.job.spawn_timeout.map(|seconds| Instant::now() + Duration::from_secs(seconds))
    }

    /// Sets the status of all jobs that nothing has decided before. True: nothing has decided any.
    pub(super) fn decide(&mut self, status: u8) -> bool {
        let first = self.status.is_none();
        self.status.get_or_insert(status);
        self.jobs.iter_mut().for_each(|job| _ = job.verdict.decide(status));
        first
    }

    /// The status of an mpirun in which nothing else goes wrong.
    pub(super) fn decide_if_all_is_well(&mut self, status: u8) {
        self.otherwise = status;
    }

    /// A job has failed with this status, and those that are connected with it end with it, told so by `message`.
    pub(super) fn end_connected(&mut self, at: usize, status: u8, message: &ToNode) {
        let ending = connected(&self.jobs, at);
        if !self.line.job.children_apart || ending.iter().any(|at| self.jobs[*at].is_first()) {
            self.status.get_or_insert(status);
        }
        for other in ending {
            let job = &mut self.jobs[other];
            job.verdict.decide(status);
            job.suspects.forget();
            job.nodes.tell_all(message);
        }
    }

    pub(super) fn report(&mut self, text: &str) {
        self.output.report(Stream::Err.index(), text);
        self.write_if_ready(Stream::Err.index());
    }

    pub(super) fn write_if_ready(&mut self, i: usize) {
        let now = Timespec::default();
        let mut fds = [PollFd::from_borrowed_fd(self.output.sink(i).fd(), PollFlags::OUT)];
        if poll(&mut fds, Some(&now)) == Ok(1) {
            self.write(i);
        }
    }

    /// One write to a sink that can take it.
    pub(super) fn write(&mut self, i: usize) {
        match self.output.write(i) {
            Ok(credit) => self.count_written(credit.as_slice()),
            Err(sink::ClosedSink { credits, why }) => {
                self.count_written(&credits);
                if why == Errno::PIPE {
                    // Like a program whose reader went away.
                    for stream in self.output.streams_of(i) {
                        self.tell_all(&ToNode::Closed(stream));
                    }
                    return self.decide_if_all_is_well(128 + libc::SIGPIPE as u8);
                }
                // The work goes on without its words, as it would on a disk that is full.
                self.decide_if_all_is_well(1);
                let name = ["standard output", "standard error"][i];
                self.report(&paragraph("output-sink-lost", &[name, &why.to_string()]));
            }
        }
    }

    pub(super) fn count_written(&mut self, credits: &[Credit]) {
        for &Credit { rank: process, stream, bytes } in credits {
            // A job that has gone counts nothing any more.
            let Some(job) = self.jobs.iter_mut().find(|job| job.has(process)) else { continue };
            let sum = self.written.entry((process, stream.index())).or_default();
            *sum += bytes;
            if *sum >= job.portion {
                let (bytes, rank) = (std::mem::take(sum) as u64, process - job.base);
                job.nodes.tell_of(rank, &ToNode::Written { rank, stream, bytes });
            }
        }
    }
}

/// A time in the unit of the link.
pub(super) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
