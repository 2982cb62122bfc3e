//! The number of neighbours and dimensions, by which arrays of Fortran are as long as they are; MPI_Cart_sub.

use crate::abi::{Fint, Handle, SUCCESS};
use crate::dummies::Dummy;
use crate::dummies::logical::ArrayIn;
use crate::kinds::{Comm, Kind};
use crate::sentinels::is_in_place;
use core::ffi::{c_int, c_void};

unsafe extern "C" {
    fn PMPI_Cartdim_get(comm: Handle, ndims: *mut c_int) -> c_int;
    fn PMPI_Comm_rank(comm: Handle, rank: *mut c_int) -> c_int;
    fn PMPI_Comm_size(comm: Handle, size: *mut c_int) -> c_int;
    fn PMPI_Comm_remote_size(comm: Handle, size: *mut c_int) -> c_int;
    fn PMPI_Comm_test_inter(comm: Handle, flag: *mut c_int) -> c_int;
    fn PMPI_Topo_test(comm: Handle, status: *mut c_int) -> c_int;
    fn PMPI_Graph_neighbors_count(comm: Handle, rank: c_int, n: *mut c_int) -> c_int;
    fn PMPI_Dist_graph_neighbors_count(
        comm: Handle,
        i: *mut c_int,
        o: *mut c_int,
        weighted: *mut c_int,
    ) -> c_int;
}

/// MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH.
const CART: c_int = 211;
const GRAPH: c_int = 212;
const DIST_GRAPH: c_int = 213;

/// The answer of a question about a communicator; 0 where it is none, which the procedure's own call then says.
fn asked(question: impl FnOnce(&mut c_int) -> c_int) -> usize {
    let mut answer = 0;
    if question(&mut answer) == SUCCESS { usize::try_from(answer).unwrap_or(0) } else { 0 }
}

/// Dimensions of a Cartesian communicator.
///
/// # Safety
/// The argument of a procedure.
pub unsafe fn dims(comm: *const Fint) -> usize {
    // SAFETY: the caller's promise; a handle of whatever value may be asked about.
    asked(|n| unsafe { PMPI_Cartdim_get(Comm::handle(*comm), n) })
}

/// Processes to which a collective sends from each; 0 where the buffer is MPI_IN_PLACE, since arrays are not read then.
///
/// # Safety
/// Arguments of a procedure.
pub unsafe fn peers_of(buffer: *mut c_void, comm: *const Fint) -> usize {
    // SAFETY: the caller's promise.
    if is_in_place(buffer) { 0 } else { unsafe { peers(comm) } }
}

/// Processes with which a collective exchanges.
///
/// # Safety
/// The argument of a procedure.
pub unsafe fn peers(comm: *const Fint) -> usize {
    // SAFETY: as in `dims`.
    unsafe {
        let comm = Comm::handle(*comm);
        match asked(|flag| PMPI_Comm_test_inter(comm, flag)) {
            0 => asked(|n| PMPI_Comm_size(comm, n)),
            _ => asked(|n| PMPI_Comm_remote_size(comm, n)),
        }
    }
}

/// Neighbours from which, and to which, a process's neighbourhood collectives go.
unsafe fn degrees(comm: *const Fint) -> (usize, usize) {
    // SAFETY: as in `dims`.
    unsafe {
        let own = Comm::handle(*comm);
        match asked(|kind| PMPI_Topo_test(own, kind)) as c_int {
            CART => (2 * dims(comm), 2 * dims(comm)),
            GRAPH => {
                let rank = asked(|rank| PMPI_Comm_rank(own, rank)) as c_int;
                let n = asked(|n| PMPI_Graph_neighbors_count(own, rank, n));
                (n, n)
            }
            DIST_GRAPH => {
                let (mut into, mut out, mut weighted) = (0, 0, 0);
                PMPI_Dist_graph_neighbors_count(own, &mut into, &mut out, &mut weighted);
                (into.max(0) as usize, out.max(0) as usize)
            }
            _ => (0, 0),
        }
    }
}

/// Neighbours from which data comes.
///
/// # Safety
/// The argument of a procedure.
pub unsafe fn indegree(comm: *const Fint) -> usize {
    // SAFETY: the caller's promise.
    unsafe { degrees(comm) }.0
}

/// Neighbours to which data goes.
///
/// # Safety
/// The argument of a procedure.
pub unsafe fn outdegree(comm: *const Fint) -> usize {
    // SAFETY: the caller's promise.
    unsafe { degrees(comm) }.1
}

written! { MPI_Cart_sub: unsafe extern "C" fn(Handle, *const c_int, *mut Handle) -> c_int,
    mpi_cart_sub_ (comm: *const Fint, remain_dims: *const Fint, newcomm: *mut Fint) |callee| {
    // SAFETY: the caller's arguments and place.
    unsafe {
        let (mut remain, mut own) = (ArrayIn::take(remain_dims, dims(comm)), 0);
        let code = callee(Comm::handle(*comm), remain.pass(), &mut own);
        newcomm.write(Comm::number(own));
        code
    }
} }
