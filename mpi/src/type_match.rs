//! Predefined types by what they hold: size and class, precision and range, value and index
//! (MPI 5.0 §5.1.12, §19.1.9).

use crate::call::memory::{Out, write};
use crate::constants::*;
use crate::datatype::{self, Recipe, adopt_for_ever, reference, require};
use crate::error::{Failure, Res, call};
use crate::types::Datatype;
use core::ffi::c_int;
use parking_lot::Mutex;

/// Types given to the user by combiner, precision and range: the same request gets the same handle.
static GIVEN: Mutex<Vec<([c_int; 3], usize)>> = Mutex::new(Vec::new());

/// The type for what was asked: a handle of its own, because it remembers the question.
fn f90(combiner: c_int, asked: &[c_int], same_as: usize, newtype: Out<Datatype>) -> Res {
    let key = [combiner, asked[0], asked.get(1).copied().unwrap_or(MPI_UNDEFINED)];
    let mut given = GIVEN.lock();
    if let Some((_, handle)) = given.iter().find(|(k, h)| *k == key && datatype::is_committed(Datatype(*h))) {
        return write(newtype, "newtype", Datatype(*handle));
    }
    let old = reference(Datatype(same_as), "the type found")?;
    let recipe = Recipe { combiner, integers: asked.to_vec(), ..Recipe::default() };
    let new = adopt_for_ever(oxmpi_datatype::build::dup(&old.desc), old.signature, recipe)?;
    given.push((key, new.0));
    write(newtype, "newtype", new)
}

/// Decimal digits and exponent range of the real types: binary32, binary64, long double, binary128.
fn real(p: c_int, r: c_int) -> Option<usize> {
    let fits = |digits: c_int, range: c_int| {
        (p == MPI_UNDEFINED || (0..=digits).contains(&p)) && (r == MPI_UNDEFINED || (0..=range).contains(&r))
    };
    if p == MPI_UNDEFINED && r == MPI_UNDEFINED {
        return None;
    }
    Some(match () {
        _ if fits(6, 37) => MPI_REAL4,
        _ if fits(15, 307) => MPI_REAL8,
        _ if fits(if cfg!(target_arch = "x86_64") { 18 } else { 33 }, 4931) => MPI_LONG_DOUBLE,
        _ if fits(33, 4931) => MPI_REAL16,
        _ => return None,
    })
}

fn no_such_real<T>(p: c_int, r: c_int) -> Res<T> {
    Failure::err(MPI_ERR_ARG, format!("no real type has {p} decimal digits and exponent range {r}"))
}

mpi_fn! {
    fn MPI_Type_create_f90_real(p: c_int, r: c_int, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| match real(p, r) {
            Some(same) => f90(MPI_COMBINER_F90_REAL, &[p, r], same, newtype),
            None => no_such_real(p, r),
        })
    }
}
mpi_fn! {
    fn MPI_Type_create_f90_complex(p: c_int, r: c_int, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let same = match real(p, r) {
                Some(MPI_REAL4) => MPI_COMPLEX8,
                Some(MPI_REAL8) => MPI_COMPLEX16,
                Some(MPI_LONG_DOUBLE) => MPI_C_LONG_DOUBLE_COMPLEX,
                Some(_) => MPI_COMPLEX32,
                None => return no_such_real(p, r),
            };
            f90(MPI_COMBINER_F90_COMPLEX, &[p, r], same, newtype)
        })
    }
}
mpi_fn! {
    fn MPI_Type_create_f90_integer(r: c_int, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let same = match r {
                0..=2 => MPI_INTEGER1,
                3..=4 => MPI_INTEGER2,
                5..=9 => MPI_INTEGER4,
                10..=18 => MPI_INTEGER8,
                19..=38 => MPI_INTEGER16,
                _ => return Failure::err(MPI_ERR_ARG, format!("no integer type has {r} decimal digits")),
            };
            f90(MPI_COMBINER_F90_INTEGER, &[r], same, newtype)
        })
    }
}
mpi_fn! {
    fn MPI_Type_match_size(typeclass: c_int, size: c_int, datatype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let found = match (typeclass, size) {
                (MPI_TYPECLASS_INTEGER, 1) => MPI_INTEGER1,
                (MPI_TYPECLASS_INTEGER, 2) => MPI_INTEGER2,
                (MPI_TYPECLASS_INTEGER, 4) => MPI_INTEGER4,
                (MPI_TYPECLASS_INTEGER, 8) => MPI_INTEGER8,
                (MPI_TYPECLASS_INTEGER, 16) => MPI_INTEGER16,
                (MPI_TYPECLASS_REAL, 2) => MPI_REAL2,
                (MPI_TYPECLASS_REAL, 4) => MPI_REAL4,
                (MPI_TYPECLASS_REAL, 8) => MPI_REAL8,
                (MPI_TYPECLASS_REAL, 16) => MPI_REAL16,
                (MPI_TYPECLASS_COMPLEX, 4) => MPI_COMPLEX4,
                (MPI_TYPECLASS_COMPLEX, 8) => MPI_COMPLEX8,
                (MPI_TYPECLASS_COMPLEX, 16) => MPI_COMPLEX16,
                (MPI_TYPECLASS_COMPLEX, 32) => MPI_COMPLEX32,
                (MPIX_TYPECLASS_LOGICAL, 1) => MPI_LOGICAL1,
                (MPIX_TYPECLASS_LOGICAL, 2) => MPI_LOGICAL2,
                (MPIX_TYPECLASS_LOGICAL, 4) => MPI_LOGICAL4,
                (MPIX_TYPECLASS_LOGICAL, 8) => MPI_LOGICAL8,
                (MPIX_TYPECLASS_LOGICAL, 16) => MPI_LOGICAL16,
                _ => return Failure::err(MPI_ERR_ARG, format!("no type of class {typeclass} has {size} bytes")),
            };
            write(datatype, "datatype", Datatype(found))
        })
    }
}
mpi_fn! {
    fn MPI_Type_get_value_index(value_type: Datatype, index_type: Datatype, pair_type: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            require(value_type, "value_type")?;
            require(index_type, "index_type")?;
            let pair = match (value_type.0, index_type.0) {
                (MPI_FLOAT, MPI_INT) => MPI_FLOAT_INT,
                (MPI_DOUBLE, MPI_INT) => MPI_DOUBLE_INT,
                (MPI_LONG, MPI_INT) => MPI_LONG_INT,
                (MPI_SHORT, MPI_INT) => MPI_SHORT_INT,
                (MPI_INT, MPI_INT) => MPI_2INT,
                (MPI_LONG_DOUBLE, MPI_INT) => MPI_LONG_DOUBLE_INT,
                (MPI_REAL, MPI_REAL) => MPI_2REAL,
                (MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION) => MPI_2DOUBLE_PRECISION,
                (MPI_INTEGER, MPI_INTEGER) => MPI_2INTEGER,
                _ => MPI_DATATYPE_NULL,
            };
            write(pair_type, "pair_type", Datatype(pair))
        })
    }
}
