//! Turns of progress over contexts: of the first alone below MPI_THREAD_MULTIPLE, of those that the policy names among several threads.

use crate::contexts::{Contexts, FIRST, number};
use crate::policy::Policy;
use oxmpi_mca::{CriGuard, ThreadCtx};

/// Contexts, and the policy by which threads poll them.
pub(crate) struct Turns {
    pub(crate) contexts: Box<Contexts>,
    policy: Box<dyn Policy>,
}

impl Turns {
    /// Turns over contexts by a policy.
    pub(crate) fn new(contexts: Box<Contexts>, policy: Box<dyn Policy>) -> Turns {
        Turns { contexts, policy }
    }

    /// Makes a turn of progress. Returns the number of events of transports and hook.
    #[inline(always)]
    pub(crate) fn turn(&self, thread: *mut ThreadCtx) -> i32 {
        if self.contexts.polling().is_careful() { self.turn_among(thread) } else { self.turn_alone() }
    }

    /// Makes a turn as the only thread in MPI: of the first context, and of the others if those are in use and the first had
    /// nothing.
    #[inline(always)]
    fn turn_alone(&self) -> i32 {
        // SAFETY: locks are not taken, and the calling thread is the only one in MPI; who asks for a turn holds no CRI.
        let events = self.contexts.poll(&mut unsafe { CriGuard::inherited(FIRST, false, None) });
        // Only then: what comes on the first without end would be more than its senders have credit for.
        if events == 0 && self.contexts.cris().several_are_active() { self.turn_others() } else { events }
    }

    /// Makes a turn of each context beside the first, for the only thread in MPI. Returns the number of events.
    #[cold]
    #[inline(never)]
    fn turn_others(&self) -> i32 {
        // SAFETY: as for the first one, whose guard is gone.
        let turn = |ctx| self.contexts.turn(&mut unsafe { CriGuard::inherited(ctx, false, None) }, 0);
        (1..self.contexts.cris().active()).map(turn).sum()
    }

    /// Makes a turn among several threads: of the contexts that the policy names. A call without a thread's context covers all.
    #[inline(never)]
    fn turn_among(&self, thread: *mut ThreadCtx) -> i32 {
        if !self.contexts.cris().several_are_active() {
            return self.policy.first(&self.contexts, thread);
        }
        if thread.is_null() {
            self.contexts.turn_of_all()
        } else {
            self.policy.several(&self.contexts, thread)
        }
    }

    /// Makes one turn of a context on which something is to come, whatever thread owns its lock. Returns the number of events.
    pub(crate) fn turn_of_one(&self, thread: *mut ThreadCtx, ctx: u32) -> i32 {
        let careful = self.contexts.polling().is_careful();
        if ctx >= self.contexts.cris().len() || careful && !self.policy.begin_one() {
            return 0;
        }
        let mut entry = self.contexts.entry(thread);
        let mut held = self.contexts.cris().hold(&mut entry, ctx);
        let events = self.contexts.turn(&mut held, number(thread));
        if events == 0 {
            held.leave_uncounted();
        } else {
            drop(held);
        }
        if careful {
            self.policy.end_one();
        }
        events
    }
}
