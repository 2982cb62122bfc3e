//! Turns of progress over contexts: of the first alone below MPI_THREAD_MULTIPLE, of those that the policy names among several threads.

use crate::contexts::{Contexts, FIRST, number};
use crate::limit::Limit;
use crate::policy::kind::Rule;
use crate::policy::{Admission, Policy};
use crate::thread::Slot;
use oxmpi_mca::{Entry, Status, WaitSet};

/// Contexts, and the policy by which threads poll them.
pub(crate) struct Turns {
    pub(crate) contexts: Box<Contexts>,
    policy: Box<dyn Policy>,
    /// Of turns among several threads.
    limit: Limit,
}

impl Turns {
    /// Turns over contexts by a rule.
    pub(crate) fn new(contexts: Box<Contexts>, rule: Rule) -> Turns {
        Turns { contexts, policy: rule.kind.policy(), limit: Limit::new(rule.most_threads) }
    }

    /// Arms the contexts that the thread answers for while it sleeps, as [`Contexts::arm`].
    pub(crate) fn arm(&self, entry: &mut Entry, set: &mut WaitSet) -> Status {
        self.contexts.arm(entry, set, self.policy.covers_all())
    }

    /// Makes a turn of progress. Returns the number of events of transports and hook.
    #[inline(always)]
    pub(crate) fn turn(&self, entry: &mut Entry) -> i32 {
        entry.raise(self.contexts.polling().is_careful());
        match entry.is_among() {
            true => entry.apart(|entry| self.turn_among(entry)),
            false => self.turn_alone(entry),
        }
    }

    /// Makes a turn as the only thread in MPI: of the first context, and of the others if those are in use and the first had
    /// nothing.
    #[inline(always)]
    fn turn_alone(&self, entry: &mut Entry) -> i32 {
        let events = self.contexts.poll(&mut self.contexts.cris().hold(entry, FIRST));
        // Only then: what comes on the first without end would be more than its senders have credit for.
        match events == 0 && self.contexts.cris().several_are_active() {
            true => entry.apart(|entry| self.turn_others(entry)),
            false => events,
        }
    }

    /// Makes a turn of each context beside the first, for the only thread in MPI. Returns the number of events.
    #[cold]
    #[inline(never)]
    fn turn_others(&self, entry: &mut Entry) -> i32 {
        let turn = |ctx| self.contexts.turn(&mut self.contexts.cris().hold(entry, ctx), 0);
        (1..self.contexts.cris().active()).map(turn).sum()
    }

    /// Makes a turn among several threads: of the contexts that the policy names. A call without a thread's context covers all. Nothing where as
    /// many threads as may are in turns.
    #[inline(never)]
    fn turn_among(&self, entry: &mut Entry) -> i32 {
        let Some(_place) = self.limit.enter() else { return 0 };
        if !self.contexts.cris().several_are_active() {
            return self.policy.first(&self.contexts, entry);
        }
        match Slot::and_entry(entry) {
            (Some(slot), entry) => self.policy.several(&self.contexts, slot, entry),
            (None, entry) => self.contexts.turn_of_all(entry),
        }
    }

    /// Makes one turn of a context on which something is to come, whatever thread owns its lock. Returns the number of events.
    pub(crate) fn turn_of_one(&self, entry: &mut Entry, ctx: u32) -> i32 {
        entry.raise(self.contexts.polling().is_careful());
        if ctx >= self.contexts.cris().len() {
            return 0;
        }
        let Some(_place) = self.limit.enter() else { return 0 };
        let admitted = if entry.is_among() { self.policy.begin_one() } else { Some(Admission::Free) };
        let Some(_admitted) = admitted else { return 0 };
        let number = number(entry);
        let mut held = self.contexts.cris().hold(entry, ctx);
        let events = self.contexts.turn(&mut held, number);
        if events == 0 {
            held.leave_uncounted();
        } else {
            drop(held);
        }
        events
    }
}
