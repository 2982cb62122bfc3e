//! Extensions of this library, `mpi-ext.h`: what is not in the standard is named MPIX_ and stands here
//! and in `ext_sync`, outside the table of the standard ABI.

use crate::call::entry::Inside;
use crate::call::gate;
use crate::call::memory::In;
use crate::call::process::Process;
use crate::constants::*;
use crate::error::{Failure, Res};
use core::ffi::{c_int, c_void};
use oxmpi_mca::Entry;
use oxmpi_waiting::Hooks;

/// Runs the body of a function that has no error code to return: a failure goes to the error handler, and
/// `failed` is returned if that comes back.
pub fn call<T>(
    here: Inside,
    name: &'static str,
    failed: T,
    body: impl FnOnce(&'static Process, &mut Entry) -> Res<T>,
) -> T {
    let mut result = failed;
    crate::error::call(here, name, None, |process, entry| {
        result = body(process, entry)?;
        Ok(())
    });
    result
}

/// Completions tell whoever is attached from now on. Below MPI_THREAD_MULTIPLE the program keeps other
/// threads out of the library meanwhile, as in every call.
pub fn act_threaded(process: &Process, entry: &mut Entry) -> Res {
    if process.instance.threaded() || gate::run_outside(entry, || process.instance.act_threaded()) {
        return Ok(());
    }
    Failure::err(
        MPI_ERR_UNSUPPORTED_OPERATION,
        "completions cannot be told of below MPI_THREAD_MULTIPLE on this kernel, which has no membarrier",
    )
}

mpi_fn! {
    fn MPIX_Progress() -> () |here| {
        call(here, NAME, (), |process, entry| {
            process.instance.poll(entry);
            Ok(())
        })
    }
}

type HookFn = unsafe extern "C-unwind" fn(*mut c_void);
type Naming = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
type Named = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void);

/// `MPIX_Thread_hooks`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ThreadHooks {
    yield_now: Option<HookFn>,
    current: Option<Naming>,
    park: Option<Named>,
    unpark: Option<Named>,
}

mpi_fn! {
    fn MPIX_Thread_set_hooks(hooks: In<ThreadHooks>, state: *mut c_void) -> c_int |here| {
        crate::error::call(here, NAME, None, |process, entry| {
            if process.level() != MPI_THREAD_MULTIPLE {
                return Failure::err(MPI_ERR_OTHER, "hooks for user-level threads need MPI_THREAD_MULTIPLE");
            }
            let Some(given) = hooks.get() else {
                process.instance.set_hooks(None);
                return Ok(());
            };
            let (Some(yield_now), Some(current), Some(park), Some(unpark)) =
                (given.yield_now, given.current, given.park, given.unpark)
            else {
                return Failure::err(MPI_ERR_ARG, "one of the hooks is a null pointer");
            };
            // Two user-level threads are one to the gate.
            act_threaded(process, entry)?;
            process.instance.set_hooks(Some(Hooks { state, yield_now, current, park, unpark }));
            Ok(())
        })
    }
}
