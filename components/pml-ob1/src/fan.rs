//! From one FIFO to several: when a sender spreads its messages, and how the receiver keeps their order.
//!
//! **The sender.** A process sends everything to a peer on FIFO 0 until a second thread of it sends, and
//! both sides have several CRIs. Then it puts MARK into FIFO 0, under that CRI's lock and only while nothing
//! waits for room there, and sets `spread`. Whoever has chosen FIFO 0 before looks at `spread` again under
//! the lock, so nothing without stamp is behind MARK. From then on the FIFO is that of (communicator,
//! tag), and messages have stamps; or that of the thread, or the next, and they have numbers (`numbered.rs`). The
//! first thing on each other FIFO is OPEN.
//!
//! **The receiver.** What a FIFO brings behind OPEN must not be matched before everything in front of MARK.
//! So a CRI that finds OPEN of a process whose MARK has not been seen keeps that and all that follows from
//! there (*early*), and handles it once MARK was: at its next turn, or at the next message. A process that
//! has seen a MARK is *wide*: it progresses all its CRIs, and takes locks whatever its thread level, because
//! the matching of stamped messages needs the ways of several threads.
//!
//! **Back-pressure.** A send that finds no room waits in its FIFO's queue, and the call may return. Later messages
//! on other FIFOs do not wait for it: what one thread has no room for is no matter of another. But a receiver with
//! MPI_ANY_TAG must not match them before it. So the receiver is told the stamp of the oldest message that waits in
//! any of the queues, before the call that put it there returns (`Peer::queue_changed`), and matches nothing that
//! is younger with MPI_ANY_TAG (`ordered.rs`). Of messages with numbers it needs to be told nothing.

use crate::comm::{Comm, Route};
use crate::guarded::{FIFO, Held};
use crate::module::Ob1;
use crate::numbered::Assignment;
use crate::orphan::Orphan;
use crate::peer::{Peer, header_only};
use crate::pool::{lease_of, seat_of};
use crate::wire::{self, Header, flag, kind};
use core::sync::atomic::Ordering;
use oxmpi_mca::{Status, ThreadCtx};
use oxmpi_pml::assert_flag;

/// Place in the order of a message that has none: it goes on any FIFO and is matched when it comes.
pub const FREE: u64 = u64::MAX;

/// What the choice of a FIFO asks about a message.
#[derive(Clone, Copy)]
pub struct Sending {
    pub tag: i32,
    pub thread: *mut ThreadCtx,
    /// The number it has already, or 0.
    pub number: u64,
}

/// The number of a thread; the largest if that is not known.
#[inline(always)]
pub fn number_of(thread: *mut ThreadCtx) -> u32 {
    // SAFETY: the host passes a live context or null.
    unsafe { thread.as_ref() }.map_or(u32::MAX, |t| t.index)
}

/// The FIFO of a thread, by its number: threads that end leave theirs to those that come.
fn own_fifo(thread: *mut ThreadCtx, width: u32) -> Option<u32> {
    // SAFETY: the host passes a live context or null.
    unsafe { thread.as_ref() }.map(|t| t.index % width)
}

fn bare(kind: u8) -> Header {
    Header::new(&[wire::head(kind, 0, 0, 0)])
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
        let by_tag = comm.by_tag();
        let ctx =
            if by_tag { comm.fifo(about.tag, base.base.width) } else { self.any_fifo(comm, base, about) };
        let peer = if ctx == FIFO { base } else { self.flow_of(base, ctx, true)? };
        if by_tag {
            base.base.go_this_way(comm.tag_shard(about.tag), peer);
        }
        let held = self.take_cri(ctx, about.thread);
        let order = if by_tag {
            self.clock.stamp(lease_of(about.thread))
        } else {
            self.any_order(comm, route, about)
        };
        Ok((held, peer, order))
    }

    /// The message is matched when it comes. The library's own messages keep their order in any case.
    fn may_overtake(comm: &Comm, tag: i32) -> bool {
        tag >= 0 && comm.asserts(assert_flag::ALLOW_OVERTAKING)
    }

    /// The FIFO where it does not follow from the tag.
    #[inline(never)]
    fn any_fifo(&self, comm: &Comm, base: &Peer, about: Sending) -> u32 {
        let width = base.base.width;
        match self.assignment {
            Assignment::Stream if !Self::may_overtake(comm, about.tag) => comm.fifo(about.tag, width),
            Assignment::RoundRobin => self.rotation.0.fetch_add(1, Ordering::Relaxed) % width,
            _ => own_fifo(about.thread, width).unwrap_or_else(|| comm.fifo(about.tag, width)),
        }
    }

    /// The place in the order there, under the lock of that FIFO's CRI.
    #[inline(never)]
    fn any_order(&self, comm: &Comm, route: &Route, about: Sending) -> u64 {
        match self.assignment {
            _ if Self::may_overtake(comm, about.tag) => FREE,
            Assignment::Stream => self.clock.stamp(lease_of(about.thread)),
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

    /// Where a thread looks first for what it receives.
    #[inline(always)]
    pub fn first_look(&self, comm: &Comm, tag: i32, thread: *mut ThreadCtx) -> u32 {
        if comm.by_tag() { comm.fifo(tag, self.width()) } else { self.first_look_at_any(comm, tag, thread) }
    }

    #[inline(never)]
    fn first_look_at_any(&self, comm: &Comm, tag: i32, thread: *mut ThreadCtx) -> u32 {
        match self.assignment {
            Assignment::Stream => comm.fifo(tag, self.width()),
            _ => own_fifo(thread, self.width()).unwrap_or(FIFO),
        }
    }

    /// The flag and the order key that say a message's place in the order to its receiver.
    #[inline(always)]
    pub fn order_words(&self, order: u64) -> (u8, u64) {
        match order {
            0 | FREE => (0, 0),
            _ if self.assignment == Assignment::Stream => (flag::STAMPED, order),
            _ => (flag::NUMBERED, order),
        }
    }

    /// The number that a message must keep, if its place in the order is one.
    #[inline(always)]
    pub fn number_of(&self, order: u64) -> u64 {
        if self.assignment == Assignment::Stream || order == FREE { 0 } else { order }
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
            (0..self.width()).for_each(|ctx| self.host.cri(ctx).active.store(1, Ordering::Relaxed));
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
    pub fn open_flow(&self, held: &Held<'_>, peer: &Peer) -> Status {
        if peer.opened.get() {
            return Status::OK;
        }
        let status = peer.transmit(held, &header_only(&bare(kind::OPEN)));
        peer.opened.set(status.is_ok());
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

    /// Handles what came early and is in its place now.
    #[cold]
    pub fn take_early(&self, held: &Held<'_>) {
        let all = self.cri(held.ctx).early.with(held, core::mem::take);
        if all.is_empty() {
            return;
        }
        let (early, due): (Vec<_>, Vec<_>) = all.into_iter().partition(|o| self.is_early(o.proc));
        if early.is_empty() {
            self.watchful.fetch_sub(1, Ordering::Relaxed);
        }
        self.cri(held.ctx).early.with(held, |e| *e = early);
        for message in due {
            self.handle(held, &message.bytes, message.proc);
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
