//! The verbs of a window as its caller has them: one call each into the component's table. Each borrows the call's entry, since it may wait; the caller brings
//! that up to date behind it (`Entry::raise`).

use crate::{ALL, OscTable, OscWindow, RmaArgs, RmaFn, WinCounts, WinDesc};
use core::ffi::c_void;
use core::ptr::{null, null_mut, with_exposed_provenance_mut};
use oxmpi_mca::{Entry, RequestHeader, SliceRef, Status};

/// A component's module for one window. Each verb answers as the slot of [`OscTable`] with its name does: OK, or a failure of its own or of an
/// operation that it completes.
pub struct Verbs {
    component: &'static str,
    window: *mut c_void,
    table: OscTable,
}

// SAFETY: the module is not bound to the thread that made it: whichever thread frees the window calls `free` (contract).
unsafe impl Send for Verbs {}
// SAFETY: all verbs of a window may be called from several threads at a time (contract).
unsafe impl Sync for Verbs {}

/// The operations, by their place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// MPI_Put, MPI_Rput.
    Put,
    /// MPI_Get, MPI_Rget.
    Get,
    /// MPI_Accumulate, MPI_Raccumulate.
    Accumulate,
    /// MPI_Get_accumulate, MPI_Rget_accumulate.
    GetAccumulate,
    /// MPI_Fetch_and_op, which has no form with a request.
    FetchAndOp,
    /// MPI_Compare_and_swap, which has no form with a request.
    CompareAndSwap,
}

impl Verbs {
    /// Wraps a component's module of a window and its table, which has a function in every slot.
    ///
    /// # Safety
    /// `window` must be a module that the table's functions take, until [`Verbs::free`] has given it back.
    pub unsafe fn new(component: &'static str, window: *mut c_void, table: OscTable) -> Verbs {
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

    /// Starts an operation without a request (MPI_Put, MPI_Get, ...). Failures are those of [`OscTable::put`].
    ///
    /// # Safety
    /// The arguments are as [`RmaArgs`] says: their thread is the calling one, whose entry is lent; types and the operation are there during the call, and the
    /// buffers until the epoch's rules give them back.
    #[inline]
    pub unsafe fn start(&self, operation: Operation, args: &RmaArgs) -> Status {
        self.operation(operation)(self.window, args, null_mut())
    }

    /// Starts an operation and returns its request (MPI_Rput, MPI_Rget, ...); not for FetchAndOp and CompareAndSwap. Failures are those of
    /// [`OscTable::put`], and INTERNAL: the component gave no request.
    ///
    /// # Safety
    /// As for [`Verbs::start`], with the buffers there until the request is complete.
    pub unsafe fn request(&self, operation: Operation, args: &RmaArgs) -> Result<*mut RequestHeader, Status> {
        let mut request = null_mut();
        let status = self.operation(operation)(self.window, args, &mut request);
        match () {
            () if status.is_err() => Err(status),
            () if request.is_null() => Err(Status::INTERNAL),
            () => Ok(request),
        }
    }

    /// Starts a put or get that adds 1 to a notification counter; NOT_SUPPORTED for other operations.
    ///
    /// # Safety
    /// As for [`Verbs::start`].
    pub unsafe fn notified(&self, operation: Operation, args: &RmaArgs, counter: u32) -> Status {
        match operation {
            Operation::Put => (self.table.put_notify)(self.window, args, counter),
            Operation::Get => (self.table.get_notify)(self.window, args, counter),
            _ => Status::NOT_SUPPORTED,
        }
    }

    /// Reads a notification counter of this rank; `reset`: it is 0 afterwards. BAD_PARAM: there is none of that number.
    pub fn notify_read(&self, entry: &mut Entry, counter: u32, reset: bool) -> Result<u64, Status> {
        let mut value = 0;
        let status = (self.table.notify_read)(self.window, entry.thread(), counter, reset.into(), &mut value);
        if status.is_err() { Err(status) } else { Ok(value) }
    }

    /// Waits until a notification counter of this rank is at least `threshold`; returns its value. BAD_PARAM: there is none of that number.
    pub fn notify_wait(&self, entry: &mut Entry, counter: u32, threshold: u64) -> Result<u64, Status> {
        let mut value = 0;
        let status = (self.table.notify_wait)(self.window, entry.thread(), counter, threshold, &mut value);
        if status.is_err() { Err(status) } else { Ok(value) }
    }

    /// Has the component make a module for another window on the memory of this one. NOT_SUPPORTED: it cannot. Other errors are those of
    /// [`OscModule::create`](crate::OscModule::create).
    ///
    /// # Safety
    /// The description's pointers are those of a window of the host's, which lives longer than the module.
    pub unsafe fn dup(&self, desc: &WinDesc, entry: &mut Entry) -> Result<OscWindow, Status> {
        let mut made = OscWindow { window: null_mut(), table: null() };
        let status = (self.table.dup)(self.window, desc, entry.thread(), &mut made);
        if status.is_err() { Err(status) } else { Ok(made) }
    }

    /// The component's counts for this window; zeros where it counts nothing.
    pub fn counts(&self) -> WinCounts {
        let size = size_of::<WinCounts>() as u32;
        let mut counts = WinCounts { size, ..WinCounts::default() };
        match (self.table.counts)(self.window, &mut counts) {
            status if status.is_err() => WinCounts::default(),
            _ => counts,
        }
    }

    /// Starts a flush of a rank (`None`: of all), which [`Verbs::flush`] waits for. NOT_SUPPORTED: it does all by itself.
    pub fn flush_begin(&self, entry: &mut Entry, rank: Option<u32>) -> Status {
        (self.table.flush_begin)(self.window, entry.thread(), rank.unwrap_or(ALL))
    }

    /// MPI_Win_fence: ends an epoch of fences and begins the next, as `assert` says.
    pub fn fence(&self, entry: &mut Entry, assert: u32) -> Status {
        (self.table.fence)(self.window, entry.thread(), assert)
    }
    /// MPI_Win_post: opens an exposure epoch for these ranks.
    pub fn post(&self, entry: &mut Entry, ranks: &[u32], assert: u32) -> Status {
        (self.table.post)(
            self.window,
            entry.thread(),
            SliceRef { ptr: ranks.as_ptr(), len: ranks.len() },
            assert,
        )
    }
    /// MPI_Win_start: opens an access epoch to these ranks.
    pub fn access(&self, entry: &mut Entry, ranks: &[u32], assert: u32) -> Status {
        (self.table.start)(
            self.window,
            entry.thread(),
            SliceRef { ptr: ranks.as_ptr(), len: ranks.len() },
            assert,
        )
    }
    /// MPI_Win_complete: ends the access epoch.
    pub fn complete(&self, entry: &mut Entry) -> Status {
        (self.table.complete)(self.window, entry.thread())
    }
    /// MPI_Win_wait, or with `block` false MPI_Win_test: ends the exposure epoch; PENDING: it cannot end yet.
    pub fn wait(&self, entry: &mut Entry, block: bool) -> Status {
        (self.table.wait)(self.window, entry.thread(), block.into())
    }
    /// MPI_Win_lock: opens a passive epoch at one rank.
    pub fn lock(&self, entry: &mut Entry, kind: u32, rank: u32, assert: u32) -> Status {
        (self.table.lock)(self.window, entry.thread(), kind, rank, assert)
    }
    /// MPI_Win_unlock: ends the passive epoch at one rank.
    pub fn unlock(&self, entry: &mut Entry, rank: u32) -> Status {
        (self.table.unlock)(self.window, entry.thread(), rank)
    }
    /// MPI_Win_lock_all: opens a passive epoch at all ranks.
    pub fn lock_all(&self, entry: &mut Entry, assert: u32) -> Status {
        (self.table.lock_all)(self.window, entry.thread(), assert)
    }
    /// MPI_Win_unlock_all: ends the passive epoch at all ranks.
    pub fn unlock_all(&self, entry: &mut Entry) -> Status {
        (self.table.unlock_all)(self.window, entry.thread())
    }
    /// MPI_Win_flush and its kin: completes the operations to a rank (`None`: to all), with `local` at this side only.
    #[inline]
    pub fn flush(&self, entry: &mut Entry, rank: Option<u32>, local: bool) -> Status {
        (self.table.flush)(self.window, entry.thread(), rank.unwrap_or(ALL), local.into())
    }
    /// MPI_Win_sync: makes stores and accesses through the window visible to each other.
    pub fn sync(&self, entry: &mut Entry) -> Status {
        (self.table.sync)(self.window, entry.thread())
    }
    /// MPI_Win_attach: adds memory to a dynamic window. RMA_ATTACH: it overlaps what is attached, or cannot be attached.
    ///
    /// # Safety
    /// The memory is the program's, writable for `bytes` bytes, and stays until it is detached or the window is freed.
    pub unsafe fn attach(&self, entry: &mut Entry, base: *mut u8, bytes: u64) -> Status {
        (self.table.attach)(self.window, entry.thread(), base, bytes)
    }
    /// MPI_Win_detach: takes memory that begins at this address from a dynamic window. RMA_ATTACH: none begins there.
    pub fn detach(&self, entry: &mut Entry, base: usize) -> Status {
        (self.table.detach)(self.window, entry.thread(), with_exposed_provenance_mut(base))
    }
    /// Tells the component hints and orders that are in force from now on. NOT_SUPPORTED: they cannot change.
    pub fn set_hints(&self, hints: u32, ordering: u32) -> Status {
        (self.table.set_hints)(self.window, hints, ordering)
    }
    /// Frees the component's module, which is gone afterwards unless it answers with a failure (RMA_SYNC: an epoch is open) and `discard` is false.
    pub fn free(&self, entry: &mut Entry, discard: bool) -> Status {
        (self.table.free)(self.window, entry.thread(), discard.into())
    }
}
