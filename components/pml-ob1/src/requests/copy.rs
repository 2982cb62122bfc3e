//! Copies of payload out of a transport's memory.

use oxmpi_mca::processor;

/// How this processor copies best.
#[derive(Clone, Copy, Debug)]
pub struct Copies {
    /// Messages from [`RISING_MIN`] on and shorter than this may still be on their way from another core's cache when they are
    /// copied, and are copied in the order in which they come.
    rising_below: usize,
}

impl Copies {
    /// Chooses the copies of this processor: where its string instruction takes whole lines, the C library uses that,
    /// which is faster in any order.
    pub fn of_this_processor() -> Copies {
        Copies { rising_below: if processor::string_takes_lines_whole() { 0 } else { RISING_MAX } }
    }

    /// Copies bytes; up to 16 of them in two moves, because a call costs more than those.
    ///
    /// # Safety
    /// As `copy_nonoverlapping`.
    #[inline(always)]
    pub unsafe fn copy(&self, src: *const u8, dst: *mut u8, len: usize) {
        // SAFETY: all accesses lie within `len` bytes; the two moves may overlap each other.
        unsafe {
            if !(4..=16).contains(&len) {
                if len >= RISING_MIN && len < self.rising_below {
                    copy_rising(src, dst, len);
                } else {
                    core::ptr::copy_nonoverlapping(src, dst, len);
                }
            } else if len >= 8 {
                let (a, b) =
                    (src.cast::<u64>().read_unaligned(), src.add(len - 8).cast::<u64>().read_unaligned());
                dst.cast::<u64>().write_unaligned(a);
                dst.add(len - 8).cast::<u64>().write_unaligned(b);
            } else {
                let (a, b) =
                    (src.cast::<u32>().read_unaligned(), src.add(len - 4).cast::<u32>().read_unaligned());
                dst.cast::<u32>().write_unaligned(a);
                dst.add(len - 4).cast::<u32>().write_unaligned(b);
            }
        }
    }
}

const RISING_MIN: usize = 2 << 10;
const RISING_MAX: usize = 6 << 10;

/// Copies `len` bytes, at least 64, from the front to the end, the order in which they come. (The C library copies
/// backwards where source and destination lie badly for each other, and then waits for the last line first.)
///
/// # Safety
/// As `copy_nonoverlapping`.
#[inline(never)]
unsafe fn copy_rising(src: *const u8, dst: *mut u8, len: usize) {
    type Line = [u128; 4];
    // SAFETY: all accesses lie within `len` bytes; the last line may overlap the one before it.
    unsafe {
        let line = |at: usize| {
            let whole = src.add(at).cast::<Line>().read_unaligned();
            dst.add(at).cast::<Line>().write_unaligned(whole);
        };
        let mut at = 0;
        while at + size_of::<Line>() <= len {
            line(at);
            at += size_of::<Line>();
        }
        line(len - size_of::<Line>());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn copies_exactly_what_it_is_told() {
        let src: Vec<u8> = (0..20_000u32).map(|i| (i * 7 % 251) as u8).collect();
        let around = [RISING_MIN - 1, RISING_MIN, RISING_MIN + 1, 3000, 4096, RISING_MAX - 1, RISING_MAX];
        for len in (0..100).chain(around) {
            for start in [0, 1, 8, 63] {
                for rising_below in [0, RISING_MAX] {
                    let copies = Copies { rising_below };
                    let mut dst = vec![0xee; 20_000];
                    // SAFETY: both have more than `start + len` bytes.
                    unsafe { copies.copy(src.as_ptr().add(start / 3), dst.as_mut_ptr().add(start), len) };
                    assert_eq!(dst[start..start + len], src[start / 3..start / 3 + len]);
                    assert!(dst[..start].iter().chain(&dst[start + len..]).all(|&b| b == 0xee), "{len}");
                }
            }
        }
    }
}
