//! Layer function by which turns of progress serve all windows of an instance.
//!
//! It is registered when the first window is made and stays; its word counts the windows. Windows wait for messages, whose transport wakes a sleeper, so a
//! thread may sleep long unless something waits to be sent. The list of windows is tried only: the function runs inside of other calls.

use super::inside::{Arrivals, Core};
use crate::requests::RequestPool;
use core::ffi::c_void;
use oxmpi_mca::sync::{AtomicU32, Ordering};
use oxmpi_mca::{Entry, Host, LayerFunction, Status, ThreadCtx, WaitSet};
use std::sync::{Arc, Mutex, PoisonError};

/// State that all windows of an instance share.
pub(super) struct Common<W> {
    pub host: Host,
    pub pool: RequestPool,
    windows: Mutex<Vec<Arc<Core<W>>>>,
    /// Counts them.
    known: AtomicU32,
}

impl<W: Arrivals> Common<W> {
    /// No windows.
    pub fn new(host: Host) -> Common<W> {
        // SAFETY: it goes with the last share of this, of which the component's module has one until its last call and each window one; loans, which are windows', have the
        // pool's pending requests.
        let pool = unsafe { RequestPool::new(host) };
        Common { host, pool, windows: Mutex::default(), known: AtomicU32::new(0) }
    }

    /// From now on progress serves the window.
    pub fn enlist(&self, window: Arc<Core<W>>) -> Result<(), Status> {
        let mut layer = LayerFunction::new(progress::<W>, self, Some(&self.known));
        layer.arm = Some(arm::<W>);
        // SAFETY: the functions take this state, which the component's module shares until its last call.
        match unsafe { self.host.progress_register(&layer) } {
            // It is there already where this is not the first window.
            Status::BAD_PARAM => {}
            status => drop(status.ok()?),
        }
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).push(window);
        self.known.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// The window is served no more.
    pub fn strike(&self, window: &Arc<Core<W>>) {
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

/// The instance's state behind a layer function's first argument, and the way in of the thread that makes a turn of progress.
///
/// # Safety
/// The arguments are those of a layer function of an instance with windows of `W`, and this is called once for each call of it.
unsafe fn served<'a, W: Arrivals>(ctx: *mut c_void, thread: *mut ThreadCtx) -> (&'a Common<W>, Entry) {
    // SAFETY: `enlist` has registered the address of a state that the component's module shares until its last call; turns of progress come no more then.
    let common = unsafe { &*ctx.cast::<Common<W>>() };
    // SAFETY: whoever makes a turn of progress holds nothing, and has lent the entry of its call for that (`ProgressFn`); the context is the calling thread's, or null.
    let entry = unsafe { common.host.entry(thread) };
    (common, entry)
}

/// Serves all windows; how many messages came.
extern "C" fn progress<W: Arrivals>(ctx: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    // SAFETY: the host calls it with what was registered beside this instance of it.
    let (common, mut entry) = unsafe { served::<W>(ctx, thread) };
    let Ok(windows) = common.windows.try_lock() else { return 0 };
    windows.iter().map(|window| window.turn(&mut entry)).sum()
}

/// Serves all windows once more before a thread sleeps. PENDING: something came, somebody else is inside, or something waits to be sent.
extern "C" fn arm<W: Arrivals>(ctx: *mut c_void, thread: *mut ThreadCtx, _: *mut WaitSet) -> Status {
    // SAFETY: the host calls it with what was registered beside this instance of it.
    let (common, mut entry) = unsafe { served::<W>(ctx, thread) };
    let Ok(windows) = common.windows.try_lock() else { return Status::PENDING };
    match windows.iter().filter(|window| !window.may_be_left(&mut entry)).count() {
        0 => Status::OK,
        _ => Status::PENDING,
    }
}
