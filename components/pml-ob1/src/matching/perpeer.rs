//! The `perpeer` index: a list for each source and one for receives from MPI_ANY_SOURCE.
//!
//! Lists stand in pages of neighbouring ranks that are made when a source of theirs is first used, and
//! a table knows the pages there are: memory is in proportion to the peers that talk, not to the ranks.

use super::entry::{Index, Key, Posted};
use super::list::List;
use super::table::Table;
use core::ptr::NonNull;

const PAGE: usize = 8;

/// A `T` for each source, in pages of [`PAGE`] neighbouring ranks that are made when first used.
pub(super) struct Peers<T> {
    /// The index in `pages` by a page's number.
    numbers: Table<u32>,
    pages: Vec<Box<[T; PAGE]>>,
}

impl<T: Default> Peers<T> {
    /// Makes a table without pages.
    pub fn new() -> Peers<T> {
        Peers { numbers: Table::new(), pages: Vec::new() }
    }
    /// Finds the `T` of a source. `None`: its page was never made.
    #[inline(always)]
    pub fn get(&mut self, source: u32) -> Option<&mut T> {
        let at = self.numbers.find((source as usize / PAGE) as u64, 1)?;
        let page = *self.numbers.at(at) as usize;
        Some(&mut self.pages[page][source as usize % PAGE])
    }
    /// Finds the `T` of a source, and makes its page with default values if there is none. The caller has checked that
    /// the source is a rank of the communicator.
    pub fn make(&mut self, source: u32) -> &mut T {
        let number = (source as usize / PAGE) as u64;
        let page = match self.numbers.find(number, 1) {
            Some(at) => *self.numbers.at(at) as usize,
            None => {
                *self.numbers.make(number, 1) = self.pages.len() as u32;
                self.pages.push(Box::new(core::array::from_fn(|_| T::default())));
                self.pages.len() - 1
            }
        };
        &mut self.pages[page][source as usize % PAGE]
    }
    /// Iterates over the `T` of every rank whose page was made, in any order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.pages.iter_mut().flat_map(|page| page.iter_mut())
    }
    /// Gives the bytes of memory that the table has allocated.
    pub fn bytes(&self) -> usize {
        let pages = self.pages.capacity() * size_of::<Box<[T; PAGE]>>();
        pages + self.pages.len() * size_of::<[T; PAGE]>() + self.numbers.bytes()
    }
}

/// The `perpeer` index of posted receives: a list for each source, and one for receives from MPI_ANY_SOURCE.
pub struct PerPeer {
    peers: Peers<List<Posted>>,
    any: List<Posted>,
    len: usize,
}

impl PerPeer {
    /// Makes an index without receives.
    pub fn new() -> PerPeer {
        PerPeer { peers: Peers::new(), any: List::default(), len: 0 }
    }
}

impl Index<Posted> for PerPeer {
    unsafe fn push(&mut self, node: NonNull<Posted>) {
        // SAFETY: valid by the caller's promise.
        let list = match unsafe { node.as_ref() }.pattern.source() {
            Some(source) => self.peers.make(source),
            None => &mut self.any,
        };
        // SAFETY: the caller's promise, passed on.
        unsafe { list.push(node) };
        self.len += 1;
    }

    fn find(&mut self, key: Key, take: bool) -> Option<NonNull<Posted>> {
        let fits = |p: &Posted| p.pattern.fits(key);
        let any = self.any.find(fits);
        let mut own = self.peers.get(key as u32);
        let exact = own.as_mut().and_then(|list| list.find(fits));
        let (list, at) = match (own, exact, any) {
            (_, None, None) => return None,
            // SAFETY: both are posted, so valid.
            (Some(own), Some(e), Some(a)) if unsafe { e.node.as_ref().stamp < a.node.as_ref().stamp } => {
                (own, e)
            }
            (_, _, Some(a)) => (&mut self.any, a),
            (Some(own), Some(e), None) => (own, e),
            (None, Some(_), None) => return None,
        };
        if take {
            list.take(&at);
            self.len -= 1;
        }
        Some(at.node)
    }

    unsafe fn remove(&mut self, node: NonNull<Posted>) -> bool {
        // SAFETY: valid by the caller's promise, and nobody writes the pattern.
        let list = match unsafe { node.as_ref() }.pattern.source() {
            Some(source) => self.peers.get(source),
            None => Some(&mut self.any),
        };
        let Some(list) = list else { return false };
        let Some(at) = list.find(|p| core::ptr::eq(p, node.as_ptr())) else { return false };
        list.take(&at);
        self.len -= 1;
        true
    }

    fn take_all(&mut self) -> Vec<NonNull<Posted>> {
        let all = self.peers.iter_mut().chain([&mut self.any]).flat_map(List::take_all).collect();
        self.len = 0;
        all
    }

    fn len(&self) -> usize {
        self.len
    }
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.peers.bytes()
    }
}
