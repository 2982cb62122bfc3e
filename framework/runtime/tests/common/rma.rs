//! One-sided verbs as a component calls them, for tests that are in the place of one: windows of registered memory,
//! descriptors, completions.
#![allow(dead_code, reason = "every test binary uses its own part of this")]

use super::common::Thread;
use oxmpi_btl::{AtomicDesc, BtlHandle, BtlServices, Reach, RegHandle, Registration, RmaDesc, access};
use oxmpi_mca::{SliceRef, Status};
use oxmpi_runtime::Instance;
use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

/// Generous: machines are busy.
pub const LIMIT: Duration = Duration::from_secs(60);
const ALL: u32 = access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;

pub fn services(instance: &Instance) -> &BtlServices {
    // SAFETY: valid as long as the instance.
    unsafe { &*instance.btl_services_for_rma() }
}

pub fn reach(instance: &Instance, proc: u32) -> Reach {
    let services = services(instance);
    let mut out = SliceRef { ptr: std::ptr::null(), len: 0 };
    assert_eq!((services.reach)(services.instance, proc, &mut out), Status::OK);
    // SAFETY: the host's list.
    let all = unsafe { out.get() };
    all[0]
}

/// Memory of a rank, registered, and what peers need to reach it.
pub struct Window {
    pub memory: Box<[AtomicU64]>,
    pub registration: *const Registration,
    pub btl: *const BtlHandle,
}

/// The address and handle that travel to peers.
#[derive(Clone, Default)]
pub struct Remote {
    pub base: u64,
    pub handle: Vec<u64>,
}

impl Remote {
    pub fn handle(&self) -> *const RegHandle {
        if self.handle.is_empty() { std::ptr::null() } else { self.handle.as_ptr().cast() }
    }
}

impl Window {
    pub fn new(instance: &Instance, words: usize, btl: *const BtlHandle) -> (Window, Remote) {
        let memory: Box<[AtomicU64]> = (0..words).map(|_| AtomicU64::new(0)).collect();
        let services = services(instance);
        let mut registration = std::ptr::null();
        let (base, len) = (memory.as_ptr() as *mut u8, words as u64 * 8);
        let status = (services.register)(services.instance, btl, base, len, ALL, &mut registration);
        assert_eq!(status, Status::OK);
        // SAFETY: the host's registration.
        let made = unsafe { &*registration };
        let mut handle = vec![0u64; made.handle_size.div_ceil(8) as usize];
        if !made.handle.is_null() {
            // SAFETY: a handle of that size.
            unsafe {
                let from = made.handle.cast::<u8>();
                std::ptr::copy_nonoverlapping(from, handle.as_mut_ptr().cast(), made.handle_size as usize);
            }
        }
        (Window { memory, registration, btl }, Remote { base: base as u64, handle })
    }

    pub fn close(self, instance: &Instance) {
        let services = services(instance);
        assert_eq!((services.deregister)(services.instance, self.btl, self.registration), Status::OK);
    }
}

/// Counts completions.
#[derive(Default)]
pub struct Done {
    pub times: AtomicU32,
    pub status: AtomicI32,
}

pub extern "C" fn done(ctx: *mut c_void, status: Status) {
    // SAFETY: the tests keep it until it is called.
    let done = unsafe { &*(ctx as *const Done) };
    done.status.store(status.0, Ordering::Relaxed);
    done.times.fetch_add(1, Ordering::Release);
}

impl Done {
    pub fn ctx(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// Waits in MPI for the completion of a verb that answered `status`.
    pub fn wait(&self, instance: &Instance, status: Status) -> Status {
        if status != Status::PENDING {
            return status;
        }
        let begin = Instant::now();
        instance.wait_until(&mut Thread::main(instance).entry(), |_| {
            assert!(begin.elapsed() < LIMIT, "an operation did not complete");
            self.times.load(Ordering::Acquire) > 0
        });
        assert_eq!(self.times.load(Ordering::Relaxed), 1, "completed more than once");
        Status(self.status.load(Ordering::Relaxed))
    }
}

pub fn rma(remote: &Remote, offset: u64, local: *mut u8, len: u64, done_of: &Done) -> RmaDesc {
    RmaDesc {
        local,
        remote: remote.base + offset,
        len,
        local_handle: std::ptr::null(),
        remote_handle: remote.handle(),
        done: Some(done),
        done_ctx: done_of.ctx(),
    }
}

pub fn atomic(
    remote: &Remote,
    offset: u64,
    op: u32,
    operand: u64,
    result: *mut u64,
    done_of: &Done,
) -> AtomicDesc {
    AtomicDesc {
        result,
        local_handle: std::ptr::null(),
        remote: remote.base + offset,
        remote_handle: remote.handle(),
        op,
        flags: 0,
        operand,
        compare: 0,
        done: Some(done),
        done_ctx: done_of.ctx(),
    }
}

/// Windows of all ranks, in the place of an exchange by messages; and a barrier that makes no MPI call.
pub struct Meeting {
    pub remotes: Mutex<Vec<Remote>>,
    pub barrier: Barrier,
}

impl Meeting {
    pub fn new(ranks: u32) -> Meeting {
        let remotes = Mutex::new(vec![Remote::default(); ranks as usize]);
        Meeting { remotes, barrier: Barrier::new(ranks as usize) }
    }

    pub fn exchange(&self, instance: &Instance, mine: Remote) -> Vec<Remote> {
        self.remotes.lock().expect("no panic")[instance.job().rank as usize] = mine;
        self.barrier.wait();
        self.remotes.lock().expect("no panic").clone()
    }
}
