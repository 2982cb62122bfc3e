//! First contact: peers, their FIFOs, and routes to ranks are made when they are first used.

use crate::communicators::comm::Comm;
use crate::communicators::inbound::{Assignment, Inbound};
use crate::order::signals::{Passed, Pending, Switch};
use crate::peers::peer::{Base, Peer, shows_messages_at_once};
use crate::peers::route::Route;
use crate::peers::table::Peers;
use crate::state::fifos::FIFO;
use crate::state::guarded::Held;
use crate::wire::{self, Card};
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use oxmpi_btl::Reach;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, Ordering};
use oxmpi_mca::{Lock, SliceRef, Status};

impl Peers {
    /// Whether the messages of a process are dropped, because it broke the protocol or its transport failed.
    #[cold]
    pub fn is_closed(&self, proc: u32) -> bool {
        let slot = self.table.get(proc as usize).map(|s| s.load(Ordering::Acquire));
        // SAFETY: peers stay until `finalize`.
        slot.and_then(|p| unsafe { p.as_ref() }).is_some_and(|p| p.base.is_lost())
    }

    /// Gives the peer of a process (`proc`: its rank in the job) on the first FIFO, made on first use. `Err`: the
    /// process cannot be reached, or speaks another wire version.
    #[inline(always)]
    pub fn peer(&self, proc: u32, threaded: bool) -> Result<&Peer, Status> {
        if let Some(slot) = self.table.get(proc as usize) {
            // SYNC POINT with the release store in `make_peer`.
            // SAFETY: peers stay until `finalize`.
            if let Some(peer) = unsafe { slot.load(Ordering::Acquire).as_ref() } {
                return Ok(peer);
            }
        }
        self.make_peer(proc, threaded)
    }

    /// Makes the peer of a process on the first FIFO, under the peers' lock, unless another thread just did. `Err`: the
    /// process cannot be reached, or speaks another wire version.
    #[cold]
    fn make_peer(&self, proc: u32, threaded: bool) -> Result<&Peer, Status> {
        let _guard = self.lock.guard(threaded);
        let slot: &AtomicPtr<Peer> = self.table.make(proc as usize).ok_or(Status::BAD_PARAM)?;
        // SAFETY: as in `peer`.
        if let Some(peer) = unsafe { slot.load(Ordering::Acquire).as_ref() } {
            return Ok(peer);
        }
        let card = self.card_of(proc)?;
        let (reach, reached) = self.reach(proc)?;
        let stamps =
            self.instance().assignment() == Assignment::Stream && shows_messages_at_once(reach.btl());
        let width = self.width_to(reach, true);
        let width_in = self.width_to(reach, card.flags & (Card::NUMBERS | Card::COUNTS) != 0);
        let flows = (0..width.max(width_in)).map(|_| AtomicPtr::new(null_mut())).collect();
        // Freed by `finalize`, after which nobody looks at peers.
        let base: &'static Base = Box::leak(Box::new(Base {
            width,
            width_in,
            shard_fifos: (width > 1).then(|| Box::new(core::array::from_fn(|_| AtomicPtr::new(null_mut())))),
            stamps,
            switch: Switch::default(),
            peers_switch: Passed::new(),
            lost: AtomicBool::new(false),
            pending_lock: Lock::new(),
            pending: UnsafeCell::new(Pending::default()),
            flows,
            our_credit: self.instance().config().eager_credit,
            their_credit: card.eager_credit,
            reached,
        }));
        let peer = Box::into_raw(Box::new(Peer::new(
            proc,
            reach.btl(),
            reach.endpoint,
            base,
            FIFO,
            self.instance().cri(FIFO).parts(),
        )));
        self.instance().polling().activate(reach.btl());
        base.flows[FIFO as usize].store(peer, Ordering::Release);
        // SYNC POINT with the acquire loads above.
        slot.store(peer, Ordering::Release);
        // SAFETY: just made; freed by `finalize` alone.
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
    pub fn flow(&self, proc: u32, ctx: u32, threaded: bool) -> Result<&Peer, Status> {
        let peer = self.peer(proc, threaded)?;
        if ctx == FIFO { Ok(peer) } else { self.flow_of(peer, ctx, threaded) }
    }

    /// Gives the peer on FIFO `ctx` to the process of `peer`, made on first use. `Err`: the process has fewer FIFOs.
    #[inline(always)]
    pub fn flow_of<'a>(&'a self, peer: &'a Peer, ctx: u32, threaded: bool) -> Result<&'a Peer, Status> {
        let slot = peer.base.flows.get(ctx as usize).ok_or(Status::UNREACHABLE)?;
        // SYNC POINT with the release store in `make_flow`.
        // SAFETY: flows stay until `finalize`.
        match unsafe { slot.load(Ordering::Acquire).as_ref() } {
            Some(flow) => Ok(flow),
            None => Ok(self.make_flow(peer, slot, ctx, threaded)),
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
        threaded: bool,
    ) -> &'a Peer {
        let _guard = self.lock.guard(threaded);
        // SAFETY: as in `flow_of`.
        if let Some(flow) = unsafe { slot.load(Ordering::Acquire).as_ref() } {
            return flow;
        }
        let flow = Box::new(Peer::new(
            peer.proc,
            peer.btl,
            peer.endpoint,
            peer.base,
            ctx,
            self.instance().cri(ctx).parts(),
        ));
        let flow = Box::into_raw(flow);
        // SYNC POINT with the acquire load in `flow_of`.
        slot.store(flow, Ordering::Release);
        // SAFETY: just made.
        unsafe { &*flow }
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
    pub fn remember(&self, held: &Held<'_>, peer: &Peer) {
        if !peer.in_backlog.replace(true) {
            let cri = self.instance().cri(held.ctx);
            cri.add_waiting_peer(held, peer);
        }
    }

    /// Notes that a peer was taken off the list of those that wait for room ([`Peers::remember`]).
    pub fn forget(&self, peer: &Peer) {
        peer.in_backlog.set(false);
    }

    /// Gives the record of a source's messages that wait for an earlier one, made when first asked for. `None`: no such
    /// rank.
    pub fn inbound<'a>(&self, comm: &'a Comm, rank: usize) -> Option<&'a Inbound> {
        comm.inbound_made(rank).or_else(|| {
            let _guard = self.lock.guard(true);
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
        threaded: bool,
    ) -> Result<(&'a Route, &'a Peer), Status> {
        if let Some(route) = comm.route_made(rank)
            && let Some(peer) = route.peer()
        {
            return Ok((route, peer));
        }
        self.make_route(comm, rank, threaded)
    }

    /// Makes the route to a rank, under the peers' lock. `Err`: no such rank, the process cannot be reached, or the
    /// communicator was revoked.
    #[cold]
    fn make_route<'a>(
        &'a self,
        comm: &'a Comm,
        rank: i32,
        threaded: bool,
    ) -> Result<(&'a Route, &'a Peer), Status> {
        let (proc, endpoint) = comm.place(rank).ok_or(Status::BAD_PARAM)?;
        if comm.is_revoked() {
            return Err(Status::PEER_FAILED);
        }
        let peer = self.peer(proc, threaded)?;
        let _guard = self.lock.guard(threaded);
        let route = comm.make_route(rank).ok_or(Status::BAD_PARAM)?;
        if route.peer().is_none() {
            route.open(comm.first_head(endpoint), comm.fifos().salt_to(endpoint), peer);
        }
        Ok((route, peer))
    }

    /// Notes that the messages of a source, one of the communicator's ranks, take the FIFOs of their tags from now on,
    /// and begins a new epoch. Everything in front of the source's SWITCH has been handled.
    pub fn fork_from(&self, comm: &Comm, source: i32) {
        let _guard = self.lock.guard(true);
        comm.fork_from(source);
    }

    /// The peer objects of all processes for the FIFO of the held CRI, as far as they exist.
    pub fn flows_on(&self, held: &Held<'_>) -> Vec<&Peer> {
        let peers = self.table.iter().filter_map(|slot| {
            // SAFETY: peers and their flows stay until `finalize`.
            let first = unsafe { slot.load(Ordering::Acquire).as_ref() }?;
            // SAFETY: as above.
            unsafe { first.base.flows.get(held.ctx as usize)?.load(Ordering::Acquire).as_ref() }
        });
        peers.collect()
    }

    /// Frees all peers when the instance ends. The caller holds all CRI locks, and this is the last call.
    pub fn free(&self) {
        for slot in self.table.iter() {
            let peer = slot.swap(null_mut(), Ordering::AcqRel);
            // SAFETY: peers stay until here.
            let Some(first) = (unsafe { peer.as_ref() }) else { continue };
            let base = core::ptr::from_ref(first.base).cast_mut();
            // SAFETY: made by Box::into_raw or Box::leak; this is the last call. FIFO 0 is among the flows.
            unsafe {
                for flow in (*base).flows.iter().map(|f| f.swap(null_mut(), Ordering::AcqRel)) {
                    if !flow.is_null() {
                        drop(Box::from_raw(flow));
                    }
                }
                drop(Box::from_raw(base));
            }
        }
    }
}
