//! Progress, what waits for room, and sleeping.

use crate::ob1::Ob1;
use crate::requests::thread_state::{seat_of, thread_state_of};
use crate::state::fifos::FIFO;
use crate::state::guarded::{AllHeld, members, set_below};
use core::sync::atomic::Ordering;
use oxmpi_btl::{WaitSet, cap};
use oxmpi_mca::{Caller, Status, ThreadCtx};

impl Ob1 {
    /// Makes a turn of progress: takes what the transports have and sends what waits. With threads, a CRI whose lock is
    /// taken is left to the thread that is at it. Returns the number of events.
    #[inline(always)]
    pub fn poll(&self, thread: *mut ThreadCtx) -> i32 {
        if self.instance().threaded() { self.poll_threaded(thread) } else { self.poll_as(None, false) }
    }

    /// Makes a turn of progress with threads: over all CRIs that the thread has to do with, or over the first alone
    /// while messages come on that only. Returns the number of events.
    #[inline(never)]
    pub fn poll_threaded(&self, thread: *mut ThreadCtx) -> i32 {
        if self.order().is_wide() || self.others_are_active() {
            self.poll_wide(thread)
        } else {
            self.poll_first(thread)
        }
    }

    /// Makes a turn of the first CRI for `who`; without threads also of the others if those are in use and the first
    /// had nothing. Returns the number of events, 0 if the lock is taken.
    #[inline(always)]
    pub fn poll_as(&self, who: Caller, threaded: bool) -> i32 {
        let Some(held) = self.instance().try_hold(FIFO, who, threaded) else {
            self.count_miss(FIFO);
            return 0;
        };
        let held = &held;
        // SAFETY: accepted handles live as long as the instance.
        let mut events = match self.instance().lone() {
            Some(btl) => (btl.progress)(btl.state, FIFO),
            None => self.instance().poll_several(FIFO),
        };
        if self.instance().first().work.is_marked() {
            events += self.drain(held);
        }
        if threaded {
            self.instance().host().cri(FIFO).count_progress(events);
        } else if events == 0 && self.others_are_active() {
            // Only then: what comes on the first without end would be more than its senders have credit for.
            events = self.poll_others();
        }
        events
    }

    /// Makes a turn of each CRI beside the first, for the only thread in MPI. Returns the number of events.
    #[cold]
    #[inline(never)]
    fn poll_others(&self) -> i32 {
        (1..self.turned()).map(|ctx| self.take_turn(&self.instance().hold(ctx, None, false), 0)).sum()
    }

    /// Makes a turn of the first CRI, with threads, while messages come on that FIFO only. Returns the number of
    /// events.
    #[inline(always)]
    fn poll_first(&self, thread: *mut ThreadCtx) -> i32 {
        let who = seat_of(thread);
        if self.instance().host().cri(FIFO).is_anothers(who) {
            let Some(thread_state) = self.requests().thread_state_for(thread) else { return self.poll_all() };
            return self.help_owner(thread, thread_state, FIFO);
        }
        self.poll_as(who, true)
    }

    /// Messages may come on every CRI: first the one where this thread's messages come; if that has
    /// nothing, those that it has to do with besides, and then those that nobody else looks after (`cri_choice.rs`). (The
    /// dissertation's Algorithm 4, but that others are tried only when their threads do not.) A CRI that has
    /// something every time does not keep a thread from the others for ever.
    #[inline(never)]
    fn poll_wide(&self, thread: *mut ThreadCtx) -> i32 {
        if self.one_at_a_time {
            return self.poll_serially(thread);
        }
        let Some(thread_state) = self.requests().thread_state_for(thread) else { return self.poll_all() };
        // SAFETY: the host passes the context of the calling thread: it has a state here.
        let cri = unsafe { (*thread).cri };
        let own =
            if self.instance().host().cri(cri).active.load(Ordering::Relaxed) != 0 { cri } else { FIFO };
        let (mut events, tired) = self.poll_own(thread, thread_state, own);
        if events == 0 || tired {
            events += self.poll_mine(thread, thread_state, own);
            if events == 0 || tired {
                events += self.look_after_others(thread, thread_state, own);
            }
        }
        events + self.follow_up()
    }

    /// Makes a turn of every CRI on which something may come, waiting for each lock. Returns the number of events.
    fn poll_all(&self) -> i32 {
        let threaded = self.instance().threaded();
        let turn = |ctx| self.take_turn(&self.instance().hold(ctx, None, threaded), u32::MAX);
        let events: i32 = (0..self.turned()).map(turn).sum();
        events + self.follow_up()
    }

    /// Makes a turn of all CRIs if no other thread is in progress (`runtime_progress` serial). Returns the number of
    /// events.
    #[inline(never)]
    fn poll_serially(&self, thread: *mut ThreadCtx) -> i32 {
        if !self.progressing.try_lock() {
            return 0;
        }
        let mut events = 0;
        let thread_state = self.requests().thread_state_for(thread);
        let impatient = thread_state.is_none_or(|thread_state| thread_state.attention.has_trusted_enough());
        for ctx in 0..self.turned() {
            events += match thread_state {
                Some(thread_state) if self.instance().host().cri(ctx).is_anothers(seat_of(thread)) => {
                    if impatient {
                        self.help_idle_owner(thread, thread_state, ctx)
                    } else {
                        0
                    }
                }
                _ => self.poll_cri(ctx, thread, true).0,
            };
        }
        self.progressing.unlock();
        events + self.follow_up()
    }

    /// Makes one turn of a CRI on which something is to come, whatever thread owns its lock. With serial progress does
    /// nothing while another thread progresses, which looks at all CRIs. Returns the number of events.
    pub fn poll_context(&self, thread: *mut ThreadCtx, ctx: u32) -> i32 {
        let threaded = self.instance().threaded();
        let alone = threaded && self.one_at_a_time;
        if ctx >= self.instance().host().num_cris() || alone && !self.progressing.try_lock() {
            return 0;
        }
        let held = self.instance().hold(ctx, seat_of(thread), threaded);
        let number = thread_state_of(thread).map_or(u32::MAX, |thread_state| thread_state.index);
        let events = self.take_turn(&held, number);
        if events == 0 {
            held.leave_uncounted();
        } else {
            drop(held);
        }
        if alone {
            self.progressing.unlock();
        }
        events + self.follow_up()
    }

    /// Makes a turn of all CRIs before this process goes, so that senders get their answers. PENDING while anything
    /// comes or waits for room, or sends that were released are under way.
    pub fn flush_queues(&self) -> Status {
        if self.poll_all() > 0 {
            return Status::PENDING;
        }
        let all = self.instance().hold_all(self.instance().width(), self.instance().threaded());
        let waiting = all.each().any(|held| self.instance().has_backlog(&held));
        let waiting = waiting || self.receiver().owes();
        // A transport may still touch the buffer of a request that was released.
        let waiting = waiting || all.each().any(|held| self.instance().cri(held.ctx).work.is_flying());
        if waiting || self.requests().detached() != 0 { Status::PENDING } else { Status::OK }
    }

    /// Arms the transports through which something may come, on every CRI on which it may, but those that other threads
    /// are at: they take what comes there. Nobody announces room in a full transport: with anything waiting for that,
    /// nobody sleeps.
    pub fn arm_transports(&self, thread: *mut ThreadCtx, wakers: &mut WaitSet) -> Status {
        let set = self.to_arm(thread);
        // Where that can be seen without the locks they are left to those who use them.
        if members(set).any(|ctx| self.instance().cri(ctx).work.is_any()) {
            return Status::PENDING;
        }
        let all = self.instance().hold_set(set, seat_of(thread), self.instance().threaded());
        if all.each().any(|held| self.instance().has_backlog(&held))
            || self.receiver().has_deferred()
            || self.receiver().owes()
        {
            return Status::PENDING;
        }
        let mut verdict = Status::OK;
        'contexts: for ctx in members(set) {
            for (i, t) in self
                .instance()
                .transports()
                .iter()
                .enumerate()
                .filter(|(_, t)| self.instance().is_active(t) && t.has(ctx))
            {
                let (btl, own) = (t.btl, t.own);
                if btl.caps & cap::SLEEP == 0 {
                    if own {
                        continue;
                    }
                    verdict = Status::NOT_SUPPORTED;
                    break 'contexts;
                }
                self.armed.transports.fetch_or(1 << i, Ordering::Relaxed);
                self.armed.cris.store(set, Ordering::Relaxed);
                verdict = (btl.arm)(btl.state, ctx, wakers);
                if !verdict.is_ok() {
                    break 'contexts;
                }
            }
        }
        if !verdict.is_ok() {
            self.disarm_all(&all);
        }
        verdict
    }

    /// The set of CRIs, by bits, that a thread answers for while it sleeps: all but those that other threads progress.
    fn to_arm(&self, thread: *mut ThreadCtx) -> u64 {
        let all = set_below(self.turned());
        if all == 1 {
            return all;
        }
        match (thread_state_of(thread), number_of_cri(thread)) {
            (Some(thread_state), Some(own)) => {
                let attended = members(all).filter(|&ctx| ctx != own && self.is_attended(thread_state, ctx));
                attended.fold(all, |set, ctx| set & !(1 << ctx))
            }
            _ => all,
        }
    }

    /// Disarms what [`Ob1::arm_transports`] armed, under the locks of the armed CRIs.
    pub fn disarm_transports(&self, thread: *mut ThreadCtx) {
        let set = self.armed.cris.load(Ordering::Relaxed);
        if set != 0 {
            self.disarm_all(&self.instance().hold_set(set, seat_of(thread), self.instance().threaded()));
        }
    }

    /// Disarms the armed transports on all CRIs that are held.
    fn disarm_all(&self, all: &AllHeld<'_>) {
        let armed = self.armed.transports.swap(0, Ordering::Relaxed);
        self.armed.cris.store(0, Ordering::Relaxed);
        for (_, t) in self.instance().transports().iter().enumerate().filter(|(i, _)| armed & 1 << i != 0) {
            all.each().filter(|held| t.has(held.ctx)).for_each(|held| (t.btl.disarm)(t.btl.state, held.ctx));
        }
    }
}

/// The CRI that a thread looks at first. `None`: a call without a context.
fn number_of_cri(thread: *mut ThreadCtx) -> Option<u32> {
    // SAFETY: the host passes the context of the calling thread, or null.
    unsafe { thread.as_ref() }.map(|t| t.cri)
}
