//! The verbs of a module as PML and one-sided components call them: on a context whose lock they hold.
//!
//! The proof of holding it is a [`CriGuard`], whose number is the context's, so that a verb on another context cannot be written down. It is lent whole: the
//! transport may call back, and then nothing under that lock is borrowed. The slots of
//! [`BtlHandle`] themselves are `unsafe`, for hosts and tests that keep contexts apart in another way.

use crate::table::*;
use oxmpi_mca::{CriGuard, Status, WaitSet};

/// A verb with an endpoint and a descriptor.
macro_rules! verb {
    ($(#[$doc:meta])* $name:ident($desc:ty)) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// `to` is an endpoint of this module, not taken back by `del_procs`; the descriptor's pointers are valid as its type says, those that the
        /// operation needs behind the call until `done` has been called.
        #[inline(always)]
        pub unsafe fn $name(&self, held: &mut CriGuard<'_>, to: *mut Endpoint, desc: &$desc) -> Status {
            // SAFETY: the caller's promise, and the guard holds the context.
            unsafe { (self.$name)(self.state, to, held.ctx(), desc) }
        }
    };
}

impl BtlHandle {
    verb!(
        /// See [`BtlTable::send`].
        send(SendDesc)
    );
    verb!(
        /// See [`BtlTable::get`].
        get(RmaDesc)
    );
    verb!(
        /// See [`BtlTable::get_vector`].
        get_vector(RmaVectorDesc)
    );
    verb!(
        /// See [`BtlTable::put`].
        put(RmaDesc)
    );
    verb!(
        /// See [`BtlTable::flush`]; `to` may be null.
        flush(FlushDesc)
    );
    verb!(
        /// See [`BtlTable::atomic`].
        atomic(AtomicDesc)
    );
    verb!(
        /// See [`BtlTable::send_kept`].
        send_kept(KeptDesc)
    );
    verb!(
        /// See [`BtlTable::list`].
        list(ListDesc)
    );
    verb!(
        /// See [`BtlTable::service_request`].
        service_request(SendDesc)
    );

    /// See [`BtlTable::progress`].
    #[inline(always)]
    pub fn progress(&self, held: &mut CriGuard<'_>) -> i32 {
        // SAFETY: the guard holds the context.
        unsafe { (self.progress)(self.state, held.ctx()) }
    }

    /// See [`BtlTable::arm`]. NOT_SUPPORTED without [`cap::SLEEP`].
    pub fn arm(&self, held: &mut CriGuard<'_>, set: &mut WaitSet) -> Status {
        // SAFETY: the guard holds the context; the set is ours for the call.
        unsafe { (self.arm)(self.state, held.ctx(), set) }
    }

    /// See [`BtlTable::disarm`].
    pub fn disarm(&self, held: &mut CriGuard<'_>) {
        // SAFETY: the guard holds the context.
        unsafe { (self.disarm)(self.state, held.ctx()) }
    }

    /// See [`BtlTable::hold`].
    ///
    /// # Safety
    /// `to` is an endpoint of this module, not taken back by `del_procs`, for which nobody else calls this.
    #[inline(always)]
    pub unsafe fn hold(&self, to: *mut Endpoint, oldest: u64) {
        // SAFETY: the caller's promise.
        unsafe { (self.hold)(self.state, to, oldest) }
    }

    /// See [`BtlTable::held`].
    ///
    /// # Safety
    /// `to` is an endpoint of this module, not taken back by `del_procs`.
    #[inline(always)]
    pub unsafe fn held(&self, to: *mut Endpoint) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { (self.held)(self.state, to) }
    }

    /// See [`BtlTable::partner`].
    ///
    /// # Safety
    /// `to` is an endpoint of this module, not taken back by `del_procs`.
    pub unsafe fn partner(&self, to: *mut Endpoint) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { (self.partner)(self.state, to) }
    }
}
