//! The verbs of a window: one call each into the component's table.

use oxmpi_mca::{RequestHeader, SliceRef, Status, ThreadCtx};
use oxmpi_osc::{OscTable, RmaArgs, RmaFn};
use std::ffi::c_void;
use std::ptr::null_mut;

/// A component's module for one window.
pub struct Verbs {
    component: &'static str,
    window: *mut c_void,
    table: OscTable,
}

// SAFETY: all verbs of a window may be called from any thread (contract).
unsafe impl Send for Verbs {}
// SAFETY: as above.
unsafe impl Sync for Verbs {}

/// The operations, by their place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Put,
    Get,
    Accumulate,
    GetAccumulate,
    FetchAndOp,
    CompareAndSwap,
}

impl Verbs {
    pub(super) fn new(component: &'static str, window: *mut c_void, table: OscTable) -> Verbs {
        Verbs { component, window, table }
    }

    /// Name of the component.
    pub fn component(&self) -> &'static str {
        self.component
    }

    fn operation(&self, operation: Operation) -> RmaFn {
        match operation {
            Operation::Put => self.table.put,
            Operation::Get => self.table.get,
            Operation::Accumulate => self.table.accumulate,
            Operation::GetAccumulate => self.table.get_accumulate,
            Operation::FetchAndOp => self.table.fetch_and_op,
            Operation::CompareAndSwap => self.table.compare_and_swap,
        }
    }

    /// MPI_Put and the like.
    #[inline]
    pub fn start(&self, operation: Operation, args: &RmaArgs) -> Status {
        self.operation(operation)(self.window, args, null_mut())
    }

    /// MPI_Rput and the like; not for FetchAndOp and CompareAndSwap.
    pub fn request(&self, operation: Operation, args: &RmaArgs) -> Result<*mut RequestHeader, Status> {
        let mut request = null_mut();
        let status = self.operation(operation)(self.window, args, &mut request);
        match () {
            () if status.is_err() => Err(status),
            () if request.is_null() => Err(Status::INTERNAL),
            () => Ok(request),
        }
    }

    pub fn fence(&self, thread: *mut ThreadCtx, assert: u32) -> Status {
        (self.table.fence)(self.window, thread, assert)
    }
    pub fn post(&self, thread: *mut ThreadCtx, ranks: &[u32], assert: u32) -> Status {
        (self.table.post)(self.window, thread, SliceRef { ptr: ranks.as_ptr(), len: ranks.len() }, assert)
    }
    /// MPI_Win_start.
    pub fn access(&self, thread: *mut ThreadCtx, ranks: &[u32], assert: u32) -> Status {
        (self.table.start)(self.window, thread, SliceRef { ptr: ranks.as_ptr(), len: ranks.len() }, assert)
    }
    pub fn complete(&self, thread: *mut ThreadCtx) -> Status {
        (self.table.complete)(self.window, thread)
    }
    /// `block` false: PENDING if the epoch cannot end yet.
    pub fn wait(&self, thread: *mut ThreadCtx, block: bool) -> Status {
        (self.table.wait)(self.window, thread, block.into())
    }
    pub fn lock(&self, thread: *mut ThreadCtx, kind: u32, rank: u32, assert: u32) -> Status {
        (self.table.lock)(self.window, thread, kind, rank, assert)
    }
    pub fn unlock(&self, thread: *mut ThreadCtx, rank: u32) -> Status {
        (self.table.unlock)(self.window, thread, rank)
    }
    pub fn lock_all(&self, thread: *mut ThreadCtx, assert: u32) -> Status {
        (self.table.lock_all)(self.window, thread, assert)
    }
    pub fn unlock_all(&self, thread: *mut ThreadCtx) -> Status {
        (self.table.unlock_all)(self.window, thread)
    }
    /// `rank` `None`: all.
    #[inline]
    pub fn flush(&self, thread: *mut ThreadCtx, rank: Option<u32>, local: bool) -> Status {
        (self.table.flush)(self.window, thread, rank.unwrap_or(oxmpi_osc::ALL), local.into())
    }
    pub fn sync(&self, thread: *mut ThreadCtx) -> Status {
        (self.table.sync)(self.window, thread)
    }
    pub fn attach(&self, thread: *mut ThreadCtx, base: *mut u8, bytes: u64) -> Status {
        (self.table.attach)(self.window, thread, base, bytes)
    }
    pub fn detach(&self, thread: *mut ThreadCtx, base: *mut u8) -> Status {
        (self.table.detach)(self.window, thread, base)
    }
    pub(super) fn set_hints(&self, hints: u32, ordering: u32) -> Status {
        (self.table.set_hints)(self.window, hints, ordering)
    }
    /// The module is gone afterwards, unless it answers with a failure and `discard` is false.
    pub(super) fn free(&self, thread: *mut ThreadCtx, discard: bool) -> Status {
        (self.table.free)(self.window, thread, discard.into())
    }
}
