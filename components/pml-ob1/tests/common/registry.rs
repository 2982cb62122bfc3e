//! Registered memory of the tests, and what is on its way to or from it. A handle is checked whenever memory is touched, so
//! what comes late finds the door closed, and a test that leaves memory registered fails.

use super::net::Net;
use core::ffi::c_void;
use oxmpi_btl::{BtlHandle, RegHandle, Registration, RmaDesc, access};
use oxmpi_mca::Status;
use std::collections::HashMap;

/// The registrations, by number.
#[derive(Default)]
pub struct Registry {
    all: HashMap<u64, Entry>,
    next: u64,
    /// Pieces that came when their memory was not registered any more.
    pub late: u64,
}

struct Entry {
    proc: u32,
    out: Box<Registration>,
    _handle: Box<[u64]>,
    access: u32,
    /// Nobody uses it, and it stays where it is, as in a host that keeps registrations.
    kept: bool,
}

// SAFETY: the addresses are of memory that the test keeps.
unsafe impl Send for Registry {}

/// The words of a handle: its number, and check words that follow from it.
fn words(number: u64, len: usize) -> Vec<u64> {
    (0..len as u64).map(|i| number.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect()
}

impl Registry {
    /// Those in use.
    pub fn count(&self) -> usize {
        self.all.values().filter(|e| !e.kept).count()
    }

    /// Those that were released and stay.
    pub fn kept(&self) -> usize {
        self.all.len() - self.count()
    }

    fn find(&self, handle: u64, addr: u64, len: u64, access: u32) -> bool {
        self.all.get(&handle).is_some_and(|e| {
            let from = e.out.base as u64;
            e.access & access == access && addr >= from && addr + len <= from + e.out.len
        })
    }

    fn number_of(&self, handle: *const RegHandle, size: usize) -> u64 {
        assert!(!handle.is_null() && (handle as usize).is_multiple_of(8));
        // SAFETY: handles have the transport's size.
        let got = unsafe { core::slice::from_raw_parts(handle.cast::<u64>(), size / 8) };
        assert_eq!(got, words(got[0], size / 8), "a handle that was changed on its way");
        got[0]
    }
}

pub fn register(
    net: &Net,
    proc: u32,
    (addr, len): (*mut u8, u64),
    access: u32,
    out: *mut *const Registration,
) -> Status {
    let size = net.setup.handle as usize;
    assert!(size > 0, "memory needs no registration");
    let mut registry = net.registry.lock();
    if registry.all.values().filter(|e| e.proc == proc && !e.kept).count() >= net.setup.registrations {
        return Status::NO_RESOURCE;
    }
    registry.next += 1;
    let number = registry.next;
    let handle: Box<[u64]> = words(number, size / 8).into();
    let made =
        Box::new(Registration { handle: handle.as_ptr().cast(), handle_size: size as u64, base: addr, len });
    // SAFETY: the caller's out pointer.
    unsafe { *out = &*made };
    registry.all.insert(number, Entry { proc, out: made, _handle: handle, access, kept: false });
    Status::OK
}

pub fn deregister(net: &Net, _: *const BtlHandle, registration: *const Registration) -> Status {
    let mut registry = net.registry.lock();
    // SAFETY: the caller gives back what it was given.
    let number = registry.number_of(unsafe { (*registration).handle }, net.setup.handle as usize);
    assert!(registry.all.remove(&number).is_some_and(|e| !e.kept), "given back twice");
    Status::OK
}

pub fn release(net: &Net, registration: *const Registration) -> Status {
    let mut registry = net.registry.lock();
    // SAFETY: as above.
    let number = registry.number_of(unsafe { (*registration).handle }, net.setup.handle as usize);
    let entry = registry.all.get_mut(&number).expect("given back twice");
    assert!(!std::mem::replace(&mut entry.kept, true), "given back twice");
    Status::OK
}

/// The bytes of one piece.
pub struct Transfer {
    pub put: bool,
    local: u64,
    remote: u64,
    len: u64,
    handles: Option<(u64, u64)>,
    /// Bytes that a put carries, once its `done` may have come.
    bytes: Vec<u8>,
}

/// A piece, or a flush, whose `done` has not been called.
pub struct Landing {
    pub done: (extern "C" fn(*mut c_void, Status), usize),
    pub status: Status,
    pub transfer: Option<Transfer>,
}

impl Transfer {
    pub fn new(net: &Net, d: &RmaDesc, put: bool) -> Transfer {
        let size = net.setup.handle as usize;
        let handles = (size > 0).then(|| {
            let registry = net.registry.lock();
            (registry.number_of(d.local_handle, size), registry.number_of(d.remote_handle, size))
        });
        assert!(size > 0 || (d.local_handle.is_null() && d.remote_handle.is_null()));
        let len = if put { d.len as usize } else { 0 };
        // SAFETY: readable during the call, or the test is wrong.
        let bytes = unsafe { core::slice::from_raw_parts(d.local, len) }.to_vec();
        Transfer { put, local: d.local as u64, remote: d.remote, len: d.len, handles, bytes }
    }

    /// The bytes get where they belong, if the target's memory is still registered.
    pub fn land(self, net: &Net) {
        if let Some((local, remote)) = self.handles {
            let mut registry = net.registry.lock();
            if !self.put {
                assert!(
                    registry.find(local, self.local, self.len, access::LOCAL_WRITE),
                    "local memory of a get under way is not registered"
                );
            }
            let wanted = if self.put { access::REMOTE_WRITE } else { access::REMOTE_READ };
            if !registry.find(remote, self.remote, self.len, wanted) {
                registry.late += 1;
                return;
            }
        }
        // SAFETY: both sides are in this process and large enough, or the test is wrong.
        unsafe {
            match self.put {
                true => core::ptr::copy_nonoverlapping(
                    self.bytes.as_ptr(),
                    self.remote as *mut u8,
                    self.bytes.len(),
                ),
                false => core::ptr::copy_nonoverlapping(
                    self.remote as *const u8,
                    self.local as *mut u8,
                    self.len as usize,
                ),
            }
        }
    }
}
