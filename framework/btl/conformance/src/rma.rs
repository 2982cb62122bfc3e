//! One-sided operations with everything around them: registration, completion, flushing.

use crate::harness::{Harness, Link};
use core::ffi::c_void;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use oxmpi_btl::{AtomicDesc, RegHandle, RmaDesc, access, cap};
use oxmpi_mca::{MemKind, Status};
use std::time::Instant;

/// Counts completions.
#[derive(Default)]
pub struct Done {
    calls: AtomicU32,
    status: AtomicI32,
}

extern "C" fn done(ctx: *mut c_void, status: Status) {
    // SAFETY: operations name a live Done.
    let d = unsafe { &*ctx.cast::<Done>() };
    d.status.store(status.0, Ordering::Relaxed);
    d.calls.fetch_add(1, Ordering::Release);
}

/// A piece of memory, registered at its rank where the module wants that.
pub struct Memory {
    pub addr: *mut u8,
    pub handle: Option<RegHandle>,
    rank: usize,
}

impl Memory {
    pub fn of(h: &Harness, rank: usize, bytes: &mut [u8]) -> Memory {
        let addr = bytes.as_mut_ptr();
        let btl = &h.ranks[rank].btl;
        let handle = h.ranks[rank].can(cap::REGISTER).then(|| {
            let mut handle = RegHandle { bytes: [0; 64] };
            let all =
                access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;
            let s = (btl.register_mem)(btl.state, addr, bytes.len() as u64, all, MemKind::HOST, &mut handle);
            assert_eq!(s, Status::OK, "{}: register {} bytes", h.name, bytes.len());
            handle
        });
        Memory { addr, handle, rank }
    }

    fn handle(&self) -> *const RegHandle {
        self.handle.as_ref().map_or(core::ptr::null(), |h| h)
    }

    pub fn release(self, h: &Harness) {
        let btl = &h.ranks[self.rank].btl;
        if let Some(handle) = self.handle {
            assert_eq!((btl.deregister_mem)(btl.state, &handle), Status::OK, "{}: deregister", h.name);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Put,
}

/// Moves `len` bytes between `local` at its offset and `remote` at its, and waits. Offers again while
/// there is no room; says what a refusal said.
pub fn transfer(
    h: &Harness,
    link: Link,
    verb: Verb,
    local: (&Memory, usize),
    remote: (&Memory, usize),
    len: usize,
) -> Status {
    let rank = &h.ranks[link.from];
    let completion = Done::default();
    let desc = RmaDesc {
        local: local.0.addr.wrapping_add(local.1),
        remote: remote.0.addr.wrapping_add(remote.1) as u64,
        len: len as u64,
        local_handle: local.0.handle(),
        remote_handle: remote.0.handle(),
        done: Some(done),
        done_ctx: (&raw const completion).cast_mut().cast(),
    };
    let f = if verb == Verb::Get { rank.btl.get } else { rank.btl.put };
    let start = || rank.on(0, || f(rank.btl.state, rank.endpoint(link.to), 0, &desc));
    finish(h, &completion, start)
}

/// Does one atomic operation and waits.
pub fn update(h: &Harness, link: Link, remote: &Memory, op: AtomicDesc) -> Status {
    let rank = &h.ranks[link.from];
    let completion = Done::default();
    let op = AtomicDesc {
        remote_handle: remote.handle(),
        done: Some(done),
        done_ctx: (&raw const completion).cast_mut().cast(),
        ..op
    };
    let start = || rank.on(0, || (rank.btl.atomic)(rank.btl.state, rank.endpoint(link.to), 0, &op));
    finish(h, &completion, start)
}

/// Everybody's flush of what was issued on context 0.
pub fn flush(h: &Harness, link: Link) -> Status {
    let rank = &h.ranks[link.from];
    rank.on(0, || (rank.btl.flush)(rank.btl.state, rank.endpoint(link.to), 0))
}

fn finish(h: &Harness, completion: &Done, start: impl Fn() -> Status) -> Status {
    let begun = Instant::now();
    let patience = || assert!(begun.elapsed() < h.patience, "{}: never completed", h.name);
    let mut status = start();
    while status == Status::NO_RESOURCE {
        assert_eq!(completion.calls.load(Ordering::Acquire), 0, "{}: done ran for what was not done", h.name);
        h.progress();
        patience();
        status = start();
    }
    let expected = (status == Status::PENDING) as u32;
    while completion.calls.load(Ordering::Acquire) < expected {
        h.progress();
        patience();
    }
    for _ in 0..3 {
        h.progress();
    }
    assert_eq!(
        completion.calls.load(Ordering::Acquire),
        expected,
        "{}: `done` runs once after PENDING and never otherwise (the verb said {status})",
        h.name
    );
    if expected == 1 { Status(completion.status.load(Ordering::Relaxed)) } else { status }
}
