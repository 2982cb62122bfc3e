//! Updates of single elements: which an atomic can do, by the processor on mapped memory, and as a transport's atomic.
//!
//! **One way for each element.** An element of four or eight bytes in its natural place is updated by an atomic or by compare-and-swap, whoever
//! does it and whatever the operation; any other under its target's lock (`accumulate.rs`). Which of the two follows from width and address alone,
//! so all origins choose alike, and every two updates of an element are atomic to each other.

use crate::piece::Amo;
use oxmpi_btl::amo::{self, operand};
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU32, AtomicU64, Ordering};
use oxmpi_osc_support::reduction::combine;

/// An operation on elements of one basic type.
#[derive(Clone, Copy)]
pub struct Update {
    pub code: u32,
    pub base: Base,
    /// Packed bytes of an element.
    pub width: u64,
}

/// No element is longer.
const LONGEST: usize = 64;

/// As what an element's bits are combined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Signed,
    Unsigned,
    Float,
    Other,
}

impl Update {
    pub fn new(code: u32, base: Base) -> Result<Update, Status> {
        let width = base.layout().ok_or(Status::BAD_PARAM)?.packed;
        if code == op::USER {
            return Err(Status::BAD_PARAM);
        }
        Ok(Update { code, base, width })
    }

    /// Whether elements at an address are updated one by one.
    pub fn is_atomic_at(&self, at: u64) -> bool {
        // By its bits: a division takes longer than the update.
        matches!(self.width, 4 | 8) && at & (self.width - 1) == 0
    }

    fn number(&self) -> Number {
        match self.base {
            Base::I32 | Base::I64 | Base::AINT => Number::Signed,
            Base::U32 | Base::U64 => Number::Unsigned,
            Base::F32 | Base::F64 => Number::Float,
            _ => Number::Other,
        }
    }

    /// The transport's atomic that does it, without its operand, and the kind of operand ([`operand`]); `None`: there is none.
    pub fn amo(&self) -> Option<(Amo, u32)> {
        let number = self.number();
        let narrow = self.width == 4;
        let width = if narrow { amo::WIDTH_32 } else { 0 };
        let plain = if narrow { operand::U32 } else { operand::U64 };
        let (op, typed) = match (self.code, number) {
            (op::REPLACE, _) => (amo::SWAP, false),
            // Adding nothing reads.
            (op::NO_OP, _) => (amo::ADD, false),
            (op::SUM, Number::Signed | Number::Unsigned) => (amo::ADD, false),
            (op::SUM, Number::Float) => (amo::ADD, true),
            (op::BAND, Number::Signed | Number::Unsigned) => (amo::AND, false),
            (op::BOR, Number::Signed | Number::Unsigned) => (amo::OR, false),
            (op::BXOR, Number::Signed | Number::Unsigned) => (amo::XOR, false),
            (op::MIN, Number::Signed | Number::Unsigned) => (amo::MIN, true),
            (op::MAX, Number::Signed | Number::Unsigned) => (amo::MAX, true),
            _ => return None,
        };
        let (flags, kind) = match (typed, number) {
            (true, Number::Float) => (amo::FLOAT, if narrow { operand::F32 } else { operand::F64 }),
            (true, Number::Signed) => (amo::SIGNED, if narrow { operand::I32 } else { operand::I64 }),
            _ => (0, plain),
        };
        Some((Amo { op, flags: flags | width, operand: 0, compare: 0 }, kind))
    }

    /// Not 0 where updates that are alike may come in any order and nobody can tell: integers without a result.
    pub fn kind(&self) -> u64 {
        let integers = matches!(self.number(), Number::Signed | Number::Unsigned);
        let any_order = matches!(self.code, op::SUM | op::BAND | op::BOR | op::BXOR | op::MIN | op::MAX);
        if integers && any_order { u64::from(self.code) << 32 | u64::from(self.base.0) << 1 | 1 } else { 0 }
    }

    /// Whether elements of this type have the operation.
    pub fn is_there(&self) -> bool {
        if self.width == 0 || self.width > LONGEST as u64 {
            return false;
        }
        let (input, mut inout) = ([0u8; LONGEST], [0u8; LONGEST]);
        // SAFETY: there is room for one element in each.
        unsafe { self.combine(input.as_ptr(), inout.as_mut_ptr(), 1) }.is_ok()
    }

    /// Combines packed elements: `inout[i] = input[i] op inout[i]`.
    ///
    /// # Safety
    /// Both have `count` packed elements and do not overlap.
    pub unsafe fn combine(&self, input: *const u8, inout: *mut u8, count: u64) -> Status {
        // SAFETY: the caller's promise.
        unsafe { combine(self.code, self.base, self.width, input, inout, count) }
    }

    /// The next value of an element's bits, of four or eight bytes.
    pub fn next(&self, old: u64, operand: u64) -> u64 {
        let (mut new, input) = (old.to_ne_bytes(), operand.to_ne_bytes());
        // SAFETY: an element of up to eight bytes in each; in the low ones, as the machine is little-endian.
        let _ = unsafe { self.combine(input.as_ptr(), new.as_mut_ptr(), 1) };
        u64::from_ne_bytes(new)
    }

    /// Updates `count` elements by the processor, one by one. `input` has as many packed elements, and is null for MPI_NO_OP; the old ones go to
    /// `result` if that is not null.
    ///
    /// # Safety
    /// All of it is memory; `at` is in its natural place, and everybody updates it by atomics.
    #[inline]
    pub unsafe fn apply(&self, at: *mut u8, count: u64, input: *const u8, result: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.width {
                4 => each32(self, at.cast(), count as usize, input.cast(), result.cast()),
                _ => each64(self, at.cast(), count as usize, input.cast(), result.cast()),
            }
        }
    }
}

const _: () = assert!(cfg!(target_endian = "little"), "elements lie in the low bytes of words");

/// Compare-and-swap of four or eight bytes by the processor; the old value.
///
/// # Safety
/// As [`Update::apply`].
pub unsafe fn swap_if(at: *mut u8, width: usize, compare: u64, new: u64) -> u64 {
    const ORDER: Ordering = Ordering::AcqRel;
    // SAFETY: the caller's promise. SYNC POINT as below.
    unsafe {
        match width {
            4 => {
                let swapped = AtomicU32::from_ptr(at.cast()).compare_exchange(
                    compare as u32,
                    new as u32,
                    ORDER,
                    Ordering::Acquire,
                );
                swapped.unwrap_or_else(|now| now).into()
            }
            _ => {
                let swapped =
                    AtomicU64::from_ptr(at.cast()).compare_exchange(compare, new, ORDER, Ordering::Acquire);
                swapped.unwrap_or_else(|now| now)
            }
        }
    }
}

/// Elements side by side, their operands or null, and where the old ones go or null.
struct ElementRun<T> {
    at: *mut T,
    count: usize,
    input: *const T,
    result: *mut T,
}

macro_rules! each {
    ($name:ident, $t:ty, $atomic:ty, $float:ty, $base:expr) => {
        impl ElementRun<$t> {
            /// Each in turn, by what answers the old one.
            ///
            /// # Safety
            /// As [`Update::apply`].
            #[inline(always)]
            unsafe fn by(self, old: impl Fn(&$atomic, $t) -> $t) {
                for i in 0..self.count {
                    // SAFETY: the caller's promise of `count` elements.
                    unsafe {
                        let word = <$atomic>::from_ptr(self.at.add(i));
                        let operand =
                            if self.input.is_null() { 0 } else { self.input.add(i).read_unaligned() };
                        let old = old(word, operand);
                        if !self.result.is_null() {
                            self.result.add(i).write_unaligned(old);
                        }
                    }
                }
            }
        }

        /// # Safety
        /// As [`Update::apply`].
        #[inline(always)]
        unsafe fn $name(update: &Update, at: *mut $t, count: usize, input: *const $t, result: *mut $t) {
            // SYNC POINT with every other update of the word, by whichever way.
            const ORDER: Ordering = Ordering::AcqRel;
            let run = ElementRun { at, count, input, result };
            let integer = matches!(update.number(), Number::Signed | Number::Unsigned);
            // SAFETY: the caller's promise.
            unsafe {
                match update.code {
                    op::NO_OP => run.by(|word, _| word.load(Ordering::Acquire)),
                    op::REPLACE => run.by(|word, new| word.swap(new, ORDER)),
                    op::SUM if integer => run.by(|word, new| word.fetch_add(new, ORDER)),
                    op::BAND if integer => run.by(|word, new| word.fetch_and(new, ORDER)),
                    op::BOR if integer => run.by(|word, new| word.fetch_or(new, ORDER)),
                    op::BXOR if integer => run.by(|word, new| word.fetch_xor(new, ORDER)),
                    op::SUM if update.base == $base => run.by(|word, new| {
                        let new = <$float>::from_bits(new);
                        change!(word, |old| (<$float>::from_bits(old) + new).to_bits())
                    }),
                    _ => run.by(|word, new| {
                        change!(word, |old| update.next(u64::from(old), u64::from(new)) as $t)
                    }),
                }
            }
        }
    };
}

/// A compare-and-swap loop; the old value.
macro_rules! change {
    ($word:expr, $next:expr) => {{
        let mut old = $word.load(Ordering::Relaxed);
        let next = $next;
        // SYNC POINT as above.
        while let Err(now) = $word.compare_exchange_weak(old, next(old), Ordering::AcqRel, Ordering::Relaxed)
        {
            old = now;
        }
        old
    }};
}

each!(each32, u32, AtomicU32, f32, Base::F32);
each!(each64, u64, AtomicU64, f64, Base::F64);

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn updated<T: Copy + Default + PartialEq + core::fmt::Debug, const N: usize>(
        code: u32,
        base: Base,
        mut memory: [T; N],
        input: [T; N],
    ) -> ([T; N], [T; N]) {
        let update = Update::new(code, base).expect("an operation");
        let mut old = [T::default(); N];
        // SAFETY: arrays of the test, in their natural places.
        unsafe {
            update.apply(
                memory.as_mut_ptr().cast(),
                N as u64,
                input.as_ptr().cast(),
                old.as_mut_ptr().cast(),
            );
        }
        (memory, old)
    }

    #[test]
    fn elements_are_updated_and_their_old_values_told() {
        assert_eq!(updated(op::SUM, Base::I32, [1i32, -2], [5, 5]), ([6, 3], [1, -2]));
        assert_eq!(updated(op::SUM, Base::F64, [0.5f64], [0.25]), ([0.75], [0.5]));
        assert_eq!(updated(op::PROD, Base::U64, [7u64], [6]), ([42], [7]));
        assert_eq!(updated(op::MIN, Base::I64, [-7i64, 7], [6, 6]), ([-7, 6], [-7, 7]));
        assert_eq!(updated(op::REPLACE, Base::F32, [1f32], [2.0]), ([2.0], [1.0]));
        assert_eq!(updated(op::NO_OP, Base::U32, [3u32], [9]), ([3], [3]));
        assert_eq!(updated(op::BXOR, Base::U32, [6u32], [3]), ([5], [6]));
        assert_eq!(updated(op::LAND, Base::I32, [6i32, 6], [3, 0]), ([1, 0], [6, 6]));
    }

    #[test]
    fn transports_do_what_they_have() {
        let amo = |code, base| {
            Update::new(code, base).expect("an operation").amo().map(|(a, k)| (a.op, a.flags, k))
        };
        assert_eq!(amo(op::SUM, Base::F32), Some((amo::ADD, amo::FLOAT | amo::WIDTH_32, operand::F32)));
        assert_eq!(amo(op::MIN, Base::I64), Some((amo::MIN, amo::SIGNED, operand::I64)));
        assert_eq!(amo(op::SUM, Base::C32), None, "two numbers");
        assert_eq!(amo(op::PROD, Base::I32), None);
    }

    #[test]
    fn types_have_the_operations_that_the_standard_gives_them() {
        let there = |code, base| Update::new(code, base).is_ok_and(|update| update.is_there());
        for (code, base) in
            [(op::SUM, Base::C64), (op::PROD, Base::I16), (op::REPLACE, Base::BYTE), (op::NO_OP, Base::F64)]
        {
            assert!(there(code, base), "{code}");
        }
        for (code, base) in
            [(op::BAND, Base::F64), (op::MAX, Base::C32), (99, Base::I32), (op::USER, Base::I32)]
        {
            assert!(!there(code, base), "{code}");
        }
        assert!(!there(op::SUM, Base(12345)));
    }

    #[test]
    fn width_and_place_decide() {
        let of = |base| Update::new(op::SUM, base).expect("an operation");
        assert!(of(Base::I32).is_atomic_at(12) && !of(Base::I32).is_atomic_at(14));
        assert!(!of(Base::I16).is_atomic_at(8) && !of(Base::F64).is_atomic_at(4));
        assert!(of(Base::C32).is_atomic_at(8) && !of(Base::C64).is_atomic_at(16));
    }
}
