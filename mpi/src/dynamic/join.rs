//! MPI_Comm_join: two processes with a socket between them (MPI 5.0 §11.10.6).

use crate::call::memory::{Out, write};
use crate::comm::lifetime::adopt;
use crate::comm::require;
use crate::constants::*;
use crate::error::{Failure, call};
use crate::types::Comm;
use core::ffi::c_int;

mpi_fn! {
    fn MPI_Comm_join(fd: c_int, intercomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, None, |_, entry| {
            if intercomm.is_null() {
                return Failure::err(MPI_ERR_ARG, "intercomm is a null pointer");
            }
            let object = require(Comm(MPI_COMM_SELF))?;
            if fd < 0 {
                return Failure::err(MPI_ERR_ARG, format!("fd is {fd}"));
            }
            // SAFETY: the standard has the caller pass an open socket that is used by nobody else during the call.
            let socket = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
            let joined = object.comm.join_by(entry, socket);
            if joined.is_err() {
                intercomm.set(Comm(MPI_COMM_NULL));
            }
            write(intercomm, "intercomm", adopt(entry, object, joined?)?)
        })
    }
}
