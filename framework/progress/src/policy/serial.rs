//! Serial progress (`runtime_progress serial`): one thread at a time makes a turn, of all contexts in use; others find it taken and
//! bring nothing.

use super::Policy;
use crate::contexts::Contexts;
use crate::policy::own_first::{self, help_idle_owner};
use oxmpi_mca::{Lock, ThreadCtx};

/// One thread at a time progresses, whatever the number of contexts.
pub struct Serial {
    progressing: Lock,
}

impl Serial {
    /// A policy that nobody follows yet.
    #[expect(clippy::new_without_default, reason = "one is made on purpose")]
    pub fn new() -> Serial {
        Serial { progressing: Lock::new() }
    }
}

impl Policy for Serial {
    fn first(&self, contexts: &Contexts, thread: *mut ThreadCtx) -> i32 {
        own_first::first(contexts, thread)
    }

    #[inline(never)]
    fn several(&self, contexts: &Contexts, thread: *mut ThreadCtx) -> i32 {
        if !self.progressing.try_lock() {
            return 0;
        }
        let mut events = 0;
        let attention = contexts.attention_of(thread);
        let trusted_enough = attention.has_trusted_enough();
        for ctx in 0..contexts.cris().active() {
            events += match contexts.is_anothers(ctx, thread) {
                true if trusted_enough => help_idle_owner(contexts, thread, attention, ctx),
                true => 0,
                false => contexts.try_turn(ctx, thread, true).0,
            };
        }
        self.progressing.unlock();
        events
    }

    fn begin_one(&self) -> bool {
        self.progressing.try_lock()
    }

    fn end_one(&self) {
        self.progressing.unlock();
    }
}
