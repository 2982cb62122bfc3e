//! A table by rank whose pages exist only where somebody was talked to: O(active peers) memory.
//!
//! Entries never move. SYNC POINT: a page is published with a release store under the caller's lock
//! and found with an acquire load without one.

use core::ptr::null_mut;
use oxmpi_mca::sync::unmodelled::{AtomicPtr, Ordering};

const SHIFT: u32 = 7;
/// Entries of a page.
pub const PAGE: usize = 1 << SHIFT;

/// A table with an entry for each rank, in pages of neighbouring ranks that are made when first used (see the module's
/// head).
pub struct Paged<T> {
    pages: Box<[AtomicPtr<[T; PAGE]>]>,
    len: usize,
}

impl<T: Default> Paged<T> {
    /// Makes a table for `len` entries, without pages.
    pub fn new(len: usize) -> Paged<T> {
        let pages = (0..len.div_ceil(PAGE)).map(|_| AtomicPtr::new(null_mut())).collect();
        Paged { pages, len }
    }

    /// Finds an entry. `None`: its page was never made, or there is no such index.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&T> {
        let page = self.pages.get(index >> SHIFT)?.load(Ordering::Acquire);
        // SAFETY: a page that was published stays until the table goes.
        unsafe { page.as_ref() }.map(|p| &p[index & (PAGE - 1)])
    }

    /// Finds an entry, and makes its page with default values if there is none; the caller's lock keeps others from
    /// making it, too. `None`: no such index.
    pub fn make(&self, index: usize) -> Option<&T> {
        if index >= self.len {
            return None;
        }
        let slot = &self.pages[index >> SHIFT];
        if slot.load(Ordering::Acquire).is_null() {
            let page: Box<[T; PAGE]> = Box::new(core::array::from_fn(|_| T::default()));
            slot.store(Box::into_raw(page), Ordering::Release);
        }
        self.get(index)
    }

    /// Iterates over the entries of every page that was made, used or not.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pages.iter().flat_map(|p| {
            // SAFETY: null, or a page that was published, which stays until the table goes.
            unsafe { p.load(Ordering::Acquire).as_ref() }.into_iter().flatten()
        })
    }
}

impl<T> Drop for Paged<T> {
    fn drop(&mut self) {
        for page in &mut self.pages {
            let page = *page.get_mut();
            if !page.is_null() {
                // SAFETY: made by Box::into_raw, and we are the only one left.
                drop(unsafe { Box::from_raw(page) });
            }
        }
    }
}
