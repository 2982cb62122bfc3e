//! Data representations registered by the program (MPI 5.0 §14.5.3).

use super::representation::{function_of, register};
use crate::call::memory::Text;
use crate::constants::*;
use crate::error::{ErrorObject, call_on};
use crate::types::File;
use core::ffi::c_int;

mpi_fn! {
    fn MPI_Register_datarep(datarep: Text, read_conversion_fn: usize, write_conversion_fn: usize, dtype_file_extent_fn: usize, extra_state: usize) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(File(MPI_FILE_NULL)), |_, _| {
            let functions = (function_of(read_conversion_fn, false), function_of(write_conversion_fn, false));
            register(datarep, functions, dtype_file_extent_fn, extra_state)
        })
    }
}
mpi_fn! {
    fn MPI_Register_datarep_c(datarep: Text, read_conversion_fn: usize, write_conversion_fn: usize, dtype_file_extent_fn: usize, extra_state: usize) -> c_int |here| {
        call_on(here, NAME, ErrorObject::File(File(MPI_FILE_NULL)), |_, _| {
            let functions = (function_of(read_conversion_fn, true), function_of(write_conversion_fn, true));
            register(datarep, functions, dtype_file_extent_fn, extra_state)
        })
    }
}
