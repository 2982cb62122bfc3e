//! The module of a window: what it has, and how it meets ranks.
//!
//! **Windows on the same memory** share a [`Home`]: registrations, what is attached, and the state words behind accumulates and regions.
//! A window that was made by itself has a home of its own, whose shelf has all of its state words. A duplicate has the home of its first window, and a
//! shelf with words of its own for locks, posts, completions and notifications; so each window has its epochs, and accumulates through all of them meet at one
//! word. The home goes with the last window. A rank is met through both shelves ([`OwnWords`]).

use crate::call::Call;
use crate::comm::Comm;
use crate::epoch::{Allowed, Epochs};
use crate::local::Registered;
use crate::peer::{Link, OwnWords, Peer, Peers, is_fit};
use crate::rdma::Rdma;
use crate::regions::Attached;
use crate::shelf::Shelf;
use crate::tally::Tally;
use crate::ways::Ways;
use crate::wire::{Card, Leader, Way, module_key, way_by};
use oxmpi_btl::{BtlServices, Reach};
use oxmpi_mca::sync::unmodelled::{AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Status, ThreadCtx};
use oxmpi_osc::{WinCounts, WinDesc, hint};
use std::sync::Arc;

/// See the file's text.
pub struct Home {
    pub ways: Ways,
    pub attached: Attached,
    /// Before the shelf: registrations end before memory goes.
    pub registered: Vec<Registered>,
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
    pub rdma: Arc<Rdma>,
    pub comm: Comm,
    pub btl: *const BtlServices,
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

    /// Where the words of locks, posts and notifications are.
    pub fn shelf(&self) -> &Shelf {
        self.own.as_ref().map_or(&self.home.shelf, |own| &own.shelf)
    }

    /// Counts since the window was made.
    pub fn counted(&self) -> WinCounts {
        let lanes = |peer: &Peer| {
            let lanes = peer.link.iter().flat_map(|link| &link.lanes);
            lanes.map(|lane| lane.put_locks.load(Ordering::Relaxed)).sum::<u64>()
        };
        let put_locks = self.peers.met().into_iter().map(lanes).sum();
        WinCounts { put_locks, ..self.tally.counts() }
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
        let (comm, home) = (&self.win.comm, &self.win.home.shelf);
        let mut peer = Peer::new(rank);
        let (card, words) = self.card(home, rank)?;
        peer.words = words;
        if let Some(own) = &self.win.own {
            let (card, words) = self.card(&own.shelf, rank)?;
            peer.own =
                Some(Box::new(OwnWords { words, remote: card.state, ways: card.states, way: Way::NONE }));
        }
        if let Some(mapped) = comm.mapped(rank) {
            peer.base = mapped.base;
        }
        (peer.bytes, peer.disp_unit) = (card.bytes, card.disp_unit);
        (peer.remote, peer.remote_words) = (card.base, card.state);
        let own = rank == comm.rank();
        let wants_data =
            !own && (self.win.dynamic || peer.base.is_null()) && (self.win.dynamic || card.bytes > 0);
        let wants_own = peer.own.as_ref().is_some_and(|own| own.words.is_null());
        if wants_data || peer.words.is_null() || wants_own {
            peer.link = Some(self.link(&mut peer, &card)?);
        }
        self.win.peers.keep(peer)
    }

    /// A rank's card on a shelf, and its words there as they can be used here; null: they cannot.
    fn card(&self, shelf: &Shelf, rank: u32) -> Result<(Card, *const AtomicU64), Status> {
        let (group, member) = shelf.of(&self.win.comm, rank)?;
        if group != shelf.group {
            return Ok((self.fetch_card(shelf, group, member)?, core::ptr::null()));
        }
        Ok((shelf.read_card(member), shelf.words(member)))
    }

    /// The best transport that we and the rank have.
    fn link(&self, peer: &mut Peer, card: &Card) -> Result<Link, Status> {
        let reached = self.win.comm.reach(peer.rank)?;
        let of = |reach: &&Reach| {
            let key = module_key(reach.btl());
            let own =
                peer.own.as_ref().is_none_or(|own| !own.words.is_null() || way_by(&own.ways, key).is_some());
            // Dynamic windows have handles in their regions alone.
            is_fit(reach.btl())
                && own
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
        if let Some(own) = peer.own.as_deref_mut()
            && let Some(way) = way_by(&own.ways, key)
        {
            own.way = *way;
        }
        let link = Link::new(*reach, self.rdma().host.num_cris());
        Ok(if self.win.comm.place(peer.rank)?.local != 0 { link.of_node() } else { link })
    }

    /// Reads a card of another group out of its leader's memory.
    fn fetch_card(&self, shelf: &Shelf, group: u32, member: u32) -> Result<Card, Status> {
        // SAFETY: the directory was filled when the window was made.
        let leader: Leader = unsafe { shelf.leader(group).read() };
        let reached = self.win.comm.reach(leader.rank)?;
        let way = reached
            .iter()
            .filter(|r| is_fit(r.btl()))
            .find_map(|reach| way_by(&leader.ways, module_key(reach.btl())).map(|way| (reach, way)));
        let (reach, way) = way.ok_or(Status::UNREACHABLE)?;
        let link = Link::new(*reach, self.rdma().host.num_cris());
        let stride = shelf.cards.stride();
        let mut bytes = vec![0; stride as usize];
        // A rank that is known for this one read.
        let known = Peer::new(leader.rank);
        self.fetch(&known, &link, leader.cards + u64::from(member) * stride, way.handle(), &mut bytes)?;
        // SAFETY: all bytes of a card are there.
        Ok(unsafe { shelf.cards.read(bytes.as_ptr()) })
    }
}
