//! Progress, what waits for room, and sleeping.

use crate::fan::number_of;
use crate::guarded::{AllHeld, FIFO, Held};
use crate::module::Ob1;
use crate::peer::Peer;
use crate::request::State;
use core::sync::atomic::Ordering;
use oxmpi_btl::{WaitWord, cap};
use oxmpi_mca::{Status, ThreadCtx};

/// Turns with events that a CRI may have before the next one gets its turn in any case.
const TURNS_IN_A_ROW: u32 = 16;

impl Ob1 {
    /// Takes what the transports have and sends what waits. With threads, whoever does not get a
    /// lock leaves that CRI: somebody else is at it.
    #[inline(always)]
    pub fn poll(&self, thread: *mut ThreadCtx) -> i32 {
        if self.threaded() { self.poll_threaded(thread) } else { self.poll_as(false) }
    }
    #[inline(never)]
    pub fn poll_threaded(&self, thread: *mut ThreadCtx) -> i32 {
        if self.wide.load(Ordering::Relaxed) { self.poll_wide(thread) } else { self.poll_as(true) }
    }

    #[inline(always)]
    pub fn poll_as(&self, threaded: bool) -> i32 {
        let Some(guard) = Held::try_take(&self.host, FIFO, threaded) else {
            self.host.cri(FIFO).lock_misses.fetch_add(1, Ordering::Relaxed);
            return 0;
        };
        let held = &guard.held;
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
        for i in 0..width {
            let (more, tired) = self.poll_cri((own + i) % width, thread);
            events += more;
            if events > 0 && !tired {
                break;
            }
        }
        events + self.follow_up()
    }

    /// Every CRI on which something may come.
    fn poll_all(&self) -> i32 {
        if !self.wide.load(Ordering::Relaxed) {
            return self.poll_as(self.threaded());
        }
        let events: i32 = (0..self.width()).map(|ctx| self.poll_cri(ctx, core::ptr::null_mut()).0).sum();
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
        let events: i32 = (0..self.width()).map(|ctx| self.poll_cri(ctx, thread).0).sum();
        self.progressing.unlock();
        events + self.follow_up()
    }

    /// Events, and whether it is time to look at the next CRI, too.
    fn poll_cri(&self, ctx: u32, thread: *mut ThreadCtx) -> (i32, bool) {
        let Some(guard) = Held::try_take(&self.host, ctx, true) else {
            self.host.cri(ctx).lock_misses.fetch_add(1, Ordering::Relaxed);
            return (0, true);
        };
        let held = &guard.held;
        let cri = self.host.cri(ctx);
        cri.count_holder(number_of(thread));
        let mut events = self.take_arrivals(held);
        if self.cri(ctx).closed.get() != self.lost.load(Ordering::Relaxed) {
            self.close_lost(held);
        }
        if self.has_backlog(held) {
            events += self.drain(held);
        }
        cri.count_progress(events);
        let turns = &self.cri(ctx).turns;
        turns.set(turns.get().wrapping_add(1));
        (events, turns.get().is_multiple_of(TURNS_IN_A_ROW))
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
                backlog.with(held, |b| b.swap_remove(i));
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
        let all = AllHeld::take(&self.host, self.width(), self.threaded());
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
        let all = AllHeld::take(&self.host, width, self.threaded());
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
        self.disarm_all(&AllHeld::take(&self.host, self.width(), self.threaded()));
    }

    fn disarm_all(&self, all: &AllHeld<'_>) {
        let (armed, width) = self.armed.with(&all.held(FIFO), core::mem::take);
        for (_, t) in self.transports().iter().enumerate().filter(|(i, _)| armed & 1 << i != 0) {
            (0..width).for_each(|ctx| (t.btl.disarm)(t.btl.state, ctx));
        }
    }
}
