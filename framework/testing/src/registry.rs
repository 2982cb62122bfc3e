//! Registered memory of a job in one process. Handles are words that follow from a number, so that one which was changed on its way is
//! seen.

use oxmpi_btl::{RegHandle, Registration};
use std::collections::HashMap;

/// The registry knows the registered memory of all ranks by number.
pub struct Registry {
    all: HashMap<u64, Entry>,
    next: u64,
    /// So many words make a handle.
    words: usize,
    /// So many pieces came when the other side's memory was not registered any more.
    pub late: u64,
}

struct Entry {
    owner: u32,
    out: Box<Registration>,
    /// The words that `out` points to.
    _handle: Box<[u64]>,
    access: u32,
    /// Nobody uses it, and it stays where it is, as in a host that keeps registrations.
    kept: bool,
}

// SAFETY: its addresses are those of memory that tests keep, or of boxes that it owns.
unsafe impl Send for Registry {}

/// Makes the words of a handle: its number, and check words that follow from it.
fn words(number: u64, len: usize) -> Box<[u64]> {
    (0..len as u64).map(|i| number.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect()
}

impl Registry {
    /// Makes a registry whose handles have so many bytes, a multiple of 8; with 0 memory needs no registration.
    pub fn new(handle_size: u32) -> Registry {
        assert!(handle_size.is_multiple_of(8), "handles of {handle_size} bytes are not whole words");
        Registry { all: HashMap::new(), next: 0, words: handle_size as usize / 8, late: 0 }
    }

    /// Says whether memory has to be registered.
    pub fn is_needed(&self) -> bool {
        self.words > 0
    }

    /// Counts the registrations in use.
    pub fn count(&self) -> usize {
        self.all.values().filter(|entry| !entry.kept).count()
    }

    /// Counts the registrations of a rank that are in use.
    pub fn count_of(&self, owner: u32) -> usize {
        self.all.values().filter(|entry| entry.owner == owner && !entry.kept).count()
    }

    /// Counts the registrations that were released and stay.
    pub fn kept(&self) -> usize {
        self.all.len() - self.count()
    }

    /// Registers memory of a rank for what `access` says, bits of [`oxmpi_btl::access`].
    pub fn register(&mut self, owner: u32, base: *mut u8, len: u64, access: u32) -> *const Registration {
        assert!(self.is_needed(), "memory needs no registration");
        self.next += 1;
        let handle = words(self.next, self.words);
        let handle_size = self.words as u64 * 8;
        let out = Box::new(Registration { handle: handle.as_ptr().cast(), handle_size, base, len });
        let entry = Entry { owner, out, _handle: handle, access, kept: false };
        &raw const *self.all.entry(self.next).or_insert(entry).out
    }

    /// Ends a registration; peers find its memory closed.
    ///
    /// # Safety
    /// `registration` is what `register` gave.
    pub unsafe fn deregister(&mut self, registration: *const Registration) {
        // SAFETY: the caller's promise.
        let number = self.number_of(unsafe { (*registration).handle });
        assert!(self.all.remove(&number).is_some_and(|entry| !entry.kept), "memory is given back twice");
    }

    /// Ends a use of a registration that stays, so that peers still find its memory open.
    ///
    /// # Safety
    /// `registration` is what `register` gave.
    pub unsafe fn release(&mut self, registration: *const Registration) {
        // SAFETY: the caller's promise.
        let number = self.number_of(unsafe { (*registration).handle });
        let entry = self.all.get_mut(&number).expect("memory that is registered");
        assert!(!core::mem::replace(&mut entry.kept, true), "memory is given back twice");
    }

    /// Reads the number in a handle of this registry, whose words have to be those that follow from it.
    pub(crate) fn number_of(&self, handle: *const RegHandle) -> u64 {
        assert!(!handle.is_null(), "a verb without a handle of its memory");
        assert!((handle as usize).is_multiple_of(8), "a handle that is not aligned to 8");
        // SAFETY: handles have that many words.
        let got = unsafe { core::slice::from_raw_parts(handle.cast::<u64>(), self.words) };
        assert_eq!(got, &*words(got[0], self.words), "a handle that was changed on its way");
        got[0]
    }

    /// Says whether so many bytes at an address are memory of that number, registered for `access`.
    pub(crate) fn allows(&self, number: u64, addr: u64, len: u64, access: u32) -> bool {
        self.all.get(&number).is_some_and(|entry| {
            let base = entry.out.base as u64;
            entry.access & access == access && addr >= base && addr + len <= base + entry.out.len
        })
    }
}
