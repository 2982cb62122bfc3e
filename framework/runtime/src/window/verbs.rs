//! The verbs of a window: one call each into the component's table.

use crate::accept::read_osc_table;
use oxmpi_mca::{RequestHeader, SliceRef, Status, ThreadCtx};
use oxmpi_osc::{OscTable, OscWindow, RmaArgs, RmaFn, WinCounts, WinDesc};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

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

    /// Looks up the component's function for an operation in its table.
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

    /// A put or get that adds 1 to a counter of its target; of no other operation.
    pub fn notified(&self, operation: Operation, args: &RmaArgs, counter: u32) -> Status {
        match operation {
            Operation::Put => (self.table.put_notify)(self.window, args, counter),
            Operation::Get => (self.table.get_notify)(self.window, args, counter),
            _ => Status::NOT_SUPPORTED,
        }
    }

    /// A counter of this rank; `reset`: it is 0 afterwards.
    pub fn notify_read(&self, thread: *mut ThreadCtx, counter: u32, reset: bool) -> Result<u64, Status> {
        let mut value = 0;
        let status = (self.table.notify_read)(self.window, thread, counter, reset.into(), &mut value);
        if status.is_err() { Err(status) } else { Ok(value) }
    }

    /// Waits until a counter of this rank is at least `threshold`; its value.
    pub fn notify_wait(&self, thread: *mut ThreadCtx, counter: u32, threshold: u64) -> Result<u64, Status> {
        let mut value = 0;
        let status = (self.table.notify_wait)(self.window, thread, counter, threshold, &mut value);
        if status.is_err() { Err(status) } else { Ok(value) }
    }

    /// A module for another window on the memory of this one.
    pub(super) fn dup(&self, desc: &WinDesc, thread: *mut ThreadCtx) -> Result<Verbs, Status> {
        let mut made = OscWindow { window: null_mut(), table: null() };
        let status = (self.table.dup)(self.window, desc, thread, &mut made);
        if status.is_err() {
            return Err(status);
        }
        // SAFETY: the component's table; its size and slots are looked at.
        let table = unsafe { read_osc_table(made.table, self.component) };
        table.map(|table| Verbs::new(self.component, made.window, table)).map_err(|_| Status::INTERNAL)
    }

    pub(super) fn counts(&self) -> WinCounts {
        let size = size_of::<WinCounts>() as u32;
        let mut counts = WinCounts { size, ..WinCounts::default() };
        match (self.table.counts)(self.window, &mut counts) {
            status if status.is_err() => WinCounts::default(),
            _ => counts,
        }
    }

    /// Starts a flush of a rank (`None`: of all), which [`Verbs::flush`] waits for. NOT_SUPPORTED: it does all by itself.
    pub fn flush_begin(&self, thread: *mut ThreadCtx, rank: Option<u32>) -> Status {
        (self.table.flush_begin)(self.window, thread, rank.unwrap_or(oxmpi_osc::ALL))
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
