//! From one FIFO to several: when a sender spreads its messages, and how the receiver keeps their order.
//!
//! **The sender.** A process sends everything to a peer on FIFO 0 until a second thread of it sends, and
//! both sides have several CRIs. Then it puts MARK into FIFO 0, under that CRI's lock and only while nothing
//! waits for room there, and sets `spread`. A thread that has chosen FIFO 0 before looks at `spread` again under the lock, so nothing
//! without stamp is behind MARK. From then on the FIFO is that of (communicator, tag), or of the communicator while one thread uses
//! it (`fork.rs`), and messages have stamps; or that of the thread, or the next, and they have numbers (`numbered.rs`). Stamps need a
//! transport whose messages are seen as soon as they are sent: over others, such as networks, messages have numbers whatever chooses
//! their FIFO. The first thing on each other FIFO is OPEN.
//!
//! **The receiver.** Messages that a FIFO brings behind OPEN must not be matched before everything in front of MARK.
//! So a CRI that finds OPEN of a process whose MARK has not been seen keeps that and all that follows from there
//! (*early*), and handles it once MARK was: at its next turn, or at the next message. So it does with BRANCH of a
//! communicator whose FORK has not been seen (`fork.rs`). A process that has seen a MARK is *wide*: it progresses all
//! its CRIs, and takes locks whatever its thread level, because the matching of stamped messages needs the ways of
//! several threads.
//!
//! **Back-pressure.** A send that finds no room waits in its FIFO's queue, and the call may return. Later messages
//! on other FIFOs do not wait for it: what one thread has no room for is no matter of another. But a receiver with
//! MPI_ANY_TAG must not match them before it. So the receiver is told the stamp of the oldest message that waits in
//! any of the queues, before the call that put it there returns (`Peer::queue_changed`), and matches nothing that
//! is younger with MPI_ANY_TAG (`ordered.rs`). Of messages with numbers it needs to be told nothing.

use crate::state::comm::Found;
use crate::state::fifos::FIFO;
use crate::state::guarded::Held;
use crate::state::inbound::Assignment;
use crate::state::instance::Ob1;
use crate::state::lanes::{lease_of, number_of, seat_of};
use crate::state::objects::{Comm, Peer, Route};
use crate::state::orphan::Orphan;
use crate::wire::{self, FREE, Header, Reader, flag, header_only, kind};
use core::sync::atomic::Ordering;
use oxmpi_mca::{Status, ThreadCtx};
use oxmpi_pml::assert_flag;
use std::collections::HashSet;

/// The choice of a FIFO's questions about a message.
#[derive(Clone, Copy)]
pub struct Sending {
    pub tag: i32,
    pub thread: *mut ThreadCtx,
    /// The number it has already, or 0.
    pub number: u64,
}

/// The FIFO of a thread, by its number: threads that end leave theirs to those that come.
fn own_fifo(thread: *mut ThreadCtx, width: u32) -> Option<u32> {
    // SAFETY: the host passes a live context or null.
    unsafe { thread.as_ref() }.map(|t| t.index % width)
}

fn bare(kind: u8) -> Header {
    Header::new(&[wire::head(kind, 0, 0, 0)])
}

/// One that names a communicator by the index its receiver has for it, and the rank that sends.
fn about_route(kind: u8, comm: &Comm, head: u64) -> Header {
    Header::new(&[head & !0xffff | kind as u64, wire::source_tag(comm.my_rank, 0)])
}

/// The meaning of a rank that a message names within a communicator.
enum Named<'a> {
    Rank(&'a Comm, i32),
    /// A communicator that we have not been given yet.
    NotYet,
    Gone,
    Nonsense,
}

impl Ob1 {
    /// The FIFO of a message, locked, and the message's place in the order: 0 while there is one FIFO, else its
    /// stamp, its number, or [`FREE`]. `number`: the one it has already, or 0. With threads.
    #[inline(always)]
    pub fn enter_flow<'a>(
        &'a self,
        comm: &Comm,
        route: &Route,
        base: &'a Peer,
        about: Sending,
    ) -> Result<(Held<'a>, &'a Peer, u64), Status> {
        if base.base.width == 1 {
            return Ok((self.hold(FIFO, seat_of(about.thread), true), base, 0));
        }
        // SYNC POINT with `spread_now`.
        if !base.base.spread.is_passed() {
            let held = self.hold(FIFO, seat_of(about.thread), true);
            if !base.base.spread.is_passed_under_lock() && !self.spread_now(&held, base, about.thread) {
                return Ok((held, base, 0));
            }
        }
        if comm.by_tag() || self.is_stream(comm, about.tag) {
            let (held, peer) = self.enter_stream(comm, route, base, about)?;
            // Where a message may be out of its receiver's sight for a while stamps would not do.
            let order = match base.base.stamps {
                true => self.clock.stamp(lease_of(about.thread)),
                false if about.number != 0 => about.number,
                false => route.next_number(),
            };
            return Ok((held, peer, order));
        }
        let ctx = self.any_fifo(comm, route, base, about);
        let peer = self.flow_on(base, ctx)?;
        Ok((self.take_cri(ctx, about.thread), peer, self.any_order(comm, route, about)))
    }

    fn flow_on<'a>(&'a self, base: &'a Peer, ctx: u32) -> Result<&'a Peer, Status> {
        if ctx == FIFO { Ok(base) } else { self.flow_of(base, ctx, true) }
    }

    /// The FIFO that follows from communicator and tag, locked (`fork.rs`).
    fn enter_stream<'a>(
        &'a self,
        comm: &Comm,
        route: &Route,
        base: &'a Peer,
        about: Sending,
    ) -> Result<(Held<'a>, &'a Peer), Status> {
        let width = base.base.width;
        // SYNC POINT with `fork_now`.
        if !route.fork.is_by_tag() {
            let home = self.flow_on(base, route.home(width))?;
            base.base.go_this_way(route.home_shard(), home);
            // Those of a rank that prefers a CRI stay there: the others are somebody else's.
            let part = about.tag >= 0 && !comm.fifos.prefers() && self.parts(comm, route, about);
            let held = self.take_cri(home.ctx, about.thread);
            if route.fork.may_go(false, home.ctx) && !(part && self.fork_now(&held, comm, route, home)) {
                return Ok((held, home));
            }
        }
        let peer = self.flow_on(base, route.fifo(about.tag, width))?;
        base.base.go_this_way(route.tag_shard(about.tag), peer);
        Ok((self.take_cri(peer.ctx, about.thread), peer))
    }

    /// Whether the threads that send on a communicator are better off with a FIFO for each tag.
    #[inline(never)]
    fn parts(&self, comm: &Comm, route: &Route, about: Sending) -> bool {
        let (thread, shard) = (number_of(about.thread), route.tag_shard(about.tag));
        comm.users.part(thread, shard, self.config.fork_turns, || self.born.elapsed().as_millis() as u32)
    }

    /// Lets the messages of a communicator part, if that is possible now.
    #[cold]
    fn fork_now(&self, held: &Held<'_>, comm: &Comm, route: &Route, home: &Peer) -> bool {
        let head = route.head.load(Ordering::Relaxed);
        let knows_index = wire::flags_of(head) & flag::CID == 0;
        if !knows_index || home.failed.get() || home.queued.get() != 0 || !self.open_flow(held, home).is_ok()
        {
            return false;
        }
        if !home.transmit(held, &header_only(&about_route(kind::FORK, comm, head))).is_ok() {
            return false;
        }
        // SYNC POINT with `enter_stream`.
        route.fork.begin(home.ctx);
        true
    }

    /// The message is matched when it comes. The library's own messages keep their order in any case.
    fn may_overtake(comm: &Comm, tag: i32) -> bool {
        tag >= 0 && comm.asserts(assert_flag::ALLOW_OVERTAKING)
    }

    /// The message's FIFO follows from communicator and tag.
    #[inline(never)]
    fn is_stream(&self, comm: &Comm, tag: i32) -> bool {
        self.assignment == Assignment::Stream && !Self::may_overtake(comm, tag)
    }

    /// The FIFO where it does not follow from the tag.
    #[inline(never)]
    fn any_fifo(&self, comm: &Comm, route: &Route, base: &Peer, about: Sending) -> u32 {
        let width = base.base.width;
        match self.assignment {
            Assignment::RoundRobin => self.rotation.0.fetch_add(1, Ordering::Relaxed) % width,
            _ => {
                let own = || own_fifo(about.thread, width);
                comm.fifos.preferred(width).or_else(own).unwrap_or_else(|| route.fifo(about.tag, width))
            }
        }
    }

    /// The place in the order there, under the lock of that FIFO's CRI.
    #[inline(never)]
    fn any_order(&self, comm: &Comm, route: &Route, about: Sending) -> u64 {
        match self.assignment {
            _ if Self::may_overtake(comm, about.tag) => FREE,
            _ if about.number != 0 => about.number,
            _ => route.next_number(),
        }
    }

    /// The lock of a CRI for a send; what answers to it comes there, too.
    #[inline(always)]
    fn take_cri(&self, ctx: u32, thread: *mut ThreadCtx) -> Held<'_> {
        let held = self.hold(ctx, seat_of(thread), true);
        self.host.cri(ctx).count_holder(number_of(thread));
        held
    }

    /// Where a thread looks first for what it receives, and whether that is so as long as the communicator's epoch
    /// ([`Comm::epoch`]).
    #[inline(always)]
    pub fn first_look(&self, comm: &Comm, (source, tag): (i32, i32), thread: *mut ThreadCtx) -> (u32, bool) {
        if !comm.by_tag() {
            (self.first_look_at_any(comm, tag, thread), false)
        } else if comm.is_forked(source) {
            (comm.fifos.of_tag(tag, self.width()), source >= 0)
        } else {
            (comm.fifos.home(self.width()), source >= 0 && !comm.fifos.prefers())
        }
    }

    #[inline(never)]
    fn first_look_at_any(&self, comm: &Comm, tag: i32, thread: *mut ThreadCtx) -> u32 {
        match self.assignment {
            Assignment::Stream => comm.fifos.of_tag(tag, self.width()),
            Assignment::Dedicated if comm.fifos.prefers() => comm.fifos.home(self.width()),
            _ => own_fifo(thread, self.width()).unwrap_or(FIFO),
        }
    }

    /// The flag and the order key that say a message's place in the order to its receiver.
    #[inline(always)]
    pub fn order_words(peer: &Peer, order: u64) -> (u8, u64) {
        match order {
            0 | FREE => (0, 0),
            _ if peer.base.stamps => (flag::STAMPED, order),
            _ => (flag::NUMBERED, order),
        }
    }

    /// The number that a message must keep, if its place in the order is one.
    #[inline(always)]
    pub fn number_of(peer: &Peer, order: u64) -> u64 {
        if peer.base.stamps || order == FREE { 0 } else { order }
    }

    /// Goes over to several FIFOs, if that is due and possible now.
    #[cold]
    fn spread_now(&self, held: &Held<'_>, base: &Peer, thread: *mut ThreadCtx) -> bool {
        if !self.is_crowd(thread) || base.failed.get() || base.queued.get() != 0 {
            return false;
        }
        self.widen();
        if !base.transmit(held, &header_only(&bare(kind::MARK))).is_ok() {
            return false;
        }
        // SYNC POINT with `enter_flow`.
        base.base.spread.pass();
        true
    }

    /// From now on messages may come on all CRIs.
    fn widen(&self) {
        if !self.wide.swap(true, Ordering::Relaxed) {
            self.host.activate(self.width() - 1);
        }
    }

    /// Whether more than one thread has sent something.
    fn is_crowd(&self, thread: *mut ThreadCtx) -> bool {
        // SAFETY: the host passes a live context or null.
        let Some(me) = (unsafe { thread.as_ref() }).map(|t| t.index + 1) else { return false };
        match self.senders.load(Ordering::Relaxed) {
            Ob1::CROWD => return true,
            who if who == me => return false,
            0 if self.senders.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed).is_ok() => {
                return false;
            }
            _ => self.senders.store(Ob1::CROWD, Ordering::Relaxed),
        }
        true
    }

    /// Sends OPEN if that is due. Only OK means that messages may follow.
    #[inline(always)]
    fn open_flow(&self, held: &Held<'_>, peer: &Peer) -> Status {
        if peer.opened.get() {
            return Status::OK;
        }
        let status = peer.transmit(held, &header_only(&bare(kind::OPEN)));
        peer.opened.set(status.is_ok());
        status
    }

    /// Sends what must be in front of a message of this communicator: OPEN, BRANCH. Only OK means that it may follow.
    #[inline(always)]
    pub fn open_way(&self, held: &Held<'_>, peer: &Peer, comm: &Comm, route: &Route) -> Status {
        let status = self.open_flow(held, peer);
        if !status.is_ok() || !route.fork.needs_branch(peer.ctx) {
            return status;
        }
        let head = route.head.load(Ordering::Relaxed);
        let status = peer.transmit(held, &header_only(&about_route(kind::BRANCH, comm, head)));
        if status.is_ok() {
            route.fork.branched(peer.ctx);
        }
        status
    }

    pub fn on_mark(&self, held: &Held<'_>, proc: u32) {
        match self.peer(proc, held.threaded) {
            Ok(peer) if held.ctx == FIFO && peer.base.width_in > 1 => {
                // SYNC POINT with `is_early`: everything in front of it has been handled.
                peer.base.marked.pass();
                self.widen();
                self.take_care();
            }
            _ => self.bad_header(held, proc, "a MARK where there is one FIFO, or on another one"),
        }
    }

    pub fn on_open(&self, held: &Held<'_>, data: &[u8], proc: u32) {
        match self.peer(proc, held.threaded) {
            Ok(peer) if peer.base.width_in > held.ctx => {
                if !peer.base.marked.is_passed() {
                    self.keep_early(held, data, proc);
                }
            }
            _ => self.bad_header(held, proc, "a FIFO that it does not have"),
        }
    }

    /// The subject of FORK and BRANCH.
    fn named(&self, held: &Held<'_>, data: &[u8], proc: u32) -> Named<'_> {
        let mut r = Reader::new(data);
        let (Some(head), Some(word)) = (r.word(), r.word()) else { return Named::Nonsense };
        if !self.peer(proc, held.threaded).is_ok_and(|peer| peer.base.width_in > held.ctx.max(1)) {
            return Named::Nonsense;
        }
        match self.comms.with(held, |t| t.find(head)) {
            Found::Comm(comm) if comm.is_from(wire::source_of(word), proc) => {
                Named::Rank(comm, wire::source_of(word))
            }
            Found::NotYet => Named::NotYet,
            Found::Gone => Named::Gone,
            Found::Comm(_) | Found::Nonsense => Named::Nonsense,
        }
    }

    /// `data`: the message.
    pub fn on_fork(&self, held: &Held<'_>, data: &[u8], proc: u32) {
        match self.named(held, data, proc) {
            Named::Rank(comm, source) => comm.fork_from(self, source),
            Named::NotYet => self.keep_orphan(held, proc, data),
            Named::Gone => {}
            Named::Nonsense => self.bad_header(held, proc, "a FORK where nothing forks"),
        }
    }

    /// `data`: the message.
    pub fn on_branch(&self, held: &Held<'_>, data: &[u8], proc: u32) {
        match self.named(held, data, proc) {
            // SYNC POINT with `on_fork`: everything in front of it has been handled.
            Named::Rank(comm, source) if comm.is_forked(source) => {}
            Named::Rank(..) | Named::NotYet => self.keep_early(held, data, proc),
            Named::Gone => {}
            Named::Nonsense => self.bad_header(held, proc, "a BRANCH where nothing forks"),
        }
    }

    /// Whether a message that came early may be handled now, as far as it says so itself.
    fn is_due(&self, held: &Held<'_>, message: &Orphan) -> bool {
        match message.bytes.first() {
            Some(&kind::OPEN) => !self.is_early(message.proc),
            Some(&kind::BRANCH) => match self.named(held, &message.bytes, message.proc) {
                Named::Rank(comm, source) => comm.is_forked(source),
                Named::NotYet => false,
                Named::Gone | Named::Nonsense => true,
            },
            _ => true,
        }
    }

    fn is_early(&self, proc: u32) -> bool {
        let slot = self.peers.get(proc as usize).map(|s| s.load(Ordering::Acquire));
        // SYNC POINT with `on_mark`.
        // SAFETY: peers stay until `finalize`.
        slot.and_then(|p| unsafe { p.as_ref() }).is_none_or(|p| !p.base.marked.is_passed())
    }

    fn keep_early(&self, held: &Held<'_>, data: &[u8], proc: u32) {
        let first = self.cri(held.ctx).early.with(held, |early| {
            early.push(Orphan { proc, bytes: data.into() });
            early.len() == 1
        });
        if first {
            self.watchful.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Handles what came early and is in its place now; returns how many messages.
    #[cold]
    pub fn take_early(&self, held: &Held<'_>) -> usize {
        let all = self.cri(held.ctx).early.with(held, core::mem::take);
        if all.is_empty() {
            return 0;
        }
        let mut waiting = HashSet::new();
        let (early, due): (Vec<_>, Vec<_>) = all.into_iter().partition(|message| {
            let early = waiting.contains(&message.proc) || !self.is_due(held, message);
            if early {
                waiting.insert(message.proc);
            }
            early
        });
        if early.is_empty() {
            self.watchful.fetch_sub(1, Ordering::Relaxed);
        }
        self.cri(held.ctx).early.with(held, |e| *e = early);
        for message in &due {
            // Not by `handle`: what is early of the same process is behind it.
            self.handle_in_turn(held, &message.bytes, message.proc);
        }
        due.len()
    }

    /// A message in front of all that is early of its process.
    pub fn handle_in_turn(&self, held: &Held<'_>, data: &[u8], proc: u32) {
        if self.is_closed(proc) {
        } else if self.timing.load(Ordering::Relaxed) {
            self.handle_timed(held, data, proc);
        } else {
            self.handle_now::<false>(held, data, proc);
        }
    }

    /// A message came while some are looked at closer. True: it is not to be handled now, or was.
    #[cold]
    pub fn intercept(&self, held: &Held<'_>, data: &[u8], proc: u32) -> bool {
        if self.is_closed(proc) {
            return true;
        }
        let kept = |early: &mut Vec<Orphan>| early.iter().any(|o| o.proc == proc);
        if self.cri(held.ctx).early.with(held, kept) {
            self.take_early(held);
            if self.cri(held.ctx).early.with(held, kept) {
                self.keep_early(held, data, proc);
                return true;
            }
        }
        let timed = self.timing.load(Ordering::Relaxed);
        if timed {
            self.handle_timed(held, data, proc);
        }
        timed
    }
}
