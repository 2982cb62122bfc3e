//! The memory that the ranks of a communicator share: two lines of all, for each rank its slots and its done word, each on a line of its own, and some cells,
//! which the slots have in turn.
//!
//! ```text
//!  arrivals │ exit     rank 0: line of slot 0 │ … │ line of slot 31 │ done │ unused      rank 1: …      cells of rank 0 │ cells of rank 1 │ …
//!  a line: word (8) │ header (8) │ 48 bytes of payload
//! ```
//!
//! A rank's lines are an even number, since processors fetch lines in pairs. The memory is zero at first, which is the value of all words before the
//! first step. All processes of the communicator may write all of it, so what is read from there is checked where it is used.

use crate::protocol::{Arrivals, CELLS, Exit, SLOTS};
use core::cell::UnsafeCell;
use oxmpi_mca::WakingWord;
use oxmpi_mca::sync::AtomicU64;

/// Bytes of payload in a line.
pub const INLINE: usize = 48;
/// Lines of a rank: its slots, its done word, and one that nobody uses.
const LINES: usize = SLOTS as usize + 2;
/// Lines that all ranks have in common.
const COMMON: usize = 2;
/// Bytes of the largest and of the smallest cell.
const SIZES: [usize; 2] = [8192, 256];

/// The slot's part that is on its line: word, header, and payload that is short.
#[repr(C, align(64))]
pub struct Line {
    pub word: WakingWord,
    pub header: AtomicU64,
    payload: UnsafeCell<[u8; INLINE]>,
}

const _: () = assert!(size_of::<Line>() == 64 && size_of::<Arrivals>() <= 64 && size_of::<Exit>() <= 64);

/// The memory as one rank sees it.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    base: *mut u8,
    ranks: u32,
    cell: usize,
}

// SAFETY: it names memory that may be used from any thread, as the words in it order.
unsafe impl Send for Area {}
// SAFETY: as above.
unsafe impl Sync for Area {}

impl Area {
    /// Bytes of a cell on a communicator of so many ranks, if all of its memory is to have at most `limit` bytes. `None`: it would have more.
    pub fn cell_for(ranks: u32, limit: u64) -> Option<usize> {
        let fits = |cell: &usize| Area::bytes(ranks, *cell) <= limit;
        let sizes = core::iter::successors(Some(SIZES[0]), |cell| Some(cell / 2));
        sizes.take_while(|cell| *cell >= SIZES[1]).find(fits)
    }

    /// Bytes of all lines, to the next page.
    fn lines(ranks: u32) -> usize {
        ((COMMON + ranks as usize * LINES) * size_of::<Line>()).next_multiple_of(4096)
    }

    /// Bytes of all memory.
    pub fn bytes(ranks: u32, cell: usize) -> u64 {
        (Area::lines(ranks) + ranks as usize * CELLS as usize * cell) as u64
    }

    /// # Safety
    /// At `base`, aligned to pages, there are [`Area::bytes`] bytes that were zero, for as long as this. Nobody writes but through what this
    /// gives out, in this process or another.
    pub unsafe fn new(base: *mut u8, ranks: u32, cell: usize) -> Area {
        Area { base, ranks, cell }
    }

    /// Bytes of a cell.
    pub fn cell_bytes(&self) -> usize {
        self.cell
    }

    fn line_at(&self, rank: u32, line: usize) -> &Line {
        assert!(rank < self.ranks && line < LINES, "a line of the communicator");
        // SAFETY: inside the memory, and aligned to lines (`new`). Lines consist of atomics and of payload in a cell; zero bytes are one.
        unsafe { &*self.base.cast::<Line>().add(COMMON + rank as usize * LINES + line) }
    }

    /// Where a crowd arrives.
    #[inline]
    pub fn arrivals(&self) -> &Arrivals {
        // SAFETY: the first line, aligned (`new`); atomics, of which zero bytes are ones.
        unsafe { &*self.base.cast() }
    }

    /// By which a crowd goes on.
    #[inline]
    pub fn exit(&self) -> &Exit {
        // SAFETY: the second line, as above.
        unsafe { &*self.base.add(size_of::<Line>()).cast() }
    }

    /// The line of a rank's slot.
    #[inline]
    pub fn slot(&self, rank: u32, slot: u32) -> &Line {
        self.line_at(rank, (slot % SLOTS) as usize)
    }

    /// Has the processor get a slot's line, `to_write` or to read, and does not wait for it. Processors without such instructions do nothing.
    #[inline]
    pub fn get_line(&self, rank: u32, slot: u32, to_write: bool) {
        let line: *const Line = self.slot(rank, slot);
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: hints, which change no register, no flag and no memory; where there is no `prefetchw`, its code does nothing.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            match to_write {
                true => {
                    core::arch::asm!("prefetchw [{}]", in(reg) line, options(nostack, preserves_flags, readonly));
                }
                false => _mm_prefetch::<_MM_HINT_T0>(line.cast()),
            }
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let _ = (line, to_write);
    }

    /// The done word of a rank.
    #[inline]
    pub fn done(&self, rank: u32) -> &WakingWord {
        &self.line_at(rank, SLOTS as usize).word
    }

    /// The payload in the line of a slot: [`INLINE`] bytes, aligned to 16.
    #[inline]
    pub fn inline(&self, rank: u32, slot: u32) -> *mut u8 {
        self.slot(rank, slot).payload.get().cast()
    }

    /// The cell of a slot, aligned to 64.
    #[inline]
    pub fn cell(&self, rank: u32, slot: u32) -> *mut u8 {
        assert!(rank < self.ranks, "a rank of the communicator");
        let cells = Area::lines(self.ranks);
        let nth = rank as usize * CELLS as usize + (slot % CELLS) as usize;
        self.base.wrapping_add(cells + nth * self.cell)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn cells_shrink_to_the_limit() {
        assert_eq!(Area::cell_for(2, 1 << 20), Some(SIZES[0]));
        assert_eq!(Area::cell_for(64, 1 << 20), Some(1024));
        assert_eq!(Area::cell_for(60, 4 << 20), Some(SIZES[0]));
        assert_eq!(Area::cell_for(64, 1 << 16), None);
    }

    #[test]
    fn nothing_overlaps_and_all_is_inside() {
        let (ranks, cell) = (3, 256);
        let mut memory = vec![0u64; Area::bytes(ranks, cell) as usize / 8 + 8];
        let start = memory.as_mut_ptr().cast::<u8>();
        let base = start.wrapping_add(start.align_offset(64));
        // SAFETY: a line more than the area is there; nobody else has it.
        let area = unsafe { Area::new(base, ranks, cell) };
        let mut parts = vec![
            (area.arrivals() as *const Arrivals as usize, size_of::<Arrivals>()),
            (area.exit() as *const Exit as usize, size_of::<Exit>()),
        ];
        for rank in 0..ranks {
            parts.push((area.done(rank) as *const WakingWord as usize, 8));
            for slot in 0..SLOTS {
                parts.push((area.slot(rank, slot) as *const Line as usize, 16));
                parts.push((area.inline(rank, slot) as usize, INLINE));
            }
            parts.extend((0..CELLS).map(|slot| (area.cell(rank, slot) as usize, cell)));
        }
        parts.sort_unstable();
        assert!(parts.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
        let (last, len) = parts[parts.len() - 1];
        assert!(
            parts[0].0 >= base as usize && last + len == base as usize + Area::bytes(ranks, cell) as usize
        );
    }
}
