//! The module of a window: what it has, and how it meets ranks.

use crate::call::{Call, Comm};
use crate::component::Rdma;
use crate::create::Ways;
use crate::epoch::{Allowed, Epochs};
use crate::local::Registered;
use crate::params::Settings;
use crate::peer::{Link, Peer, Peers, is_fit};
use crate::regions::Attached;
use crate::shelf::Shelf;
use crate::wire::{Card, Leader, module_key, way_by};
use core::mem::MaybeUninit;
use oxmpi_btl::{BtlServices, Reach};
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{Status, ThreadCtx};
use oxmpi_osc::{WinDesc, hint};
use std::sync::Arc;

pub struct RdmaWindow {
    pub rdma: Arc<Rdma>,
    pub comm: Comm,
    pub btl: *const BtlServices,
    pub dynamic: bool,
    pub ways: Ways,
    pub peers: Peers,
    pub epochs: Epochs,
    pub rules: Rules,
    pub attached: Attached,
    /// Before the shelf: registrations end before memory goes.
    pub registered: Vec<Registered>,
    pub shelf: Shelf,
    /// Retries of locks, for unequal pauses.
    pub waits: AtomicU32,
}

// SAFETY: the services may be called from any thread; the rest says so of itself.
unsafe impl Send for RdmaWindow {}
// SAFETY: as above.
unsafe impl Sync for RdmaWindow {}

/// What info keys and parameters say.
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
    /// `by_elements`: all memory that any rank reaches is mapped there, or reached by lists of atomics.
    pub fn new(desc: &WinDesc, settings: &Settings, levels: bool, by_elements: bool) -> Rules {
        let granularity = if desc.granularity == 0 { settings.granularity } else { desc.granularity };
        Rules {
            hints: AtomicU32::new(desc.hints),
            ordering: AtomicU32::new(desc.ordering),
            coarse: granularity > 8,
            under_lock: granularity > 8 || (granularity == 0 && !by_elements),
            levels,
        }
    }
    pub fn no_locks(&self) -> bool {
        self.hints.load(Ordering::Relaxed) & hint::NO_LOCKS != 0
    }
    /// Accumulates of an origin to a target are seen in some order.
    pub fn ordered(&self) -> bool {
        self.ordering.load(Ordering::Relaxed) != 0
    }
    pub fn set(&self, hints: u32, ordering: u32) {
        self.hints.store(hints, Ordering::Relaxed);
        self.ordering.store(ordering, Ordering::Relaxed);
    }
}

impl Drop for RdmaWindow {
    /// A window that is given back without communication may have operations under way, which end some time: what they end in stays.
    fn drop(&mut self) {
        if !self.peers.met().iter().all(|peer| peer.is_idle()) {
            core::mem::forget(core::mem::replace(&mut self.peers, Peers::new(0)));
            core::mem::forget(self.rdma.clone());
        }
    }
}

impl RdmaWindow {
    pub fn call(&self, thread: *mut ThreadCtx) -> Call<'_> {
        Call { win: self, thread }
    }
}

impl<'a> Call<'a> {
    /// A rank, met now if it was not.
    #[inline]
    pub fn peer(&self, rank: u32) -> Result<&'a Peer, Status> {
        match self.win.peers.get(rank) {
            Some(peer) => Ok(peer),
            None => self.meet(rank),
        }
    }

    /// The target of an operation, which the epoch allows.
    #[inline]
    pub fn target(&self, rank: u32) -> Result<&'a Peer, Status> {
        let peer = self.peer(rank)?;
        match self.win.epochs.operate(peer)? {
            Allowed::Yes => Ok(peer),
            Allowed::Lock => self.lock_on_demand(peer).map(|()| peer),
        }
    }

    fn meet(&self, rank: u32) -> Result<&'a Peer, Status> {
        let (comm, shelf) = (&self.win.comm, &self.win.shelf);
        let (group, member) = shelf.of(comm, rank)?;
        let mut peer = Peer::new(rank);
        let card = if group == shelf.group {
            peer.words = shelf.words(member);
            // SAFETY: written before the window was made.
            unsafe { shelf.card(member).read() }
        } else {
            self.fetch_card(group, member)?
        };
        if let Some(mapped) = comm.mapped(rank) {
            peer.base = mapped.base;
        }
        (peer.bytes, peer.disp_unit) = (card.bytes, card.disp_unit);
        (peer.remote, peer.remote_words) = (card.base, card.state);
        let own = rank == comm.rank();
        let wants_data =
            !own && (self.win.dynamic || peer.base.is_null()) && (self.win.dynamic || card.bytes > 0);
        if wants_data || peer.words.is_null() {
            peer.link = Some(self.link(&mut peer, &card)?);
        }
        self.win.peers.keep(peer)
    }

    /// The best transport that we and the rank have.
    fn link(&self, peer: &mut Peer, card: &Card) -> Result<Link, Status> {
        let reached = self.win.comm.reach(peer.rank)?;
        let of = |reach: &&Reach| {
            let key = module_key(reach.btl());
            // Dynamic windows have handles in their regions alone.
            is_fit(reach.btl())
                && (way_by(&card.states, key).is_some() || !peer.words.is_null())
                && (way_by(&card.data, key).is_some()
                    || self.win.dynamic
                    || !peer.base.is_null()
                    || card.bytes == 0)
        };
        let Some(reach) = reached.iter().find(of) else {
            let tried: Vec<&str> = reached.iter().map(|r| r.btl().name()).collect();
            self.rdma().host.help("no-way", &[&peer.rank.to_string(), &tried.join(", ")]);
            return Err(Status::UNREACHABLE);
        };
        let key = module_key(reach.btl());
        if let Some(way) = way_by(&card.data, key) {
            peer.data = *way;
        }
        if let Some(way) = way_by(&card.states, key) {
            peer.state = *way;
        }
        Ok(Link::new(*reach, self.rdma().host.num_cris()))
    }

    /// Reads a card of another group out of its leader's memory.
    fn fetch_card(&self, group: u32, member: u32) -> Result<Card, Status> {
        // SAFETY: the directory was filled when the window was made.
        let leader: Leader = unsafe { self.win.shelf.leader(group).read() };
        let reached = self.win.comm.reach(leader.rank)?;
        let way = reached
            .iter()
            .filter(|r| is_fit(r.btl()))
            .find_map(|reach| way_by(&leader.ways, module_key(reach.btl())).map(|way| (reach, way)));
        let (reach, way) = way.ok_or(Status::UNREACHABLE)?;
        let link = Link::new(*reach, self.rdma().host.num_cris());
        let mut card = MaybeUninit::<Card>::zeroed();
        // SAFETY: plain bytes.
        let bytes =
            unsafe { core::slice::from_raw_parts_mut(card.as_mut_ptr().cast::<u8>(), Card::BYTES as usize) };
        // A rank that is known for this one read.
        let known = Peer::new(leader.rank);
        self.fetch(&known, &link, leader.cards + u64::from(member) * Card::BYTES, way.handle(), bytes)?;
        // SAFETY: all bytes are there, and any are a card.
        Ok(unsafe { card.assume_init() })
    }
}
