//! Memory that is attached to a dynamic window (MPI 5.0 §12.2.5).
//!
//! Each rank has a list of regions in its state words, and a word in front of it with their number and a version ([`Head`]). Attaching writes
//! behind the end and then raises the number; the version stays. Detaching moves the last region to the place that becomes free, so it
//! makes the version odd before and even again behind. An origin keeps what it has read. Before each operation it looks at the word: with the
//! version that it knows, all it knows is still there, and it reads the regions behind that alone; with another one it reads all. The regions that it
//! read are good if the version is the same afterwards. Handles are in the list, so memory that is attached again is never reached by an old one.

use crate::call::Call;
use crate::known_regions::Span;
use crate::layout::Block;
use crate::peer::{Met, held};
use crate::wire::{Head, Region, word};
use core::ops::Range;
use oxmpi_mca::Status;
use oxmpi_mca::sync::{Ordering, fence};
use oxmpi_osc_support::module_key;

/// A list as an origin reads it.
trait Source {
    type Item;
    fn head(&mut self) -> Result<Head, Status>;
    /// Reads items. Their content is good if the version is the same afterwards.
    fn items(&mut self, which: Range<u64>) -> Result<Vec<Self::Item>, Status>;
}

/// Reads what is new of a list with at most `most` items: its head, and the items behind those that are known, or all of them (`true`) if the
/// known ones are not good any more. `None`: it is being changed.
#[allow(clippy::type_complexity, reason = "an answer of three parts that are taken apart at once")]
fn news<S: Source>(
    source: &mut S,
    known: Head,
    most: u64,
) -> Result<Option<(Head, bool, Vec<S::Item>)>, Status> {
    let head = source.head()?;
    if head == known {
        return Ok(Some((head, false, Vec::new())));
    }
    if head.is_changing() || head.count() > most {
        return Ok(None);
    }
    let anew = head.version() != known.version();
    let first = if anew { 0 } else { known.count() };
    let items = if first < head.count() { source.items(first..head.count())? } else { Vec::new() };
    // An empty list has nothing that could have been changed meanwhile.
    let same = items.is_empty() || source.head()?.version() == head.version();
    Ok(same.then_some((head, anew, items)))
}

/// A rank's list, by loads or by its transport.
struct PeerList<'c, 'a> {
    call: &'c mut Call<'a>,
    peer: Met<'c>,
}

impl Source for PeerList<'_, '_> {
    type Item = Region;

    fn head(&mut self) -> Result<Head, Status> {
        let peer = self.peer;
        if let Some(word) = peer.mapped_word(word::REGIONS) {
            fence(Ordering::SeqCst);
            // SYNC POINT with `List::set_head`.
            return Ok(Head(word.load(Ordering::SeqCst)));
        }
        let route = peer.route().ok_or(Status::UNREACHABLE)?;
        let at = peer.remote_words + 8 * word::REGIONS;
        Ok(Head(self.call.fetch(route, at, &peer.state, 8)?.word()))
    }

    fn items(&mut self, which: Range<u64>) -> Result<Vec<Region>, Status> {
        let (peer, at) = (self.peer, self.call.win.home.shelf.layout.region(which.start));
        let count = (which.end - which.start) as usize;
        if !peer.words.is_null() {
            let list: *const Region = peer.words.get().cast::<u8>().wrapping_add(at as usize).cast();
            // SAFETY: a list has no more items than the layout has places (`news`); whether they were whole is seen behind.
            return Ok((0..count).map(|i| unsafe { list.add(i).read_volatile() }).collect());
        }
        let route = peer.route().ok_or(Status::UNREACHABLE)?;
        let bytes = count * size_of::<Region>();
        let list = self.call.fetch(route, peer.remote_words + at, &peer.state, bytes)?;
        Ok(list.bytes().chunks_exact(size_of::<Region>()).map(Region::of).collect())
    }
}

impl Call<'_> {
    /// The regions of a rank that blocks lie in, as the list is now; RMA_RANGE: not all of them lies in any.
    pub fn regions(&mut self, peer: Met<'_>, blocks: &[Block]) -> Result<Vec<Span>, Status> {
        let most = self.win.home.shelf.layout.max_regions;
        loop {
            let known = held(&peer.regions).head();
            if let Some((head, anew, list)) = news(&mut PeerList { call: self, peer }, known, most)? {
                let mut regions = held(&peer.regions);
                if regions.head() == known {
                    let module = peer.link.as_ref().map(|link| module_key(link.reach.btl()));
                    regions.add(head, anew, &list, module);
                    return regions.spans(blocks).ok_or(Status::RMA_RANGE);
                }
                // Another thread has learnt something meanwhile: once more, from there.
                continue;
            }
            // It is being changed: soon it is not.
            self.progress();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::attached::{List, append, take_out};
    use std::collections::BTreeMap;

    /// A list that says how many of its items were read.
    #[derive(Default)]
    struct CountingList {
        head: core::cell::Cell<Head>,
        items: core::cell::RefCell<BTreeMap<u64, u64>>,
        read: core::cell::Cell<u64>,
    }
    impl List for CountingList {
        type Item = u64;
        fn head(&self) -> Head {
            self.head.get()
        }
        fn set_head(&self, head: Head) {
            self.head.set(head);
        }
        fn item(&self, at: u64) -> u64 {
            self.items.borrow()[&at]
        }
        fn set_item(&self, at: u64, item: u64) {
            self.items.borrow_mut().insert(at, item);
        }
    }
    impl Source for &CountingList {
        type Item = u64;
        fn head(&mut self) -> Result<Head, Status> {
            Ok(self.head.get())
        }
        fn items(&mut self, which: Range<u64>) -> Result<Vec<u64>, Status> {
            self.read.set(self.read.get() + which.end - which.start);
            Ok(which.map(|at| self.item(at)).collect())
        }
    }

    #[test]
    fn what_is_known_is_not_read_again_while_nothing_goes() {
        let (list, mut known, mut have) = (CountingList::default(), Head(u64::MAX), Vec::new());
        let mut look = || {
            let (head, anew, items) = news(&mut &list, known, 100).expect("read").expect("not changing");
            if anew {
                have.clear();
            }
            known = head;
            have.extend(items);
            have.clone()
        };
        assert_eq!(look(), []);
        for item in 0..50 {
            append(&list, item);
            assert_eq!(look().last(), Some(&item));
        }
        look();
        assert_eq!(list.read.get(), 50, "each once");
        take_out(&list, 3);
        let now = look();
        assert_eq!((now.len(), now[3], list.read.get()), (49, 49, 99));
        take_out(&list, 48);
        assert_eq!((look().len(), list.head.get().version()), (48, 4));
        assert_eq!(news(&mut &list, Head(0), 47), Ok(None), "more than can be");
    }
}

/// A list that changes while it is read: nothing is taken for good that was not in it at one time.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::attached::{List, append, take_out};
    use oxmpi_mca::sync::AtomicU64;
    use std::sync::Arc;

    struct RegionBoard {
        head: AtomicU64,
        /// An item is two words that belong together.
        items: [[AtomicU64; 2]; 3],
    }
    impl List for RegionBoard {
        type Item = [u64; 2];
        fn head(&self) -> Head {
            Head(self.head.load(Ordering::Relaxed))
        }
        fn set_head(&self, head: Head) {
            self.head.store(head.0, Ordering::SeqCst);
        }
        fn item(&self, at: u64) -> [u64; 2] {
            self.items[at as usize].each_ref().map(|word| word.load(Ordering::Relaxed))
        }
        fn set_item(&self, at: u64, item: [u64; 2]) {
            for (word, value) in self.items[at as usize].iter().zip(item) {
                word.store(value, Ordering::Relaxed);
            }
        }
    }
    impl Source for &RegionBoard {
        type Item = [u64; 2];
        fn head(&mut self) -> Result<Head, Status> {
            fence(Ordering::SeqCst);
            Ok(Head(self.head.load(Ordering::SeqCst)))
        }
        fn items(&mut self, which: Range<u64>) -> Result<Vec<[u64; 2]>, Status> {
            Ok(which.map(|at| self.item(at)).collect())
        }
    }

    fn while_it_changes(change: fn(&RegionBoard)) {
        loom::model(move || {
            let zero = || AtomicU64::new(0);
            let items = [(); 3].map(|()| [zero(), zero()]);
            let board = Arc::new(RegionBoard { head: AtomicU64::new(0), items });
            append(&*board, [1, 1]);
            let known = Head(board.head.load(Ordering::Relaxed));
            append(&*board, [2, 2]);
            let owner = {
                let board = board.clone();
                loom::thread::spawn(move || change(&board))
            };
            if let Ok(Some((head, anew, items))) = news(&mut &*board, known, 3) {
                assert_eq!(items.len() as u64 + if anew { 0 } else { known.count() }, head.count());
                let mut all: Vec<u64> = items.iter().map(|[a, b]| if a == b { *a } else { 0 }).collect();
                if !anew {
                    assert_eq!(head.version(), known.version());
                    all.insert(0, 1);
                }
                all.sort_unstable();
                let distinct = all.windows(2).all(|two| two[0] != two[1]);
                assert!(distinct && !all.contains(&0), "{all:?} was never in it");
            }
            owner.join().expect("no panic");
        });
    }

    #[test]
    fn one_is_attached() {
        while_it_changes(|board| append(board, [3, 3]));
    }
    #[test]
    fn one_goes_and_another_comes() {
        while_it_changes(|board| {
            take_out(board, 0);
            append(board, [3, 3]);
        });
    }
}
