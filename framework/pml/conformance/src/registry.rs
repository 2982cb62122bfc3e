//! Registered memory, and pieces on their way to or from it. Handles are checked when a verb is called and again when its bytes move.

use core::ffi::c_void;
use oxmpi_btl::{RegHandle, Registration, RmaDesc, access};
use oxmpi_mca::Status;
use std::collections::HashMap;

/// Words of a handle.
pub const HANDLE_WORDS: usize = 3;

/// Registered memory, by number.
#[derive(Default)]
pub struct Registry {
    all: HashMap<u64, Entry>,
    next: u64,
}

struct Entry {
    out: Box<Registration>,
    /// `out` points to it.
    _handle: Box<[u64; HANDLE_WORDS]>,
    access: u32,
}

// SAFETY: its addresses are those of memory that checks keep.
unsafe impl Send for Registry {}

fn words(number: u64) -> [u64; HANDLE_WORDS] {
    [number, !number, number.rotate_left(32)]
}

fn number_of(handle: *const RegHandle) -> u64 {
    assert!(!handle.is_null(), "a verb without a handle of its memory");
    assert!((handle as usize).is_multiple_of(8), "a handle that is not aligned to 8");
    // SAFETY: handles have that many words.
    let got = unsafe { handle.cast::<[u64; HANDLE_WORDS]>().read() };
    assert_eq!(got, words(got[0]), "a handle that was changed on its way");
    got[0]
}

impl Registry {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn register(&mut self, base: *mut u8, len: u64, access: u32) -> *const Registration {
        self.next += 1;
        let handle = Box::new(words(self.next));
        let place: *const RegHandle = (&raw const *handle).cast();
        let out = Box::new(Registration { handle: place, handle_size: HANDLE_WORDS as u64 * 8, base, len });
        let registration = &raw const *out;
        self.all.insert(self.next, Entry { out, _handle: handle, access });
        registration
    }

    /// # Safety
    /// What `register` gave.
    pub unsafe fn deregister(&mut self, registration: *const Registration) {
        // SAFETY: the caller's promise.
        let number = number_of(unsafe { (*registration).handle });
        assert!(self.all.remove(&number).is_some(), "memory is given back twice");
    }

    fn allows(&self, number: u64, addr: u64, len: u64, access: u32) -> bool {
        self.all.get(&number).is_some_and(|e| {
            let base = e.out.base as u64;
            e.access & access == access && addr >= base && addr + len <= base + e.out.len
        })
    }
}

/// The bytes of one get or put.
pub struct Transfer {
    put: bool,
    local: u64,
    remote: u64,
    len: u64,
    /// Numbers of both sides' handles.
    handles: Option<(u64, u64)>,
    /// Bytes that a put carries: its caller may reuse the buffer before it is visible.
    bytes: Vec<u8>,
}

impl Transfer {
    pub fn new(registry: &Registry, d: &RmaDesc, put: bool, registered: bool) -> Transfer {
        let handles = registered.then(|| (number_of(d.local_handle), number_of(d.remote_handle)));
        let (local, remote) = (d.local as u64, d.remote);
        let len = if put { d.len as usize } else { 0 };
        // SAFETY: readable until the verb is done.
        let bytes = unsafe { core::slice::from_raw_parts(d.local, len) }.to_vec();
        let transfer = Transfer { put, local, remote, len: d.len, handles, bytes };
        assert!(transfer.may_move(registry), "a verb on memory that is not registered for it");
        transfer
    }

    fn may_move(&self, registry: &Registry) -> bool {
        let theirs = if self.put { access::REMOTE_WRITE } else { access::REMOTE_READ };
        self.handles.is_none_or(|(local, remote)| {
            let ours = self.put || registry.allows(local, self.local, self.len, access::LOCAL_WRITE);
            ours && registry.allows(remote, self.remote, self.len, theirs)
        })
    }

    /// Moves the bytes, unless the other side's memory is not registered any more.
    pub fn land(&self, registry: &Registry) {
        if !self.may_move(registry) {
            return;
        }
        let (from, to) = match self.put {
            true => (self.bytes.as_ptr(), self.remote),
            false => (self.remote as *const u8, self.local),
        };
        // SAFETY: both ends lie in memory of this process that their owners keep while it is registered or the request is
        // pending: that is what is being tested.
        unsafe { core::ptr::copy_nonoverlapping(from, to as *mut u8, self.len as usize) };
    }
}

/// An operation that calls `done` when it has come to its end.
pub struct Landing {
    pub done: extern "C" fn(*mut c_void, Status),
    pub done_ctx: *mut c_void,
    pub what: Lands,
}

pub enum Lands {
    Get(Transfer),
    /// Its bytes become visible with a flush.
    Put,
    Flush,
}

// SAFETY: the context belongs to who gave it and goes back to its thread.
unsafe impl Send for Landing {}
