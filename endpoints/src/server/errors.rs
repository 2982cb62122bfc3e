//! Errors: the class of a code, and those after which there is no job any more.

use crate::abi::*;
use crate::pmpi;
use std::process::exit;

pub fn abort(why: &str) -> ! {
    report!("a proxy: {why}");
    // SAFETY: MPI is initialised wherever this is called.
    unsafe { pmpi::MPI_Abort(COMM_WORLD, 1) };
    exit(1);
}

/// Error codes mean something to one process; classes mean the same to all.
pub fn class(code: c_int) -> c_int {
    if code == SUCCESS {
        return SUCCESS;
    }
    let mut class = ERR_OTHER;
    // SAFETY: a local.
    unsafe { pmpi::MPI_Error_class(code, &raw mut class) };
    class
}
