//! Choice of the CRIs that a thread progresses while it waits, and of the time when it looks after those of others.
//!
//! **Its own** first: the one where what it received last will come (`ThreadCtx::cri`). Then those that it has to do
//! with besides (`mine`): where it posted receives before, where sends of its wait for room, and those it found
//! left alone.
//!
//! **The others' are theirs.** A thread that drains the FIFO of another one takes its messages into shards that the other works with, before that
//! has posted their receives, and takes its locks from it: two cores write what one could have had to itself. So they are left alone as long as
//! somebody progresses them, which their counts say without any lock. One that nobody has progressed for a while
//! ([`PATIENCE`], [`LONG_PATIENCE`]) gets a turn of whoever waits; if that brings something somebody waits for, it stays among `mine` until
//! somebody else is at it again. So no message depends on its receiver's thread: the program may be outside MPI with it for as long as it wants.
//! Messages that nobody has posted a receive for can wait where they are: each has to be kept and found again, and a thread that was only not
//! running for a while would find all that its FIFO holds in a queue. Of those such a turn takes a batch, and then its time again.
//!
//! **How long a while is.** A thread may be in the middle of its work and only not have a core. Where there are more threads
//! than cores for them, that takes as long as the others work, and whoever does the work of all that do not run just now
//! has their locks and lines go to and fro. One that this thread wanted something of lately, and left to another that was at it
//! too, is looked at soon. So is one whose thread has gone to sleep (`Cri::asleep`), and one that is nobody's in particular
//! ([`SharedFlag`](crate::state::attention::SharedFlag)): FIFO 0 while processes send everything there, whatever its tag, and where persistent requests are, for
//! whoever starts one does not say which thread it is.

use crate::ob1::Ob1;
use crate::receive::place::MOST;
use crate::requests::thread_state::ThreadState;
use crate::requests::thread_state::seat_of;
use crate::state::attention::{Attention, Set, add, has, remove};
use crate::state::inbound::Assignment;
use core::sync::atomic::Ordering;
use core::time::Duration;
use oxmpi_mca::ThreadCtx;
use std::time::Instant;

/// A CRI that nobody has progressed for so long is left alone.
const PATIENCE: Duration = Duration::from_micros(20);

/// The same where threads share cores.
const LONG_PATIENCE: Duration = Duration::from_millis(1);

/// Idle turns from one look at the clock to the next.
const TURNS_BETWEEN: u32 = 4;

/// The yield of a turn of another thread's CRI.
struct TurnYield {
    events: i32,
    /// Some of it was more than messages that wait now for their receives.
    wanted: bool,
}

impl Ob1 {
    /// Makes a turn of the CRI where the thread's messages come, if it has no other owner, or an owner that does not
    /// progress it. Returns the number of events, and whether it is time to look at other CRIs all the same.
    #[inline(always)]
    pub fn poll_own(&self, thread: *mut ThreadCtx, thread_state: &ThreadState, own: u32) -> (i32, bool) {
        let Attention { seen, .. } = &thread_state.attention;
        if !self.instance().host().cri(own).is_anothers(seat_of(thread)) {
            let done = self.poll_cri(own, thread, true);
            seen[own as usize % MOST].set(self.instance().turns_of(own));
            return done;
        }
        (self.help_owner(thread, thread_state, own), true)
    }

    /// Leaves the CRI where the thread's messages come to its owner for a while, then makes a turn of it if the owner
    /// has made none. Returns the number of events.
    #[inline(never)]
    pub fn help_owner(&self, thread: *mut ThreadCtx, thread_state: &ThreadState, own: u32) -> i32 {
        if thread_state.attention.has_trusted_enough() {
            self.help_idle_owner(thread, thread_state, own)
        } else {
            0
        }
    }

    /// Makes a turn of a CRI, if it has had none since this thread last asked. Returns the number of events.
    pub fn help_idle_owner(&self, thread: *mut ThreadCtx, thread_state: &ThreadState, ctx: u32) -> i32 {
        let turns = self.instance().turns_of(ctx);
        if thread_state.attention.seen(ctx).replace(turns) == turns {
            self.poll_neglected(thread, thread_state, ctx).events
        } else {
            0
        }
    }

    /// Makes a turn of a CRI that no thread progresses. An owner that does not progress it loses its lock.
    fn poll_neglected(&self, thread: *mut ThreadCtx, thread_state: &ThreadState, ctx: u32) -> TurnYield {
        let who = seat_of(thread);
        let taken = if self.instance().host().cri(ctx).is_anothers(who) {
            Some(self.instance().hold(ctx, who, true))
        } else {
            self.instance().try_hold(ctx, who, true)
        };
        let Some(held) = taken else {
            self.count_miss(ctx);
            return TurnYield { events: 0, wanted: false };
        };
        let kept = self.instance().cri(ctx).kept.get();
        let events = self.take_turn(&held, thread_state.index);
        let kept = self.instance().cri(ctx).kept.get().wrapping_sub(kept);
        thread_state.attention.seen(ctx).set(self.instance().turns_of(ctx));
        if events == 0 {
            held.leave_uncounted();
        }
        TurnYield { events, wanted: events.unsigned_abs() > kept }
    }

    /// Makes a turn of each CRI beside `own` that this thread has to do with; those that another thread progresses are
    /// dropped from the set. Returns the number of events.
    #[inline(always)]
    pub fn poll_mine(&self, thread: *mut ThreadCtx, thread_state: &ThreadState, own: u32) -> i32 {
        let mut rest = thread_state.attention.mine.get() & !(1 << (own % Set::BITS));
        let mut events = 0;
        while rest != 0 {
            let ctx = rest.trailing_zeros();
            rest &= rest - 1;
            let turns = self.instance().turns_of(ctx);
            if thread_state.attention.seen(ctx).replace(turns) != turns {
                remove(&thread_state.attention.mine, ctx);
            } else {
                let brought = self.poll_neglected(thread, thread_state, ctx);
                if brought.events > 0 && !brought.wanted && !has(&thread_state.attention.wanted, ctx) {
                    remove(&thread_state.attention.mine, ctx);
                }
                events += brought.events;
            }
        }
        events
    }

    /// Makes turns of the CRIs of other threads that nobody progresses, if it is time to look. Returns the number of
    /// events.
    #[inline(always)]
    pub fn look_after_others(&self, thread: *mut ThreadCtx, thread_state: &ThreadState, own: u32) -> i32 {
        if Attention::is_turn(&thread_state.attention.idle, TURNS_BETWEEN) {
            self.look_after_others_now(thread, thread_state, own)
        } else {
            0
        }
    }

    /// Makes turns of the CRIs that nobody has progressed for a while, soon those that are shared or wanted by this
    /// thread. Returns the number of events.
    #[inline(never)]
    fn look_after_others_now(&self, thread: *mut ThreadCtx, thread_state: &ThreadState, own: u32) -> i32 {
        let now = Instant::now();
        let Attention { mine, wanted, looked: [soon, late], .. } = &thread_state.attention;
        if !Attention::is_time(soon, now, PATIENCE) {
            return 0;
        }
        let all = Attention::is_time(late, now, if self.is_crowded() { LONG_PATIENCE } else { PATIENCE });
        let mut events = 0;
        for ctx in (0..self.turned()).filter(|&ctx| ctx != own && !has(mine, ctx)) {
            if self.instance().host().cri(ctx).asleep.load(Ordering::Relaxed) > 0 {
                self.instance().expect_on(thread, ctx);
                continue;
            }
            if !(all || has(wanted, ctx) || self.instance().cri(ctx).shared.is_set()) {
                continue;
            }
            let turns = self.instance().turns_of(ctx);
            if thread_state.attention.seen(ctx).replace(turns) == turns {
                let brought = self.poll_neglected(thread, thread_state, ctx);
                if brought.wanted {
                    add(mine, ctx);
                }
                events += brought.events;
            } else if all {
                remove(wanted, ctx);
            }
        }
        events
    }

    /// Whether another thread progresses this CRI, as far as this thread has seen.
    pub fn is_attended(&self, thread_state: &ThreadState, ctx: u32) -> bool {
        let seen = thread_state.attention.seen(ctx).get();
        seen != self.instance().turns_of(ctx)
            && seen != u64::MAX
            && self.instance().host().cri(ctx).asleep.load(Ordering::Relaxed) == 0
    }

    /// Whether threads share cores, as far as can be told. `false` where a thread's messages come on any CRI, since
    /// then none can be left to others for long.
    fn is_crowded(&self) -> bool {
        if self.instance().assignment() != Assignment::Stream {
            return false;
        }
        let job = self.instance().host().job();
        let cores = job.cores / job.local_size.max(1);
        job.oversubscribed != 0 || self.requests().thread_states() > cores.max(1)
    }
}
