//! The layer function that serves all windows of an instance.
//!
//! It is registered when the first window is made and stays; its word counts the windows, so turns of progress call it only while there are any. Windows
//! wait for messages, whose transport wakes a sleeper, so a thread may sleep long unless something of theirs waits to be sent.
//! Nothing of ours is locked while the host is called to register it, and the function itself takes locks only if they are
//! free: it runs inside of other calls, those on windows included.

use crate::state::{Common, Core};
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use oxmpi_mca::{Entry, LayerFunction, Status, ThreadCtx, WaitSet};
use std::sync::{Arc, PoisonError};

impl Common {
    /// From now on progress serves the window.
    pub fn enlist(&self, window: Arc<Core>) -> Status {
        let mut layer = LayerFunction::new(progress, self, Some(&self.known));
        layer.arm = Some(arm);
        // SAFETY: the functions take the component's state, which with its word lives until it is finalized; turns of progress come no more then.
        match unsafe { self.host.progress_register(&layer) } {
            // It is there already where this is not the first window.
            status if status.is_err() && status != Status::BAD_PARAM => return status,
            _ => {}
        }
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).push(window);
        self.known.fetch_add(1, Ordering::Relaxed);
        Status::OK
    }

    /// The window is served no more.
    pub fn strike(&self, window: &Arc<Core>) {
        let gone = {
            let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
            let at = windows.iter().position(|w| Arc::ptr_eq(w, window));
            at.map(|at| windows.swap_remove(at))
        };
        if gone.is_some() {
            self.known.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The component's state behind a layer function's first argument, and the way in of the thread that makes a turn of progress.
///
/// # Safety
/// The arguments are those of a layer function of ours, and this is called once for each call of it.
unsafe fn served<'a>(ctx: *mut c_void, thread: *mut ThreadCtx) -> (&'a Common, Entry) {
    // SAFETY: `enlist` has registered the component's state, which lives until it is finalized; turns of progress come no more then.
    let common = unsafe { &*ctx.cast::<Common>() };
    // SAFETY: who makes a turn of progress holds nothing, and has lent the entry of the call that it is inside of for that (`ProgressFn`); the context is the
    // calling thread's, or null.
    let entry = unsafe { common.host.entry(thread) };
    (common, entry)
}

/// Serves all windows; how many messages ended.
extern "C" fn progress(ctx: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    // SAFETY: the host calls it with what was registered.
    let (common, mut entry) = unsafe { served(ctx, thread) };
    let Ok(windows) = common.windows.try_lock() else { return 0 };
    windows.iter().map(|window| window.poll(&mut entry)).sum()
}

/// Serves all windows once more before a thread sleeps. PENDING: something came, somebody else is inside, or something waits to be sent.
extern "C" fn arm(ctx: *mut c_void, thread: *mut ThreadCtx, _: *mut WaitSet) -> Status {
    // SAFETY: the host calls it with what was registered.
    let (common, mut entry) = unsafe { served(ctx, thread) };
    let Ok(windows) = common.windows.try_lock() else { return Status::PENDING };
    match windows.iter().filter(|window| !window.may_be_left(&mut entry)).count() {
        0 => Status::OK,
        _ => Status::PENDING,
    }
}
