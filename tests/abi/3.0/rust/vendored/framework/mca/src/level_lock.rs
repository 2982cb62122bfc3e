//! Biased locks with a word of their own, for what a component guards below its CRIs.
//!
//! The lock of a level is taken while no other of that level is held by the thread: a seat notes one of each (`biased.rs`).

use crate::biased::{Bias, Caller, LockServices, Seat, address};
use crate::entry::Entry;
use crate::lock::Lock;

/// A biased lock with its word, for a component's own locks of a level.
pub struct BiasedLock<const LEVEL: usize> {
    pub(crate) bias: Bias,
    pub(crate) word: Lock,
}

/// The way by which [`BiasedLock::enter`] got in, for [`BiasedLock::leave`]: one word, so that a guard with it fits registers.
#[derive(Clone, Copy)]
pub struct Pass(*const Seat);

impl Pass {
    /// No lock was taken. No seat lies at this address.
    const FREE: Pass = Pass(core::ptr::without_provenance(1));

    /// Of the thread of that seat.
    pub fn of(seat: &'static Seat) -> Pass {
        Pass(seat)
    }
}

impl<const LEVEL: usize> BiasedLock<LEVEL> {
    /// A free lock.
    pub fn new(services: &'static LockServices) -> Self {
        BiasedLock { bias: Bias::new(services), word: Lock::new() }
    }
    /// A free lock with the same services.
    pub fn another(&self) -> Self {
        Self::new(self.bias.services())
    }
    /// Takes the lock where there are other threads.
    #[inline(always)]
    pub fn enter(&self, entry: &Entry, who: Caller) -> Pass {
        if !entry.is_among() {
            return Pass::FREE;
        }
        self.bias.enter::<LEVEL>(&self.word, who);
        Pass(address(who))
    }
    /// Takes the lock if the thread of that seat owns it. False: nothing happened.
    #[inline(always)]
    pub fn enter_own(&self, seat: &'static Seat) -> bool {
        self.bias.enter_own::<LEVEL>(seat)
    }
    /// Gives back what [`BiasedLock::enter_own`] took.
    ///
    /// # Safety
    /// The calling thread took it with this seat, and has not given it back.
    #[inline(always)]
    pub unsafe fn leave_own(&self, seat: &'static Seat) {
        self.bias.leave_own::<LEVEL>(seat);
    }
    /// Gives back what [`BiasedLock::enter`] took.
    ///
    /// # Safety
    /// The calling thread took it with this pass, or by [`BiasedLock::enter_own`] with the seat of this pass, and has not given it back.
    #[inline(always)]
    pub unsafe fn leave(&self, pass: Pass) {
        if pass.0 != Pass::FREE.0 {
            // SAFETY: null, or a seat, which lives as long as the instance whose locks name it.
            self.bias.leave::<LEVEL>(&self.word, unsafe { pass.0.as_ref() });
        }
    }
}
