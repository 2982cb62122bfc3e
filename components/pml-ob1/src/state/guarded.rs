//! Data that CRI locks guard, which belongs to their holders.
//!
//! Everything the transport callbacks touch (queues and credits of peers, the table of request ids,
//! the table of communicators) is guarded by the lock of the CRI the messages flow on; what all CRIs
//! share is read under any of their locks and written under all ([`AllHeld`]). [`Held`] is the proof of
//! holding one. Locks and proofs are the contract's (`oxmpi_mca::cri`).

use core::cell::UnsafeCell;
pub use oxmpi_mca::cri::set_below;
pub use oxmpi_mca::{CriGuard as Held, CriSetGuard as AllHeld, OwnerGuard as Inside};

/// Data that belongs to the holder of a CRI's lock.
#[derive(Default)]
pub struct Guarded<T>(UnsafeCell<T>);

impl<T> Guarded<T> {
    /// Puts data under the lock of a CRI, of which [`Held`] will be the proof.
    pub const fn new(value: T) -> Guarded<T> {
        Guarded(UnsafeCell::new(value))
    }
    /// Calls `f` with the data, for the holder of the lock. `f` must not reach this very value again; all uses are
    /// short and call nothing of this room that could.
    #[inline(always)]
    pub fn with<R>(&self, _held: &Held<'_>, f: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the holder of the lock is alone, and uses do not nest.
        f(unsafe { &mut *self.0.get() })
    }
}
