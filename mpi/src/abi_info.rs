//! Questions about the binary interface (MPI 5.0 §20), and the versions (§9.1).

use crate::call::memory::{In, Out, read, slice_mut, write, write_made, write_text};
use crate::call::process;
use crate::constants::*;
use crate::error::{Failure, Res, call_any_time};
use crate::info;
use crate::types::Info;
use core::ffi::{c_char, c_int};
use parking_lot::Mutex;

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

/// The facts that the Fortran side has told, or that are assumed.
struct Fortran {
    info: Option<oxmpi_runtime::Info>,
    /// Size of LOGICAL, and its two values.
    booleans: Vec<(c_int, Vec<u8>, Vec<u8>)>,
}

static FORTRAN: Mutex<Fortran> = Mutex::new(Fortran { info: None, booleans: Vec::new() });

mpi_fn! {
    /// Without Fortran bindings in the library nothing is known until somebody sets it.
    any_time fn MPI_Abi_get_fortran_info(info: Out<Info>) -> c_int {
        call_any_time(NAME, || {
            let known = FORTRAN.lock().info.clone();
            write_made(info, "info", || known.map_or(Ok(Info(MPI_INFO_NULL)), info::adopt))
        })
    }
}
mpi_fn! {
    any_time fn MPI_Abi_set_fortran_info(info: Info) -> c_int {
        call_any_time(NAME, || {
            let given = info::require(info)?;
            let mut fortran = FORTRAN.lock();
            if fortran.info.is_some() {
                return Failure::err(MPI_ERR_ABI, "the Fortran sizes are set already");
            }
            fortran.info = Some(given);
            Ok(())
        })
    }
}

/// The bytes of a value.
///
/// # Safety
/// As for [`slice()`](crate::call::memory::slice).
unsafe fn bytes(at: In<u8>, size: usize, name: &str) -> Res<Vec<u8>> {
    read(at, name)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { crate::call::memory::slice(at, size, name) }?.to_vec())
}

fn logical_size(size: c_int) -> Res<usize> {
    match size {
        1 | 2 | 4 | 8 | 16 => Ok(size as usize),
        other => Failure::err(MPI_ERR_ARG, format!("logical_size is {other}")),
    }
}

mpi_fn! {
    any_time fn MPI_Abi_set_fortran_booleans(size: c_int, logical_true: In<u8>, logical_false: In<u8>) -> c_int {
        call_any_time(NAME, || {
            let n = logical_size(size)?;
            // SAFETY: the standard has the caller pass both with `size` bytes.
            let (yes, no) = unsafe { (bytes(logical_true, n, "logical_true")?, bytes(logical_false, n, "logical_false")?) };
            let mut fortran = FORTRAN.lock();
            if fortran.booleans.iter().any(|(known, _, _)| *known == size) {
                return Failure::err(MPI_ERR_ABI, format!("the values of LOGICALs of {size} bytes are set already"));
            }
            fortran.booleans.push((size, yes, no));
            Ok(())
        })
    }
}
mpi_fn! {
    /// The values are written where they are known; a place for them is needed in any case.
    any_time fn MPI_Abi_get_fortran_booleans(size: c_int, logical_true: Out<u8>, logical_false: Out<u8>, is_set: Out<c_int>) -> c_int {
        call_any_time(NAME, || {
            let n = logical_size(size)?;
            // Whether they are null; nothing is written before all are good.
            // SAFETY: the standard has the caller pass `logical_true` with `n` elements.
            unsafe { slice_mut(logical_true, n, "logical_true") }?;
            // SAFETY: the standard has the caller pass `logical_false` with `n` elements.
            unsafe { slice_mut(logical_false, n, "logical_false") }?;
            let known = FORTRAN.lock().booleans.iter().find(|(s, _, _)| *s == size).cloned();
            if let Some((_, yes, no)) = &known {
                read(is_set, "is_set")?;
                // SAFETY: the standard has the caller pass `logical_true` with `n` elements.
                unsafe { slice_mut(logical_true, n, "logical_true") }?.copy_from_slice(yes);
                // SAFETY: the standard has the caller pass `logical_false` with `n` elements.
                unsafe { slice_mut(logical_false, n, "logical_false") }?.copy_from_slice(no);
            }
            write(is_set, "is_set", known.is_some() as c_int)
        })
    }
}
