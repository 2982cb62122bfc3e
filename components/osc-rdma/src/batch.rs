//! Small puts of one context to one rank that wait to go together, as one list of the transport's.
//!
//! A batch belongs to its lane and is used under the lane's CRI, so threads that have contexts of their own share nothing. Puts copy their data
//! into it and are complete at the origin. It is sent when it is full, before any other operation of its lane, and by whatever completes
//! puts at the target: those look at [`Batch::waits`] of all lanes, which is set behind each put and cleared when the operation that the
//! batch has become is counted, so they find the puts here or there.

use crate::writes::Places;
use oxmpi_btl::LIST_ENTRY;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{CriGuard, OfCri};

pub struct Batch {
    waits: AtomicU32,
    puts: OfCri<Puts>,
}

/// Puts to memory of one registration, in the order of their calls.
#[derive(Default)]
pub struct Puts {
    all: Vec<Put>,
    data: Vec<u8>,
}

#[derive(Clone, Copy)]
pub struct Put {
    pub remote: u64,
    /// Where its bytes are in the batch, and how many.
    pub at: usize,
    pub len: usize,
}

impl Batch {
    /// Of the lane of a context.
    pub fn new(ctx: u32) -> Batch {
        Batch { waits: AtomicU32::new(0), puts: OfCri::new(ctx, Puts::default()) }
    }

    /// Whether puts wait in it.
    #[inline]
    pub fn waits(&self) -> bool {
        // SYNC POINT with `put` and `sent`.
        self.waits.load(Ordering::Acquire) != 0
    }

    /// Adds a put and answers where its data is to be written at once; `None`: there is no room in a list of `limit` bytes.
    #[inline]
    pub fn put<'s>(
        &'s self,
        held: &'s mut CriGuard<'_>,
        remote: u64,
        len: usize,
        limit: u64,
    ) -> Option<&'s mut [u8]> {
        let puts = self.puts.get(held);
        let (at, end) = (puts.data.len(), puts.data.len() + len.next_multiple_of(8));
        if LIST_ENTRY * (puts.all.len() as u64 + 1) + end as u64 > limit {
            return None;
        }
        puts.data.resize(end, 0);
        puts.all.push(Put { remote, at, len });
        // SYNC POINT with `waits`.
        self.waits.store(1, Ordering::Release);
        Some(&mut puts.data[at..at + len])
    }

    /// Whether a put that waits is to any of these places.
    pub fn meets(&self, held: &mut CriGuard<'_>, places: &Places) -> bool {
        let puts = self.puts.get(held);
        puts.all.iter().any(|put| places.meet(put.remote, put.remote.saturating_add(put.len as u64)))
    }

    /// Takes what waits. `sent` follows.
    pub fn take(&self, held: &mut CriGuard<'_>) -> Puts {
        core::mem::take(self.puts.get(held))
    }

    /// The puts that were taken are counted as an operation. The CRI was not left since.
    pub fn sent(&self, _: &mut CriGuard<'_>) {
        // SYNC POINT with `waits`.
        self.waits.store(0, Ordering::Release);
    }

    /// Memory that was used, for the puts that follow.
    pub fn give_back(&self, held: &mut CriGuard<'_>, mut used: Puts) {
        let puts = self.puts.get(held);
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

    /// Addresses and lengths at the target.
    pub fn places(&self) -> impl Iterator<Item = (u64, u64)> {
        self.all.iter().map(|put| (put.remote, put.len as u64))
    }

    /// The bytes of a put.
    pub fn data_of(&self, put: &Put) -> &[u8] {
        &self.data[put.at..put.at + put.len]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn puts_wait_until_there_is_no_room() {
        let batch = Batch::new(2);
        // SAFETY: one thread.
        let mut held = unsafe { CriGuard::inherited(2, false, None) };
        let mut put = |remote: u64, len| {
            let to = batch.put(&mut held, remote, len, 2 * (LIST_ENTRY + 8))?;
            to.fill(remote as u8);
            Some(())
        };
        assert!(!batch.waits());
        assert_eq!((put(1, 3), put(2, 8), put(3, 1)), (Some(()), Some(()), None));
        assert!(batch.waits());
        let taken = batch.take(&mut held);
        batch.sent(&mut held);
        assert!(!batch.waits());
        assert_eq!(taken.data(), [1, 1, 1, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2]);
        assert_eq!(taken.places().collect::<Vec<_>>(), [(1, 3), (2, 8)]);
        let data: Vec<&[u8]> = taken.all().iter().map(|put| taken.data_of(put)).collect();
        assert_eq!(data, [&[1; 3][..], &[2; 8]]);
        batch.give_back(&mut held, taken);
        assert!(batch.put(&mut held, 4, 8, 100).is_some());
        assert_eq!(batch.take(&mut held).all().len(), 1);
    }

    #[test]
    #[should_panic(expected = "data of another CRI was asked for than CRI 1")]
    fn another_context_reaches_no_puts() {
        // SAFETY: one thread.
        let mut held = unsafe { CriGuard::inherited(1, false, None) };
        Batch::new(2).take(&mut held);
    }
}
