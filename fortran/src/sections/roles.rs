//! Whose data of a collective is significant, and how many elements of a reduction there are.

use super::mpi::{PMPI_Comm_rank, PMPI_Comm_size, PMPI_Comm_test_inter};
use super::strided::{Actual, Number};
use crate::abi::{Fint, Handle};
use crate::kinds::{Comm, Kind};
use core::ffi::c_int;

const PROC_NULL: Fint = -3;
const ROOT: Fint = -4;
const NO_OP: Fint = 0x3d;

/// The answer of a question about a communicator; 0 where it is none, which the procedure's own call then says.
unsafe fn asked(question: unsafe extern "C" fn(Handle, *mut c_int) -> c_int, comm: *const Fint) -> i64 {
    let mut answer = 0;
    // SAFETY: the argument of a procedure; a handle of whatever value may be asked about.
    unsafe { question(Comm::handle(*comm), &mut answer) };
    i64::from(answer)
}

/// Whether the process is the root, which has data of all.
///
/// # Safety
/// Arguments of a procedure, here and below.
pub unsafe fn is_root(root: *const Fint, comm: *const Fint) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        match *root {
            ROOT => true,
            PROC_NULL => false,
            root => asked(PMPI_Comm_test_inter, comm) == 0 && asked(PMPI_Comm_rank, comm) == i64::from(root),
        }
    }
}

/// Whether the process has data of its own for the root, or from it.
///
/// # Safety
/// As [`is_root`].
pub unsafe fn has_own(root: *const Fint) -> bool {
    // SAFETY: the caller's promise.
    unsafe { *root != ROOT && *root != PROC_NULL }
}

/// Whether the process takes part in a broadcast.
///
/// # Safety
/// As [`is_root`].
pub unsafe fn takes_part(root: *const Fint) -> bool {
    // SAFETY: the caller's promise.
    unsafe { *root != PROC_NULL }
}

/// Whether an operation of one-sided communication reads the origin's data.
///
/// # Safety
/// As [`is_root`].
pub unsafe fn reads_origin(op: *const Fint) -> bool {
    // SAFETY: the caller's promise.
    unsafe { *op != NO_OP }
}

/// A number of elements that an argument says.
///
/// # Safety
/// As [`is_root`].
pub unsafe fn elements<N: Number>(count: *const N) -> i64 {
    // SAFETY: the caller's promise.
    unsafe { *count }.get()
}

/// That number for each process of the group.
///
/// # Safety
/// As [`is_root`].
pub unsafe fn of_all<N: Number>(each: *const N, comm: *const Fint) -> i64 {
    // SAFETY: the caller's promise.
    unsafe { elements(each) * asked(PMPI_Comm_size, comm) }
}

/// The sum of the numbers for all processes of the group; negative if one is.
///
/// # Safety
/// As [`is_root`].
pub unsafe fn sum<N: Number>(counts: *const N, comm: *const Fint) -> i64 {
    // SAFETY: the caller's promise: as many as there are processes.
    let all = unsafe { (0..asked(PMPI_Comm_size, comm) as usize).map(|i| elements(counts.add(i))) };
    all.fold(0, |sum, n| if sum < 0 || n < 0 { -1 } else { sum + n })
}

/// The elements of a scattered reduction in its receive buffer: the process's own, or all where they are in place.
///
/// # Safety
/// As [`is_root`].
pub unsafe fn own_of<N: Number>(from: Actual, counts: *const N, comm: *const Fint) -> i64 {
    // SAFETY: the caller's promise: a number for each process.
    unsafe {
        if from.is_in_place() {
            sum(counts, comm)
        } else {
            elements(counts.add(asked(PMPI_Comm_rank, comm) as usize))
        }
    }
}

/// The same where all processes have as many.
///
/// # Safety
/// As [`is_root`].
pub unsafe fn own<N: Number>(from: Actual, each: *const N, comm: *const Fint) -> i64 {
    // SAFETY: the caller's promise.
    unsafe { if from.is_in_place() { of_all(each, comm) } else { elements(each) } }
}
