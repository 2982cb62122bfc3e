//! A thread notes the CRIs on which something of its own will come (`cri_choice.rs` says what it does with that).

use crate::matching::Pattern;
use crate::requests::thread_state::ThreadState;
use crate::requests::thread_state::thread_state_of;
use crate::state::attention::{Set, add, has};
use crate::state::comm::Comm;
use crate::state::instance::Instance;
use crate::wire::tag_of;
use core::sync::atomic::Ordering;
use oxmpi_mca::ThreadCtx;

impl Instance {
    /// How many turns a CRI has had; it changes while some thread progresses that CRI.
    pub fn turns_of(&self, ctx: u32) -> u64 {
        self.host().cri(ctx).progress_calls.load(Ordering::Relaxed)
    }

    /// Notes that something of this thread will come, or waits for room, on that CRI, so that the thread progresses it.
    #[inline(always)]
    pub fn expect_on(&self, thread: *mut ThreadCtx, ctx: u32) {
        if let Some(thread_state) = thread_state_of(thread) {
            self.expect_on_state(thread_state, ctx);
        }
    }

    /// Notes in a thread's state that something of it will come, or waits for room, on that CRI.
    #[inline(always)]
    pub fn expect_on_state(&self, ThreadState { attention, .. }: &ThreadState, ctx: u32) {
        if !has(&attention.mine, ctx) {
            attention.seen(ctx).set(self.turns_of(ctx));
            add(&attention.mine, ctx);
            add(&attention.wanted, ctx);
        }
    }

    /// Marks the CRIs as shared on which messages of a receive may come that was posted without a thread's context.
    pub fn mark_cris_shared(&self, comm: &Comm, pattern: Pattern) {
        if pattern.has_tag() && comm.by_tag() && !comm.fifos.prefers() {
            let width = self.width();
            let ctxs = [comm.fifos.home(width), comm.fifos.of_tag(tag_of(pattern.want), width)];
            ctxs.iter().for_each(|&ctx| self.cri(ctx).shared.set());
        } else {
            (0..self.width()).for_each(|ctx| self.cri(ctx).shared.set());
        }
    }

    /// Notes that something of this thread may come on any CRI.
    #[inline(never)]
    pub fn expect_on_all(&self, thread: *mut ThreadCtx) {
        let Some(thread_state) = thread_state_of(thread) else { return };
        // Mostly none: this is asked for each receive.
        let mut lacking = (Set::MAX >> (Set::BITS - self.width())) & !thread_state.attention.mine.get();
        while lacking != 0 {
            self.expect_on_state(thread_state, lacking.trailing_zeros());
            lacking &= lacking - 1;
        }
    }
}
