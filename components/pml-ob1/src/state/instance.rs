//! The state of one instance, and its locks.
//!
//! **Order of locks.** The one of the ordered mode (`receive/ordered.rs`), then CRI locks in rising order (several at once: all of a set, and then no
//! other), then a shard's, then the lock of the thread state for calls without a context or the peers' lock (both leaves: the peers' lock is taken under a
//! CRI lock or under none). No CRI lock is taken under a shard lock. No lock is taken below THREAD_MULTIPLE; [`Ob1::threaded`] is looked at once
//! per call. Nothing that the user wrote runs under a lock: completions set a word and tell a sync object.

use crate::order::stamp::Clock;
use crate::params::Config;
use crate::requests::thread_state::Pools;
use crate::state::comm::CommTable;
use crate::state::escalated::Escalated;
use crate::state::fifos::FIFO;
use crate::state::guarded::{AllHeld, Guarded, Held, set_below};
use crate::state::inbound::{Assignment, EarlyMessage};
use crate::state::objects::{Cri, Peer, Request};
use crate::state::owed::Owed;
use crate::state::paged::Paged;
use crate::state::transport::Transport;
use core::cell::{Cell, OnceCell};
use oxmpi_btl::{BtlHandle, BtlServices};
use oxmpi_mca::host::cri_mode;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Caller, Host, Lock, RequestOps};
use std::time::Instant;

/// The transports and CRIs that the last `arm` armed, for the `disarm` that follows; the host sees to it that one
/// thread at a time does either.
#[derive(Default)]
pub struct Armed {
    /// By index, and by bits of CRIs; 0: nothing.
    pub transports: AtomicU64,
    pub cris: AtomicU64,
}

/// The next FIFO where messages go on the FIFOs one after the other. Every thread writes it.
#[repr(align(128))]
#[derive(Default)]
pub struct Rotation(pub AtomicU32);

/// The state of one instance. Fields that every message reads stand first.
#[repr(C)]
pub struct Ob1 {
    /// Whether locks must be taken: there are several threads, or a peer sends on several FIFOs.
    pub careful: AtomicU32,
    /// Peers that broke the protocol (their messages are dropped), CRIs with messages that came early, and 1 while
    /// matching is timed: while there are any, every message is looked at closer.
    pub watchful: AtomicU32,
    /// The one transport through which messages may come; null when there are several.
    pub lone: AtomicPtr<BtlHandle>,
    /// The transport to ourselves is progressed only once somebody uses it.
    pub self_active: AtomicBool,
    /// The info line about refused reads was written.
    pub told_no_get: AtomicBool,
    pub comms: Guarded<CommTable>,
    /// The transports, best exclusivity first; set by `enable`, before anything else is called.
    pub btls: OnceCell<Vec<Transport>>,
    /// The host's services around transports; set by `enable`.
    pub services: Cell<*const BtlServices>,
    /// The state of CRI 0, and of the others.
    pub first: Cri,
    pub others: Box<[Cri]>,
    pub host: Host,
    pub config: Config,
    pub peers: Paged<AtomicPtr<Peer>>,
    /// Guards the making of peers and routes.
    pub peers_lock: Lock,
    /// FIFOs that we could use, by CRIs and transports; set by `enable`.
    pub width: AtomicU32,
    /// Messages may come on all of them.
    pub wide: AtomicBool,
    /// Peers that were lost.
    pub lost: AtomicU32,
    /// The number of the first thread that sent something, plus 1; [`Ob1::CROWD`]: there is another.
    pub senders: AtomicU32,
    pub clock: Clock,
    /// When it was made.
    pub born: Instant,
    pub assignment: Assignment,
    /// One thread at a time progresses (`poll.rs`).
    pub one_at_a_time: bool,
    pub progressing: Lock,
    pub rotation: Rotation,
    pub owed: Owed<(&'static Request, EarlyMessage)>,
    pub escalated: Escalated,
    /// Somebody asks for the time of matching (`timing.rs`).
    pub timing: AtomicBool,
    pub armed: Armed,
    pub pools: Pools,
}

// SAFETY: cells and guarded data belong to the holder of a lock as their files say; `btls` is set
// before the module is shared.
unsafe impl Sync for Ob1 {}

// SAFETY: as above; nothing is bound to a thread.
unsafe impl Send for Ob1 {}

impl Ob1 {
    /// Makes the state of an instance, with its CRIs and without transports, peers and communicators; `enable` sets the
    /// transports. `operations`: what the host calls on requests.
    pub fn new(host: Host, config: Config, operations: &'static RequestOps) -> Ob1 {
        Ob1 {
            careful: AtomicU32::new(0),
            watchful: AtomicU32::new(0),
            lone: AtomicPtr::new(core::ptr::null_mut()),
            self_active: AtomicBool::new(false),
            told_no_get: AtomicBool::new(false),
            services: Cell::new(core::ptr::null()),
            comms: Guarded::new(CommTable::new()),
            btls: OnceCell::new(),
            first: Cri::new(&host, FIFO),
            others: (1..host.num_cris()).map(|ctx| Cri::new(&host, ctx)).collect(),
            host,
            config,
            peers: Paged::new(host.job().job_size as usize),
            peers_lock: Lock::new(),
            width: AtomicU32::new(1),
            wide: AtomicBool::new(false),
            lost: AtomicU32::new(0),
            senders: AtomicU32::new(0),
            clock: Clock::new(host.num_cris() > 1),
            born: Instant::now(),
            assignment: Ob1::assignment_of(&host),
            one_at_a_time: host.has_mode(cri_mode::SERIAL_PROGRESS),
            progressing: Lock::new(),
            rotation: Rotation::default(),
            owed: Owed::default(),
            escalated: Escalated::default(),
            timing: AtomicBool::new(false),
            armed: Armed::default(),
            pools: Pools::new(config.pool_step, operations),
        }
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

    /// The value of `senders` once several threads have sent something.
    pub const CROWD: u32 = u32::MAX;

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
        self.cri(held.ctx).has_work()
    }

    /// Gives the transports, best exclusivity first; none before `enable`.
    #[inline(always)]
    pub fn transports(&self) -> &[Transport] {
        self.btls.get().map_or(&[], |b| b)
    }

    /// Whether messages may come through a transport: the one to ourselves is active once it is used.
    #[inline(always)]
    pub fn is_active(&self, transport: &Transport) -> bool {
        !transport.own || self.self_active.load(Ordering::Relaxed)
    }

    /// Gives the host's services around transports. Not before `enable`.
    pub fn btl_services(&self) -> &BtlServices {
        // SAFETY: `enable` set it, before any other verb; valid as long as the instance.
        unsafe { &*self.services.get() }
    }
}

impl Ob1 {
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
