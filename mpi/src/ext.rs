//! Extensions of this library, `mpi-ext.h`: what is not in the standard is named MPIX_ and stands here
//! and in `ext_sync`, outside the table of the standard ABI.

use crate::error::{Failure, Res, raise};
use crate::process::{self, Process};

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
    if process.instance.threaded() || process.instance.act_threaded() {
        return Ok(());
    }
    Failure::err(
        crate::constants::MPI_ERR_UNSUPPORTED_OPERATION,
        "completions cannot be told of below MPI_THREAD_MULTIPLE on this kernel, which has no membarrier",
    )
}

mpi_fn! {
    fn MPIX_Progress() -> () {
        call(NAME, (), |process| {
            process.instance.progress(process.thread());
            Ok(())
        })
    }
}
