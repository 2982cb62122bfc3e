//! Extensions of this library, `mpi-ext.h`: what is not in the standard is named MPIX_ and stands here
//! and in `ext_sync`, outside the table of the standard ABI.

use crate::call::gate;
use crate::call::process::{self, Process};
use crate::constants::*;
use crate::error::{Failure, Res, raise};
use core::ffi::{c_int, c_void};
use oxmpi_waiting::Hooks;

/// Runs the body of a function that has no error code to return: a failure goes to the error handler, and
/// `failed` is returned if that comes back.
pub fn call<T>(name: &'static str, failed: T, body: impl FnOnce(&'static Process) -> Res<T>) -> T {
    match process::require().and_then(body) {
        Ok(value) => value,
        Err(failure) => {
            raise(name, None, failure);
            failed
        }
    }
}

/// Completions tell whoever is attached from now on. Below MPI_THREAD_MULTIPLE the program keeps other
/// threads out of the library meanwhile, as in every call.
pub fn act_threaded(process: &Process) -> Res {
    if process.instance.threaded() || gate::run_outside(|| process.instance.act_threaded()) {
        return Ok(());
    }
    Failure::err(
        MPI_ERR_UNSUPPORTED_OPERATION,
        "completions cannot be told of below MPI_THREAD_MULTIPLE on this kernel, which has no membarrier",
    )
}

mpi_fn! {
    fn MPIX_Progress() -> () {
        call(NAME, (), |process| {
            process.instance.poll(process.thread());
            Ok(())
        })
    }
}

type HookFn = unsafe extern "C-unwind" fn(*mut c_void);
type Naming = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
type Named = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void);

/// `MPIX_Thread_hooks`.
#[repr(C)]
pub struct ThreadHooks {
    yield_now: Option<HookFn>,
    current: Option<Naming>,
    park: Option<Named>,
    unpark: Option<Named>,
}

mpi_fn! {
    fn MPIX_Thread_set_hooks(hooks: *const ThreadHooks, state: *mut c_void) -> c_int {
        crate::error::call(NAME, None, |process| {
            if process.level() != MPI_THREAD_MULTIPLE {
                return Failure::err(MPI_ERR_OTHER, "hooks for user-level threads need MPI_THREAD_MULTIPLE");
            }
            // SAFETY: null, or the caller's functions.
            let Some(given) = (unsafe { hooks.as_ref() }) else {
                process.instance.set_hooks(None);
                return Ok(());
            };
            let (Some(yield_now), Some(current), Some(park), Some(unpark)) =
                (given.yield_now, given.current, given.park, given.unpark)
            else {
                return Failure::err(MPI_ERR_ARG, "one of the hooks is a null pointer");
            };
            // Two user-level threads are one to the gate.
            act_threaded(process)?;
            process.instance.set_hooks(Some(Hooks { state, yield_now, current, park, unpark }));
            Ok(())
        })
    }
}
