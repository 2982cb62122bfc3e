//! MPI_Wait, MPI_Test and MPI_Request_get_status.

use super::request::{self, Slot};
use crate::abi::*;
use crate::pmpi;

/// The status of no operation, as the library writes it.
///
/// # Safety
/// `status` is a place for one, or null.
pub unsafe fn empty(status: *mut Status) {
    let mut none = REQUEST_NULL;
    // SAFETY: the caller's promise; a null request is complete.
    unsafe { pmpi::MPI_Wait(&raw mut none, status) };
}

/// Ends a complete request and raises its error.
///
/// # Safety
/// As of `find`; `status` is a place for one, or null.
pub unsafe fn end(request: *mut Request, slot: &mut Slot, status: *mut Status, name: &str) -> c_int {
    let (errhandler, comm) = (slot.errhandler, slot.comm);
    // SAFETY: the caller's promise.
    let class = slot.end(unsafe { &mut *request }, status);
    Slot::raise(errhandler, comm, name, class)
}

mpi! {
    fn MPI_Wait(request: *mut Request, status: *mut Status) {
        let Some(slot) = request::find(*request) else { return pmpi::MPI_Wait(request, status) };
        if !slot.active {
            empty(status);
            return SUCCESS;
        }
        slot.wait();
        end(request, slot, status, "MPI_Wait")
    }
}

/// Is it complete? If not, the proxy makes progress where it does in calls only, and cores are left to it.
pub fn test(slot: &Slot) -> bool {
    if slot.is_done() {
        return true;
    }
    if !slot.client.asynchronous {
        slot.proxy.request_progress();
    }
    false
}

mpi! {
    fn MPI_Test(request: *mut Request, flag: *mut c_int, status: *mut Status) {
        let Some(slot) = request::find(*request) else { return pmpi::MPI_Test(request, flag, status) };
        if !slot.active {
            *flag = 1;
            empty(status);
            return SUCCESS;
        }
        *flag = test(slot).into();
        if *flag == 0 {
            slot.client.yield_after_empty_look();
            return SUCCESS;
        }
        end(request, slot, status, "MPI_Test")
    }
}

mpi! {
    fn MPI_Request_get_status(request: Request, flag: *mut c_int, status: *mut Status) {
        let Some(slot) = request::find(request) else { return pmpi::MPI_Request_get_status(request, flag, status) };
        if !slot.active {
            *flag = 1;
            empty(status);
            return SUCCESS;
        }
        *flag = test(slot).into();
        if *flag == 0 {
            slot.client.yield_after_empty_look();
        } else {
            slot.deliver();
            slot.status(status);
        }
        SUCCESS
    }
}
