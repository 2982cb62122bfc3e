//! Progress under one lock that threads wait for (`runtime_progress one_lock`): a thread takes the lock, makes a turn of all contexts in
//! use, and releases it.
//!
//! This is the progress of Algorithm 1 of the dissertation (*lock Progress Engine Lock, call Progress Engine, unlock*), which `runtime_wait race`
//! completes: each waiting thread looks at its requests and then blocks on the lock. [`Serial`](super::serial::Serial) has the same
//! effect on contexts, but a thread that finds the lock taken goes on.

use super::{Admission, Policy};
use crate::contexts::Contexts;
use crate::thread::Slot;
use oxmpi_mca::Entry;
use oxmpi_system::locks::Mutex;

/// One thread at a time progresses, and the others wait until it has made its turn.
pub struct OneLock {
    progressing: Mutex<()>,
}

impl OneLock {
    /// A policy that nobody follows yet.
    #[expect(clippy::new_without_default, reason = "one is made on purpose")]
    pub fn new() -> OneLock {
        OneLock { progressing: Mutex::new(()) }
    }

    /// Makes a turn of all contexts in use behind the lock. Returns the number of events.
    #[inline(never)]
    fn turn(&self, contexts: &Contexts, entry: &mut Entry) -> i32 {
        let _progressing = self.progressing.lock();
        (0..contexts.cris().active()).map(|ctx| contexts.try_turn(ctx, entry, true).0).sum()
    }
}

impl Policy for OneLock {
    fn first(&self, contexts: &Contexts, entry: &mut Entry) -> i32 {
        self.turn(contexts, entry)
    }

    fn several(&self, contexts: &Contexts, slot: &Slot, entry: &mut Entry) -> i32 {
        contexts.attention_of(slot);
        self.turn(contexts, entry)
    }

    fn begin_one(&self) -> Option<Admission<'_>> {
        Some(Admission::Awaited(self.progressing.lock()))
    }
}
