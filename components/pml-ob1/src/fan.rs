//! From one FIFO to several: when a sender spreads its messages, and how the receiver keeps their order.
//!
//! **The sender.** A process sends everything to a peer on FIFO 0 until a second thread of it sends, and
//! both sides have several CRIs. Then it puts MARK into FIFO 0, under that CRI's lock and only while nothing
//! waits for room there, and sets `spread`. Whoever has chosen FIFO 0 before looks at `spread` again under
//! the lock, so nothing without stamp is behind MARK. From then on the FIFO is that of (communicator,
//! tag), and messages have stamps. The first thing on each other FIFO is OPEN.
//!
//! **The receiver.** What a FIFO brings behind OPEN must not be matched before everything in front of MARK.
//! So a CRI that finds OPEN of a process whose MARK has not been seen keeps that and all that follows from
//! there (*early*), and handles it once MARK was: at its next turn, or at the next message. A process that
//! has seen a MARK is *wide*: it progresses all its CRIs, and takes locks whatever its thread level, because
//! the matching of stamped messages needs the ways of several threads.
//!
//! **Back-pressure.** A send that finds no room waits in its FIFO's queue, and the call may return. A later
//! message must then not be visible before it, on whatever FIFO: the receiver could match it with
//! MPI_ANY_TAG. Each queue publishes the stamp of its oldest message, and a message goes out only when no
//! other queue to that process has an older one (`Peer::must_wait`). The oldest of all never waits for
//! another, so there is always one that moves.

use crate::comm::Comm;
use crate::guarded::{FIFO, Held};
use crate::module::Ob1;
use crate::orphan::Orphan;
use crate::peer::{Peer, header_only};
use crate::wire::{self, Header, kind};
use core::sync::atomic::Ordering;
use oxmpi_mca::{Status, ThreadCtx};

fn bare(kind: u8) -> Header {
    Header::new(&[wire::head(kind, 0, 0, 0)])
}

impl Ob1 {
    /// The FIFO of a message, locked, and the message's stamp, or 0 while there is one FIFO. With threads.
    #[inline(always)]
    pub fn enter_flow<'a>(
        &'a self,
        comm: &Comm,
        base: &'a Peer,
        tag: i32,
        thread: *mut ThreadCtx,
    ) -> Result<(Held<'a>, &'a Peer, u64), Status> {
        if base.base.width == 1 {
            return Ok((Held::take(&self.host, FIFO, true), base, 0));
        }
        // SYNC POINT with `spread_now`.
        if !base.base.spread.load(Ordering::Acquire) {
            let held = Held::take(&self.host, FIFO, true);
            if !base.base.spread.load(Ordering::Relaxed) && !self.spread_now(&held, base, thread) {
                return Ok((held, base, 0));
            }
        }
        let ctx = comm.fifo(tag, base.base.width);
        let peer = if ctx == FIFO { base } else { self.flow_of(base, ctx, true)? };
        let held = Held::take(&self.host, ctx, true);
        Ok((held, peer, self.clock.stamp()))
    }

    /// Goes over to several FIFOs, if that is due and possible now.
    #[cold]
    fn spread_now(&self, held: &Held<'_>, base: &Peer, thread: *mut ThreadCtx) -> bool {
        if !self.is_crowd(thread) || base.failed.get() || base.queued.get() != 0 {
            return false;
        }
        self.wide.store(true, Ordering::Relaxed);
        if !base.transmit(held, &header_only(&bare(kind::MARK))).is_ok() {
            return false;
        }
        // SYNC POINT with `enter_flow`.
        base.base.spread.store(true, Ordering::Release);
        true
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
            Ok(peer) if held.ctx == FIFO && peer.base.width > 1 => {
                // SYNC POINT with `is_early`: everything in front of it has been handled.
                peer.base.marked.store(true, Ordering::Release);
                self.wide.store(true, Ordering::Relaxed);
                self.take_care();
            }
            _ => self.bad_header(held, proc, "a MARK where there is one FIFO, or on another one"),
        }
    }

    pub fn on_open(&self, held: &Held<'_>, data: &[u8], proc: u32) {
        match self.peer(proc, held.threaded) {
            Ok(peer) if peer.base.width > held.ctx => {
                if !peer.base.marked.load(Ordering::Acquire) {
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
        slot.and_then(|p| unsafe { p.as_ref() }).is_none_or(|p| !p.base.marked.load(Ordering::Acquire))
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

    /// A message came while some are looked at closer. True: it is not to be handled now.
    #[cold]
    pub fn intercept(&self, held: &Held<'_>, data: &[u8], proc: u32) -> bool {
        if self.is_closed(proc) {
            return true;
        }
        let kept = |early: &mut Vec<Orphan>| early.iter().any(|o| o.proc == proc);
        if !self.cri(held.ctx).early.with(held, kept) {
            return false;
        }
        self.take_early(held);
        let still = self.cri(held.ctx).early.with(held, kept);
        if still {
            self.keep_early(held, data, proc);
        }
        still
    }
}
