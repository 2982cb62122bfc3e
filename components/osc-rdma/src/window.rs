//! The module of a window: what it has.
//!
//! **Windows on the same memory** share a [`Home`]: registrations, what is attached, and the state words behind accumulates and regions.
//! A window that was made by itself has a home of its own, whose shelf has all of its state words. A duplicate has the home of its first window, and a
//! shelf with words of its own for locks, posts, completions and notifications; so each window has its epochs, and accumulates through all of them meet at one
//! word. The home goes with the last window. A rank is met through both shelves (`meet.rs`).

use crate::attached::Attached;
use crate::epoch::Epochs;
use crate::peer::{Met, Peer, Peers};
use crate::resting::Resting;
use crate::served::Served;
use crate::shelf::Shelf;
use crate::tally::Tally;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_osc::{WinCounts, WinDesc, hint};
use oxmpi_osc_support::{Comm, Registered, Registrar, Services};
use std::sync::Arc;

/// See the file's text.
pub struct Home {
    pub registrar: Registrar,
    pub attached: Attached,
    /// Before the shelf: registrations end before memory goes.
    pub registered: Vec<Registered>,
    /// Memory that origins reach by asking: behind the registrations at which it listens, and before the words.
    pub served: Box<Served>,
    pub shelf: Shelf,
    /// Somebody asked for atomic updates of more than an element.
    pub coarse: bool,
    /// Every accumulate goes under its target's lock, whatever its elements.
    pub under_lock: bool,
    /// Locks have two levels.
    pub levels: bool,
}

/// The state words of a duplicate.
pub struct OwnShelf {
    /// Before the shelf, as above.
    #[allow(dead_code, reason = "ends when it is dropped")]
    pub registered: Vec<Registered>,
    pub shelf: Shelf,
}

pub struct RdmaWindow {
    pub comm: Comm,
    pub services: Services,
    pub dynamic: bool,
    pub peers: Peers,
    pub epochs: Epochs,
    pub rules: Rules,
    /// State words that are not those of the home: of a duplicate.
    pub own: Option<OwnShelf>,
    pub home: Arc<Home>,
    /// Retries of locks, for unequal pauses.
    pub waits: AtomicU32,
    pub tally: Tally,
    /// Batches that wait.
    pub resting: Resting,
}

/// The rules that info keys and parameters set.
pub struct Rules {
    /// Of [`hint`].
    hints: AtomicU32,
    /// Of [`oxmpi_osc::ordering`].
    ordering: AtomicU32,
    /// Every accumulate goes under its target's lock, whatever its elements.
    pub under_lock: bool,
    /// Somebody asked for atomic updates of more than an element.
    pub coarse: bool,
    /// Locks have two levels.
    pub levels: bool,
}

impl Rules {
    pub fn new(desc: &WinDesc, home: &Home) -> Rules {
        Rules {
            hints: AtomicU32::new(desc.hints),
            ordering: AtomicU32::new(desc.ordering),
            coarse: home.coarse,
            under_lock: home.under_lock,
            levels: home.levels,
        }
    }
    pub fn no_locks(&self) -> bool {
        self.hints.load(Ordering::Relaxed) & hint::NO_LOCKS != 0
    }
    /// Which accumulates of an origin to a target are seen in order: bits of [`oxmpi_osc::ordering`].
    pub fn orders(&self) -> u32 {
        self.ordering.load(Ordering::Relaxed)
    }
    /// All accumulates that go on at one time are of one operation.
    pub fn same_op(&self) -> bool {
        self.hints.load(Ordering::Relaxed) & hint::SAME_OP != 0
    }
    /// Operations of different kinds need not be seen in the order in which they were issued.
    pub fn unordered(&self) -> bool {
        self.hints.load(Ordering::Relaxed) & hint::UNORDERED != 0
    }
    pub fn set(&self, hints: u32, ordering: u32) {
        self.hints.store(hints, Ordering::Relaxed);
        self.ordering.store(ordering, Ordering::Relaxed);
    }
}

impl RdmaWindow {
    /// Where the words of locks, posts and notifications are.
    pub fn shelf(&self) -> &Shelf {
        self.own.as_ref().map_or(&self.home.shelf, |own| &own.shelf)
    }

    /// Counts since the window was made.
    pub fn counted(&self) -> WinCounts {
        let lanes = |peer: Met<'_>| {
            let lanes = peer.peer().link.iter().flat_map(|link| &link.lanes);
            lanes.map(|lane| lane.put_locks.load(Ordering::Relaxed)).sum::<u64>()
        };
        let met = self.peers.all();
        let put_locks = met.iter().copied().map(lanes).sum();
        let by = |reaches: fn(&Peer) -> bool| met.iter().filter(|peer| reaches(peer)).count() as u64;
        WinCounts {
            put_locks,
            ranks_mapped: by(|peer| peer.link.is_none()),
            ranks_by_transport: by(|peer| peer.link.as_ref().is_some_and(|link| !link.by_requests)),
            ranks_by_requests: by(|peer| peer.link.as_ref().is_some_and(|link| link.by_requests)),
            ..self.tally.counts()
        }
    }
}
