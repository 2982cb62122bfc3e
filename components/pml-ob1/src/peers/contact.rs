//! First contact: peers, their FIFOs, and routes to ranks are made when they are first used.

use crate::communicators::comm::Comm;
use crate::communicators::inbound::{Assignment, Inbound};
use crate::order::signals::{Passed, Pending, Switch};
use crate::peers::peer::{Base, Peer, shows_messages_at_once};
use crate::peers::route::Route;
use crate::peers::table::Peers;
use crate::requests::work::Work;
use crate::state::fifos::FIFO;
use crate::state::locked::{ALWAYS, Locked};
use crate::wire::{self, Card};
use core::ptr::null_mut;
use oxmpi_btl::Reach;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, Ordering};
use oxmpi_mca::{CriGuard, Entry, SliceRef, Status};

impl Peers {
    /// Whether the messages of a process are dropped, because it broke the protocol or its transport failed.
    #[cold]
    pub fn is_closed(&self, proc: u32) -> bool {
        let slot = self.table.get(proc as usize).map(|s| s.load(Ordering::Acquire));
        // SAFETY: null, or a peer, which stays while it may be used (`peer.rs`).
        slot.and_then(|p| unsafe { p.as_ref() }).is_some_and(|p| p.base.is_lost())
    }

    /// Gives the peer of a process (`proc`: its rank in the job) on the first FIFO, made on first use. `Err`: the
    /// process cannot be reached, or speaks another wire version.
    #[inline(always)]
    pub fn peer(&self, proc: u32, entry: &Entry) -> Result<&Peer, Status> {
        if let Some(slot) = self.table.get(proc as usize) {
            // SYNC POINT with the release store in `make_peer`.
            // SAFETY: null, or a peer, which stays while it may be used (`peer.rs`).
            if let Some(peer) = unsafe { slot.load(Ordering::Acquire).as_ref() } {
                return Ok(peer);
            }
        }
        self.make_peer(proc, &entry.seen())
    }

    /// Makes the peer of a process on the first FIFO, under the peers' lock, unless another thread just did. `Err`: the
    /// process cannot be reached, or speaks another wire version.
    #[cold]
    fn make_peer(&self, proc: u32, entry: &Entry) -> Result<&Peer, Status> {
        let _guard = self.lock.guard(entry);
        let slot: &AtomicPtr<Peer> = self.table.make(proc as usize).ok_or(Status::BAD_PARAM)?;
        // SAFETY: null, or a peer that another thread has made just now and that stays while it may be used (`peer.rs`).
        if let Some(peer) = unsafe { slot.load(Ordering::Acquire).as_ref() } {
            return Ok(peer);
        }
        // A process that has parted is not reached, and nothing is said of it: a message of it that comes late is no matter.
        let (reach, reached) = self.reach(proc)?;
        let card = self.card_of(proc)?;
        let stamps =
            self.instance().assignment() == Assignment::Stream && shows_messages_at_once(reach.btl());
        let width = self.width_to(reach, true);
        let width_in = self.width_to(reach, card.flags & (Card::NUMBERS | Card::COUNTS) != 0);
        let flows = (0..width.max(width_in)).map(|_| AtomicPtr::new(null_mut())).collect();
        // Freed with its peers ([`free_peer`]).
        let base: &'static Base = Box::leak(Box::new(Base {
            width,
            width_in,
            shard_fifos: (width > 1).then(|| Box::new(core::array::from_fn(|_| AtomicPtr::new(null_mut())))),
            stamps,
            switch: Switch::default(),
            peers_switch: Passed::new(),
            lost: AtomicBool::new(false),
            pending: Locked::new(Pending::default()),
            flows,
            our_credit: self.instance().config().eager_credit,
            their_credit: card.eager_credit,
            reached,
        }));
        let work = self.instance().cri(FIFO).work().clone();
        let peer = Box::into_raw(Box::new(Peer::new(proc, reach, base, FIFO, work)));
        self.instance().polling().activate(reach.btl());
        base.flows[FIFO as usize].store(peer, Ordering::Release);
        // SYNC POINT with the acquire loads above.
        slot.store(peer, Ordering::Release);
        // SAFETY: just made; it stays while it may be used (`peer.rs`).
        Ok(unsafe { &*peer })
    }

    /// Gives how many FIFOs there may be to a process, or from it. Several only where messages have numbers, or one is
    /// visible to its receiver as soon as `send` has returned and those that wait for room are told: the order of
    /// MPI_ANY_TAG rests on that.
    fn width_to(&self, reach: &Reach, numbers: bool) -> u32 {
        if !numbers && !shows_messages_at_once(reach.btl()) {
            return 1;
        }
        reach.width.clamp(1, self.instance().width())
    }

    /// Gives the peer of a process (`proc`: its rank in the job) on FIFO `ctx`, made on first use. `Err`: the process
    /// cannot be reached, or has fewer FIFOs.
    #[inline(always)]
    pub fn flow(&self, proc: u32, ctx: u32, entry: &Entry) -> Result<&Peer, Status> {
        let peer = self.peer(proc, entry)?;
        if ctx == FIFO { Ok(peer) } else { self.flow_of(peer, ctx, entry) }
    }

    /// Gives the peer on FIFO `ctx` to the process of `peer`, made on first use. `Err`: the process has fewer FIFOs.
    #[inline(always)]
    pub fn flow_of<'a>(&'a self, peer: &'a Peer, ctx: u32, entry: &Entry) -> Result<&'a Peer, Status> {
        let slot = peer.base.flows.get(ctx as usize).ok_or(Status::UNREACHABLE)?;
        // SYNC POINT with the release store in `make_flow`.
        // SAFETY: null, or a flow, which stays while it may be used (`peer.rs`).
        match unsafe { slot.load(Ordering::Acquire).as_ref() } {
            Some(flow) => Ok(flow),
            None => self.make_flow(peer, slot, ctx, &entry.seen()).ok_or(Status::UNREACHABLE),
        }
    }

    /// Makes the peer on FIFO `ctx` to the process of `peer`, in its slot, under the peers' lock, unless another thread
    /// just did.
    #[cold]
    fn make_flow<'a>(
        &'a self,
        peer: &'a Peer,
        slot: &'a AtomicPtr<Peer>,
        ctx: u32,
        entry: &Entry,
    ) -> Option<&'a Peer> {
        let _guard = self.lock.guard(entry);
        // SAFETY: null, or a flow that another thread has made just now and that stays while it may be used (`peer.rs`).
        if let Some(flow) = unsafe { slot.load(Ordering::Acquire).as_ref() } {
            return Some(flow);
        }
        // The transport that carries headers, as for the first FIFO.
        let reach = peer.base.reached.first()?;
        let work = self.instance().cri(ctx).work().clone();
        let flow = Box::into_raw(Box::new(Peer::new(peer.proc(), reach, peer.base, ctx, work)));
        // SYNC POINT with the acquire load in `flow_of`.
        slot.store(flow, Ordering::Release);
        // SAFETY: just made; it stays while it may be used (`peer.rs`).
        Some(unsafe { &*flow })
    }

    /// Fetches the card that a process published. `Err`, with a message to the user: there is none, or the process
    /// speaks another wire version; that is refused here, before the first message.
    fn card_of(&self, proc: u32) -> Result<Card, Status> {
        let blob = self.instance().host().exchange_get(proc).map_err(|status| {
            self.instance().host().help("no-card", &[&proc.to_string(), status.name()]);
            Status::UNREACHABLE
        })?;
        let ours = wire::VERSION.to_string();
        match Card::decode(&blob) {
            Some(card) if card.version == wire::VERSION => Ok(card),
            card => {
                let theirs = card.map_or("unreadable".into(), |c| c.version.to_string());
                self.instance().host().help("wire-version", &[&proc.to_string(), &theirs, &ours]);
                Err(Status::UNREACHABLE)
            }
        }
    }

    /// Asks the host for the transports that reach a process: the one that carries headers, which is the first, and all
    /// of them. `Err`: none does.
    fn reach(&self, proc: u32) -> Result<(&'static Reach, &'static [Reach]), Status> {
        let services = self.instance().btl_services();
        let mut reached = SliceRef { ptr: core::ptr::null(), len: 0 };
        (services.reach)(services.instance, proc, &mut reached).ok()?;
        // SAFETY: the host's list, valid as long as the instance.
        let all = unsafe { core::slice::from_raw_parts(reached.ptr, reached.len) };
        Ok((all.first().ok_or(Status::UNREACHABLE)?, all))
    }

    /// Puts a peer, unless it is there, on its CRI's list of peers with something that waits for room, which progress
    /// drains.
    pub fn remember(&self, held: &mut CriGuard<'_>, peer: &Peer) {
        if !core::mem::replace(&mut peer.flow(held).in_backlog, true) {
            self.instance().own(held).backlog().push(peer.proc());
            self.instance().cri(held.ctx()).work().mark(Work::BACKLOG);
        }
    }

    /// Takes a peer that has nothing more that waits for room off the list; `at`: its place there, which the last one takes.
    pub fn forget(&self, held: &mut CriGuard<'_>, at: usize, peer: &Peer) {
        peer.flow(held).in_backlog = false;
        let backlog = self.instance().own(held).backlog();
        backlog.swap_remove(at);
        if backlog.is_empty() {
            self.instance().cri(held.ctx()).work().unmark(Work::BACKLOG);
        }
    }

    /// Gives a peer with something that waits for room on the CRI that is held, by its place in the list. `None`: there are fewer.
    pub fn waiting(&self, held: &mut CriGuard<'_>, at: usize) -> Option<&Peer> {
        let proc = *self.instance().own(held).backlog().get(at)?;
        self.flow(proc, held.ctx(), held.entry()).ok()
    }

    /// Gives the record of a source's messages that wait for an earlier one, made when first asked for. `None`: no such
    /// rank.
    pub fn inbound<'a>(&self, comm: &'a Comm, rank: usize) -> Option<&'a Inbound> {
        comm.inbound_made(rank).or_else(|| {
            let _guard = self.lock.guard(ALWAYS);
            comm.make_inbound(rank)
        })
    }

    /// Gives the route to a rank and the peer of its process on the first FIFO, made on first use. `Err`: no such rank,
    /// the process cannot be reached, or the communicator was revoked.
    #[inline(always)]
    pub fn route<'a>(
        &'a self,
        comm: &'a Comm,
        rank: i32,
        entry: &Entry,
    ) -> Result<(&'a Route, &'a Peer), Status> {
        if let Some(route) = comm.route_made(rank)
            && let Some(peer) = route.peer()
        {
            return Ok((route, peer));
        }
        self.make_route(comm, rank, &entry.seen())
    }

    /// Makes the route to a rank, under the peers' lock. `Err`: no such rank, the process cannot be reached, or the
    /// communicator was revoked.
    #[cold]
    fn make_route<'a>(
        &'a self,
        comm: &'a Comm,
        rank: i32,
        entry: &Entry,
    ) -> Result<(&'a Route, &'a Peer), Status> {
        let (proc, endpoint) = comm.place(rank).ok_or(Status::BAD_PARAM)?;
        if comm.is_revoked() {
            return Err(Status::PEER_FAILED);
        }
        let peer = self.peer(proc, entry)?;
        let _guard = self.lock.guard(entry);
        let route = comm.make_route(rank).ok_or(Status::BAD_PARAM)?;
        if route.peer().is_none() {
            route.open(comm.first_head(endpoint), comm.fifos().salt_to(endpoint), peer);
        }
        Ok((route, peer))
    }

    /// Notes that the messages of a source, one of the communicator's ranks, take the FIFOs of their tags from now on,
    /// and begins a new epoch. Everything in front of the source's SWITCH has been handled.
    pub fn fork_from(&self, comm: &Comm, source: i32) {
        let _guard = self.lock.guard(ALWAYS);
        comm.fork_from(source);
    }

    /// Iterates over the peers of all processes on the first FIFO, as far as they exist.
    pub(super) fn each(&self) -> impl Iterator<Item = &Peer> {
        // SAFETY: null, or a peer, which stays while it may be used (`peer.rs`).
        self.table.iter().filter_map(|slot| unsafe { slot.load(Ordering::Acquire).as_ref() })
    }

    /// Lists the peers of all processes on FIFO `ctx`, as far as they exist.
    pub fn flows_on(&self, ctx: u32) -> Vec<&Peer> {
        self.each().filter_map(|first| first.base.flow_made(ctx)).collect()
    }

    /// Gives the peer of a process on FIFO `ctx`. `None`: none was made.
    pub(super) fn flow_made(&self, proc: u32, ctx: u32) -> Option<&Peer> {
        let slot = self.table.get(proc as usize)?;
        // SAFETY: null, or a peer, which stays while it may be used (`peer.rs`).
        unsafe { slot.load(Ordering::Acquire).as_ref() }?.base.flow_made(ctx)
    }

    /// Whether the host knows no such process, or knows it no more: it has parted, and what still comes of it is no matter.
    #[cold]
    pub fn is_unknown(&self, proc: u32) -> bool {
        self.flow_made(proc, FIFO).is_none() && self.reach(proc).is_err_and(|why| why == Status::BAD_PARAM)
    }

    /// Frees all peers when the instance ends. The caller holds all CRI locks, and this is the last call.
    pub fn free(&self) {
        for slot in self.table.iter() {
            // SAFETY: this is the last call.
            unsafe { free_peer(slot) };
        }
    }
}

/// Frees the peer in a slot, if there is one, with those of its other FIFOs.
///
/// # Safety
/// Nobody uses the peer any more, nor will.
pub(super) unsafe fn free_peer(slot: &AtomicPtr<Peer>) {
    let peer = slot.swap(null_mut(), Ordering::AcqRel);
    // SAFETY: null, or a peer, which is here until it is freed below.
    let Some(first) = (unsafe { peer.as_ref() }) else { return };
    let base = core::ptr::from_ref(first.base).cast_mut();
    // SAFETY: made by Box::into_raw or Box::leak; the caller's promise. FIFO 0 is among the flows.
    unsafe {
        for flow in (*base).flows.iter().map(|f| f.swap(null_mut(), Ordering::AcqRel)) {
            if !flow.is_null() {
                drop(Box::from_raw(flow));
            }
        }
        drop(Box::from_raw(base));
    }
}
