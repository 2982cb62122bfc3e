//! When the tool interface is in use, and the runtime instance that it shows.

use crate::constants::*;
use core::ffi::c_int;
use oxmpi_runtime::Instance;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;

/// Return value of a function of the tool interface.
pub type Res<T = ()> = Result<T, c_int>;

/// How many MPI_T_init_thread are without their MPI_T_finalize.
pub static USERS: Mutex<usize> = Mutex::new(0);

/// The runtime instance of this process, from its first start on.
pub static INSTANCE: RwLock<Option<Arc<Instance>>> = RwLock::new(None);

/// The instance, if one was ever started.
pub fn instance() -> Option<Arc<Instance>> {
    INSTANCE.read().clone()
}

/// Runs the body of a function, if the interface is in use.
pub fn call(body: impl FnOnce() -> Res) -> c_int {
    if *USERS.lock() == 0 {
        return MPI_T_ERR_NOT_INITIALIZED;
    }
    match body() {
        Ok(()) => MPI_SUCCESS,
        Err(code) => code,
    }
}
