//! One-sided operations with everything around them: registration, completion, flushing.

use crate::harness::{Harness, Link};
use crate::host::FakeHost;
use core::ffi::c_void;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use oxmpi_btl::{AtomicDesc, Done, FlushDesc, RegHandle, RmaDesc, access, cap};
use oxmpi_mca::Status;
use std::time::Instant;

/// Counts completions of one operation, and sees where they run. Stays where it is while the operation is under way.
pub struct Completion {
    calls: AtomicU32,
    status: AtomicI32,
    host: *const FakeHost,
    ctx: u32,
}

// SAFETY: the host outlives the checks that make completions, and may be used from any thread.
unsafe impl Send for Completion {}
// SAFETY: as above.
unsafe impl Sync for Completion {}

impl Completion {
    /// For an operation of `rank` on a context.
    pub fn new(h: &Harness, rank: usize, ctx: u32) -> Box<Completion> {
        let host = &raw const *h.ranks[rank].host;
        Box::new(Completion { calls: AtomicU32::new(0), status: AtomicI32::new(0), host, ctx })
    }

    /// The contract's pair of callback and argument.
    pub fn callback(&self) -> (Option<Done>, *mut c_void) {
        (Some(done), (&raw const *self).cast_mut().cast())
    }

    pub fn calls(&self) -> u32 {
        self.calls.load(Ordering::Acquire)
    }

    /// The status that `done` said last.
    pub fn status(&self) -> Status {
        Status(self.status.load(Ordering::Relaxed))
    }
}

extern "C" fn done(ctx: *mut c_void, status: Status) {
    // SAFETY: operations name a live completion, and that a live host.
    let (c, host) = unsafe {
        let c = &*ctx.cast::<Completion>();
        (c, &*c.host)
    };
    if !host.is_in_progress(c.ctx) {
        host.violation(format!("done ran outside progress of context {}", c.ctx));
    }
    if status == Status::PENDING || status == Status::NO_RESOURCE {
        host.violation(format!("done said {status}"));
    }
    c.status.store(status.0, Ordering::Relaxed);
    c.calls.fetch_add(1, Ordering::Release);
}

/// All that a peer and the process itself may do.
pub const ALL: u32 = access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;

/// A piece of memory, registered at its rank where the module wants that.
pub struct Memory {
    pub addr: *mut u8,
    /// As the module wrote it; words, because handles are aligned to 8.
    handle: Option<Vec<u64>>,
    rank: usize,
}

// SAFETY: addresses and bytes; used as arguments of verbs alone.
unsafe impl Sync for Memory {}

impl Memory {
    pub fn of(h: &Harness, rank: usize, bytes: &mut [u8]) -> Memory {
        Memory::try_of(h, rank, bytes, ALL)
            .unwrap_or_else(|s| panic!("{}: register {} bytes: {s}", h.name, bytes.len()))
    }

    /// With these rights, or the module's refusal.
    pub fn try_of(h: &Harness, rank: usize, bytes: &mut [u8], access: u32) -> Result<Memory, Status> {
        let addr = bytes.as_mut_ptr();
        let btl = &h.ranks[rank].btl;
        if !h.ranks[rank].can(cap::REGISTER) {
            return Ok(Memory { addr, handle: None, rank });
        }
        let size = btl.attrs().registration_handle_size as usize;
        // A mark behind the handle's end: nothing may be written there.
        let mut handle = vec![MARK; size.div_ceil(8) + 1];
        let s = h.ranks[rank].register(addr, bytes.len() as u64, access, handle.as_mut_ptr().cast());
        assert_eq!(
            handle.last(),
            Some(&MARK),
            "{}: a handle is longer than registration_handle_size",
            h.name
        );
        match s {
            Status::OK => Ok(Memory { addr, handle: Some(handle), rank }),
            s => Err(s),
        }
    }

    /// For descriptors: null where no registration is needed.
    pub fn handle(&self) -> *const RegHandle {
        self.handle.as_ref().map_or(core::ptr::null(), |h| h.as_ptr().cast())
    }

    /// Gives the registration up; the handle's bytes stay, for those who try to use them.
    pub fn revoke(&self, h: &Harness) {
        if self.handle.is_some() {
            assert_eq!(h.ranks[self.rank].deregister(self.handle()), Status::OK, "{}: deregister", h.name);
        }
    }

    pub fn release(self, h: &Harness) {
        self.revoke(h);
    }
}

const MARK: u64 = 0x5a5a_5a5a_5a5a_5a5a;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Put,
}

/// One transfer: which bytes of which memory.
#[derive(Clone, Copy)]
pub struct Transfer<'a> {
    pub verb: Verb,
    pub local: (&'a Memory, usize),
    pub remote: (&'a Memory, usize),
    pub len: usize,
}

impl Transfer<'_> {
    /// Offers it once.
    pub fn start(&self, h: &Harness, link: Link, ctx: u32, completion: &Completion) -> Status {
        let rank = &h.ranks[link.from];
        let (done, done_ctx) = completion.callback();
        let desc = RmaDesc {
            local: self.local.0.addr.wrapping_add(self.local.1),
            remote: self.remote.0.addr.wrapping_add(self.remote.1) as u64,
            len: self.len as u64,
            local_handle: self.local.0.handle(),
            remote_handle: self.remote.0.handle(),
            done,
            done_ctx,
        };
        match self.verb {
            Verb::Get => rank.get(link.to, ctx, &desc),
            Verb::Put => rank.put(link.to, ctx, &desc),
        }
    }
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
    let (t, c) = (Transfer { verb, local, remote, len }, Completion::new(h, link.from, 0));
    finish(h, &c, || t.start(h, link, 0, &c))
}

/// Does one atomic operation and waits. `op` has no handle of its remote memory yet.
pub fn update(h: &Harness, link: Link, remote: &Memory, op: AtomicDesc) -> Status {
    let rank = &h.ranks[link.from];
    let c = Completion::new(h, link.from, 0);
    let (done, done_ctx) = c.callback();
    let op = AtomicDesc { remote_handle: remote.handle(), done, done_ctx, ..op };
    finish(h, &c, || rank.atomic(link.to, 0, &op))
}

/// Completes what was issued on a context to one rank, and waits for that.
pub fn flush_on(h: &Harness, link: Link, ctx: u32) -> Status {
    flush_some(h, link.from, Some(link.to), ctx)
}

/// Completes what was issued on a context to everybody, and waits for that.
pub fn flush_all(h: &Harness, rank: usize, ctx: u32) -> Status {
    flush_some(h, rank, None, ctx)
}

fn flush_some(h: &Harness, rank: usize, to: Option<usize>, ctx: u32) -> Status {
    let c = Completion::new(h, rank, ctx);
    let rank = &h.ranks[rank];
    let (done, done_ctx) = c.callback();
    let desc = FlushDesc { done, done_ctx };
    finish(h, &c, || match to {
        Some(to) => rank.flush(to, ctx, &desc),
        None => rank.flush_all(ctx, &desc),
    })
}

/// Of context 0.
pub fn flush(h: &Harness, link: Link) -> Status {
    flush_on(h, link, 0)
}

/// Offers until there is room, and waits for the completion.
pub fn finish(h: &Harness, completion: &Completion, start: impl Fn() -> Status) -> Status {
    let begun = Instant::now();
    let patience = || assert!(begun.elapsed() < h.patience, "{}: never completed", h.name);
    let mut status = start();
    while status == Status::NO_RESOURCE {
        assert_eq!(completion.calls(), 0, "{}: done ran for what was not done", h.name);
        h.progress();
        patience();
        status = start();
    }
    let expected = (status == Status::PENDING) as u32;
    while completion.calls() < expected {
        h.progress();
        patience();
    }
    for _ in 0..3 {
        h.progress();
    }
    assert_eq!(
        completion.calls(),
        expected,
        "{}: `done` runs once after PENDING and never otherwise (the verb said {status})",
        h.name
    );
    if expected == 1 { completion.status() } else { status }
}

/// Bytes that begin where alignment wants it.
pub struct Buffer {
    bytes: Vec<u8>,
    at: usize,
    len: usize,
}

impl Buffer {
    pub fn new(len: usize, fill: u8) -> Buffer {
        const MOST: usize = 4096;
        let bytes = vec![fill; len + MOST];
        let at = (bytes.as_ptr() as usize).wrapping_neg() % MOST;
        Buffer { bytes, at, len }
    }
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.at..self.at + self.len]
    }
    /// As another thread or process has left it.
    pub fn seen(&self, at: usize, len: usize) -> Vec<u8> {
        // SAFETY: inside the buffer; nothing is under way there.
        (at..at + len).map(|i| unsafe { self.bytes.as_ptr().add(self.at + i).read_volatile() }).collect()
    }
}

/// The verbs of a module that move data, each with the largest block that it takes and a common alignment.
pub fn movers(h: &Harness) -> Vec<Verb> {
    let can = |verb| h.ranks[0].can(if verb == Verb::Get { cap::GET } else { cap::PUT });
    [Verb::Get, Verb::Put].into_iter().filter(|v| can(*v)).collect()
}

/// A size that both verbs take in one piece, and at whose multiples they may begin.
pub fn block(h: &Harness) -> usize {
    let a = h.ranks[0].btl.attrs();
    let align = a.get_alignment.max(a.put_alignment).max(64) as usize;
    assert!(
        [a.get_limit, a.put_limit].iter().all(|&l| l == 0 || l as usize >= align),
        "limits below alignment"
    );
    align
}

/// Offers an operation until there is room, with progress of its own context alone.
pub fn offer(h: &Harness, rank: usize, ctx: u32, mut start: impl FnMut() -> Status) -> Status {
    let begun = Instant::now();
    loop {
        let status = start();
        if status != Status::NO_RESOURCE {
            return status;
        }
        h.ranks[rank].progress(ctx);
        std::thread::yield_now();
        assert!(begun.elapsed() < h.patience, "{}: NO_RESOURCE does not end by progress", h.name);
    }
}

/// Waits for completions, with progress of their context alone.
pub fn wait_for<'a>(h: &Harness, rank: usize, ctx: u32, all: impl IntoIterator<Item = &'a Completion>) {
    for (i, c) in all.into_iter().enumerate() {
        let begun = Instant::now();
        while c.calls() == 0 {
            h.ranks[rank].progress(ctx);
            std::thread::yield_now();
            assert!(
                begun.elapsed() < h.patience,
                "{}: operation {i} of context {ctx} never completes",
                h.name
            );
        }
    }
}

/// Flushes a context with its own progress alone.
pub fn flush_alone(h: &Harness, link: Link, ctx: u32) -> Status {
    let rank = &h.ranks[link.from];
    let c = Completion::new(h, link.from, ctx);
    let (done, done_ctx) = c.callback();
    let desc = FlushDesc { done, done_ctx };
    let start = || rank.flush(link.to, ctx, &desc);
    match offer(h, link.from, ctx, start) {
        Status::PENDING => {
            wait_for(h, link.from, ctx, [&*c]);
            c.status()
        }
        status => status,
    }
}
