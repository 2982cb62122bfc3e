//! Atomic updates of the process's own memory, by its processor (MPI 5.0 §12.3.4).
//!
//! A word that lies in its natural place is updated by a compare-and-swap loop, so integer, float and conditional
//! forms are atomic to each other, whoever does them and by whichever way. The processor has no atomic for a word that does not: those
//! are read and written under one lock, the service lock, which the caller of [`apply`] holds.

use oxmpi_btl::amo::{ADD, AND, COMPARE_SWAP, FLOAT, MAX, MIN, OR, SIGNED, SWAP, WIDTH_32, XOR};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU32, AtomicU64, Ordering};

/// All atomic operations that there are, by bit.
pub const ALL: u32 = (1 << (COMPARE_SWAP + 1)) - 1;

/// An atomic operation on one word; fields as in `AtomicDesc`.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    pub op: u32,
    pub flags: u32,
    pub operand: u64,
    pub compare: u64,
}

impl Update {
    /// Bytes of the word.
    pub fn width(&self) -> u64 {
        if self.flags & WIDTH_32 != 0 { 4 } else { 8 }
    }

    /// OK if there is such an operation on such an operand, else `BAD_PARAM`.
    pub fn check(&self) -> Status {
        let bits_of_float = self.flags & FLOAT != 0 && matches!(self.op, AND | OR | XOR);
        let sane =
            self.op <= COMPARE_SWAP && self.flags & !(WIDTH_32 | FLOAT | SIGNED) == 0 && !bits_of_float;
        if sane { Status::OK } else { Status::BAD_PARAM }
    }
}

/// Carries an update out on the word at `at`, atomically, and returns the old value. `update` was checked.
///
/// # Safety
/// `at` must be writable for the width; the caller holds the service lock.
pub unsafe fn apply(update: &Update, at: *mut u8) -> u64 {
    let placed = (at as u64).is_multiple_of(update.width());
    // SAFETY: the caller's promise; words in their natural place may be used as atomics, the others are under the lock.
    unsafe {
        match (update.width(), placed) {
            (4, true) => u64::from(update32(AtomicU32::from_ptr(at.cast()), |old| next32(update, old))),
            (4, false) => {
                let at = at.cast::<u32>();
                let old = at.read_unaligned();
                at.write_unaligned(next32(update, old));
                u64::from(old)
            }
            (_, true) => update64(AtomicU64::from_ptr(at.cast()), |old| next64(update, old)),
            (_, false) => {
                let at = at.cast::<u64>();
                let old = at.read_unaligned();
                at.write_unaligned(next64(update, old));
                old
            }
        }
    }
}

/// Carries an update out on each of several elements side by side, whose operands stand in `data` (the one in `update`
/// does not count), and adds the old elements to `results`.
///
/// # Safety
/// As [`apply`], for as many elements as `data` has.
pub unsafe fn apply_each(update: &Update, at: *mut u8, data: &[u8], mut results: Option<&mut Vec<u8>>) {
    let width = update.width() as usize;
    let adds = update.op == ADD && update.flags & FLOAT == 0;
    // Nearly all long ones are this: what is asked for each element costs as much as the atomic.
    if adds && results.is_none() && (at as u64).is_multiple_of(width as u64) {
        // SAFETY: the caller's promise.
        unsafe {
            match width {
                4 => add_each(data.as_chunks::<4>().0, at, |word: &AtomicU32, new| {
                    word.fetch_add(u32::from_le_bytes(new), Ordering::AcqRel);
                }),
                _ => add_each(data.as_chunks::<8>().0, at, |word: &AtomicU64, new| {
                    word.fetch_add(u64::from_le_bytes(new), Ordering::AcqRel);
                }),
            }
        }
        return;
    }
    for (i, operand) in data.chunks_exact(width).enumerate() {
        let mut word = [0; 8];
        word[..width].copy_from_slice(operand);
        let update = Update { operand: u64::from_le_bytes(word), ..*update };
        // SAFETY: the caller's promise.
        let old = unsafe { apply(&update, at.add(i * width)) };
        if let Some(results) = &mut results {
            results.extend_from_slice(&old.to_le_bytes()[..width]);
        }
    }
}

/// Adds operands to elements side by side, each by one atomic addition (`add`).
///
/// # Safety
/// As [`apply_each`]; words of so many bytes from `at` on are in their natural places.
#[inline(always)]
unsafe fn add_each<W, const N: usize>(operands: &[[u8; N]], at: *mut u8, add: impl Fn(&W, [u8; N])) {
    const { assert!(size_of::<W>() == N) };
    for (i, operand) in operands.iter().enumerate() {
        // SAFETY: the caller's promise; integers may be used as atomics.
        add(unsafe { &*at.cast::<W>().add(i) }, *operand);
    }
}

/// Replaces a word by `next` of it, atomically, and returns the old value.
fn update32(word: &AtomicU32, next: impl Fn(u32) -> u32) -> u32 {
    let mut old = word.load(Ordering::Relaxed);
    // SYNC POINT with every other atomic update of the word.
    while let Err(now) = word.compare_exchange_weak(old, next(old), Ordering::AcqRel, Ordering::Relaxed) {
        old = now;
    }
    old
}

/// Replaces a word of 64 bits by `next` of it, atomically, and returns the old value.
fn update64(word: &AtomicU64, next: impl Fn(u64) -> u64) -> u64 {
    let mut old = word.load(Ordering::Relaxed);
    // SYNC POINT as above.
    while let Err(now) = word.compare_exchange_weak(old, next(old), Ordering::AcqRel, Ordering::Relaxed) {
        old = now;
    }
    old
}

/// Makes the function that computes a word's next value, for one width.
macro_rules! next {
    ($name:ident, $unsigned:ty, $signed:ty, $float:ty) => {
        /// The value that `update` gives a word which has the value `old`.
        fn $name(update: &Update, old: $unsigned) -> $unsigned {
            let new = update.operand as $unsigned;
            let (is_float, is_signed) = (update.flags & FLOAT != 0, update.flags & SIGNED != 0);
            let less = |a: $unsigned, b: $unsigned| match (is_float, is_signed) {
                (true, _) => <$float>::from_bits(a) < <$float>::from_bits(b),
                (false, true) => (a as $signed) < (b as $signed),
                (false, false) => a < b,
            };
            match update.op {
                ADD if is_float => (<$float>::from_bits(old) + <$float>::from_bits(new)).to_bits(),
                ADD => old.wrapping_add(new),
                AND => old & new,
                OR => old | new,
                XOR => old ^ new,
                SWAP => new,
                MIN if less(new, old) => new,
                MAX if less(old, new) => new,
                COMPARE_SWAP if old == update.compare as $unsigned => new,
                _ => old,
            }
        }
    };
}
next!(next32, u32, i32, f32);
next!(next64, u64, i64, f64);

#[cfg(test)]
mod tests {
    use super::*;

    /// Old and new value of a word that lies `aside` bytes behind its natural place.
    fn on(aside: usize, op: u32, flags: u32, before: u64, operand: u64, compare: u64) -> (u64, u64) {
        let update = Update { op, flags, operand, compare };
        assert_eq!(update.check(), Status::OK);
        let mut memory = [0u64; 3];
        // SAFETY: 16 bytes are there behind `aside`, which is less than 8.
        unsafe {
            let at = memory.as_mut_ptr().cast::<u8>().add(aside);
            at.cast::<u64>().write_unaligned(before);
            let old = apply(&update, at);
            (old, at.cast::<u64>().read_unaligned())
        }
    }

    #[test]
    fn operations_on_all_kinds_of_operands() {
        let float = f64::to_bits;
        for aside in [0, 1, 4] {
            assert_eq!(on(aside, ADD, 0, u64::MAX, 2, 0), (u64::MAX, 1));
            assert_eq!(on(aside, ADD, FLOAT, float(1.5), float(2.0), 0), (float(1.5), float(3.5)));
            assert_eq!(on(aside, AND, 0, 12, 10, 0), (12, 8));
            assert_eq!(on(aside, OR, 0, 12, 10, 0), (12, 14));
            assert_eq!(on(aside, XOR, 0, 12, 10, 0), (12, 6));
            assert_eq!(on(aside, SWAP, 0, 12, 10, 0), (12, 10));
            assert_eq!(on(aside, MIN, SIGNED, 3, -4i64 as u64, 0), (3, -4i64 as u64));
            assert_eq!(on(aside, MIN, 0, 3, -4i64 as u64, 0), (3, 3));
            assert_eq!(on(aside, MAX, SIGNED, 3, -4i64 as u64, 0), (3, 3));
            assert_eq!(on(aside, MAX, FLOAT, float(-1.0), float(-0.5), 0), (float(-1.0), float(-0.5)));
            assert_eq!(on(aside, COMPARE_SWAP, 0, 5, 9, 5), (5, 9));
            assert_eq!(on(aside, COMPARE_SWAP, 0, 5, 9, 6), (5, 5));
            // Memory behind a narrow word is left alone.
            let high = 7 << 32;
            assert_eq!(on(aside, ADD, WIDTH_32, high | 0xffff_ffff, 2, 0), (0xffff_ffff, high | 1));
            let (one, half) = (u64::from(1f32.to_bits()), u64::from(0.5f32.to_bits()));
            assert_eq!(on(aside, MIN, WIDTH_32 | FLOAT, high | one, half, 0), (one, high | half));
            assert_eq!(on(aside, COMPARE_SWAP, WIDTH_32, high | 5, 9, 1 << 40 | 5), (5, high | 9));
        }
    }

    /// The values of three words of ten `aside` bytes behind their natural places, and their old values where they are asked for.
    fn each<const N: usize>(flags: u32, op: u32, aside: usize, fetches: bool) -> (Vec<u64>, Vec<u8>) {
        let update = Update { op, flags, operand: 77, compare: 0 };
        let (mut memory, mut results) = ([0u64; 5], Vec::new());
        let operands: Vec<u8> = [1u64, 2, 3].iter().flat_map(|n| n.to_le_bytes()[..N].to_vec()).collect();
        let at = memory.as_mut_ptr().cast::<u8>().wrapping_add(aside);
        let word = |i: usize| at.wrapping_add(i * N);
        let ten = 10u64.to_le_bytes();
        // SAFETY: three words are there behind `aside`, which is less than 8.
        unsafe {
            (0..3).for_each(|i| core::ptr::copy(ten.as_ptr(), word(i), N));
            apply_each(&update, at, &operands, fetches.then_some(&mut results));
            let read = |i| {
                let mut value = [0; 8];
                core::ptr::copy(word(i), value.as_mut_ptr(), N);
                u64::from_le_bytes(value)
            };
            let words = (0..3).map(read).collect();
            let (first, behind) = (memory[0].to_le_bytes(), memory[4]);
            assert!(first[..aside].iter().all(|byte| *byte == 0) && behind == 0, "what lies beside");
            (words, results)
        }
    }

    #[test]
    fn elements_side_by_side() {
        for aside in [0, 1, 4] {
            for fetches in [false, true] {
                let old = |bytes: usize| if fetches { 3 * bytes } else { 0 };
                let (words, results) = each::<8>(0, ADD, aside, fetches);
                assert_eq!((words, results.len()), (vec![11, 12, 13], old(8)), "{aside} {fetches}");
                let (words, results) = each::<4>(WIDTH_32, ADD, aside, fetches);
                assert_eq!((words, results.len()), (vec![11, 12, 13], old(4)), "{aside} {fetches}");
                assert!(results.chunks(4).all(|word| word == [10, 0, 0, 0]));
                assert_eq!(each::<4>(WIDTH_32, SWAP, aside, fetches).0, [1, 2, 3]);
            }
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        let check = |op, flags| Update { op, flags, operand: 0, compare: 0 }.check();
        assert_eq!(check(COMPARE_SWAP + 1, 0), Status::BAD_PARAM);
        assert_eq!(check(ADD, 8), Status::BAD_PARAM);
        for op in [AND, OR, XOR] {
            assert_eq!(check(op, FLOAT), Status::BAD_PARAM);
        }
    }
}
