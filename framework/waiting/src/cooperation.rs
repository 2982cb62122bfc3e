//! Functions of a program with user-level threads, and the threads of it that are parked (`hooks.rs`).

use crate::sync::Sleepers;
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_mca::sync::unmodelled::{AtomicPtr, Ordering};

/// Functions of a program's own thread scheduler, and their first argument.
#[derive(Clone, Copy)]
pub struct Hooks {
    pub state: *mut c_void,
    /// Lets other user-level threads run.
    pub yield_now: unsafe extern "C-unwind" fn(*mut c_void),
    /// Names the calling user-level thread.
    pub current: unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void,
    /// Stops the calling thread until it was unparked; at once if that came first.
    pub park: unsafe extern "C-unwind" fn(*mut c_void, *mut c_void),
    /// From any thread.
    pub unpark: unsafe extern "C-unwind" fn(*mut c_void, *mut c_void),
}

/// The hooks of an instance, if the program has set any, and its parked threads that are to be resumed.
#[derive(Default)]
pub struct Cooperation {
    /// Leaked: a thread may be inside.
    hooks: AtomicPtr<Hooks>,
    pub(crate) sleepers: Sleepers,
}

impl Cooperation {
    /// The program's functions for user-level threads; `None`: it has set none.
    #[inline]
    pub fn hooks(&self) -> Option<&'static Hooks> {
        // SYNC POINT with `replace`. SAFETY: never given back.
        unsafe { self.hooks.load(Ordering::Acquire).as_ref() }
    }

    /// Replaces the program's functions; `None`: it has none. Returns whether there were any before.
    pub(crate) fn replace(&self, new: Option<Hooks>) -> bool {
        let new = new.map_or(null_mut(), |hooks| Box::into_raw(Box::new(hooks)));
        // SYNC POINT with `hooks`.
        !self.hooks.swap(new, Ordering::AcqRel).is_null()
    }

    /// Unparks the user-level threads whose sync objects were taken out of STOPPED. Returns how many. The caller holds
    /// no lock.
    pub fn resume(&self, hooks: &Hooks) -> i32 {
        let mut n = 0;
        for thread in self.sleepers.take() {
            // SAFETY: the program gave the functions for this purpose; the thread is parked.
            unsafe { (hooks.unpark)(hooks.state, thread.0) };
            n += 1;
        }
        n
    }
}
