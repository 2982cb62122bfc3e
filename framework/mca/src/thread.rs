//! Per-thread context: the host looks it up once per MPI call and passes it down.

use crate::biased::{Caller, Seat};
use core::cell::Cell;
use core::ffi::c_void;

/// Looked up once per MPI call and passed down; components use no thread-locals on a message's path. It belongs to one thread
/// at a time, and passes from a thread that ends to one that comes, with what is in it. Lives as long as its instance.
#[repr(C)]
#[derive(Debug)]
pub struct ThreadCtx {
    /// Communication resource instance this thread uses first.
    pub cri: u32,
    /// Small number of the thread within the instance, from 0.
    pub index: u32,
    /// Software counters of this thread, or null: `counters[i]` is SPC number i.
    pub counters: *mut u64,
    /// The host's own data of the thread; components neither read nor change it.
    pub host_private: *mut c_void,
    /// The PML's own: null in a new context, and never touched by the host. The thread that has the context is alone with what
    /// it points to.
    pub pml_private: *mut c_void,
    /// The same for the one-sided component.
    pub osc_private: *mut c_void,
    /// The locks that the thread is inside as their owner. Other threads read it.
    pub seat: Seat,
    /// The CRIs, by bits, that the thread progresses beside its own, because something of it comes or waits there. The host writes
    /// them (`Host::expect`), in calls of this thread.
    pub attended: Cell<u64>,
}

impl ThreadCtx {
    /// A context that no thread has had yet.
    pub fn new(cri: u32, index: u32) -> ThreadCtx {
        let none = core::ptr::null_mut();
        ThreadCtx {
            cri,
            index,
            counters: core::ptr::null_mut(),
            host_private: none,
            pml_private: none,
            osc_private: none,
            seat: Seat::new(),
            attended: Cell::new(0),
        }
    }

    /// True where the thread progresses that CRI beside its own.
    #[inline(always)]
    pub fn attends(&self, ctx: u32) -> bool {
        crate::cri_set::is_in(self.attended.get(), ctx)
    }

    /// The seat of a context; `None` for null.
    ///
    /// # Safety
    /// Null, or the calling thread's context of a living instance. The result is used for locks of that instance alone, and
    /// not after it.
    #[inline(always)]
    pub unsafe fn seat_of(thread: *const ThreadCtx) -> Caller {
        // SAFETY: the caller's promise. Through a raw pointer: other fields are written while the seat is borrowed.
        if thread.is_null() { None } else { Some(unsafe { &(*thread).seat }) }
    }
}

const _: () = assert!(cfg!(loom) || size_of::<ThreadCtx>() == 72);
