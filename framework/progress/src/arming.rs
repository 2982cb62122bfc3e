//! Announcing a sleep to the transports: which contexts a thread answers for while it sleeps, and what is armed there.
//!
//! All contexts are armed but those that other threads progress, under all their locks, so that nothing comes on them between the look
//! and the announcement. Nobody announces room in a full transport: while a PML's word says that something waits for such a thing, nobody sleeps.

use crate::attention::Attention;
use crate::contexts::{Contexts, is_own};
use crate::thread::Slot;
use oxmpi_btl::{WaitSet, cap};
use oxmpi_mca::cri::{members, set_below, set_of};
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{CriSetGuard, Entry, Status};
use oxmpi_pml::work;

impl Contexts {
    /// Arms the active transports on the contexts that the thread answers for. OK: it may sleep on what was added to the set;
    /// PENDING: something is there; NO_RESOURCE: the set is full; NOT_SUPPORTED: a transport cannot wake a sleeper. Nothing is armed
    /// unless the answer is OK. `all`: the thread answers for all contexts.
    pub(crate) fn arm(&self, entry: &mut Entry, set: &mut WaitSet, all: bool) -> Status {
        entry.raise(self.polling().is_careful());
        let contexts = if all { set_below(self.cris().active()) } else { self.to_arm(entry) };
        let cris = self.cris().len();
        let is_urgent = |ctx| self.work(ctx) & work::URGENT != 0;
        // Where that can be seen without the locks they are left to those who use them.
        if members(contexts, cris).any(is_urgent) {
            return Status::PENDING;
        }
        let mut all = self.cris().hold_set(entry, contexts);
        if members(contexts, cris).any(is_urgent) {
            return Status::PENDING;
        }
        let verdict = self.arm_held(&mut all, contexts, set);
        if !verdict.is_ok() {
            self.disarm_held(&mut all);
        }
        verdict
    }

    /// Arms the active transports on a set of contexts whose locks are held, up to the first that does not answer OK; that answer.
    fn arm_held(&self, all: &mut CriSetGuard<'_>, contexts: u64, set: &mut WaitSet) -> Status {
        for ctx in members(contexts, self.cris().len()) {
            let mut held = all.held(ctx);
            for (number, btl) in self.polling().active(ctx) {
                if !btl.can(cap::SLEEP) {
                    if is_own(btl) {
                        continue;
                    }
                    return Status::NOT_SUPPORTED;
                }
                self.armed.transports.fetch_or(1 << number, Ordering::Relaxed);
                self.armed.contexts.store(contexts, Ordering::Relaxed);
                let answer = btl.arm(&mut held, set);
                if !answer.is_ok() {
                    return answer;
                }
            }
        }
        Status::OK
    }

    /// The contexts, by bits, that a thread answers for while it sleeps: all but those that other threads progress.
    fn to_arm(&self, entry: &Entry) -> u64 {
        let active = self.cris().active();
        let Some(slot) = Slot::of(entry).filter(|_| active != 1) else { return set_below(active) };
        let own = slot.cri();
        let left = (0..active).filter(|&ctx| ctx == own || !self.is_attended(&slot.attention, ctx));
        left.fold(0, |set, ctx| set | set_of(ctx))
    }

    /// Whether another thread progresses this context, as far as this thread has seen.
    fn is_attended(&self, attention: &Attention, ctx: u32) -> bool {
        let (seen, cri) = (attention.seen(ctx).get(), self.cris().at(ctx));
        seen != cri.turns() && seen != Attention::NEVER && cri.asleep.load(Ordering::Relaxed) == 0
    }

    /// Disarms what [`Contexts::arm`] armed, under the locks of those contexts.
    pub(crate) fn disarm(&self, entry: &mut Entry) {
        let contexts = self.armed.contexts.load(Ordering::Relaxed);
        if contexts != 0 {
            entry.raise(self.polling().is_careful());
            self.disarm_held(&mut self.cris().hold_set(entry, contexts));
        }
    }

    /// Disarms the armed transports on all contexts that are held.
    fn disarm_held(&self, all: &mut CriSetGuard<'_>) {
        let armed = self.armed.transports.swap(0, Ordering::Relaxed);
        self.armed.contexts.store(0, Ordering::Relaxed);
        all.for_each(|held| {
            let transports = self.polling().active(held.ctx()).filter(|(number, _)| armed >> number & 1 != 0);
            transports.for_each(|(_, btl)| btl.disarm(held));
        });
    }
}
