//! Functions of MPI-1 that MPI 3.0 removed (MPI 5.0 §16.1), for programs that still call them: each does what its
//! successor does, and errors name the function that was called. `abi/removed.tsv` declares them in `mpi.h`.

use crate::call::memory::{slice, write};
use crate::datatype::require;
use crate::error::handler::{HandlerKind, create};
use crate::error::handler_calls::{set, tell};
use crate::error::{call, call_any_time};
use crate::type_create::{hindexed, hvector, natural, numbers, structure};
use crate::types::{Aint, Comm, Datatype, Errhandler};
use core::ffi::c_int;

mpi_fn! {
    any_time fn MPI_Address(location: *const u8, address: *mut Aint) -> c_int {
        call(NAME, None, |_| write(address, "address", location as usize as Aint))
    }
}
mpi_fn! {
    fn MPI_Type_struct(count: c_int, array_of_blocklengths: *const c_int, array_of_displacements: *const Aint, array_of_types: *const Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| {
            let n = natural(count.into(), "count")?;
            let lengths = numbers(array_of_blocklengths, n, "array_of_blocklengths")?;
            let places = numbers(array_of_displacements, n, "array_of_displacements")?;
            structure(false, &lengths, &places, slice(array_of_types, n as usize, "array_of_types")?, newtype)
        })
    }
}
mpi_fn! {
    fn MPI_Type_hindexed(count: c_int, array_of_blocklengths: *const c_int, array_of_displacements: *const Aint, oldtype: Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| {
            let n = natural(count.into(), "count")?;
            let lengths = numbers(array_of_blocklengths, n, "array_of_blocklengths")?;
            let places = numbers(array_of_displacements, n, "array_of_displacements")?;
            hindexed(false, &lengths, &places, oldtype, newtype)
        })
    }
}
mpi_fn! {
    fn MPI_Type_hvector(count: c_int, blocklength: c_int, stride: Aint, oldtype: Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| hvector(false, count.into(), blocklength.into(), stride, oldtype, newtype))
    }
}
mpi_fn! {
    fn MPI_Type_extent(datatype: Datatype, extent: *mut Aint) -> c_int {
        call(NAME, None, |_| write(extent, "extent", require(datatype, "datatype")?.extent))
    }
}
mpi_fn! {
    fn MPI_Type_lb(datatype: Datatype, displacement: *mut Aint) -> c_int {
        call(NAME, None, |_| write(displacement, "displacement", require(datatype, "datatype")?.lb))
    }
}
mpi_fn! {
    fn MPI_Type_ub(datatype: Datatype, displacement: *mut Aint) -> c_int {
        call(NAME, None, |_| {
            let desc = require(datatype, "datatype")?;
            write(displacement, "displacement", desc.lb.wrapping_add(desc.extent))
        })
    }
}
mpi_fn! {
    any_time fn MPI_Errhandler_create(handler_fn: usize, errhandler: *mut Errhandler) -> c_int {
        call_any_time(NAME, || create(handler_fn, HandlerKind::Comm, errhandler))
    }
}
mpi_fn! {
    fn MPI_Errhandler_get(comm: Comm, errhandler: *mut Errhandler) -> c_int { tell(NAME, comm, errhandler) }
}
mpi_fn! {
    fn MPI_Errhandler_set(comm: Comm, errhandler: Errhandler) -> c_int { set(NAME, comm, errhandler) }
}
