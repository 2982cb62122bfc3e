//! Serial progress (`runtime_progress serial`): one thread at a time makes a turn, of all contexts in use; others find it taken and
//! bring nothing.

use super::{Admission, Policy};
use crate::contexts::Contexts;
use crate::policy::own_first::{self, help_idle_owner};
use crate::thread::Slot;
use oxmpi_mca::{Entry, Lock};

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
    fn first(&self, contexts: &Contexts, entry: &mut Entry) -> i32 {
        own_first::first(contexts, entry)
    }

    #[inline(never)]
    fn several(&self, contexts: &Contexts, slot: &Slot, entry: &mut Entry) -> i32 {
        let Some(_progressing) = self.progressing.try_guard() else { return 0 };
        let mut events = 0;
        let attention = contexts.attention_of(slot);
        let trusted_enough = attention.has_trusted_enough();
        for ctx in 0..contexts.cris().active() {
            events += match contexts.is_anothers(ctx, entry) {
                true if trusted_enough => help_idle_owner(contexts, entry, attention, ctx),
                true => 0,
                false => contexts.try_turn(ctx, entry, true).0,
            };
        }
        events
    }

    fn begin_one(&self) -> Option<Admission<'_>> {
        self.progressing.try_guard().map(Admission::Tried)
    }
}
