//! The segment of this process and the allocator of its heap.
//!
//! The segment is made at the first need: an allocation of the program's, if OXMPI_EP_MALLOC_MIN moves those into the heap, or
//! MPI_Init. Proxies map it in MPI_Init. The allocator is dlmalloc; its lock is held for the allocator's own work only. Each
//! block has a line before it with its length and where it began.
//!
//! A child after fork gets a private copy of the whole segment in place of the shared one, so what it writes does not reach its
//! parent or the proxies.

use super::lock;
use crate::protocol::segment::{HEAP, Header, MAGIC, Segment, VERSION};
use crate::protocol::settings::settings;
use crate::protocol::sys;
use dlmalloc::{Allocator, Dlmalloc};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// Bytes that dlmalloc takes from the heap at once.
const PIECE: usize = 1 << 20;

/// Hands the heap to dlmalloc in pieces that follow one another.
struct Area {
    next: AtomicUsize,
    end: usize,
}

// SAFETY: pieces are disjoint, lie in the mapping and are zeros until they are used.
unsafe impl Allocator for Area {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let next = self.next.load(Ordering::Relaxed);
        let size = size.next_multiple_of(PIECE);
        if size > self.end - next {
            return (core::ptr::null_mut(), 0, 0);
        }
        self.next.store(next + size, Ordering::Relaxed);
        (next as *mut u8, size, 0)
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        core::ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        4096
    }
}

/// Addresses above where the system puts programs and below where it puts libraries, stacks and mappings.
const PLACES: usize = 0x5700_0000_0000;
const PLACE: usize = 8 << 30;
const PLACES_COUNT: usize = 256;

pub struct Heap {
    pub segment: Segment,
    pub fd: i32,
    memory: Mutex<Dlmalloc<Area>>,
}

static HEAP_MADE: OnceLock<Result<Heap, String>> = OnceLock::new();
/// The segment's place, for questions that come with every buffer and every free.
static BASE: AtomicUsize = AtomicUsize::new(usize::MAX);
static SIZE: AtomicUsize = AtomicUsize::new(0);
static FD: AtomicI32 = AtomicI32::new(-1);

/// The heap, made at the first call; or why it cannot be.
pub fn heap() -> &'static Result<Heap, String> {
    HEAP_MADE.get_or_init(make)
}

fn make() -> Result<Heap, String> {
    let settings = settings().as_ref()?;
    let size = HEAP + settings.heap;
    let fd =
        sys::memory(c"oxmpi-ep", size).map_err(|e| format!("cannot make a segment of {size} bytes: {e}"))?;
    let mut cookie = 0u64;
    // SAFETY: the kernel fills a local.
    unsafe { libc::getrandom((&raw mut cookie).cast(), 8, 0) };
    // A place where the proxies have nothing: then addresses are the same there, which attached memory needs.
    let place = PLACES + (cookie as usize % PLACES_COUNT) * PLACE;
    let base = sys::map_at(place as *mut u8, size, fd, 0).or_else(|_| sys::map(fd, size));
    let base = base.map_err(|e| format!("cannot map a segment of {size} bytes: {e}"))?;
    let segment = Segment { base, size };
    // SAFETY: the header lies in the fresh mapping; the handlers are functions of this library, which is never unloaded.
    unsafe {
        let pid = std::process::id().cast_signed();
        let (base, size) = (base as u64, size as u64);
        segment.header().write(Header { magic: MAGIC, version: VERSION, pid, cookie, base, size });
        libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child));
    }
    FD.store(fd, Ordering::Relaxed);
    SIZE.store(size, Ordering::Relaxed);
    BASE.store(base as usize, Ordering::Release);
    let area = Area { next: AtomicUsize::new(base as usize + HEAP), end: base as usize + size };
    Ok(Heap { segment, fd, memory: Mutex::new(Dlmalloc::new_with_allocator(area)) })
}

extern "C" fn in_child() {
    let (base, size) = (BASE.load(Ordering::Relaxed), SIZE.load(Ordering::Relaxed));
    let fd = FD.load(Ordering::Relaxed);
    if !sys::make_private(base as *mut u8, size, fd) {
        std::process::abort();
    }
    // The list is as it was before the fork, whoever was about to change it then waited.
    let moved = FORKED.with(std::cell::RefCell::take);
    for moved in moved.iter().flat_map(|m| m.iter()) {
        sys::make_private_at(moved.at as *mut u8, moved.bytes, fd, (moved.block - base) as u64);
    }
}

std::thread_local! {
    /// The list of moved memory while this thread forks.
    static FORKED: std::cell::RefCell<Option<MutexGuard<'static, Moves>>> =
        const { std::cell::RefCell::new(None) };
}

extern "C" fn before_fork() {
    FORKED.set(Some(lock(&MOVED)));
}

extern "C" fn after_fork() {
    FORKED.set(None);
}

/// Memory of the program that a block of the heap was mapped over.
#[derive(Clone, Copy)]
pub struct Moved {
    pub at: usize,
    pub bytes: usize,
    pub block: usize,
}

pub type Moves = Vec<Moved>;

/// All such memory.
pub static MOVED: Mutex<Moves> = Mutex::new(Moves::new());

/// Do these bytes lie in the segment?
#[inline]
pub fn holds(at: *const u8, bytes: usize) -> bool {
    let offset = (at as usize).wrapping_sub(BASE.load(Ordering::Relaxed));
    let size = SIZE.load(Ordering::Relaxed);
    offset < size && bytes <= size - offset
}

/// Before each block: its length, and how far before the block its memory begins.
#[repr(C)]
struct Front {
    size: usize,
    offset: usize,
}

const FRONT: usize = size_of::<Front>();

/// A block of the heap, or null. `align` is a power of two.
pub fn allocate(size: usize, align: usize) -> *mut u8 {
    let Ok(heap) = heap() else { return core::ptr::null_mut() };
    let align = align.max(FRONT);
    let Some(total) = size.checked_add(align).filter(|t| *t < SIZE.load(Ordering::Relaxed)) else {
        return core::ptr::null_mut();
    };
    // SAFETY: the lock is held; the block has room for the front and the size.
    unsafe {
        let memory = lock(&heap.memory).malloc(total, align);
        if memory.is_null() {
            return memory;
        }
        let block = memory.add(align);
        block.sub(FRONT).cast::<Front>().write(Front { size, offset: align });
        block
    }
}

/// The length of a block that `allocate` gave.
///
/// # Safety
/// It did, and the block is not free.
pub unsafe fn size(block: *mut u8) -> usize {
    // SAFETY: the caller's promise.
    unsafe { (*block.sub(FRONT).cast::<Front>()).size }
}

/// # Safety
/// `allocate` gave the block, and nobody uses it any more.
pub unsafe fn free(block: *mut u8) {
    let Ok(heap) = heap() else { return };
    // SAFETY: the caller's promise; the lock is held.
    unsafe {
        let Front { size, offset } = block.sub(FRONT).cast::<Front>().read();
        lock(&heap.memory).free(block.sub(offset), size + offset, offset);
    }
}
