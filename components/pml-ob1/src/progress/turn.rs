//! A turn of one CRI whose lock is held: arrivals, lost peers, and what waits for room; and what arrivals leave to be done without a lock.

use crate::ob1::Ob1;
use crate::peers::peer::Peer;
use crate::requests::thread_state::{number_of, seat_of};
use crate::requests::work::Work;
use crate::state::guarded::Held;
use core::sync::atomic::Ordering;
use oxmpi_mca::{Status, ThreadCtx};

/// Turns with events that a CRI may have before the next one gets its turn in any case.
const TURNS_IN_A_ROW: u32 = 16;

impl Ob1 {
    /// How many CRIs a turn of all covers: those of messages, and those that another layer uses.
    pub fn turned(&self) -> u32 {
        let own = if self.order().is_wide() { self.instance().width() } else { 1 };
        own.max(self.instance().host().active_cris())
    }

    /// Whether CRIs beside the first are in use, by another layer or by this one.
    #[inline(always)]
    pub fn others_are_active(&self) -> bool {
        self.instance().host().num_cris() > 1
            && self.instance().host().cri(1).active.load(Ordering::Relaxed) != 0
    }

    /// Counts that the lock of a CRI was found taken.
    pub fn count_miss(&self, ctx: u32) {
        self.instance().host().cri(ctx).lock_misses.fetch_add(1, Ordering::Relaxed);
    }

    /// Does the work that arrivals leave to be done without a CRI's lock: deferred messages and owed deliveries.
    /// Returns the number of events.
    #[inline(always)]
    pub fn follow_up(&self) -> i32 {
        let mut events = 0;
        if self.receiver().has_deferred() {
            events += self.receiver().resolve_some();
        }
        if self.receiver().owes() {
            events += self.receiver().pay();
        }
        events
    }

    /// Makes a turn of one CRI if its lock is free. Returns the number of events, and whether it is time to look at the
    /// next CRI, too. `own`: the thread's messages come on it.
    pub fn poll_cri(&self, ctx: u32, thread: *mut ThreadCtx, own: bool) -> (i32, bool) {
        let Some(held) = self.instance().try_hold(ctx, seat_of(thread), true) else {
            self.count_miss(ctx);
            return (0, true);
        };
        let events = self.take_turn(&held, number_of(thread));
        let turns = &self.instance().cri(ctx).turns;
        turns.set(turns.get().wrapping_add(1));
        let tired = turns.get().is_multiple_of(TURNS_IN_A_ROW);
        if !own && events == 0 {
            held.leave_uncounted();
        }
        (events, tired)
    }

    /// Makes one turn of a CRI whose lock the thread of that number holds: takes arrivals, closes lost peers, sends
    /// what waits. Returns the number of events.
    #[inline(always)]
    pub fn take_turn(&self, held: &Held<'_>, number: u32) -> i32 {
        let cri = self.instance().host().cri(held.ctx);
        cri.count_holder(number);
        let mut events = self.instance().poll_several(held.ctx);
        events += self.go_on(held);
        cri.count_progress(events);
        events
    }

    /// Does on a CRI what a look at its transports has made possible, under its lock: handles early messages that have
    /// become due, closes lost peers, and sends what waits. Returns the number of events.
    #[inline(always)]
    pub fn go_on(&self, held: &Held<'_>) -> i32 {
        let mut events = 0;
        if self.instance().is_watchful() {
            self.receiver().take_early(held);
        }
        if self.instance().cri(held.ctx).closed.get() != self.peers().lost() {
            self.peers().close_lost(held);
        }
        if self.instance().cri(held.ctx).work.is_marked() {
            events += self.drain(held);
        }
        events
    }

    /// Continues operations whose pieces landed, and offers what waits for room to the transports again. Returns how
    /// many messages went on.
    #[inline(never)]
    pub fn drain(&self, held: &Held<'_>) -> i32 {
        let cri = self.instance().cri(held.ctx);
        let mut events = self.transfers().take_landed(held);
        if cri.work.has(Work::SWEEP) {
            self.receiver().sweep(held);
        }
        let backlog = &cri.backlog;
        for i in (0..backlog.with(held, |b| b.len())).rev() {
            let peer = backlog.with(held, |b| b[i]);
            // SAFETY: peers stay until `finalize`.
            let peer = unsafe { &*peer };
            events += self.drain_peer(held, peer);
            if peer.is_idle(held) {
                let left = backlog.with(held, |b| {
                    b.swap_remove(i);
                    b.len()
                });
                if left == 0 {
                    cri.work.unmark(Work::BACKLOG);
                }
                self.peers().forget(peer);
            }
        }
        events
    }

    /// Sends what waits for room to a peer: control messages first (others wait for them), then sends in order, then
    /// long messages. Returns how many went on.
    fn drain_peer(&self, held: &Held<'_>, peer: &Peer) -> i32 {
        let mut events = 0;
        if !self.peers().drain_control(held, peer) {
            return events;
        }
        while let Some(req) = peer.queue.with(held, |q| q.pop_front()) {
            peer.queued.set(peer.queued.get() - 1);
            match self.sender().issue(held, peer, req) {
                Status::NO_RESOURCE => {
                    req.wait_for_room();
                    peer.queue.with(held, |q| q.push_front(req));
                    peer.queued.set(peer.queued.get() + 1);
                    peer.queue_changed(held);
                    return events;
                }
                error if error.is_err() => {
                    peer.queue_changed(held);
                    self.peers().fail(held, req, Status::PEER_FAILED);
                    self.peers().peer_failed(held, peer, error);
                    return events;
                }
                _ => events += 1,
            }
        }
        // Once for all of them: as long as an older message is said to wait, the receiver is only more careful.
        peer.queue_changed(held);
        let before = peer.streams.with(held, |q| q.len());
        self.transfers().drain_streams(held, peer);
        events += before.saturating_sub(peer.streams.with(held, |q| q.len())) as i32;
        events
    }
}
