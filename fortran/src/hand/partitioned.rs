//! Partitions of messages: those of a section that has an image are copied when they are ready, and when they have arrived.

use crate::abi::{Fint, Handle, SUCCESS};
use crate::dummies::len;
use crate::kinds::Kind;
use crate::sections::pending::{Pending, arrived, ready};
use crate::truth;
use core::ffi::c_int;

written! { MPI_Pready: unsafe extern "C" fn(c_int, Handle) -> c_int, mpi_pready_ (partition: *const Fint, request: *const Fint) |callee| {
    // SAFETY: the caller's arguments.
    unsafe {
        ready(*request, *partition);
        callee(*partition, Pending::handle(*request))
    }
} }

written! { MPI_Pready_range: unsafe extern "C" fn(c_int, c_int, Handle) -> c_int,
    mpi_pready_range_ (partition_low: *const Fint, partition_high: *const Fint, request: *const Fint) |callee| {
    // SAFETY: as above.
    unsafe {
        (*partition_low..=*partition_high).for_each(|partition| ready(*request, partition));
        callee(*partition_low, *partition_high, Pending::handle(*request))
    }
} }

written! { MPI_Pready_list: unsafe extern "C" fn(c_int, *const c_int, Handle) -> c_int,
    mpi_pready_list_ (length: *const Fint, partitions: *const Fint, request: *const Fint) |callee| {
    // SAFETY: as above; the array has so many.
    unsafe {
        (0..len(length)).for_each(|i| ready(*request, *partitions.add(i)));
        callee(*length, partitions, Pending::handle(*request))
    }
} }

written! { MPI_Parrived: unsafe extern "C" fn(Handle, c_int, *mut c_int) -> c_int,
    mpi_parrived_ (request: *const Fint, partition: *const Fint, flag: *mut Fint) |callee| {
    let mut own = 0;
    // SAFETY: as above; the caller's place.
    unsafe {
        let code = callee(Pending::handle(*request), *partition, &mut own);
        if code == SUCCESS {
            if own != 0 {
                arrived(*request, *partition);
            }
            flag.write(truth::to_fortran(own));
        }
        code
    }
} }
