//! Racing waiters: the way of waiting that sync objects are measured against (`runtime_wait = race`).
//!
//! This is Algorithm 1 of the dissertation: a thread looks at its requests, makes a turn of progress, and does so again until they are
//! complete. Nobody owns progress, so all waiting threads contend for it: by attempts at the locks of the resource instances, or, with
//! `runtime_progress one_lock` as the original has it, by waiting for one lock around a turn. Nobody is put
//! to sleep or woken either: a thread that found nothing for long gives its core away between its looks, as an owner of progress would before it
//! sleeps, and no crowd of waiters is noticed. No request has a sync object attached, so completions tell nobody. Requests that were seen
//! complete are not looked at again, which is a little less than the original does.
//!
//! A thread that is alone in MPI waits as ever; the two ways differ where there are several.

use crate::layer::{Layer, Waiter};
use crate::policy::Policy;
use crate::states::{Role, State};
use oxmpi_mca::Entry;

impl<L: Layer> Waiter<'_, L> {
    /// Waits until `done` says so, by turns of progress beside all other waiters, with yields but no sleep.
    #[inline(never)]
    pub(crate) fn race(&mut self, done: &mut dyn FnMut(&mut Entry) -> bool) {
        let (slot, mut waiter) = self.and_slot();
        let waiting = waiter.waiting();
        let mut policy = Policy::new(Role::Racing, false, slot);
        while !done(waiter.entry) {
            if waiter.turn() > 0 {
                policy.event();
                continue;
            }
            if let Some(hooks) = waiting.cooperation.hooks() {
                // SAFETY: the program gave the function for this purpose; no lock is held, and the entry takes locks already.
                unsafe { (hooks.yield_now)(hooks.state) };
                continue;
            }
            match policy.next(&waiting.patience, || false) {
                Some(State::Spin | State::Look) => std::hint::spin_loop(),
                _ => std::thread::yield_now(),
            }
        }
    }
}
