//! Functions of attributes: keys are made and freed, values set, asked for and deleted.

use super::attributes::{Keyval, KeyvalKind, changeable};
use super::predefined::predefined;
use crate::call::memory::{Out, write};
use crate::constants::*;
use crate::error::{ErrorObject, Failure, Res, call, call_on};
use crate::types::{Comm, Datatype, Win};
use crate::{comm, datatype, win};
use core::ffi::c_int;

fn tell(found: Option<usize>, value: Out<usize>, flag: Out<c_int>) -> Res {
    if value.is_null() {
        return Failure::err(MPI_ERR_ARG, "attribute_val is a null pointer");
    }
    if let Some(found) = found {
        write(value, "attribute_val", found)?;
    }
    write(flag, "flag", found.is_some() as c_int)
}

fn create(kind: KeyvalKind, copy: usize, delete: usize, keyval: Out<c_int>, extra_state: usize) -> Res {
    if keyval.is_null() {
        return Failure::err(MPI_ERR_ARG, "keyval is a null pointer");
    }
    write(keyval, "keyval", Keyval::create(kind, copy, delete, extra_state))
}

mpi_fn! {
    fn MPI_Comm_create_keyval[c_int], MPI_Keyval_create[c_int]<_N>(copy: usize, delete: usize, keyval: Out<c_int>, extra_state: usize) -> c_int |here| {
        call(here, NAME, None, |_, _| create(KeyvalKind::Comm, copy, delete, keyval, extra_state))
    }
}
mpi_fn! {
    fn MPI_Comm_free_keyval[c_int], MPI_Keyval_free[c_int]<_N>(keyval: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| Keyval::free(keyval, KeyvalKind::Comm))
    }
}
mpi_fn! {
    fn MPI_Comm_set_attr[c_int], MPI_Attr_put[c_int]<_N>(comm: Comm, keyval: c_int, value: usize) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let object = comm::require(comm)?;
            changeable(keyval)?;
            object.attributes.set(entry, comm.0, Keyval::find(keyval, KeyvalKind::Comm)?, value)
        })
    }
}
mpi_fn! {
    fn MPI_Comm_get_attr[c_int], MPI_Attr_get[c_int]<_N>(comm: Comm, keyval: c_int, value: Out<usize>, flag: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let object = comm::require(comm)?;
            if let Some(found) = predefined(keyval) {
                return tell(Some(found), value, flag);
            }
            Keyval::find(keyval, KeyvalKind::Comm)?;
            tell(object.attributes.get(keyval).map(|found| found.for_c()), value, flag)
        })
    }
}
mpi_fn! {
    fn MPI_Comm_delete_attr[c_int], MPI_Attr_delete[c_int]<_N>(comm: Comm, keyval: c_int) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let object = comm::require(comm)?;
            changeable(keyval)?;
            Keyval::find(keyval, KeyvalKind::Comm)?;
            object.attributes.delete(entry, comm.0, keyval)
        })
    }
}
mpi_fn! {
    fn MPI_Type_create_keyval(copy: usize, delete: usize, keyval: Out<c_int>, extra_state: usize) -> c_int |here| {
        call(here, NAME, None, |_, _| create(KeyvalKind::Datatype, copy, delete, keyval, extra_state))
    }
}
mpi_fn! {
    fn MPI_Type_free_keyval(keyval: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| Keyval::free(keyval, KeyvalKind::Datatype))
    }
}
mpi_fn! {
    fn MPI_Type_set_attr(datatype: Datatype, keyval: c_int, value: usize) -> c_int |here| {
        call(here, NAME, None, |_, entry| {
            let attributes = datatype::attributes(datatype)?;
            attributes.set(entry, datatype.0, Keyval::find(keyval, KeyvalKind::Datatype)?, value)
        })
    }
}
mpi_fn! {
    fn MPI_Type_get_attr(datatype: Datatype, keyval: c_int, value: Out<usize>, flag: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let attributes = datatype::attributes(datatype)?;
            Keyval::find(keyval, KeyvalKind::Datatype)?;
            tell(attributes.get(keyval).map(|found| found.for_c()), value, flag)
        })
    }
}
mpi_fn! {
    fn MPI_Type_delete_attr(datatype: Datatype, keyval: c_int) -> c_int |here| {
        call(here, NAME, None, |_, entry| {
            let attributes = datatype::attributes(datatype)?;
            Keyval::find(keyval, KeyvalKind::Datatype)?;
            attributes.delete(entry, datatype.0, keyval)
        })
    }
}
mpi_fn! {
    fn MPI_Win_create_keyval(copy: usize, delete: usize, keyval: Out<c_int>, extra_state: usize) -> c_int |here| {
        call(here, NAME, None, |_, _| create(KeyvalKind::Win, copy, delete, keyval, extra_state))
    }
}
mpi_fn! {
    fn MPI_Win_free_keyval(keyval: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| Keyval::free(keyval, KeyvalKind::Win))
    }
}
mpi_fn! {
    fn MPI_Win_set_attr(win: Win, keyval: c_int, value: usize) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            let object = win::require(win)?;
            changeable(keyval)?;
            object.attributes.set(entry, win.0, Keyval::find(keyval, KeyvalKind::Win)?, value)
        })
    }
}
mpi_fn! {
    fn MPI_Win_get_attr(win: Win, keyval: c_int, value: Out<usize>, flag: Out<c_int>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, _| {
            let object = win::require(win)?;
            if let Some(found) = object.predefined(keyval) {
                return tell(Some(found), value, flag);
            }
            Keyval::find(keyval, KeyvalKind::Win)?;
            tell(object.attributes.get(keyval).map(|found| found.for_c()), value, flag)
        })
    }
}
mpi_fn! {
    fn MPI_Win_delete_attr(win: Win, keyval: c_int) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Win(win), |_, entry| {
            let object = win::require(win)?;
            changeable(keyval)?;
            Keyval::find(keyval, KeyvalKind::Win)?;
            object.attributes.delete(entry, win.0, keyval)
        })
    }
}
