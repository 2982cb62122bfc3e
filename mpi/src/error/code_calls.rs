//! Functions of error classes and codes (MPI 5.0 §9.4, §9.5): their sentences, and those that the user adds.

use super::body::call_any_time;
use super::codes::{self, add, class_of_code, no_such, remove, set_string};
use super::failure::Failure;
use crate::call::memory::{Out, Text, text, write, write_text};
use crate::constants::*;
use core::ffi::{c_char, c_int};

mpi_fn! {
    any_time fn MPI_Error_class(errorcode: c_int, errorclass: Out<c_int>) -> c_int {
        call_any_time(NAME, || {
            let class = class_of_code(errorcode).ok_or_else(|| no_such("error code", errorcode))?;
            write(errorclass, "errorclass", class)
        })
    }
}
mpi_fn! {
    any_time fn MPI_Error_string(errorcode: c_int, string: Out<c_char>, resultlen: Out<c_int>) -> c_int {
        call_any_time(NAME, || {
            let value = codes::string(errorcode).ok_or_else(|| no_such("error code", errorcode))?;
            // SAFETY: the standard has the caller pass `string` with room for MPI_MAX_ERROR_STRING bytes.
            let n = unsafe { write_text(string, "string", &value, MPI_MAX_ERROR_STRING as usize) }?;
            write(resultlen, "resultlen", n as c_int)
        })
    }
}
mpi_fn! {
    any_time fn MPI_Add_error_class(errorclass: Out<c_int>) -> c_int {
        call_any_time(NAME, || write(errorclass, "errorclass", add(None)?))
    }
}
mpi_fn! {
    any_time fn MPI_Add_error_code(errorclass: c_int, errorcode: Out<c_int>) -> c_int {
        call_any_time(NAME, || write(errorcode, "errorcode", add(Some(errorclass))?))
    }
}
mpi_fn! {
    any_time fn MPI_Add_error_string(errorcode: c_int, string: Text) -> c_int {
        call_any_time(NAME, || {
            let string = text(string, "string")?;
            if string.len() >= MPI_MAX_ERROR_STRING as usize {
                return Failure::err(MPI_ERR_ARG, format!("string has {} bytes", string.len()));
            }
            set_string(errorcode, string)
        })
    }
}
mpi_fn! {
    any_time fn MPI_Remove_error_class(errorclass: c_int) -> c_int {
        call_any_time(NAME, || remove(errorclass, true))
    }
}
mpi_fn! {
    any_time fn MPI_Remove_error_code(errorcode: c_int) -> c_int {
        call_any_time(NAME, || remove(errorcode, false))
    }
}
mpi_fn! {
    any_time fn MPI_Remove_error_string(errorcode: c_int) -> c_int {
        call_any_time(NAME, || {
            if codes::string(errorcode).is_none_or(|s| s.is_empty()) {
                return Err(no_such("error code with a string that was added", errorcode));
            }
            set_string(errorcode, String::new())
        })
    }
}
