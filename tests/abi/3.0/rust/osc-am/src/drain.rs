//! Sending of what waits in the outbox: by verbs, and in progress.

use crate::enter::{CONTEXT, enter, try_enter};
use crate::state::Am;
use core::ffi::c_void;
use oxmpi_mca::{Entry, LayerFunction, Status, ThreadCtx};

impl Am {
    /// Offers what waits to the transports; for verbs.
    pub fn push(&self, entry: &mut Entry) {
        let mut held = enter(&self.host, entry);
        self.lock().drain(self, &mut held);
    }

    /// Called when the first window is made: what found no room is offered again in progress.
    pub fn begin_progress(&self) -> Status {
        self.host.activate(CONTEXT);
        if core::mem::replace(&mut self.lock().progressing, true) {
            return Status::OK;
        }
        let layer = LayerFunction::new(progress, self, None);
        // SAFETY: the function takes the component's state, which lives until it is finalized; turns of progress come no more then.
        unsafe { self.host.progress_register(&layer) }
    }

    pub fn stop_progress(&self) {
        if core::mem::replace(&mut self.lock().progressing, false) {
            self.host.progress_unregister(progress, self);
        }
    }
}

extern "C" fn progress(ctx: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    // SAFETY: `begin_progress` has registered the component's state, which lives until it is finalized; turns of progress come no more then.
    let am = unsafe { &*ctx.cast::<Am>() };
    if am.lock().outbox.is_empty() {
        return 0;
    }
    // SAFETY: who makes a turn of progress holds nothing, and has lent the entry of the call that it is inside of for that (`ProgressFn`); the context is the
    // calling thread's, or null.
    let mut entry = unsafe { am.host.entry(thread) };
    // The thread that is inside sends what waits, or the next turn does.
    match try_enter(&am.host, &mut entry) {
        Some(mut held) => am.lock().drain(am, &mut held),
        None => 0,
    }
}
