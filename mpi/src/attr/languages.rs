//! The language of attributes, for libraries of Fortran's procedures (`mpi-ext.h`): such a library sets an attribute by the standard's function, so that tools see
//! the call, and then says that Fortran has set it.

use super::attributes::{Attributes, Keyval, changeable};
use super::predefined::predefined;
use super::value::Language;
use crate::call::memory::{Out, write};
use crate::constants::*;
use crate::error::{ErrorObject, Failure, Res, call, call_on};
use crate::types::{Comm, Datatype, Win};
use crate::{comm, datatype, win};
use core::ffi::c_int;

fn none(keyval: c_int) -> Failure {
    Failure::new(MPI_ERR_ARG, format!("the object has no attribute with keyval {keyval}"))
}

fn set(attributes: &Attributes, keyval: c_int, language: c_int) -> Res {
    changeable(keyval)?;
    let language = Language::of_number(language)?;
    if attributes.set_language(keyval, language) { Ok(()) } else { Err(none(keyval)) }
}

fn tell(attributes: &Attributes, keyval: c_int, language: Out<c_int>) -> Res {
    let value = attributes.get(keyval).ok_or_else(|| none(keyval))?;
    write(language, "language", value.language() as c_int)
}

mpi_fn! {
    fn MPIX_Keyval_set_language(keyval: c_int, language: c_int) -> c_int |here| {
        call(here, NAME, None, |_, _| Keyval::set_language(keyval, Language::of_number(language)?))
    }
}
mpi_fn! {
    fn MPIX_Comm_attr_set_language(comm: Comm, keyval: c_int, language: c_int) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| set(&comm::require(comm)?.attributes, keyval, language))
    }
}
mpi_fn! {
    fn MPIX_Comm_attr_get_language(comm: Comm, keyval: c_int, language: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let object = comm::require(comm)?;
            if predefined(keyval).is_some() {
                return write(language, "language", Language::Integer as c_int);
            }
            tell(&object.attributes, keyval, language)
        })
    }
}
mpi_fn! {
    fn MPIX_Type_attr_set_language(datatype: Datatype, keyval: c_int, language: c_int) -> c_int |here| {
        call(here, NAME, None, |_, _| set(datatype::attributes(datatype)?, keyval, language))
    }
}
mpi_fn! {
    fn MPIX_Type_attr_get_language(datatype: Datatype, keyval: c_int, language: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| tell(datatype::attributes(datatype)?, keyval, language))
    }
}
mpi_fn! {
    fn MPIX_Win_attr_set_language(win: Win, keyval: c_int, language: c_int) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, _| set(&win::require(win)?.attributes, keyval, language))
    }
}
mpi_fn! {
    fn MPIX_Win_attr_get_language(win: Win, keyval: c_int, language: Out<c_int>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, _| {
            let object = win::require(win)?;
            let of_predefined = match keyval {
                MPI_WIN_BASE => Language::C,
                MPI_WIN_SIZE => Language::Fortran,
                _ if object.predefined(keyval).is_some() => Language::Integer,
                _ => return tell(&object.attributes, keyval, language),
            };
            write(language, "language", of_predefined as c_int)
        })
    }
}
