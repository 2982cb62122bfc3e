//! Copies of payload into a ring: by the string instruction, or past the cache.
//!
//! The lines of a ring were last in the receiver's cache. An ordinary store first has to take each of
//! them back from there, which on some machines costs more than the whole copy. The string instruction
//! (`rep movsb`) of AMD's processors does not: it writes lines as a whole, whose old contents nobody needs, and leaves
//! them in the cache, where the receiver finds them (parameter `string_min`). Nor does a store that bypasses
//! the cache (`movnt`), but then the receiver has to get them from memory (parameter `nontemporal_min`).

/// Payload sizes in bytes from which on a copy goes by string, or past the cache; `usize::MAX`: never. Shorter payload
/// goes by ordinary stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub string: usize,
    pub past: usize,
}

/// Bytes of payload from which on a copy by string pays in a cell.
const STRING_IN_CELLS: usize = 8 << 10;

impl Limits {
    /// Limits with which every copy goes by ordinary stores.
    pub const NONE: Limits = Limits { string: usize::MAX, past: usize::MAX };

    /// The limits for a copy into a cell. The writer has read the cell's lines last, so few of them have to be
    /// fetched: strings pay later, and nothing goes past the cache.
    #[inline(always)]
    pub fn in_cells(self) -> Limits {
        Limits { string: self.string.max(STRING_IN_CELLS), past: usize::MAX }
    }

    /// Whether payload of `len` bytes is copied past the cache.
    #[inline(always)]
    pub fn goes_past_cache(self, len: usize) -> bool {
        len >= self.past && len < self.string
    }
}

/// Copies `len` bytes by the processor's string instruction. It is slow where the destination lies up to a line higher in its page than the
/// source in its: then the instruction takes each load for one of what it has just stored.
///
/// # Safety
/// As `copy_nonoverlapping`.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub unsafe fn by_string(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: the caller's promise; the direction flag is clear at every call and stays so.
    unsafe {
        core::arch::asm!("rep movsb", inout("rcx") len => _, inout("rdi") dst => _, inout("rsi") src => _,
            options(nostack, preserves_flags));
    }
}

/// Copies `len` bytes as `copy_nonoverlapping` does: this processor has no string instruction.
///
/// # Safety
/// As `copy_nonoverlapping`.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub unsafe fn by_string(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { core::ptr::copy_nonoverlapping(src, dst, len) }
}

/// Copies `len` bytes. Whole lines of the destination bypass the cache; the ends do not, since a line
/// that is filled in part costs more that way.
///
/// Copied data is visible to others no later than any store made after this returns.
///
/// # Safety
/// As `copy_nonoverlapping`.
#[cfg(target_arch = "x86_64")]
pub unsafe fn past_the_cache(src: *const u8, dst: *mut u8, len: usize) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    const LINE: usize = 64;
    const WORD: usize = size_of::<__m128i>();

    let head = dst.align_offset(LINE).min(len);
    let lines = (len - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: all offsets are within `len`; SSE2 belongs to every x86-64, and the streamed words start
    // at a line of the destination.
    unsafe {
        core::ptr::copy_nonoverlapping(src, dst, head);
        for line in 0..lines {
            let (from, to) = (src.add(head + line * LINE), dst.add(head + line * LINE));
            let word = |i: usize| _mm_loadu_si128(from.add(i * WORD).cast());
            let words = [word(0), word(1), word(2), word(3)];
            for (i, word) in words.into_iter().enumerate() {
                _mm_stream_si128(to.add(i * WORD).cast(), word);
            }
        }
        core::ptr::copy_nonoverlapping(src.add(tail), dst.add(tail), len - tail);
        // Such stores are not ordered with others by themselves.
        _mm_sfence();
    }
}

/// Copies `len` bytes as `copy_nonoverlapping` does: Rust offers no stores past the cache for this processor.
///
/// # Safety
/// As `copy_nonoverlapping`.
#[cfg(not(target_arch = "x86_64"))]
pub unsafe fn past_the_cache(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { core::ptr::copy_nonoverlapping(src, dst, len) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Limits, by_string, past_the_cache};

    #[test]
    fn copies_exactly_what_it_is_told() {
        for copy in [past_the_cache, by_string] {
            copies_exactly(copy);
        }
    }

    #[test]
    fn what_goes_by_string_does_not_go_past() {
        let both = Limits { string: 4096, past: 2048 };
        assert_eq!([2047, 2048, 4095, 4096].map(|len| both.goes_past_cache(len)), [false, true, true, false]);
        assert!(!Limits::NONE.goes_past_cache(usize::MAX - 1));
    }

    fn copies_exactly(copy: unsafe fn(*const u8, *mut u8, usize)) {
        let src: Vec<u8> = (0..1000u32).map(|i| (i * 7 % 251) as u8).collect();
        for start in 0..70 {
            for len in [0, 1, 15, 63, 64, 65, 127, 128, 200, 511, 512, 700] {
                let mut dst = vec![0xeeu8; 1000];
                // SAFETY: both have more than `start + len` bytes.
                unsafe { copy(src.as_ptr().add(start / 3), dst.as_mut_ptr().add(start), len) };
                assert_eq!(dst[start..start + len], src[start / 3..start / 3 + len]);
                assert!(dst[..start].iter().chain(&dst[start + len..]).all(|&b| b == 0xee));
            }
        }
    }
}
