//! From one FIFO to several: when a sender leaves the first one, and how the receiver keeps the order of messages.
//!
//! **One protocol, two scopes.** All messages of a process to another leave FIFO 0 when a second thread sends and both sides have several
//! CRIs ([`Base::switch`](crate::peers::peer::Base)). From then on the FIFO is that of (communicator, tag), or of the communicator
//! (*home*) while one thread uses it, and messages have stamps; or that of the thread, or the next, and they have numbers
//! (`numbered.rs`). Stamps need a transport whose messages are seen as soon as they are sent: over others, such as networks, messages have
//! numbers whatever chooses their FIFO. The messages of one communicator to one rank leave home for the FIFOs of their tags when
//! threads share the communicator ([`Route::fork`], `fork.rs`).
//!
//! **The sender** puts SWITCH into the first FIFO, under that CRI's lock and only while nothing waits for room there, and then writes the
//! [`Switch`]. A thread that has chosen the first FIFO before looks at that again under the lock, so nothing is behind
//! SWITCH but what belongs there. The first thing on each other FIFO is OPEN.
//!
//! **The receiver.** Messages that a FIFO brings behind OPEN must not be matched before everything in front of SWITCH.
//! So a CRI that finds an OPEN whose SWITCH has not been seen keeps that and all that follows from this process
//! (*early*), and handles it once SWITCH was seen: at its next turn, or at the next message. A process that has seen a
//! SWITCH of all messages is *wide*: it progresses all
//! its CRIs, and takes locks whatever its thread level, because the matching of stamped messages needs the ways of
//! several threads.
//!
//! **Back-pressure.** A send that finds no room waits in its FIFO's queue, and the call may return. Later messages
//! on other FIFOs do not wait for it: what one thread has no room for is no matter of another. But a receiver with
//! MPI_ANY_TAG must not match them before it. So the receiver is told the stamp of the oldest message that waits in
//! any of the queues, before the call that put it there returns (`Peer::queue_changed`), and matches nothing that
//! is younger with MPI_ANY_TAG (`ordered.rs`). Of messages with numbers it needs to be told nothing.

use crate::communicators::comm::Comm;
use crate::communicators::inbound::Assignment;
use crate::order::flows::Order;
use crate::order::signals::Switch;
use crate::order::stamp::Lease;
use crate::peers::peer::Peer;
use crate::peers::route::Route;
use crate::requests::thread_state::{lease_of, number_of};
use crate::state::fifos::FIFO;
use crate::wire::{self, FREE, Header, Parcel, flag, kind};
use core::sync::atomic::Ordering;
use oxmpi_mca::{CriGuard, Entry, Status};
use oxmpi_pml::assert_flag;

/// The choice of a FIFO's questions about a message.
#[derive(Clone, Copy)]
pub struct Sending {
    pub tag: i32,
    /// The number it has already, or 0.
    pub number: u64,
}

/// The FIFO of a thread, by its number modulo `width`: threads that end leave theirs to those that come. `None`: a call
/// without a context.
fn own_fifo(entry: &Entry, width: u32) -> Option<u32> {
    entry.context().map(|thread| thread.index % width)
}

/// A SWITCH or OPEN header (`kind`) about all messages of this process.
fn of_all(kind: u8) -> Header {
    Header::new(&[wire::head(kind, 0, 0, 0)])
}

/// A SWITCH or OPEN header (`kind`) about the messages of one communicator from this rank, which names it by the index
/// that the receiver has for it.
fn of_comm(kind: u8, comm: &Comm, route: &Route) -> Header {
    let head = route.head() & !0xffff;
    let kind = wire::head(kind, flag::COMM, 0, 0);
    Header::new(&[head | kind, wire::source_tag(comm.my_rank(), 0)])
}

impl Order {
    /// The FIFO of a message, locked, and the message's place in the order: 0 while there is one FIFO, else its
    /// stamp, its number, or [`FREE`]. For a call among other threads.
    #[inline(always)]
    pub fn enter_flow<'a>(
        &'a self,
        mut entry: &'a mut Entry,
        (comm, route, base): (&Comm, &Route, &'a Peer),
        about: Sending,
    ) -> Result<(CriGuard<'a>, &'a Peer, u64), Status> {
        let several = base.base();
        if several.width() == 1 {
            return Ok((self.instance().hold(entry, FIFO), base, 0));
        }
        // SYNC POINT with `switch_all`.
        if !several.switch().is_passed() {
            let stays = |held: &mut CriGuard<'_>| {
                several.switch().may_go(false, FIFO) && !self.switch_all(held, base)
            };
            entry = match self.instance().host().hold_if(entry, FIFO, stays) {
                Ok(held) => return Ok((held, base, 0)),
                Err(entry) => entry,
            };
        }
        if comm.by_tag() || self.is_stream(comm, about.tag) {
            let (held, peer) = self.enter_stream(entry, (comm, route, base), about)?;
            // Where a message may be out of its receiver's sight for a while stamps would not do.
            let order = match several.has_stamps() {
                true => self.stamp(lease_of(held.entry())),
                false if about.number != 0 => about.number,
                false => route.next_number(),
            };
            return Ok((held, peer, order));
        }
        let ctx = self.any_fifo(entry, (comm, route, base), about);
        let peer = self.flow_on(base, ctx, entry)?;
        Ok((self.take_cri(entry, ctx), peer, self.any_order(comm, route, about)))
    }

    /// The peer object for FIFO `ctx` to the process of `base`, made on first use.
    fn flow_on<'a>(&'a self, base: &'a Peer, ctx: u32, entry: &Entry) -> Result<&'a Peer, Status> {
        if ctx == FIFO { Ok(base) } else { self.peers().flow_of(base, ctx, entry) }
    }

    /// Takes the lock of the FIFO that follows from communicator and tag (`fork.rs`): home until the communicator's
    /// messages part, then the FIFO of the tag. Returns the lock and the peer on that FIFO.
    fn enter_stream<'a>(
        &'a self,
        mut entry: &'a mut Entry,
        (comm, route, base): (&Comm, &Route, &'a Peer),
        about: Sending,
    ) -> Result<(CriGuard<'a>, &'a Peer), Status> {
        let width = base.base().width();
        // SYNC POINT with `fork_now`.
        if !route.fork().is_passed() {
            let home = self.flow_on(base, route.home(width), entry)?;
            base.base().set_fifo_of_shard(route.home_shard(), home);
            // Those of a rank that prefers a CRI stay there: the others are somebody else's.
            let part = about.tag >= 0 && !comm.fifos().prefers() && self.parts(entry, comm, route, about);
            let number = number_of(entry);
            let stays = |held: &mut CriGuard<'_>| {
                self.instance().host().cri(home.ctx()).count_holder(number);
                route.fork().may_go(false, home.ctx()) && !(part && self.fork_now(held, comm, route, home))
            };
            entry = match self.instance().host().hold_if(entry, home.ctx(), stays) {
                Ok(held) => return Ok((held, home)),
                Err(entry) => entry,
            };
        }
        let peer = self.flow_on(base, route.fifo(about.tag, width), entry)?;
        base.base().set_fifo_of_shard(route.tag_shard(about.tag), peer);
        Ok((self.take_cri(entry, peer.ctx()), peer))
    }

    /// Counts a send and says whether the messages of this communicator are to part, so that each tag has a FIFO of its
    /// own.
    #[inline(never)]
    fn parts(&self, entry: &Entry, comm: &Comm, route: &Route, about: Sending) -> bool {
        let (thread, shard) = (number_of(entry), route.tag_shard(about.tag));
        comm.users().part(thread, shard, self.instance().config().fork_turns, || {
            self.instance().age().as_millis() as u32
        })
    }

    /// Sends SWITCH for the messages of a communicator to one rank, so that they take the FIFOs of their tags. `false`:
    /// not possible now, since the receiver's index is unknown or there is no room. Under the lock of home's CRI.
    #[cold]
    fn fork_now(&self, held: &mut CriGuard<'_>, comm: &Comm, route: &Route, home: &Peer) -> bool {
        let knows_index = wire::flags_of(route.head()) & flag::CID == 0;
        knows_index
            && self.open(held, home, home.base().switch(), || of_all(kind::OPEN)).is_ok()
            && Self::switch_now(held, home, route.fork(), &of_comm(kind::SWITCH, comm, route))
    }

    /// Sends SWITCH for all messages to a process, so that they take several FIFOs, once more than one thread sends.
    /// `false`: that is not due, or there is no room now. Under the lock of the first FIFO's CRI.
    #[cold]
    fn switch_all(&self, held: &mut CriGuard<'_>, base: &Peer) -> bool {
        if !self.is_crowd(held.entry()) {
            return false;
        }
        // Answers may come on any FIFO as soon as the peer has seen it.
        self.widen();
        Self::switch_now(held, base, base.base().switch(), &of_all(kind::SWITCH))
    }

    /// Sends a SWITCH header on the first FIFO and notes it in `switch`. `false`: messages wait for room there, or the
    /// transport has none.
    fn switch_now(held: &mut CriGuard<'_>, first: &Peer, switch: &Switch, header: &Header) -> bool {
        let flow = first.flow(held);
        let clear = !flow.is_failed() && flow.is_clear();
        let passed = clear && first.transmit(held, &Parcel::header_only(header)).is_ok();
        if passed {
            // SYNC POINT with `enter_flow` and `enter_stream`.
            switch.begin(first.ctx());
        }
        passed
    }

    /// Whether a message may be matched as it comes because the program allowed overtaking. Never for the library's own
    /// (negative) tags, whose messages keep their order.
    fn may_overtake(comm: &Comm, tag: i32) -> bool {
        tag >= 0 && comm.asserts(assert_flag::ALLOW_OVERTAKING)
    }

    /// Whether the FIFO of a message follows from communicator and tag.
    #[inline(never)]
    fn is_stream(&self, comm: &Comm, tag: i32) -> bool {
        self.instance().assignment() == Assignment::Stream && !Self::may_overtake(comm, tag)
    }

    /// The number of the FIFO of a message where it does not follow from the tag: the next in rotation, the rank's
    /// preferred one, or that of the thread.
    #[inline(never)]
    fn any_fifo(&self, entry: &Entry, (comm, route, base): (&Comm, &Route, &Peer), about: Sending) -> u32 {
        let width = base.base().width();
        match self.instance().assignment() {
            Assignment::RoundRobin => self.rotation.0.fetch_add(1, Ordering::Relaxed) % width,
            _ => {
                let own = || own_fifo(entry, width);
                comm.fifos().preferred(width).or_else(own).unwrap_or_else(|| route.fifo(about.tag, width))
            }
        }
    }

    /// The place in the order of a message that takes any FIFO: its number, or [`FREE`] if it may overtake. Under the
    /// lock of that FIFO's CRI.
    #[inline(never)]
    fn any_order(&self, comm: &Comm, route: &Route, about: Sending) -> u64 {
        match self.instance().assignment() {
            _ if Self::may_overtake(comm, about.tag) => FREE,
            _ if about.number != 0 => about.number,
            _ => route.next_number(),
        }
    }

    /// Takes the lock of a CRI for a send, and notes the thread as its holder, since answers to the send come on this
    /// CRI.
    #[inline(always)]
    fn take_cri<'a>(&'a self, entry: &'a mut Entry, ctx: u32) -> CriGuard<'a> {
        let number = number_of(entry);
        let held = self.instance().hold(entry, ctx);
        self.instance().host().cri(ctx).count_holder(number);
        held
    }

    /// The CRI on which a thread looks first for the messages that its receive of this source and tag fits, and whether
    /// that stays so as long as the communicator's epoch ([`Comm::epoch`]).
    #[inline(always)]
    pub fn first_look(&self, entry: &Entry, comm: &Comm, (source, tag): (i32, i32)) -> (u32, bool) {
        if !comm.by_tag() {
            (self.first_look_at_any(&entry.seen(), comm, tag), false)
        } else if comm.is_forked(source) {
            (comm.fifos().of_tag(tag, self.instance().width()), source >= 0)
        } else {
            (comm.fifos().home(self.instance().width()), source >= 0 && !comm.fifos().prefers())
        }
    }

    /// The CRI on which a thread looks first where FIFOs of messages do not follow from their tags.
    #[inline(never)]
    fn first_look_at_any(&self, entry: &Entry, comm: &Comm, tag: i32) -> u32 {
        match self.instance().assignment() {
            Assignment::Stream => comm.fifos().of_tag(tag, self.instance().width()),
            Assignment::Dedicated if comm.fifos().prefers() => comm.fifos().home(self.instance().width()),
            _ => own_fifo(entry, self.instance().width()).unwrap_or(FIFO),
        }
    }

    /// The header flag (stamp, number or none) and the order key that tell the receiver a message's place in the order.
    #[inline(always)]
    pub fn order_words(peer: &Peer, order: u64) -> (u8, u64) {
        match order {
            0 | FREE => (0, 0),
            _ if peer.base().has_stamps() => (flag::STAMPED, order),
            _ => (flag::NUMBERED, order),
        }
    }

    /// The number that a message must keep when it is sent later, or 0 if its place in the order is a stamp or free.
    #[inline(always)]
    pub fn number_of(peer: &Peer, order: u64) -> u64 {
        if peer.base().has_stamps() || order == FREE { 0 } else { order }
    }

    /// Notes that messages may come on all CRIs from now on, and has the host activate these.
    pub fn widen(&self) {
        if !self.wide.swap(true, Ordering::Relaxed) {
            self.instance().host().activate(self.instance().width() - 1);
        }
    }

    /// The value of `senders` once several threads have sent something.
    const CROWD: u32 = u32::MAX;

    /// Whether messages may come on all FIFOs.
    #[inline(always)]
    pub fn is_wide(&self) -> bool {
        self.wide.load(Ordering::Relaxed)
    }

    /// Whether the thread with this number is the only one that has sent something, as far as is known.
    #[inline(always)]
    pub fn is_only_sender(&self, thread: u32) -> bool {
        self.senders.load(Ordering::Relaxed) == thread + 1
    }

    /// Gives the stamp of the next message. `lease`: the calling thread's.
    #[inline(always)]
    pub fn stamp(&self, lease: Option<&Lease>) -> u64 {
        self.clock.stamp(lease)
    }

    /// Whether more than one thread has sent something; notes the calling thread as a sender.
    fn is_crowd(&self, entry: &Entry) -> bool {
        let Some(me) = entry.context().map(|thread| thread.index + 1) else { return false };
        match self.senders.load(Ordering::Relaxed) {
            Self::CROWD => return true,
            who if who == me => return false,
            0 if self.senders.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed).is_ok() => {
                return false;
            }
            _ => self.senders.store(Self::CROWD, Ordering::Relaxed),
        }
        true
    }

    /// Sends OPEN of a switch if the FIFO needs it. Messages may follow only if this returns OK; NO_RESOURCE: there was
    /// no room.
    #[inline(always)]
    fn open(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        switch: &Switch,
        header: impl FnOnce() -> Header,
    ) -> Status {
        if !switch.needs_open(peer.ctx()) {
            return Status::OK;
        }
        let status = peer.transmit(held, &Parcel::header_only(&header()));
        if status.is_ok() {
            switch.opened(peer.ctx());
        }
        status
    }

    /// Sends the OPENs that must be in front of a message of this communicator on this FIFO: that of all messages, and
    /// that of the communicator's. The message may follow only if this returns OK.
    #[inline(always)]
    pub fn open_switches(&self, held: &mut CriGuard<'_>, peer: &Peer, comm: &Comm, route: &Route) -> Status {
        let status = self.open(held, peer, peer.base().switch(), || of_all(kind::OPEN));
        if !status.is_ok() {
            return status;
        }
        self.open(held, peer, route.fork(), || of_comm(kind::OPEN, comm, route))
    }
}
