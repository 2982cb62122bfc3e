//! Progress, what waits for room, and sleeping.

use crate::biased::Who;
use crate::fan::number_of;
use crate::guarded::{AllHeld, FIFO, Held};
use crate::module::Ob1;
use crate::peer::Peer;
use crate::pool::{lane_of, seat_of};
use crate::request::State;
use core::cell::Cell;
use core::sync::atomic::Ordering;
use oxmpi_btl::{WaitWord, cap};
use oxmpi_mca::{Status, ThreadCtx};

/// Turns with events that a CRI may have before the next one gets its turn in any case.
const TURNS_IN_A_ROW: u32 = 16;

/// Turns in which a thread that finds nothing trusts the owners of CRIs to progress them.
const TURNS_OF_TRUST: u32 = 32;

/// What a thread saw of the CRIs that others own.
pub struct Care {
    idle: Cell<u32>,
    /// How often each had been progressed.
    seen: [Cell<u64>; crate::shards::MOST],
}

impl Default for Care {
    fn default() -> Care {
        Care { idle: Cell::new(0), seen: core::array::from_fn(|_| Cell::new(u64::MAX)) }
    }
}

impl Ob1 {
    /// Takes what the transports have and sends what waits. With threads, whoever does not get a
    /// lock leaves that CRI: somebody else is at it.
    #[inline(always)]
    pub fn poll(&self, thread: *mut ThreadCtx) -> i32 {
        if self.threaded() { self.poll_threaded(thread) } else { self.poll_as(None, false) }
    }
    #[inline(never)]
    pub fn poll_threaded(&self, thread: *mut ThreadCtx) -> i32 {
        if self.wide.load(Ordering::Relaxed) { self.poll_wide(thread) } else { self.poll_first(thread) }
    }

    #[inline(always)]
    pub fn poll_as(&self, who: Who, threaded: bool) -> i32 {
        let Some(held) = self.try_hold(FIFO, who, threaded) else {
            self.count_miss(FIFO);
            return 0;
        };
        let held = &held;
        // SAFETY: accepted handles live as long as the instance.
        let mut events = match unsafe { self.lone.load(Ordering::Relaxed).as_ref() } {
            Some(btl) => (btl.progress)(btl.state, FIFO),
            None => self.poll_several(FIFO),
        };
        if self.first.backlog.with(held, |b| !b.is_empty()) {
            events += self.drain(held);
        }
        if threaded {
            self.host.cri(FIFO).count_progress(events);
        }
        events
    }

    /// With threads, while messages come on one FIFO only.
    #[inline(always)]
    fn poll_first(&self, thread: *mut ThreadCtx) -> i32 {
        let who = seat_of(thread);
        if self.cri(FIFO).entrance.is_anothers(who) {
            return self.look_after_others(thread);
        }
        self.poll_as(who, true)
    }

    /// Messages may come on every CRI: the one where this thread's messages come first; if that has
    /// nothing, the others in turn until one has something. (The dissertation's Algorithm 4.) A CRI that has
    /// something every time does not keep a thread from the others for ever.
    #[inline(never)]
    fn poll_wide(&self, thread: *mut ThreadCtx) -> i32 {
        if self.one_at_a_time {
            return self.poll_serially(thread);
        }
        let width = self.width();
        // SAFETY: the host passes the context of the calling thread, or null.
        let own = unsafe { thread.as_ref() }.map_or(FIFO, |t| t.cri);
        let mut events = 0;
        let (who, mut left) = (seat_of(thread), false);
        for i in 0..width {
            let ctx = (own + i) % width;
            if self.cri(ctx).entrance.is_anothers(who) {
                left = true;
                continue;
            }
            let (more, tired) = self.poll_cri(ctx, thread, i == 0);
            events += more;
            if events > 0 && !tired {
                break;
            }
        }
        if left && events == 0 {
            events += self.look_after_others(thread);
        }
        events + self.follow_up()
    }

    /// CRIs that other threads own were left to them. From time to time a thread that has nothing else to do looks
    /// whether their owners progress them; those that do not lose them to it.
    #[inline(never)]
    fn look_after_others(&self, thread: *mut ThreadCtx) -> i32 {
        let (Some(lane), who) = (lane_of(thread), seat_of(thread)) else { return self.poll_all() };
        let Care { idle, seen } = &lane.care;
        idle.set(idle.get().wrapping_add(1));
        if !idle.get().is_multiple_of(TURNS_OF_TRUST) {
            return 0;
        }
        let mut events = 0;
        for ctx in (0..self.width()).filter(|&ctx| self.cri(ctx).entrance.is_anothers(who)) {
            let seen = &seen[ctx as usize % crate::shards::MOST];
            let turns = self.host.cri(ctx).progress_calls.load(Ordering::Relaxed);
            if seen.replace(turns) == turns {
                let held = self.hold(ctx, who, true);
                events += self.take_turn(&held, number_of(thread));
            }
        }
        events
    }

    /// Somebody else had it.
    fn count_miss(&self, ctx: u32) {
        self.host.cri(ctx).lock_misses.fetch_add(1, Ordering::Relaxed);
    }

    /// Every CRI on which something may come.
    fn poll_all(&self) -> i32 {
        if !self.wide.load(Ordering::Relaxed) {
            let held = self.hold(FIFO, None, self.threaded());
            return self.take_turn(&held, u32::MAX);
        }
        let turn = |ctx| self.take_turn(&self.hold(ctx, None, true), u32::MAX);
        let events: i32 = (0..self.width()).map(turn).sum();
        events + self.follow_up()
    }

    /// What arrivals leave to be done without a CRI's lock.
    #[inline(always)]
    fn follow_up(&self) -> i32 {
        let mut events = 0;
        if self.escalated.pending.load(Ordering::Relaxed) != 0 {
            events += self.resolve_some();
        }
        if self.owed.pending.load(Ordering::Relaxed) != 0 {
            events += self.pay();
        }
        events
    }

    /// One thread at a time, and that one everything (`runtime_progress`).
    #[inline(never)]
    fn poll_serially(&self, thread: *mut ThreadCtx) -> i32 {
        if !self.progressing.try_lock() {
            return 0;
        }
        let mut events: i32 = (0..self.width()).map(|ctx| self.poll_cri(ctx, thread, true).0).sum();
        if events == 0 {
            events = self.look_after_others(thread);
        }
        self.progressing.unlock();
        events + self.follow_up()
    }

    /// Events, and whether it is time to look at the next CRI, too. `own`: the thread's messages come on it.
    fn poll_cri(&self, ctx: u32, thread: *mut ThreadCtx, own: bool) -> (i32, bool) {
        let Some(held) = self.try_hold(ctx, seat_of(thread), true) else {
            self.count_miss(ctx);
            return (0, true);
        };
        let events = self.take_turn(&held, number_of(thread));
        let turns = &self.cri(ctx).turns;
        turns.set(turns.get().wrapping_add(1));
        let tired = turns.get().is_multiple_of(TURNS_IN_A_ROW);
        if !own && events == 0 {
            held.leave_no_trace();
        }
        (events, tired)
    }

    /// One turn of a CRI whose lock is held by the thread of that number.
    #[inline(always)]
    fn take_turn(&self, held: &Held<'_>, number: u32) -> i32 {
        let cri = self.host.cri(held.ctx);
        cri.count_holder(number);
        let mut events = self.take_arrivals(held);
        if self.cri(held.ctx).closed.get() != self.lost.load(Ordering::Relaxed) {
            self.close_lost(held);
        }
        if self.has_backlog(held) {
            events += self.drain(held);
        }
        cri.count_progress(events);
        events
    }

    /// Takes what the transports have on one CRI.
    pub fn take_arrivals(&self, held: &Held<'_>) -> i32 {
        let events = self.poll_several(held.ctx);
        if self.watchful.load(Ordering::Relaxed) != 0 {
            self.take_early(held);
        }
        events
    }

    #[inline(never)]
    fn poll_several(&self, ctx: u32) -> i32 {
        let active = self.transports().iter().filter(|t| self.is_active(t));
        active.map(|t| (t.btl.progress)(t.btl.state, ctx)).sum()
    }

    /// Offers what waits to the transports again; returns how many messages went out.
    #[inline(never)]
    fn drain(&self, held: &Held<'_>) -> i32 {
        let mut events = 0;
        let backlog = &self.cri(held.ctx).backlog;
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
                self.cri(held.ctx).waiting.store((left > 0).into(), Ordering::Relaxed);
                self.forget(peer);
            }
        }
        events
    }

    /// Control messages first (others wait for them), then sends in order, then long messages.
    fn drain_peer(&self, held: &Held<'_>, peer: &Peer) -> i32 {
        let mut events = 0;
        if !peer.drain_control(held, self) {
            return events;
        }
        while let Some(req) = peer.queue.with(held, |q| q.pop_front()) {
            peer.queued.set(peer.queued.get() - 1);
            match self.issue(held, peer, req) {
                Status::NO_RESOURCE => {
                    req.state.set(State::Queued);
                    peer.queue.with(held, |q| q.push_front(req));
                    peer.queued.set(peer.queued.get() + 1);
                    peer.queue_changed(held);
                    return events;
                }
                error if error.is_err() => {
                    peer.queue_changed(held);
                    self.fail(held, req, Status::PEER_FAILED);
                    self.peer_failed(held, peer, error);
                    return events;
                }
                _ => {
                    peer.queue_changed(held);
                    events += 1;
                }
            }
        }
        let before = peer.streams.with(held, |q| q.len());
        self.drain_streams(held, peer);
        events += before.saturating_sub(peer.streams.with(held, |q| q.len())) as i32;
        events
    }

    /// PENDING while anything comes or waits for room, or sends that were released are under way. Before this
    /// process goes it answers what has come on any CRI: its sender may wait for that.
    pub fn flush_queues(&self) -> Status {
        if self.poll_all() > 0 {
            return Status::PENDING;
        }
        let all = self.hold_all(self.width(), self.threaded());
        let waiting = all.each().any(|held| self.has_backlog(&held));
        let waiting = waiting || self.owed.pending.load(Ordering::Relaxed) != 0;
        if waiting || self.pools.detached.load(Ordering::Relaxed) != 0 { Status::PENDING } else { Status::OK }
    }

    /// Arms the transports through which something may come, on every CRI on which it may. One word can be
    /// slept on, so two such transports mean NOT_SUPPORTED, as does one that cannot wake a sleeper or has a
    /// word per context. Nobody announces room in a full transport: with anything waiting for that, nobody
    /// sleeps.
    pub fn arm_transports(&self, word: &mut WaitWord) -> Status {
        let width = if self.wide.load(Ordering::Relaxed) { self.width() } else { 1 };
        // Where that can be seen without the locks they are left to those who use them.
        if (0..width).any(|ctx| self.cri(ctx).waiting.load(Ordering::Relaxed) != 0) {
            return Status::PENDING;
        }
        let all = self.hold_all(width, self.threaded());
        if all.each().any(|held| self.has_backlog(&held))
            || self.escalated.pending.load(Ordering::Relaxed) != 0
            || self.owed.pending.load(Ordering::Relaxed) != 0
        {
            return Status::PENDING;
        }
        let mut verdict = Status::OK;
        let mut found: Option<WaitWord> = None;
        'contexts: for ctx in 0..width {
            for (i, t) in self.transports().iter().enumerate().filter(|(_, t)| self.is_active(t)) {
                let (btl, own) = (t.btl, t.own);
                if btl.caps & cap::SLEEP == 0 {
                    if own {
                        continue;
                    }
                    verdict = Status::NOT_SUPPORTED;
                    break 'contexts;
                }
                let mut w = WaitWord { addr: core::ptr::null(), expected: 0, reserved: 0 };
                self.armed.with(&all.held(FIFO), |a| *a = (a.0 | 1 << i, width));
                self.is_armed.store(true, Ordering::Relaxed);
                match (btl.arm)(btl.state, ctx, &mut w) {
                    Status::OK if own => {}
                    Status::OK if found.as_ref().is_none_or(|f| f.addr == w.addr) => found = Some(w),
                    Status::OK => verdict = Status::NOT_SUPPORTED,
                    other => verdict = other,
                }
                if !verdict.is_ok() {
                    break 'contexts;
                }
            }
        }
        match found {
            Some(w) if verdict.is_ok() => *word = w,
            None if verdict.is_ok() => verdict = Status::NOT_SUPPORTED,
            _ => {}
        }
        if !verdict.is_ok() {
            self.disarm_all(&all);
        }
        verdict
    }

    pub fn disarm_transports(&self) {
        if self.is_armed.load(Ordering::Relaxed) {
            self.disarm_all(&self.hold_all(self.width(), self.threaded()));
        }
    }

    fn disarm_all(&self, all: &AllHeld<'_>) {
        let (armed, width) = self.armed.with(&all.held(FIFO), core::mem::take);
        self.is_armed.store(false, Ordering::Relaxed);
        for (_, t) in self.transports().iter().enumerate().filter(|(i, _)| armed & 1 << i != 0) {
            (0..width).for_each(|ctx| (t.btl.disarm)(t.btl.state, ctx));
        }
    }
}
