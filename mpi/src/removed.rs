//! Functions of MPI-1 that MPI 3.0 removed (MPI 5.0 §16.1), for programs that still call them: each does what its
//! successor does, and errors name the function that was called. `abi/removed.tsv` declares them in `mpi.h`.

use crate::call::memory::{Address, In, Out, slice, write};
use crate::datatype::require;
use crate::error::handler::{HandlerKind, create};
use crate::error::handler_calls::{set, tell};
use crate::error::{call, call_any_time, call_outside};
use crate::type_create::{hindexed, hvector, natural, numbers, structure};
use crate::types::{Aint, Comm, Datatype, Errhandler};
use core::ffi::c_int;

mpi_fn! {
    any_time fn MPI_Address(location: Address, address: Out<Aint>) -> c_int {
        call_outside(NAME, None, |_| write(address, "address", location.addr() as Aint))
    }
}
mpi_fn! {
    fn MPI_Type_struct(count: c_int, array_of_blocklengths: In<c_int>, array_of_displacements: In<Aint>, array_of_types: In<Datatype>, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let n = natural(count.into(), "count")?;
            // SAFETY: the standard has the caller pass `array_of_blocklengths` with `n` elements.
            let lengths = unsafe { numbers(array_of_blocklengths, n, "array_of_blocklengths") }?;
            // SAFETY: the standard has the caller pass `array_of_displacements` with `n` elements.
            let places = unsafe { numbers(array_of_displacements, n, "array_of_displacements") }?;
            // SAFETY: the standard has the caller pass `array_of_types` with `n` elements.
            structure(false, &lengths, &places, unsafe { slice(array_of_types, n as usize, "array_of_types") }?, newtype)
        })
    }
}
mpi_fn! {
    fn MPI_Type_hindexed(count: c_int, array_of_blocklengths: In<c_int>, array_of_displacements: In<Aint>, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let n = natural(count.into(), "count")?;
            // SAFETY: the standard has the caller pass `array_of_blocklengths` with `n` elements.
            let lengths = unsafe { numbers(array_of_blocklengths, n, "array_of_blocklengths") }?;
            // SAFETY: the standard has the caller pass `array_of_displacements` with `n` elements.
            let places = unsafe { numbers(array_of_displacements, n, "array_of_displacements") }?;
            hindexed(false, &lengths, &places, oldtype, newtype)
        })
    }
}
mpi_fn! {
    fn MPI_Type_hvector(count: c_int, blocklength: c_int, stride: Aint, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| hvector(false, count.into(), blocklength.into(), stride, oldtype, newtype))
    }
}
mpi_fn! {
    fn MPI_Type_extent(datatype: Datatype, extent: Out<Aint>) -> c_int |here| {
        call(here, NAME, None, |_, _| write(extent, "extent", require(datatype, "datatype")?.extent))
    }
}
mpi_fn! {
    fn MPI_Type_lb(datatype: Datatype, displacement: Out<Aint>) -> c_int |here| {
        call(here, NAME, None, |_, _| write(displacement, "displacement", require(datatype, "datatype")?.lb))
    }
}
mpi_fn! {
    fn MPI_Type_ub(datatype: Datatype, displacement: Out<Aint>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let desc = require(datatype, "datatype")?;
            write(displacement, "displacement", desc.lb.wrapping_add(desc.extent))
        })
    }
}
mpi_fn! {
    any_time fn MPI_Errhandler_create(handler_fn: usize, errhandler: Out<Errhandler>) -> c_int {
        call_any_time(NAME, || create(handler_fn, HandlerKind::Comm, errhandler))
    }
}
mpi_fn! {
    fn MPI_Errhandler_get(comm: Comm, errhandler: Out<Errhandler>) -> c_int |here| { tell(here, NAME, comm, errhandler) }
}
mpi_fn! {
    fn MPI_Errhandler_set(comm: Comm, errhandler: Errhandler) -> c_int |here| { set(here, NAME, comm, errhandler) }
}
