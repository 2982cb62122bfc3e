//! Ranks of one job in one process, each with its own opened component.
//!
//! The harness reads a component exactly as far as its table sizes say, and completes its table with refusing functions
//! where nothing is offered, by the contract's own means as the real host does: a component that is older than this crate
//! passes with what it has.

use crate::host::{FakeHost, random};
use crate::message::Msg;
use crate::rank::{Rank, open};
use crate::setup::Setup;
use core::time::Duration;
use oxmpi_btl::ProcInfo;
use oxmpi_mca::abi::Opened;
use oxmpi_mca::{JobInfo, Status};
use oxmpi_testing::{Desk, JobState};
use rustix::fs::{MemfdFlags, memfd_create};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

/// Two ranks of which the first can send to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub from: usize,
    pub to: usize,
}

/// A job of several ranks in this process.
pub struct Harness {
    pub ranks: Vec<Rank>,
    pub name: String,
    /// How long nothing may happen before a check gives up waiting.
    pub patience: Duration,
    /// Open as long as the job, as the real one is.
    _segment: OwnedFd,
}

impl Harness {
    /// Opens the component in every rank and joins them; panics with the reason where it does not open.
    pub fn new(setup: &Setup) -> Harness {
        let harness = Harness::open(setup).unwrap_or_else(|e| panic!("{e}"));
        assert!(!harness.links().is_empty(), "{}: no rank reaches any", harness.name);
        if setup.connects {
            harness.meet();
        }
        harness
    }

    /// Has every pair talk on every context, and forgets it.
    fn meet(&self) {
        let mut due = vec![0; self.ranks.len()];
        for link in self.links() {
            for ctx in 0..self.ranks[link.from].contexts() {
                self.push(link, ctx, &Msg::new(1, 24, 8));
                due[link.to] += 1;
            }
        }
        for (rank, count) in due.into_iter().enumerate() {
            self.settle(rank, count);
            self.ranks[rank].host.forget();
        }
    }

    /// As [`Harness::new`], with the refusal as a value, and without looking whom it reaches.
    pub fn open(setup: &Setup) -> Result<Harness, String> {
        let mut harness = Harness::unconnected(setup)?;
        harness.connect(|_| true)?;
        Ok(harness)
    }

    /// Opens the component in every rank; the first alone knows the others.
    pub fn known_to_one(setup: &Setup) -> Harness {
        let harness = Harness::unconnected(setup).and_then(|mut harness| {
            harness.connect(|rank| rank == 0)?;
            Ok(harness)
        });
        harness.unwrap_or_else(|e| panic!("{e}"))
    }

    /// Opens the component in every rank, of which none knows another.
    fn unconnected(setup: &Setup) -> Result<Harness, String> {
        // SAFETY: the caller of `Setup::new` vouches for the descriptor.
        let descriptor = unsafe { &*setup.descriptor };
        // SAFETY: text of the component, which is not unloaded.
        let name = unsafe { descriptor.name.get() }.ok_or("the component's name is not UTF-8")?.to_owned();
        let segment = memfd_create("oxmpi-conformance", MemfdFlags::CLOEXEC).map_err(|e| e.to_string())?;
        let exchange = Arc::<JobState>::default();
        let job_id = random();
        let mut ranks = Vec::new();
        for rank in 0..setup.ranks {
            let job = JobInfo {
                job_id,
                segment_fd: segment.as_raw_fd(),
                oversubscribed: 1,
                cores: 2,
                ..Desk::job_of(rank, setup.ranks)
            };
            let host = FakeHost::new(job, setup.cris, setup.threaded, exchange.clone());
            ranks.push(Rank::open(setup, descriptor, host).map_err(|e| format!("{name}: rank {rank}: {e}"))?);
        }
        Ok(Harness { ranks, name, patience: setup.patience, _segment: segment })
    }

    fn connect(&mut self, knows: impl Fn(usize) -> bool) -> Result<(), String> {
        let procs: Vec<ProcInfo> = (0..self.ranks.len() as u32).map(local_proc).collect();
        for (_, rank) in self.ranks.iter_mut().enumerate().filter(|(number, _)| knows(*number)) {
            rank.endpoints = rank
                .add_procs(&procs)
                .map_err(|s| format!("{}: add_procs: {s}: {}", self.name, rank.host.logged()))?;
        }
        Ok(())
    }

    /// Every pair whose first reaches its second.
    pub fn links(&self) -> Vec<Link> {
        let n = self.ranks.len();
        let all = (0..n).flat_map(|from| (0..n).map(move |to| Link { from, to }));
        all.filter(|l| self.ranks[l.from].reaches(l.to)).collect()
    }

    /// One link; the checks that look at two ranks use it.
    pub fn link(&self) -> Link {
        self.links()[0]
    }

    /// One progress call on every context of every rank.
    pub fn progress(&self) -> i32 {
        self.ranks.iter().map(Rank::progress_all).sum()
    }

    /// Sends, progressing everyone while there is no room.
    pub fn push(&self, link: Link, ctx: u32, msg: &Msg) {
        let start = Instant::now();
        loop {
            match self.ranks[link.from].send(link.to, ctx, msg) {
                Status::OK => return,
                Status::NO_RESOURCE => {
                    self.progress();
                }
                s => panic!("{}: {link:?} {msg:?} was refused: {s}\n{}", self.name, self.logs()),
            }
            assert!(
                start.elapsed() < self.patience,
                "{}: {link:?}: no room for {:?}",
                self.name,
                self.patience
            );
        }
    }

    /// Sends to a peer that is being lost until a send answers `PEER_FAILED`, and checks that the host was told why before. Between the
    /// two, sends are still answered as if the peer were there, since another thread may be the one that tells. Fails after `patience`.
    pub fn send_until_refused(&self, link: Link, patience: Duration) {
        let (rank, begun) = (&self.ranks[link.from], Instant::now());
        loop {
            let status = rank.send(link.to, 0, &Msg::new(1, 24, 8));
            let is_told = !rank.host.failures().is_empty();
            match status {
                Status::PEER_FAILED => {
                    assert!(is_told, "{}: the host hears why before a send fails", self.name);
                    return;
                }
                Status::OK | Status::NO_RESOURCE => {}
                s => panic!("{}: {link:?}: {s}\n{}", self.name, self.logs()),
            }
            self.progress();
            let elapsed = begun.elapsed();
            assert!(
                elapsed < patience,
                "{}: {link:?}: no send fails (the host was told: {is_told})",
                self.name
            );
        }
    }

    /// Progresses until `count` messages in all have come in at `rank` (since its host was made), and
    /// a little longer, so that one too many is seen.
    pub fn settle(&self, rank: usize, count: u64) {
        let host = &self.ranks[rank].host;
        let (mut last, mut since) = (host.arrived(), Instant::now());
        while host.arrived() < count {
            self.progress();
            if host.arrived() != last {
                (last, since) = (host.arrived(), Instant::now());
            }
            assert!(
                since.elapsed() < self.patience,
                "{}: rank {rank} has {} of {count} messages and nothing comes\n{}",
                self.name,
                host.arrived(),
                self.logs()
            );
        }
        for _ in 0..10 {
            self.progress();
        }
        assert_eq!(host.arrived(), count, "{}: more messages arrived than were sent", self.name);
    }

    /// Fails if a component broke a rule that holds in every check.
    pub fn assert_clean(&self) {
        for rank in &self.ranks {
            let violations = rank.host.violations();
            assert!(violations.is_empty(), "{}: {}", self.name, violations.join("\n"));
        }
    }

    pub(crate) fn logs(&self) -> String {
        self.ranks.iter().map(|r| r.host.logged()).collect()
    }
}

/// A process of this node as `add_procs` sees it.
pub fn local_proc(proc: u32) -> ProcInfo {
    ProcInfo { proc, local_rank: proc, local: 1, ..ProcInfo::default() }
}

impl Drop for Harness {
    fn drop(&mut self) {
        for rank in &mut self.ranks {
            rank.host.set_hook(None);
            rank.finalize();
        }
        if !std::thread::panicking() {
            self.assert_clean();
        }
    }
}

/// The result that a component's `open` gives to a rank that is alone in its job, for those who look at it
/// themselves; nothing is driven and nothing finalized.
pub fn with_opened(setup: &Setup, look: impl FnOnce(&Opened)) {
    // SAFETY: the caller of `Setup::new` vouches for the descriptor.
    let descriptor = unsafe { &*setup.descriptor };
    let job = JobInfo { job_id: random(), ..Desk::job_of(0, 1) };
    // Leaked, because the module that stays open names it.
    let host = Box::leak(FakeHost::new(job, setup.cris, setup.threaded, Arc::default()));
    look(&open(setup, descriptor, host).unwrap_or_else(|e| panic!("{e}")));
}
