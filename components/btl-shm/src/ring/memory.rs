//! The memory of a ring, and how much of its bulk messages use.

use crate::segment::cells::CellMem;
use crate::wire::{FLAG, GRANULE, PER_LINE, ring};
use oxmpi_mca::cache::fetch_to_write;
use oxmpi_mca::sync::{AtomicU32, AtomicU64};

/// The largest message (in bytes of bulk) that surely finds room once the receiver has read
/// everything.
pub const fn largest_slot(bulk_size: u64) -> u64 {
    bulk_size / 2
}

/// How much of the bulk messages of `size` bytes use while the receiver keeps up: of a large ring, short ones no more than
/// both cores' caches hold. Long ones use all of it: the lines that will be written then lie in nobody's own cache.
pub const fn window(bulk_size: u64, size: u64) -> u64 {
    if size < LONG && bulk_size > ring::FIRST_BULK { ring::FIRST_BULK } else { bulk_size }
}

/// Bytes of bulk from which on a message is no longer kept within the window.
const LONG: u64 = 32 << 10;

/// The memory of a ring: mapped in earnest, lines of model atomics under loom.
pub trait RingMem {
    /// Number of lines, as a power of two.
    fn lines_log2(&self) -> u32;
    /// Bytes of bulk, a power of two.
    fn bulk_size(&self) -> u64;
    /// The flag word of a line, at any position: the line is that modulo their number.
    fn flag(&self, line: u64) -> &AtomicU64;
    /// The word behind a line's flag: for a message outside the lines, the cell or bulk position where it lies.
    fn second(&self, line: u64) -> &AtomicU64;
    /// How many lines the receiver has read, as it has last told.
    fn head(&self) -> &AtomicU64;
    /// How many bytes of bulk the receiver has read, as it has last told.
    fn bulk_head(&self) -> &AtomicU64;
    /// The word in which the receiver says whether it watches the ring.
    fn notification(&self) -> &AtomicU32;
}

/// A mapped ring.
#[derive(Clone, Copy)]
pub struct Mapped {
    lines: *mut u8,
    bulk_mask: u32,
    line_mask: u32,
    lines_log2: u32,
    cells: u32,
    /// Bytes of one.
    cell: u32,
}

// SAFETY: its pointer is into a mapping, which belongs to the process and not to a thread; who made this vouches that it stays.
unsafe impl Send for Mapped {}

impl Mapped {
    /// Stands for no ring: its memory must not be touched, and a producer over it has no room.
    pub const NONE: Mapped =
        Mapped { lines: core::ptr::null_mut(), bulk_mask: 0, line_mask: 0, lines_log2: 0, cells: 0, cell: 0 };

    /// The ring that is mapped at `base`, with `1 << log2` bytes of bulk.
    ///
    /// # Safety
    /// At `base` a ring with `1 << log2` bytes of bulk, with several cells or not, is mapped, for as long as this is used.
    pub unsafe fn new(base: *mut u8, log2: u32, several: bool) -> Mapped {
        let lines_log2 = ring::lines_log2(log2);
        // SAFETY: the lines lie behind the ring's first page.
        let lines = unsafe { base.add(ring::LINES as usize) };
        Mapped {
            lines,
            bulk_mask: (1 << log2) - 1,
            line_mask: (1 << lines_log2) - 1,
            lines_log2,
            cells: ring::cells(log2, several) as u32,
            cell: ring::cell(log2) as u32,
        }
    }

    /// How many cells lie behind the bulk.
    pub fn cells(&self) -> u64 {
        self.cells.into()
    }

    /// The memory of cell `index` behind the bulk; `None`: there are not so many.
    pub fn cell(&self, index: u64) -> Option<CellMem> {
        if index >= self.cells() {
            return None;
        }
        let size = self.cell.into();
        // SAFETY: the cells lie behind the bulk, whose last byte this is.
        let at = unsafe { self.bulk_at(self.bulk_mask.into()).add(1 + (index * size) as usize) };
        Some(CellMem { at, size })
    }

    /// Address of a line, whose position is taken modulo the number of lines.
    #[inline(always)]
    fn line(&self, line: u64) -> *mut u8 {
        // SAFETY: masked, so within the lines.
        unsafe { self.lines.add((line & u64::from(self.line_mask)) as usize * GRANULE as usize) }
    }

    /// The bytes of a line that belong to a message: [`PER_LINE`] of them.
    #[inline(always)]
    pub fn line_data(&self, line: u64) -> *mut u8 {
        // SAFETY: a line is longer than its flag.
        unsafe { self.line(line).add(FLAG as usize) }
    }

    /// Address of the bulk byte at `position`, taken modulo the size of the bulk.
    #[inline(always)]
    pub fn bulk_at(&self, position: u64) -> *mut u8 {
        let bulk = (self.line_mask as usize + 1) * GRANULE as usize + ring::ASIDE as usize;
        // SAFETY: masked, so within the bulk, which lies behind the lines.
        unsafe { self.lines.add(bulk + (position & u64::from(self.bulk_mask)) as usize) }
    }

    /// Prefetches `len` bytes of the bulk from `position` on, which lie in one piece, for a read that comes soon.
    #[inline(always)]
    pub fn fetch_bulk(&self, position: u64, len: u64) {
        fetch_all(self.bulk_at(position).addr(), len);
    }

    /// Prefetches a line for writing, which takes possession of it from the receiver's cache.
    #[inline(always)]
    pub fn fetch_to_write(&self, line: u64) {
        fetch_to_write(self.line(line).addr());
    }

    /// Prefetches the later lines of a short message of `lines` lines that starts in `first`.
    #[inline(always)]
    pub fn fetch_lines(&self, first: u64, lines: u64) {
        for line in 1..lines {
            fetch(self.line(first + line).addr());
        }
    }

    /// Copies the message bytes of `lines` whole lines from `first` on to `dst`, one behind the other.
    ///
    /// # Safety
    /// `dst` has room for `lines` times [`PER_LINE`] bytes.
    #[inline(always)]
    pub unsafe fn copy_lines(&self, first: u64, lines: u64, dst: *mut u8) {
        for line in 0..lines {
            // SAFETY: a line's bytes are in the ring, and there is room for them.
            unsafe {
                let dst = dst.add((line * PER_LINE) as usize);
                core::ptr::copy_nonoverlapping(self.line_data(first + line), dst, PER_LINE as usize);
            }
        }
    }

    /// Address of a word in the ring's first page, by its offset there.
    #[inline(always)]
    fn word(&self, offset: u64) -> *const u8 {
        // SAFETY: the ring's first page lies right before its lines.
        unsafe { self.lines.sub((ring::LINES - offset) as usize) }
    }
}

/// Prefetches `len` bytes from address `at` on, the beginning of a cache line, for a read that comes soon.
#[inline(always)]
pub fn fetch_all(at: usize, len: u64) {
    for granule in 0..len.div_ceil(GRANULE) {
        fetch(at.wrapping_add((granule * GRANULE) as usize));
    }
}

/// Prefetches the cache line of address `at` for reading; does nothing on other processors than x86-64.
#[inline(always)]
fn fetch(at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch faults on no address, and gives nothing of what lies there.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::without_provenance(at)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

impl RingMem for Mapped {
    #[inline(always)]
    fn lines_log2(&self) -> u32 {
        self.lines_log2
    }
    #[inline(always)]
    fn bulk_size(&self) -> u64 {
        u64::from(self.bulk_mask) + 1
    }
    #[inline(always)]
    fn flag(&self, line: u64) -> &AtomicU64 {
        // SAFETY: within the lines, and aligned.
        unsafe { &*self.line(line).cast() }
    }
    #[inline(always)]
    fn second(&self, line: u64) -> &AtomicU64 {
        // SAFETY: within a line, behind its flag, and aligned.
        unsafe { &*self.line_data(line).cast() }
    }
    #[inline(always)]
    fn head(&self) -> &AtomicU64 {
        // SAFETY: aligned, in the ring's first page.
        unsafe { &*self.word(ring::HEAD).cast() }
    }
    #[inline(always)]
    fn bulk_head(&self) -> &AtomicU64 {
        // SAFETY: aligned, in the ring's first page.
        unsafe { &*self.word(ring::BULK_HEAD).cast() }
    }
    #[inline(always)]
    fn notification(&self) -> &AtomicU32 {
        // SAFETY: aligned, in the ring's first page.
        unsafe { &*self.word(ring::NOTIFY).cast() }
    }
}

/// Bytes from `position` to the end of the bulk. (A mask, because a division costs more.)
#[inline(always)]
pub(super) fn room_in_lap(mem: &impl RingMem, position: u64) -> u64 {
    mem.bulk_size() - (position & (mem.bulk_size() - 1))
}
