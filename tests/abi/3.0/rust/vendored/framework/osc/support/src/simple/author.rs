//! Traits of an author: the component, and a window's verbs.

use super::call::{Call, Meeting, Result};
use super::desk::Desk;
use super::inside::Arrivals;
use super::loans::Open;
use super::operation::Operation;
use oxmpi_osc::{LockKind, WinDesc};

/// A one-sided component of one instance.
pub trait Osc: Send + Sync + Sized + 'static {
    /// The state of one window.
    type Window: Window;

    /// Gives the priority for a window, or `None` where it is not served. Must not communicate.
    fn query(&self, desc: &WinDesc) -> Option<i32>;

    /// Makes a window's state; collective over its ranks. No message is sent or received before all have made theirs.
    fn create(&self, meeting: &mut Meeting<'_>, desc: &WinDesc) -> Result<Self::Window>;
}

/// One window's state, and the verbs on it.
///
/// The state is behind a lock of the layer's. Verbs may be called by several threads at a time, `fence` and `free` by one. A verb answers RMA_SYNC where a call is
/// outside of the epoch that it needs; RMA_RANGE where the target's memory is exceeded and known; what is known later is answered by the
/// synchronisation that completes the operation. After an error the window is as good as before.
///
/// A synchronisation that completes operations (fence, complete, unlock, flush, free) answers INTERNAL in place of OK if one of them was not ended.
/// The layer does for shared memory what MPI_Win_sync is about, in all verbs, and attaches and detaches memory.
pub trait Window: Arrivals {
    /// Begins an operation, whose end is told by `open`. Data is read here; an error undoes the beginning.
    fn operate(&mut self, desk: &mut Desk, operation: &Operation<'_>, open: Open) -> Result;

    /// MPI_Win_fence; `assert` has bits of `oxmpi_osc::assertion`. Collective.
    fn fence(call: &mut Call<'_, Self>, assert: u32) -> Result;
    /// MPI_Win_post: opens an exposure epoch for the ranks.
    fn post(call: &mut Call<'_, Self>, ranks: &[u32], assert: u32) -> Result;
    /// MPI_Win_start: opens an access epoch to the ranks.
    fn start(call: &mut Call<'_, Self>, ranks: &[u32], assert: u32) -> Result;
    /// MPI_Win_complete: ends the access epoch.
    fn complete(call: &mut Call<'_, Self>) -> Result;
    /// MPI_Win_wait: ends the exposure epoch.
    fn wait(call: &mut Call<'_, Self>) -> Result;
    /// MPI_Win_test: ends the exposure epoch, if that can end now; false: it goes on.
    fn test(call: &mut Call<'_, Self>) -> Result<bool>;
    /// MPI_Win_lock.
    fn lock(call: &mut Call<'_, Self>, kind: LockKind, rank: u32, assert: u32) -> Result;
    /// MPI_Win_unlock.
    fn unlock(call: &mut Call<'_, Self>, rank: u32) -> Result;
    /// MPI_Win_lock_all.
    fn lock_all(call: &mut Call<'_, Self>, assert: u32) -> Result;
    /// MPI_Win_unlock_all.
    fn unlock_all(call: &mut Call<'_, Self>) -> Result;
    /// MPI_Win_flush of a rank, of all where `rank` is `None`. Operations are complete at their targets, too; so it serves MPI_Win_flush_local as well.
    fn flush(call: &mut Call<'_, Self>, rank: Option<u32>) -> Result;
    /// Gets the window ready to go; collective. Once it answers with success no rank sends anything to this one any more; after an error, the same on all ranks, the
    /// window stays.
    fn free(call: &mut Call<'_, Self>) -> Result;
}
