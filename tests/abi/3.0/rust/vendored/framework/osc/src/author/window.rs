//! A one-sided component and its windows, as their author writes them.

use super::args::{Flush, LockKind, Memory, Rma, Want};
use crate::table::{WinCounts, WinDesc};
use oxmpi_btl::Vouched;
use oxmpi_mca::{Entry, Object, Status};

/// A one-sided component of one instance.
pub trait Osc: Send + Sync + Sized + 'static {
    /// Its module for one window.
    type Window: Window;

    /// Priority for this window, or `None`. Must not communicate.
    fn query(&self, desc: Vouched<'_, WinDesc>) -> Option<i32>;
    /// Makes a window's module; collective over its ranks. An error, such as OUT_OF_MEMORY: the host asks the next component.
    fn create(&self, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<Box<Self::Window>, Status>;
    /// The thread level has risen to MULTIPLE. See [`OscModule::threads_begin`](crate::OscModule::threads_begin).
    fn threads_begin(&self) -> Status {
        Status::OK
    }
    /// Last call.
    fn finalize(&self) {}
}

/// The answer to an operation: its request, where one was wanted.
pub type Asked<R> = Result<Option<&'static R>, Status>;

/// One window. All verbs may run concurrently. Those named as slots of [`OscTable`](crate::OscTable) fail as these say.
pub trait Window: Send + Sync + Sized + 'static {
    /// A request of MPI_Rput and the like.
    type Request: Object;

    /// MPI_Put, MPI_Rput.
    fn put(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Self::Request>;
    /// MPI_Get, MPI_Rget.
    fn get(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Self::Request>;
    /// MPI_Accumulate, MPI_Raccumulate.
    fn accumulate(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Self::Request>;
    /// MPI_Get_accumulate, MPI_Rget_accumulate.
    fn get_accumulate(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Self::Request>;
    /// MPI_Fetch_and_op.
    fn fetch_and_op(&self, entry: &mut Entry, args: Rma<'_>) -> Status;
    /// MPI_Compare_and_swap.
    fn compare_and_swap(&self, entry: &mut Entry, args: Rma<'_>) -> Status;
    /// MPI_Win_fence.
    fn fence(&self, entry: &mut Entry, assert: u32) -> Status;
    /// MPI_Win_post.
    fn post(&self, entry: &mut Entry, ranks: &[u32], assert: u32) -> Status;
    /// MPI_Win_start.
    fn start(&self, entry: &mut Entry, ranks: &[u32], assert: u32) -> Status;
    /// MPI_Win_complete.
    fn complete(&self, entry: &mut Entry) -> Status;
    /// MPI_Win_wait.
    fn wait(&self, entry: &mut Entry) -> Status;
    /// MPI_Win_test. PENDING: the epoch cannot end yet.
    fn test(&self, entry: &mut Entry) -> Status;
    /// MPI_Win_lock.
    fn lock(&self, entry: &mut Entry, kind: LockKind, rank: u32, assert: u32) -> Status;
    /// MPI_Win_unlock.
    fn unlock(&self, entry: &mut Entry, rank: u32) -> Status;
    /// MPI_Win_lock_all.
    fn lock_all(&self, entry: &mut Entry, assert: u32) -> Status;
    /// MPI_Win_unlock_all.
    fn unlock_all(&self, entry: &mut Entry) -> Status;
    /// MPI_Win_flush and its kin. `rank` `None`: of all.
    fn flush(&self, entry: &mut Entry, rank: Option<u32>, how: Flush) -> Status;
    /// Starts the flush of a rank, or of all (`None`), which [`Window::flush`] waits for. RMA_SYNC as that; NOT_SUPPORTED: it does all by itself.
    fn flush_begin(&self, entry: &mut Entry, rank: Option<u32>) -> Status {
        let _ = (entry, rank);
        Status::NOT_SUPPORTED
    }
    /// MPI_Win_sync.
    fn sync(&self, entry: &mut Entry) -> Status;
    /// MPI_Win_attach.
    fn attach(&self, entry: &mut Entry, memory: Memory) -> Status;
    /// MPI_Win_detach, of memory that begins at this address.
    fn detach(&self, entry: &mut Entry, base: usize) -> Status;
    /// The hints are now these: bits of [`hint`](crate::hint) and [`ordering`](crate::ordering).
    fn set_hints(&self, hints: u32, ordering: u32) -> Status {
        let _ = (hints, ordering);
        Status::OK
    }
    /// Gets the window ready to go: collective; no rank uses this rank's memory through it any more. After a failure it stays.
    fn free(&self, entry: &mut Entry) -> Status;
    /// Gets the window ready to go without communication, since another rank could not make it.
    fn discard(&self, entry: &mut Entry);
    /// A put that adds 1 to a counter of its target once its data is visible there.
    fn put_notify(&self, entry: &mut Entry, args: Rma<'_>, counter: u32) -> Status {
        let _ = (entry, args, counter);
        Status::NOT_SUPPORTED
    }
    /// A get that adds 1 to a counter of its target once its data has been read there.
    fn get_notify(&self, entry: &mut Entry, args: Rma<'_>, counter: u32) -> Status {
        let _ = (entry, args, counter);
        Status::NOT_SUPPORTED
    }
    /// The value of a counter of this rank. BAD_PARAM: there is none of that number.
    fn notify_read(&self, entry: &mut Entry, counter: u32) -> Result<u64, Status> {
        let _ = (entry, counter);
        Err(Status::NOT_SUPPORTED)
    }
    /// The value of a counter of this rank, which is 0 afterwards. BAD_PARAM: there is none of that number.
    fn notify_take(&self, entry: &mut Entry, counter: u32) -> Result<u64, Status> {
        let _ = (entry, counter);
        Err(Status::NOT_SUPPORTED)
    }
    /// Waits until a counter of this rank is at least `threshold`; its value. BAD_PARAM: there is none of that number.
    fn notify_wait(&self, entry: &mut Entry, counter: u32, threshold: u64) -> Result<u64, Status> {
        let _ = (entry, counter, threshold);
        Err(Status::NOT_SUPPORTED)
    }
    /// Another window on the same memory; collective. An error: no rank gets one.
    fn dup(&self, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<Box<Self>, Status> {
        let _ = (entry, desc);
        Err(Status::NOT_SUPPORTED)
    }
    /// Counts of the window; `None`: nothing is counted.
    fn counts(&self) -> Option<WinCounts> {
        None
    }
}
