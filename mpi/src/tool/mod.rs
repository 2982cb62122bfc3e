//! The tool information interface MPI_T (MPI 5.0 §15.3): control variables, performance variables,
//! categories, enumerations, events.
//!
//! **When.** Between MPI_T_init_thread and the matching MPI_T_finalize, which are counted, whatever MPI
//! itself does meanwhile: before MPI_Init, during, after MPI_Finalize. Before a runtime instance is there,
//! parameters are those of the registry, and what is written to them goes into the instance when it
//! starts ([`written`]); afterwards they are the instance's, also while it rests.
//!
//! **Indices** never change their meaning: what is found later is added behind.
//!
//! **Errors** are returned, no error handler hears of them. **Threads**: everything may be called by any
//! thread at any time; the locks here are leaves of this module, none is alive when a callback of the user
//! runs.
//!
//! Map: `users` (when the interface is in use), `arguments`, `handles` · `cvar` (control variables) · `pvar_list`, `pvar`,
//! `window_pvar` (which performance variables there are, and where their values come from), `session` (handles on
//! them) · `category` · `enumeration` · `event` (types, sources, delivery), `event_calls` (their functions).

mod arguments;
mod category;
mod cvar;
mod enumeration;
pub mod event;
mod event_calls;
mod handles;
mod pvar;
mod pvar_list;
mod session;
mod users;
mod window_pvar;

use crate::call::memory::Out;
use crate::constants::*;
use arguments::offer;
use core::ffi::c_int;
use oxmpi_runtime::Instance;
use std::sync::Arc;
use users::{INSTANCE, USERS};

pub use cvar::written;

/// A runtime instance was started.
pub fn started(instance: &Arc<Instance>) {
    session::started(instance, || *INSTANCE.write() = Some(instance.clone()));
}

mpi_fn! {
    /// At any level that is asked for, calls of several threads at once are safe.
    fn MPI_T_init_thread(required: c_int, provided: Out<c_int>) -> c_int {
        let known =
            [MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE].contains(&required);
        if !known || provided.is_null() {
            return MPI_T_ERR_INVALID;
        }
        offer(provided, MPI_THREAD_MULTIPLE);
        *USERS.lock() += 1;
        MPI_SUCCESS
    }
}
mpi_fn! {
    fn MPI_T_finalize() -> c_int {
        {
            let mut users = USERS.lock();
            match *users {
                0 => return MPI_T_ERR_NOT_INITIALIZED,
                n => *users = n - 1,
            }
            if *users > 0 {
                return MPI_SUCCESS;
            }
        }
        cvar::forget();
        session::forget();
        event::forget();
        MPI_SUCCESS
    }
}
