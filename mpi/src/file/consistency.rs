//! Atomicity and durability (MPI 5.0 §14.6).

use super::object::require;
use crate::call::memory::{Out, write};
use crate::error::{ErrorObject, call_on};
use crate::types::File;
use core::ffi::c_int;

mpi_fn! {
    fn MPI_File_set_atomicity(fh: File, flag: c_int) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, entry| Ok(require(fh)?.file.set_atomicity(entry, flag != 0)?))
    }
}
mpi_fn! {
    fn MPI_File_get_atomicity(fh: File, flag: Out<c_int>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, _| write(flag, "flag", require(fh)?.file.atomicity().into()))
    }
}
mpi_fn! {
    fn MPI_File_sync(fh: File) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(fh), |_, _| Ok(require(fh)?.file.sync()?))
    }
}
