//! The hand of whoever deals with a message: it holds the CRI that the message came on, or none.

use crate::state::instance::Instance;
use oxmpi_mca::{CriGuard, Entry};

/// The hand of whoever deals with a message.
pub enum Hand<'a, 'g> {
    /// It holds the CRI on which the message came.
    Held(&'a mut CriGuard<'g>),
    /// It holds none.
    Free(&'a mut Entry),
}

impl<'g> Hand<'_, 'g> {
    /// Gives the way in of the call, for locks below a CRI's.
    #[inline(always)]
    pub fn entry(&self) -> &Entry {
        match self {
            Hand::Held(held) => held.entry(),
            Hand::Free(entry) => entry,
        }
    }

    /// Lends the hand.
    #[inline(always)]
    pub fn lend(&mut self) -> Hand<'_, 'g> {
        match self {
            Hand::Held(held) => Hand::Held(held),
            Hand::Free(entry) => Hand::Free(entry),
        }
    }

    /// Calls `f` with the guard of the message's CRI, which is `ctx`: the one that is held, or one that is taken for that.
    #[inline(always)]
    pub fn with<R>(self, instance: &Instance, ctx: u32, f: impl FnOnce(&mut CriGuard<'_>) -> R) -> R {
        match self {
            Hand::Held(held) => f(held),
            Hand::Free(entry) => f(&mut instance.hold(entry, ctx)),
        }
    }
}
