//! Messages of the daemons: what each means for the job, its output and its verdict; and a daemon that says nothing any more.

use super::nodes::LostDaemon;
use super::state::{GRACE_AFTER_FAILURE, Launcher, milliseconds};
use super::{daemon, verdict};
use crate::cli::output::Verbosity;
use crate::help::{framed, paragraph};
use crate::link::{FromNode, ToNode};

impl Launcher {
    pub(super) fn hear(&mut self, at: usize, link: usize) {
        let heard = self.jobs[at].nodes.hear(link);
        heard.messages.into_iter().for_each(|(node, message)| self.take(at, node, message));
        heard.lost.iter().for_each(|lost| self.lose_daemon(at, lost));
    }

    /// Hears a daemon of a job. Jobs come behind those that are there, and go between turns of the loop.
    fn take(&mut self, at: usize, node: usize, message: FromNode) {
        match message {
            FromNode::Output { stream, rank, more, bytes } => {
                let process = self.jobs[at].base.saturating_add(rank);
                let (i, fate) = self.output.take((process, stream), more, bytes);
                self.count_written(&fate.credits);
                if let Some(why) = fate.trouble {
                    self.decide_if_all_is_well(1);
                    self.report(&paragraph("output-file-lost", &[&why]));
                }
                self.write_if_ready(i);
            }
            FromNode::Started(all) => self.note_started(at, node, all),
            FromNode::State { rank, pid, state, stack } => self.show_state(at, rank, pid, &state, &stack),
            FromNode::Counted => {
                self.jobs[at].nodes.note_counted(node);
                if self.jobs.iter().all(|job| job.nodes.counted())
                    && let Some((limit, _)) = self.census.take()
                {
                    self.end_at_limit(limit);
                }
            }
            FromNode::Crashed { rank, report } => self.jobs[at].verdict.note_crash(rank, report),
            FromNode::OtherMpi { library, .. } => self.jobs[at].verdict.note_stranger(library),
            FromNode::Help { component, topic, text, .. } => {
                let key = (component, topic);
                match self.help.get_mut(&key) {
                    Some(more) if self.line.job.aggregate_help => *more += 1,
                    _ => {
                        self.report(&framed(&text));
                        self.help.insert(key, 0);
                    }
                }
            }
            FromNode::Refused(text) => {
                let text = format!("mpirun: at the daemon on {} {text}\n", self.jobs[at].nodes.name(node));
                self.report(&text);
            }
            FromNode::Barred { node: other, why } => self.note_barred(at, node, other, &why),
            FromNode::Jobs { rank, request } => self.hear_of_jobs(at, rank, request),
            // Noted by `nodes`.
            FromNode::Done | FromNode::Exchange(_) | FromNode::Took { .. } => {}
            failure => {
                self.fail(at, node, &failure);
                if let FromNode::Exited { rank, .. } = failure {
                    self.note_ended(at, rank);
                }
            }
        }
    }

    /// Any of these may be a failure: the verdict knows.
    fn fail(&mut self, at: usize, node: usize, message: &FromNode) {
        let name = self.jobs[at].nodes.name(node).to_owned();
        if self.fail_birth(at, &name, message) {
            return;
        }
        let job = &mut self.jobs[at];
        if job.suspects.keep(node, message) || !self.line.job.status_ends_job && job.verdict.tolerate(message)
        {
            return;
        }
        self.judge(at, node, message);
    }

    pub(super) fn judge(&mut self, at: usize, node: usize, message: &FromNode) {
        let job = &mut self.jobs[at];
        let name = match message {
            // Said by the node of the rank that waits.
            FromNode::NeverInit { rank, .. } => job.nodes.name_of(*rank),
            _ => job.nodes.name(node),
        };
        if let Some(report) = job.verdict.consider(name, message) {
            job.suspects.forget();
            let status = job.verdict.decided().unwrap_or(1);
            self.report(&report);
            self.table.abort(&report);
            let grace_ms = milliseconds(GRACE_AFTER_FAILURE);
            let end = match verdict::leaves_time(message) {
                true => ToNode::LetEnd { grace_ms },
                false => ToNode::Terminate { grace_ms },
            };
            self.end_connected(at, status, &end);
        }
    }

    /// When everything of a job runs, a debugger is told.
    fn note_started(&mut self, at: usize, node: usize, all: Vec<(u32, u32)>) {
        let job = &mut self.jobs[at];
        for &(rank, pid) in &all {
            self.output.place(job.base.saturating_add(rank), job.nodes.name(node), pid);
        }
        job.started.extend(all.into_iter().map(|(rank, pid)| (job.base.saturating_add(rank), pid)));
        if job.nodes.note_started(node) {
            self.table.publish(&std::mem::take(&mut job.started).into_iter().collect::<Vec<_>>());
            job.nodes.tell_all(&ToNode::Release);
            job.start_by.take_if(|_| job.birth.is_none());
            self.note_born(at);
        }
    }

    fn show_state(&mut self, at: usize, rank: u32, pid: u32, state: &str, stack: &str) {
        let node = self.jobs[at].nodes.name_of(rank);
        let stack = if self.at_limit().stack_traces { stack } else { "" };
        let of = match self.jobs[at].base {
            0 => String::new(),
            base => format!(" of the job whose first process is the {}th of mpirun's", u64::from(base) + 1),
        };
        let text = format!("Rank {rank}{of} on node {node} (process {pid}): {state}\n{stack}");
        self.report(&text);
    }

    /// A daemon is gone without goodbye, and its ranks with it.
    pub(super) fn lose_daemon(&mut self, at: usize, lost: &LostDaemon) {
        let why = paragraph("daemon-died", &[&lost.node, &lost.pid.to_string(), &lost.how]);
        if !self.miscarry(at, &why) {
            let job = &mut self.jobs[at];
            job.suspects.forget();
            if job.verdict.decide(1) {
                self.report(&why);
            }
            // The others first, because what is left of this one may take a while.
            let grace_ms = milliseconds(GRACE_AFTER_FAILURE);
            self.end_connected(at, 1, &ToNode::Terminate { grace_ms });
        }
        let daemons = self.jobs.iter().flat_map(|job| job.nodes.children());
        let children: Vec<_> = daemons.chain(self.underway.pids()).collect();
        if let Some(left) = daemon::end_orphans(&self.signals, &children) {
            self.report(&paragraph("daemon-failed", &[&lost.node, &left]));
        }
        // A census that its ranks are missing from is complete without them.
        if let Some((limit, _)) = self.census.take() {
            self.end_at_limit(limit);
        }
    }

    /// A daemon cannot reach another but through this process; who wants to know is told once for a job.
    fn note_barred(&mut self, at: usize, node: usize, other: u32, why: &str) {
        let nodes = &mut self.jobs[at].nodes;
        if self.line.job.verbosity < Verbosity::Verbose || !nodes.note_barred() {
            return;
        }
        let (name, other) = (nodes.name(node), nodes.name_of_node(other));
        let text = format!(
            "mpirun: the daemon on {name} cannot connect to the one on {other}, so what ranks there ask of each other goes by mpirun \
             (told once): {why}\n"
        );
        self.report(&text);
    }
}
