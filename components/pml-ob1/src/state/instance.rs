//! The instance: the host, the parameters, the transports, and the CRIs with their locks; everything else of the component stands on it.
//!
//! **Order of locks.** The one of the ordered mode (`receive/ordered.rs`), then CRI locks in rising order (several at once: all of a set, and then no
//! other), then a shard's, then the lock of the thread state for calls without a context or the peers' lock (both leaves: the peers' lock is taken under a
//! CRI lock or under none). No CRI lock is taken under a shard lock: whoever is inside a shard has borrowed the call's [`Entry`] or the guard of a CRI, and
//! taking a CRI, or calling a transport, takes these mutably. No lock is taken by a call whose entry is alone. Nothing that the user wrote runs under a lock:
//! completions set a word and tell a sync object.
//!
//! **Data of a CRI** is reached by the guard: [`Instance::own`] by its number, what belongs to a FIFO to a peer by `Peer::flow`, which refuses the guard of another
//! CRI.

use crate::communicators::inbound::Assignment;
use crate::params::Config;
use crate::state::cri::{Cri, CriData};
use crate::state::fifos::FIFO;
use core::ptr::null_mut;
use core::time::Duration;
use oxmpi_btl::BtlServices;
use oxmpi_mca::cri::set_below;
use oxmpi_mca::host::cri_mode;
use oxmpi_mca::sync::unmodelled::{AtomicPtr, AtomicU32, Ordering};
use oxmpi_mca::{CriGuard, CriSetGuard, Entry, Host, PerCri};
use oxmpi_pml::{Care, Given, Polling};
use std::sync::OnceLock;
use std::time::Instant;

/// The most FIFOs that messages of a process take: a sender notes those that are open as bits of a word (`order/signals.rs`).
const MOST_FIFOS: u32 = u64::BITS;

/// The ground that all objects of one instance stand on. Fields that every message reads stand first.
#[repr(C)]
pub struct Instance {
    /// Peers that broke the protocol (their messages are dropped), CRIs with messages that came early, and 1 while
    /// matching is timed: while there are any, every message is looked at closer.
    watchful: AtomicU32,
    /// The host's services around transports; set by `enable`.
    services: AtomicPtr<BtlServices>,
    /// How transports are polled; set by `enable`.
    polling: AtomicPtr<Polling>,
    /// Data of the CRIs' holders.
    own: PerCri<CriData>,
    /// The words of CRI 0, and of the others.
    first: Cri,
    others: Box<[Cri]>,
    host: Host,
    config: Config,
    /// FIFOs that we could use, by CRIs and transports; set by `enable`.
    width: AtomicU32,
    /// When it was made.
    born: Instant,
    assignment: Assignment,
    /// When calls take locks; set by `enable`.
    care: OnceLock<&'static Care>,
}

impl Instance {
    /// Makes an instance with its CRIs and without transports, which [`Instance::enable`] sets.
    pub fn new(host: Host, config: Config) -> Instance {
        Instance {
            watchful: AtomicU32::new(0),
            services: AtomicPtr::new(null_mut()),
            polling: AtomicPtr::new(null_mut()),
            own: PerCri::new((0..host.num_cris()).map(|_| CriData::default())),
            first: Cri::new(FIFO),
            others: (1..host.num_cris()).map(Cri::new).collect(),
            host,
            config,
            width: AtomicU32::new(1),
            born: Instant::now(),
            assignment: Instance::assignment_of(&host),
            care: OnceLock::new(),
        }
    }

    /// Takes the transports that the host has accepted, before anything else is called.
    pub fn enable(&self, transports: Given<'_>, care: &'static Care) {
        self.services.store(transports.services.cast_mut(), Ordering::Relaxed);
        self.polling.store(core::ptr::from_ref(transports.polling()).cast_mut(), Ordering::Relaxed);
        // There is none: this is called once.
        let _ = self.care.set(care);
        // SAFETY: the host's list, which it has vouched for.
        let btls = unsafe { transports.btls.get() };
        // SAFETY: accepted handles live as long as the instance.
        let contexts = btls.iter().map(|&btl| unsafe { &*btl }.attrs().contexts.max(1));
        // As many as the widest has: to a peer there are as many as its transport has (`width_to`).
        let contexts = contexts.max().unwrap_or(1);
        self.width.store(self.host.num_cris().min(contexts).clamp(1, MOST_FIFOS), Ordering::Relaxed);
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
        unsafe { &*self.polling.load(Ordering::Relaxed) }
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

    /// Has locks taken by all calls and turns from the next one on: messages come on several FIFOs.
    pub fn take_care(&self) {
        if let Some(care) = self.care.get() {
            care.take();
        }
        self.polling().take_care();
    }

    /// Gives when calls take locks. `None`: before `enable`.
    pub fn care(&self) -> Option<&'static Care> {
        self.care.get().copied()
    }

    /// Gives how many FIFOs we could use: messages come on the CRIs from 0 to this.
    #[inline(always)]
    pub fn width(&self) -> u32 {
        self.width.load(Ordering::Relaxed)
    }

    /// Gives the words of the CRI with this number.
    #[inline(always)]
    pub fn cri(&self, ctx: u32) -> &Cri {
        match self.others.get((ctx as usize).wrapping_sub(1)) {
            Some(cri) => cri,
            None => &self.first,
        }
    }

    /// Gives the data of the CRI that is held.
    #[inline(always)]
    pub fn own<'s>(&'s self, held: &'s mut CriGuard<'_>) -> &'s mut CriData {
        self.own.get(held)
    }

    /// Whether something on a CRI waits for room, or for its request to go on.
    #[inline(always)]
    pub fn has_backlog(&self, held: &CriGuard<'_>) -> bool {
        self.cri(held.ctx()).work().is_any()
    }

    /// Gives the host's services around transports. Not before `enable`.
    pub fn btl_services(&self) -> &BtlServices {
        // SAFETY: `enable` set it, before any other verb; valid as long as the instance.
        unsafe { &*self.services.load(Ordering::Relaxed) }
    }
}

impl Instance {
    /// Takes a CRI's lock, where there are other threads; it is held until the result is dropped.
    #[inline(always)]
    pub fn hold<'g>(&'g self, entry: &'g mut Entry, ctx: u32) -> CriGuard<'g> {
        self.host.hold(entry, ctx)
    }

    /// Takes the locks of the CRIs on which messages come, in rising order: nothing arrives and nothing is sent meanwhile.
    pub fn hold_wide<'g>(&'g self, entry: &'g mut Entry) -> CriSetGuard<'g> {
        self.host.hold_set(entry, set_below(self.width()))
    }

    /// Takes the locks of all CRIs, in rising order.
    pub fn hold_all<'g>(&'g self, entry: &'g mut Entry) -> CriSetGuard<'g> {
        self.host.hold_set(entry, set_below(self.host.num_cris()))
    }
}
