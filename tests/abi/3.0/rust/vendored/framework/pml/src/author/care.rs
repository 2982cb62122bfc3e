//! The time from which a layer's verbs take locks: once several threads may call, or once the layer says so.

use core::marker::PhantomData;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{Entry, Host, Owner, ThreadCtx};
use std::sync::OnceLock;

/// A word that says whether the verbs of a layer take locks. It is part of the module, and the host raises it when threads begin.
#[derive(Debug)]
pub struct Care {
    taken: AtomicU32,
    /// The module's state, which the functions of its requests find by that.
    module: OnceLock<Owner>,
}

impl Care {
    /// As the host's thread level says.
    pub(super) fn of(host: &Host) -> Care {
        Care { taken: AtomicU32::new(host.threaded().into()), module: OnceLock::new() }
    }

    /// Of the module with this state, from the beginning and for good.
    pub(super) fn be_of(&self, module: Owner) {
        self.module.get_or_init(|| module);
    }

    /// The module, for the headers of its requests ([`RequestHeader::new`](oxmpi_mca::RequestHeader::new)).
    pub fn owner(&self) -> Owner {
        self.module.get().copied().unwrap_or(Owner::NOBODY)
    }

    /// True where locks are taken. Verbs find that in their [`Entry`].
    #[inline(always)]
    pub fn is_taken(&self) -> bool {
        self.taken.load(Ordering::Relaxed) != 0
    }

    /// Has locks taken by all calls from the next one on, though one thread makes calls: for a layer whose order needs that.
    pub fn take(&self) {
        self.taken.store(1, Ordering::Relaxed);
    }
}

/// The admission to a call of which most need no entry: [`Admission::enter`] makes it.
#[repr(C)]
pub struct Admission<'a> {
    thread: *mut ThreadCtx,
    care: &'a Care,
    here: PhantomData<*mut ()>,
}

impl<'a> Admission<'a> {
    /// The admission of a call of this thread.
    ///
    /// # Safety
    /// As for [`Host::entry`], once [`Admission::enter`] is called.
    #[inline(always)]
    pub(super) unsafe fn new(care: &'a Care, thread: *mut ThreadCtx) -> Admission<'a> {
        Admission { thread, care, here: PhantomData }
    }

    /// The calling thread's context, or null.
    #[inline(always)]
    pub fn thread(&self) -> *mut ThreadCtx {
        self.thread
    }

    /// The call's entry.
    #[inline(always)]
    pub fn enter(self) -> Entry {
        // SAFETY: the promise of `new`; the care says whether there may be several threads.
        unsafe { Entry::of(self.care.is_taken(), self.thread) }
    }
}
