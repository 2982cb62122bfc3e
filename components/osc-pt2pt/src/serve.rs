//! The progress function that serves all windows of an instance.
//!
//! It is registered while there are windows, since waits sleep less long where the host has to call one.
//! Nothing of ours is locked while the host is called to register it, and the function itself takes locks only if they are
//! free: it runs inside of other calls, those on windows included.

use crate::state::{Common, Core};
use core::ffi::c_void;
use oxmpi_mca::{Status, ThreadCtx};
use std::sync::{Arc, PoisonError};

impl Common {
    fn context(&self) -> *mut c_void {
        (&raw const *self).cast_mut().cast()
    }

    /// From now on progress serves the window.
    pub fn enlist(&self, window: Arc<Core>) -> Status {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == 0 {
            let status = self.host.progress_register(progress, self.context(), true);
            if status.is_err() {
                return status;
            }
        }
        *known += 1;
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).push(window);
        Status::OK
    }

    /// The window is served no more.
    pub fn strike(&self, window: &Arc<Core>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = {
            let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
            let at = windows.iter().position(|w| Arc::ptr_eq(w, window));
            at.map(|at| windows.swap_remove(at))
        };
        if gone.is_none() {
            return;
        }
        *known -= 1;
        if *known == 0 {
            self.host.progress_unregister(progress, self.context());
        }
    }
}

extern "C" fn progress(ctx: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    // SAFETY: registered with the component's state, which lives until it is finalized, without windows.
    let common = unsafe { &*ctx.cast::<Common>() };
    let Ok(windows) = common.windows.try_lock() else { return 0 };
    windows.iter().map(|window| window.poll(thread)).sum()
}
