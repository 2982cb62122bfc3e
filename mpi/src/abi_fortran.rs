//! The program tells of its Fortran compiler (MPI 5.0 §20.4): sizes of types, which types there are, and the values of LOGICAL. Each is told once.
//!
//! **Sizes** are those of the predefined datatypes that are named after Fortran's types. Their descriptors stand in a table that messages read without a lock, so sizes
//! that differ from the table's are taken before MPI begins only ([`fix_types`]); later they are MPI_ERR_ABI. Sizes that agree with the table may be told at any time.

use crate::call::memory::{In, Out, read, slice, slice_mut, write, write_made};
use crate::constants::*;
use crate::error::{Failure, Res, call_any_time};
use crate::info;
use crate::predefined;
use crate::types::Info;
use core::ffi::c_int;
use oxmpi_datatype::{Base, flag};
use parking_lot::Mutex;

/// The facts that were told.
struct Fortran {
    info: Option<oxmpi_runtime::Info>,
    /// Size of LOGICAL, and its two values.
    booleans: Vec<(c_int, Vec<u8>, Vec<u8>)>,
    /// MPI has begun, once at least: datatypes are read.
    are_types_fixed: bool,
}

static FORTRAN: Mutex<Fortran> =
    Mutex::new(Fortran { info: None, booleans: Vec::new(), are_types_fixed: false });

/// At the begin of MPI: from now on threads may read the table of datatypes.
pub fn fix_types() {
    FORTRAN.lock().are_types_fixed = true;
}

/// A type by the bytes of its element, or none.
type OfSize = fn(usize) -> Option<Base>;

fn integer(bytes: usize) -> Option<Base> {
    Some(match bytes {
        1 => Base::I8,
        2 => Base::I16,
        4 => Base::I32,
        8 => Base::I64,
        16 => Base::I128,
        _ => return None,
    })
}

fn logical(bytes: usize) -> Option<Base> {
    Some(match bytes {
        1 => Base::LOGICAL1,
        2 => Base::LOGICAL2,
        4 => Base::LOGICAL4,
        8 => Base::LOGICAL8,
        16 => Base::LOGICAL16,
        _ => return None,
    })
}

fn real(bytes: usize) -> Option<Base> {
    Some(match bytes {
        2 => Base::F16,
        4 => Base::F32,
        8 => Base::F64,
        16 => Base::F128,
        _ => return None,
    })
}

/// Of reals of that size.
fn complex(bytes: usize) -> Option<Base> {
    Some(match bytes {
        2 => Base::C16,
        4 => Base::C32,
        8 => Base::C64,
        16 => Base::C128,
        _ => return None,
    })
}

/// Two integers or reals, for MPI_MINLOC: of the common sizes alone.
fn two_integers(bytes: usize) -> Option<Base> {
    (bytes == 4).then_some(Base::TWO_INT)
}
fn two_reals(bytes: usize) -> Option<Base> {
    match bytes {
        4 => Some(Base::TWO_REAL),
        8 => Some(Base::TWO_DOUBLE),
        _ => None,
    }
}

/// Keys of sizes: the type of the key's name first, then those that are made of it.
const SIZES: [(&str, &[(usize, OfSize)]); 4] = [
    ("mpi_logical_size", &[(MPI_LOGICAL, logical)]),
    ("mpi_integer_size", &[(MPI_INTEGER, integer), (MPI_2INTEGER, two_integers)]),
    ("mpi_real_size", &[(MPI_REAL, real), (MPI_COMPLEX, complex), (MPI_2REAL, two_reals)]),
    (
        "mpi_double_precision_size",
        &[(MPI_DOUBLE_PRECISION, real), (MPI_DOUBLE_COMPLEX, complex), (MPI_2DOUBLE_PRECISION, two_reals)],
    ),
];

/// Keys of types that a compiler may have or not.
const SUPPORTED: [(&str, usize); 19] = [
    ("mpi_logical1_supported", MPI_LOGICAL1),
    ("mpi_logical2_supported", MPI_LOGICAL2),
    ("mpi_logical4_supported", MPI_LOGICAL4),
    ("mpi_logical8_supported", MPI_LOGICAL8),
    ("mpi_logical16_supported", MPI_LOGICAL16),
    ("mpi_integer1_supported", MPI_INTEGER1),
    ("mpi_integer2_supported", MPI_INTEGER2),
    ("mpi_integer4_supported", MPI_INTEGER4),
    ("mpi_integer8_supported", MPI_INTEGER8),
    ("mpi_integer16_supported", MPI_INTEGER16),
    ("mpi_real2_supported", MPI_REAL2),
    ("mpi_real4_supported", MPI_REAL4),
    ("mpi_real8_supported", MPI_REAL8),
    ("mpi_real16_supported", MPI_REAL16),
    ("mpi_complex4_supported", MPI_COMPLEX4),
    ("mpi_complex8_supported", MPI_COMPLEX8),
    ("mpi_complex16_supported", MPI_COMPLEX16),
    ("mpi_complex32_supported", MPI_COMPLEX32),
    ("mpi_double_complex_supported", MPI_DOUBLE_COMPLEX),
];

/// Handles with the types that they are to stand for, in order; none where the compiler has none.
fn told(given: &oxmpi_runtime::Info) -> Res<Vec<(usize, Option<Base>)>> {
    let wrong = |key, value| {
        Failure::new(MPI_ERR_INFO_VALUE, format!("{key} is {value:?}, which no Fortran compiler has"))
    };
    let mut all = Vec::new();
    for (key, types) in SIZES {
        let Some(value) = given.get(key) else { continue };
        let bytes = value.trim().parse().map_err(|_| wrong(key, value))?;
        let (_, own) = types[0];
        own(bytes).ok_or_else(|| wrong(key, value))?;
        all.extend(types.iter().map(|(handle, of_size)| (*handle, of_size(bytes))));
    }
    for (key, handle) in SUPPORTED {
        match given.get(key) {
            None | Some("true") => {}
            Some("false") => all.push((handle, None)),
            Some(value) => {
                return Failure::err(
                    MPI_ERR_INFO_VALUE,
                    format!("{key} is {value:?}, neither true nor false"),
                );
            }
        }
    }
    Ok(all)
}

/// Whether a handle stands for that type now.
fn stands_for(handle: usize, base: Option<Base>) -> bool {
    let desc = predefined::at(handle - predefined::FIRST);
    let is_there = desc.flags & flag::COMMITTED != 0;
    base.map_or(!is_there, |base| is_there && desc.base == base)
}

mpi_fn! {
    /// Nothing is known until somebody tells it.
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
            let types = told(&given)?;
            let mut fortran = FORTRAN.lock();
            if fortran.info.is_some() {
                return Failure::err(MPI_ERR_ABI, "the sizes of Fortran's types were told already");
            }
            let other = types.iter().any(|(handle, base)| !stands_for(*handle, *base));
            if other && fortran.are_types_fixed {
                return Failure::err(MPI_ERR_ABI, "datatypes have other sizes, or are to be none, and MPI has begun: tell it before");
            }
            if other {
                for (handle, base) in types {
                    // SAFETY: MPI has not begun, and cannot while the lock is held; nobody else is here.
                    unsafe { predefined::replace(handle, base) };
                }
            }
            fortran.info = Some(given);
            Ok(())
        })
    }
}

/// The bytes of a value.
///
/// # Safety
/// As for [`slice()`].
unsafe fn bytes(at: In<u8>, size: usize, name: &str) -> Res<Vec<u8>> {
    read(at, name)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { slice(at, size, name) }?.to_vec())
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
            if yes == no {
                return Failure::err(MPI_ERR_ARG, "logical_true and logical_false are one value");
            }
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
