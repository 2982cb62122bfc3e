//! Small puts of one context to one rank that wait to go together, as one list of the transport's.
//!
//! A batch belongs to its lane and is used under the lane's CRI, so threads that have contexts of their own share nothing. Puts copy their data
//! into it and are complete at the origin. It is sent when it is full, before any other operation of its lane, and by whatever completes
//! puts at the target: those look at [`Batch::waits`] of all lanes, which is set behind each put and cleared when the operation that the
//! batch has become is counted, so they find the puts here or there.

use crate::writes::Places;
use core::cell::UnsafeCell;
use oxmpi_btl::{LIST_ENTRY, LIST_PUT, ListEntry, RegHandle};
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};

#[derive(Default)]
pub struct Batch {
    waits: AtomicU32,
    puts: UnsafeCell<Puts>,
}

// SAFETY: the puts are used under the CRI of the lane alone, by whichever thread has it.
unsafe impl Send for Batch {}
// SAFETY: as above.
unsafe impl Sync for Batch {}

/// Puts, in the order of their calls.
#[derive(Default)]
pub struct Puts {
    all: Vec<Put>,
    data: Vec<u8>,
}

#[derive(Clone, Copy)]
pub struct Put {
    pub remote: u64,
    /// Of the rank's memory: it stays as long as the rank is known.
    pub handle: *const RegHandle,
    /// Where its bytes are in the batch, and how many.
    pub at: usize,
    pub len: usize,
}

impl Batch {
    /// Whether puts wait in it.
    #[inline]
    pub fn waits(&self) -> bool {
        // SYNC POINT with `put` and `sent`.
        self.waits.load(Ordering::Acquire) != 0
    }

    /// Adds a put and answers where its data is to be written at once; `None`: there is no room in a list of `limit` bytes.
    ///
    /// # Safety
    /// The caller holds the lane's CRI.
    #[inline]
    pub unsafe fn put(
        &self,
        remote: u64,
        handle: *const RegHandle,
        len: usize,
        limit: u64,
    ) -> Option<*mut u8> {
        // SAFETY: the caller's promise.
        let puts = unsafe { &mut *self.puts.get() };
        let (at, end) = (puts.data.len(), puts.data.len() + len.next_multiple_of(8));
        if LIST_ENTRY * (puts.all.len() as u64 + 1) + end as u64 > limit {
            return None;
        }
        puts.data.resize(end, 0);
        puts.all.push(Put { remote, handle, at, len });
        // SYNC POINT with `waits`.
        self.waits.store(1, Ordering::Release);
        Some(puts.data.as_mut_ptr().wrapping_add(at))
    }

    /// Whether a put that waits is to any of these places.
    ///
    /// # Safety
    /// The caller holds the lane's CRI.
    pub unsafe fn meets(&self, places: &Places) -> bool {
        // SAFETY: the caller's promise.
        let puts = unsafe { &*self.puts.get() };
        puts.all.iter().any(|put| places.meet(put.remote, put.remote.saturating_add(put.len as u64)))
    }

    /// Takes what waits. `sent` follows.
    ///
    /// # Safety
    /// The caller holds the lane's CRI.
    pub unsafe fn take(&self) -> Puts {
        // SAFETY: the caller's promise.
        core::mem::take(unsafe { &mut *self.puts.get() })
    }

    /// The puts that were taken are counted as an operation.
    pub fn sent(&self) {
        // SYNC POINT with `waits`.
        self.waits.store(0, Ordering::Release);
    }

    /// Memory that was used, for the puts that follow.
    ///
    /// # Safety
    /// The caller holds the lane's CRI.
    pub unsafe fn give_back(&self, mut used: Puts) {
        // SAFETY: the caller's promise.
        let puts = unsafe { &mut *self.puts.get() };
        if puts.all.is_empty() {
            used.all.clear();
            used.data.clear();
            *puts = used;
        }
    }
}

impl Puts {
    pub fn all(&self) -> &[Put] {
        &self.all
    }

    /// Whether they may land in any order.
    pub fn are_apart(&self) -> bool {
        let end = |put: &Put| put.remote.saturating_add(put.len as u64);
        let behind = |n: usize| self.all.get(n + 1..).unwrap_or(&[]);
        self.all
            .iter()
            .enumerate()
            .all(|(n, a)| behind(n).iter().all(|b| end(a) <= b.remote || end(b) <= a.remote))
    }

    pub fn data(&self) -> &[u8] {
        &self.data
    }

    pub fn entries(&self) -> Vec<ListEntry> {
        let of = |put: &Put| ListEntry {
            remote: put.remote,
            remote_handle: put.handle,
            len: put.len as u64,
            data: self.data[put.at..].as_ptr(),
            result: core::ptr::null_mut(),
            result_handle: core::ptr::null(),
            op: LIST_PUT,
            flags: 0,
            compare: 0,
        };
        self.all.iter().map(of).collect()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn puts_wait_until_there_is_no_room() {
        let batch = Batch::default();
        let put = |remote, len| {
            // SAFETY: one thread; as many bytes as were asked for.
            unsafe {
                let to = batch.put(remote, core::ptr::null(), len, 2 * (LIST_ENTRY + 8))?;
                to.write_bytes(remote as u8, len);
                Some(())
            }
        };
        assert!(!batch.waits());
        assert_eq!((put(1, 3), put(2, 8), put(3, 1)), (Some(()), Some(()), None));
        assert!(batch.waits());
        // SAFETY: as above.
        let taken = unsafe { batch.take() };
        batch.sent();
        assert!(!batch.waits());
        assert_eq!(taken.data(), [1, 1, 1, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2]);
        let of = |e: &ListEntry| (e.remote, e.len, e.op);
        assert_eq!(taken.entries().iter().map(of).collect::<Vec<_>>(), [(1, 3, LIST_PUT), (2, 8, LIST_PUT)]);
        // SAFETY: as above.
        unsafe { batch.give_back(taken) };
        assert_eq!(put(4, 8), Some(()));
        // SAFETY: as above.
        assert_eq!(unsafe { batch.take() }.all().len(), 1);
    }
}
