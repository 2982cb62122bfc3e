//! Procedures that MPI 3.0 removed (MPI 5.0 §16.1), for programs that have them: each is the one that took its place, with INTEGER for addresses.
//!
//! An address or an extent that an INTEGER does not hold is MPI_ERR_ARG, as nothing right could be made of a part of it.

use crate::abi::{ERR_ARG, Fint, Handle, SUCCESS};
use crate::dummies::values::Choice;
use crate::dummies::{Dummy, handles, len};
use crate::kinds::{Comm, Datatype, Errhandler, Kind};
use core::ffi::{c_int, c_void};

/// Writes a number that C has with the size of an address.
///
/// # Safety
/// The caller's place.
unsafe fn put(place: *mut Fint, value: isize, code: c_int) -> c_int {
    match Fint::try_from(value) {
        _ if code != SUCCESS => code,
        Ok(value) => {
            // SAFETY: the caller's promise.
            unsafe { place.write(value) };
            SUCCESS
        }
        Err(_) => ERR_ARG,
    }
}

/// Numbers with the size of an address.
///
/// # Safety
/// So many numbers are there.
unsafe fn long(numbers: *const Fint, n: usize) -> Vec<isize> {
    // SAFETY: the caller's promise.
    (0..n).map(|i| unsafe { *numbers.add(i) } as isize).collect()
}

/// Gives a handle back.
///
/// # Safety
/// The caller's place.
unsafe fn give<K: Kind>(place: *mut Fint, own: Handle, code: c_int) -> c_int {
    if code == SUCCESS {
        // SAFETY: the caller's promise.
        unsafe { place.write(K::number(own)) };
    }
    code
}

written! { @of "" MPI_Get_address: unsafe extern "C" fn(*mut c_void, *mut isize) -> c_int,
    mpi_address_ (location: *mut c_void, address: *mut Fint) () |callee| {
    let mut own = 0;
    // SAFETY: the caller's argument and place.
    unsafe {
        let code = callee(Choice::take(location, 0).pass(), &mut own);
        put(address, own, code)
    }
} }

type Extent = unsafe extern "C" fn(Handle, *mut isize, *mut isize) -> c_int;

/// One of a datatype's bounds, of its lower bound and its extent.
macro_rules! bound {
    ($($f:ident $of:expr;)*) => { $(
        written! { @of "" MPI_Type_get_extent: Extent, $f (datatype: *const Fint, value: *mut Fint) () |callee| {
            let (mut lb, mut extent) = (0, 0);
            let of: fn(isize, isize) -> isize = $of;
            // SAFETY: the caller's argument and place.
            unsafe {
                let code = callee(Datatype::handle(*datatype), &mut lb, &mut extent);
                put(value, of(lb, extent), code)
            }
        } }
    )* };
}
bound! {
    mpi_type_extent_ |_, extent| extent;
    mpi_type_lb_ |lb, _| lb;
    mpi_type_ub_ |lb, extent| lb + extent;
}

written! { @of "" MPI_Type_create_hvector: unsafe extern "C" fn(c_int, c_int, isize, Handle, *mut Handle) -> c_int,
    mpi_type_hvector_ (count: *const Fint, blocklength: *const Fint, stride: *const Fint, oldtype: *const Fint, newtype: *mut Fint) () |callee| {
    let mut own = 0;
    // SAFETY: the caller's arguments and place.
    unsafe {
        let code = callee(*count, *blocklength, *stride as isize, Datatype::handle(*oldtype), &mut own);
        give::<Datatype>(newtype, own, code)
    }
} }

written! { @of "" MPI_Type_create_hindexed: unsafe extern "C" fn(c_int, *const Fint, *const isize, Handle, *mut Handle) -> c_int,
    mpi_type_hindexed_ (count: *const Fint, lengths: *const Fint, displacements: *const Fint, oldtype: *const Fint, newtype: *mut Fint) () |callee| {
    let mut own = 0;
    // SAFETY: the caller's arguments and place.
    unsafe {
        let displacements = long(displacements, len(count));
        let code = callee(*count, lengths, displacements.as_ptr(), Datatype::handle(*oldtype), &mut own);
        give::<Datatype>(newtype, own, code)
    }
} }

written! { @of "" MPI_Type_create_struct: unsafe extern "C" fn(c_int, *const Fint, *const isize, *const Handle, *mut Handle) -> c_int,
    mpi_type_struct_ (count: *const Fint, lengths: *const Fint, displacements: *const Fint, types: *mut Fint, newtype: *mut Fint) () |callee| {
    let mut own = 0;
    // SAFETY: the caller's arguments and place.
    unsafe {
        let displacements = long(displacements, len(count));
        let mut types = handles::Array::<Datatype>::take(types, len(count));
        let code = callee(*count, lengths, displacements.as_ptr(), types.pass(), &mut own);
        give::<Datatype>(newtype, own, code)
    }
} }

written! { @of "" MPI_Comm_get_errhandler: unsafe extern "C" fn(Handle, *mut Handle) -> c_int,
    mpi_errhandler_get_ (comm: *const Fint, errhandler: *mut Fint) () |callee| {
    let mut own = 0;
    // SAFETY: the caller's argument and place.
    unsafe {
        let code = callee(Comm::handle(*comm), &mut own);
        give::<Errhandler>(errhandler, own, code)
    }
} }

written! { @of "" MPI_Comm_set_errhandler: unsafe extern "C" fn(Handle, Handle) -> c_int,
    mpi_errhandler_set_ (comm: *const Fint, errhandler: *const Fint) () |callee| {
    // SAFETY: the caller's arguments.
    unsafe { callee(Comm::handle(*comm), Errhandler::handle(*errhandler)) }
} }
