//! Racing waiters: the way of waiting that sync objects are measured against (`runtime_wait = race`).
//!
//! This is Algorithm 1 of the dissertation: a thread looks at its requests, makes a turn of progress, and does so again until they are
//! complete. Nobody owns progress, so all waiting threads contend for it, by attempts at the locks of the resource instances. Nobody is put
//! to sleep or woken either: a thread that found nothing for long gives its core away between its looks, as an owner of progress would before it
//! sleeps, and no crowd of waiters is noticed. No request has a sync object attached, so completions tell nobody. Requests that were seen
//! complete are not looked at again, which is a little less than the original does.
//!
//! A thread that is alone in MPI waits as ever; the two ways differ where there are several.

use super::wait::{Idle, Step};
use crate::objects::Instance;
use oxmpi_mca::ThreadCtx;

impl Instance {
    /// Whether threads that wait among others do so by racing (`runtime_wait`).
    #[inline(always)]
    pub(super) fn races(&self) -> bool {
        self.params.race
    }

    /// Waits until `done` says so, by turns of progress beside all other waiters, with yields but no sleep.
    #[inline(never)]
    pub(super) fn race(&self, thread: *mut ThreadCtx, done: &mut dyn FnMut() -> bool) {
        let mut idle = Idle::new();
        while !done() {
            if self.engine.turn(thread) > 0 {
                idle.reset();
                continue;
            }
            if let Some(hooks) = self.cooperation.hooks() {
                // SAFETY: the program gave the function for this purpose; no lock is held.
                unsafe { (hooks.yield_now)(hooks.state) };
                continue;
            }
            match idle.step(&self.patience, false) {
                Step::Spin => std::hint::spin_loop(),
                Step::Yield | Step::Sleep => std::thread::yield_now(),
            }
        }
    }
}
