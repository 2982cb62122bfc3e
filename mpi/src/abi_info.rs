//! Questions about the binary interface (MPI 5.0 §20), and the versions (§9.1).

use crate::call::memory::{Out, write, write_made, write_text};
use crate::call::process;
use crate::constants::*;
use crate::error::{Res, call_any_time};
use crate::info;
use crate::types::Info;
use core::ffi::{c_char, c_int};

mpi_fn! {
    any_time fn MPI_Get_version(version: Out<c_int>, subversion: Out<c_int>) -> c_int {
        call_any_time(NAME, || {
            write(version, "version", MPI_VERSION)?;
            write(subversion, "subversion", MPI_SUBVERSION)
        })
    }
}
mpi_fn! {
    any_time fn MPI_Abi_get_version(abi_major: Out<c_int>, abi_minor: Out<c_int>) -> c_int {
        call_any_time(NAME, || {
            write(abi_major, "abi_major", MPI_ABI_VERSION)?;
            write(abi_minor, "abi_minor", MPI_ABI_SUBVERSION)
        })
    }
}
mpi_fn! {
    any_time fn MPI_Get_library_version(version: Out<c_char>, resultlen: Out<c_int>) -> c_int {
        call_any_time(NAME, || {
            let text = match process::current() {
                Some(process) => process.instance.library_version(),
                None => format!("oxmpi {}", env!("CARGO_PKG_VERSION")),
            };
            // SAFETY: the standard has the caller pass `version` with room for MPI_MAX_LIBRARY_VERSION_STRING bytes.
            let n = unsafe { write_text(version, "version", &text, MPI_MAX_LIBRARY_VERSION_STRING as usize) }?;
            write(resultlen, "resultlen", n as c_int)
        })
    }
}

/// Sizes of types, as the standard's keys.
fn sizes(pairs: &[(&str, usize)]) -> Res<oxmpi_runtime::Info> {
    let mut info = oxmpi_runtime::Info::new();
    for (key, size) in pairs {
        info.set(key, &size.to_string());
    }
    Ok(info)
}

mpi_fn! {
    any_time fn MPI_Abi_get_info(info: Out<Info>) -> c_int {
        call_any_time(NAME, || {
            let all = sizes(&[
                ("mpi_aint_size", size_of::<crate::types::Aint>()),
                ("mpi_count_size", size_of::<crate::types::Count>()),
                ("mpi_offset_size", 8),
            ])?;
            write_made(info, "info", || info::adopt(all))
        })
    }
}
