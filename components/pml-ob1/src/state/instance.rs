//! The instance: the host, the parameters, the transports, and the CRIs with their locks; everything else of the component stands on it.
//!
//! **Order of locks.** The one of the ordered mode (`receive/ordered.rs`), then CRI locks in rising order (several at once: all of a set, and then no
//! other), then a shard's, then the lock of the thread state for calls without a context or the peers' lock (both leaves: the peers' lock is taken under a
//! CRI lock or under none). No CRI lock is taken under a shard lock. No lock is taken below THREAD_MULTIPLE; [`Instance::threaded`] is looked at once
//! per call. Nothing that the user wrote runs under a lock: completions set a word and tell a sync object.

use crate::communicators::inbound::Assignment;
use crate::params::Config;
use crate::state::cri::Cri;
use crate::state::fifos::FIFO;
use crate::state::guarded::{AllHeld, Held, set_below};
use core::cell::Cell;
use core::time::Duration;
use oxmpi_btl::{BtlHandle, BtlServices};
use oxmpi_mca::host::cri_mode;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{Caller, Host};
use oxmpi_pml::{Polling, Transports};
use std::time::Instant;

/// The ground that all objects of one instance stand on. Fields that every message reads stand first.
#[repr(C)]
pub struct Instance {
    /// Whether locks must be taken: there are several threads, or a peer sends on several FIFOs.
    careful: AtomicU32,
    /// Peers that broke the protocol (their messages are dropped), CRIs with messages that came early, and 1 while
    /// matching is timed: while there are any, every message is looked at closer.
    watchful: AtomicU32,
    /// The host's services around transports; set by `enable`.
    services: Cell<*const BtlServices>,
    /// How transports are polled; set by `enable`.
    polling: Cell<*const Polling>,
    /// The state of CRI 0, and of the others.
    first: Cri,
    others: Box<[Cri]>,
    host: Host,
    config: Config,
    /// FIFOs that we could use, by CRIs and transports; set by `enable`.
    width: AtomicU32,
    /// When it was made.
    born: Instant,
    assignment: Assignment,
}

impl Instance {
    /// Makes an instance with its CRIs and without transports, which [`Instance::enable`] sets.
    pub fn new(host: Host, config: Config) -> Instance {
        Instance {
            careful: AtomicU32::new(0),
            watchful: AtomicU32::new(0),
            services: Cell::new(core::ptr::null()),
            polling: Cell::new(core::ptr::null()),
            first: Cri::new(&host, FIFO),
            others: (1..host.num_cris()).map(|ctx| Cri::new(&host, ctx)).collect(),
            host,
            config,
            width: AtomicU32::new(1),
            born: Instant::now(),
            assignment: Instance::assignment_of(&host),
        }
    }

    /// Takes the transports that the host has accepted, before anything else is called.
    pub fn enable(&self, transports: &Transports) {
        self.services.set(transports.services);
        self.polling.set(transports.polling);
        // SAFETY: the host's list; accepted handles live as long as the instance.
        let btls = unsafe { transports.btls.get() }.iter().map(|&btl| unsafe { &*btl });
        // As many as the widest has: to a peer there are as many as its transport has (`width_to`).
        let contexts = btls.map(|btl: &BtlHandle| btl.attrs().contexts.max(1)).max().unwrap_or(1);
        self.width.store(self.host.num_cris().min(contexts).max(1), Ordering::Relaxed);
        self.careful.store(self.host.threaded() as u32, Ordering::Relaxed);
    }

    /// Gives the host.
    #[inline(always)]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Gives the values of the component's parameters.
    #[inline(always)]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Gives the time since the instance was made.
    pub fn age(&self) -> Duration {
        self.born.elapsed()
    }

    /// Gives the rule by which the process's messages get their FIFO.
    #[inline(always)]
    pub fn assignment(&self) -> Assignment {
        self.assignment
    }

    /// Whether every message is looked at closer: messages came early, a peer is lost, or matching is timed.
    #[inline(always)]
    pub fn is_watchful(&self) -> bool {
        self.watchful.load(Ordering::Relaxed) != 0
    }
    /// Has every message looked at closer, for one reason more.
    pub fn watch_closer(&self) {
        self.watchful.fetch_add(1, Ordering::Relaxed);
    }
    /// Takes back one reason to look at every message closer.
    pub fn watch_less(&self) {
        self.watchful.fetch_sub(1, Ordering::Relaxed);
    }

    /// Gives the host's polling of transports. Not before `enable`.
    #[inline(always)]
    pub fn polling(&self) -> &Polling {
        // SAFETY: `enable` set it, before any other verb; valid as long as the instance.
        unsafe { &*self.polling.get() }
    }

    /// Gives the rule by which the process's messages get their FIFO, as the host's modes say.
    pub fn assignment_of(host: &Host) -> Assignment {
        if host.has_mode(cri_mode::ROUND_ROBIN) {
            Assignment::RoundRobin
        } else if host.has_mode(cri_mode::DEDICATED) {
            Assignment::Dedicated
        } else {
            Assignment::Stream
        }
    }

    /// Whether locks must be taken. Looked at once per call and passed down. The
    /// verbs of a message's path are branched on it before they begin, into two copies of their code: the one below
    /// MULTIPLE has neither locks nor tests for them.
    #[inline(always)]
    pub fn threaded(&self) -> bool {
        self.careful.load(Ordering::Relaxed) != 0
    }
    /// Makes calls take locks from the next one on. No other thread is in a verb now.
    pub fn enable_locking(&self) {
        self.careful.store(1, Ordering::Relaxed);
        self.polling().take_care();
    }

    /// Gives how many FIFOs we could use; CRI locks from 0 to this are all there are.
    #[inline(always)]
    pub fn width(&self) -> u32 {
        self.width.load(Ordering::Relaxed)
    }

    /// Gives the state of the CRI with this number.
    #[inline(always)]
    pub fn cri(&self, ctx: u32) -> &Cri {
        match self.others.get((ctx as usize).wrapping_sub(1)) {
            Some(cri) => cri,
            None => &self.first,
        }
    }

    /// Whether something on a CRI, whose lock is held, waits for room, or for its request to go on.
    #[inline(always)]
    pub fn has_backlog(&self, held: &Held<'_>) -> bool {
        self.cri(held.ctx).work().is_any()
    }

    /// Gives the host's services around transports. Not before `enable`.
    pub fn btl_services(&self) -> &BtlServices {
        // SAFETY: `enable` set it, before any other verb; valid as long as the instance.
        unsafe { &*self.services.get() }
    }
}

impl Instance {
    /// Takes a CRI's lock, which is held until the result is dropped. The caller holds no other CRI's lock and no shard
    /// lock.
    #[inline(always)]
    pub fn hold(&self, ctx: u32, who: Caller, threaded: bool) -> Held<'_> {
        self.host.hold(ctx, who, threaded)
    }

    /// Takes a CRI's lock if it is free. `None`: another thread holds it.
    #[inline(always)]
    pub fn try_hold(&self, ctx: u32, who: Caller, threaded: bool) -> Option<Held<'_>> {
        self.host.try_hold(ctx, who, threaded)
    }

    /// Makes the proof that the lock of `ctx` is held, inside a transport's callback for `ctx`.
    ///
    /// # Safety
    /// Somebody up the stack holds the lock of `ctx` for longer than the result lives.
    #[inline(always)]
    pub unsafe fn inherit(&self, ctx: u32, threaded: bool) -> Held<'_> {
        // SAFETY: the caller's promise.
        unsafe { self.host.inherit(ctx, threaded) }
    }

    /// Takes all CRI locks below `width`, in rising order: nothing arrives and nothing is sent meanwhile. The caller
    /// holds no CRI lock and no shard lock.
    pub fn hold_all(&self, width: u32, threaded: bool) -> AllHeld<'_> {
        self.hold_set(set_below(width), None, threaded)
    }

    /// Takes the CRI locks of a set, by bits, in rising order. Locks that `who` owns among them it owns afterwards,
    /// too.
    pub fn hold_set(&self, set: u64, who: Caller, threaded: bool) -> AllHeld<'_> {
        self.host.hold_set(set, who, threaded)
    }
}
