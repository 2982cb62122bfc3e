//! Atomic operations of the card: their commands taken apart, and their results.
//!
//! NaN: a minimum or maximum with a NaN is the other operand, as IEEE 754-2008's minNum says; the hardware's rule is not known.

/// Function of the old value and one or two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Add,
    And,
    Or,
    Xor,
    /// (old and first) xor second
    Ax,
    CompareSwap,
    Swap,
    Min,
    Max,
    FloatMin,
    FloatMax,
    FloatAdd,
}

/// A command of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amo {
    verb: Verb,
    /// The old value is delivered.
    pub fetches: bool,
    /// 4 or 8.
    pub bytes: usize,
    /// In the cache of the card, which the domain must permit.
    pub cached: bool,
}

const QUIET: i32 = 0x100;
const SHORT: i32 = 0x200;
const SECOND: i32 = 0x40;

impl Amo {
    /// Takes a command apart. `None`: unknown, not on this device, or disabled: a non-fetching AX on Gemini and the sum of doubles.
    pub fn of(command: i32, gemini: bool) -> Option<Amo> {
        let fetches = command & QUIET == 0;
        let base = command & !QUIET;
        if base & SECOND == 0 {
            return Amo::first(base, fetches, gemini);
        }
        if gemini {
            return None;
        }
        let cached = base & 0x20 != 0;
        let short = base & SHORT != 0;
        let code = base & !0x20 & !SHORT;
        // Those of 64 bits are odd, their twins of 32 bits even.
        let verb = match code | 1 {
            0x41 => Verb::And,
            0x43 => Verb::Or,
            0x45 => Verb::Xor,
            0x47 => Verb::Swap,
            0x49 => Verb::Ax,
            0x4b => Verb::CompareSwap,
            0x51 => Verb::Min,
            0x53 => Verb::Max,
            0x55 => Verb::Add,
            0x59 => Verb::FloatMin,
            0x5b => Verb::FloatMax,
            0x5d if short => Verb::FloatAdd,
            _ => return None,
        };
        (short == (code & 1 == 0)).then_some(Amo { verb, fetches, bytes: if short { 4 } else { 8 }, cached })
    }

    fn first(base: i32, fetches: bool, gemini: bool) -> Option<Amo> {
        let cached = base & 0x10 != 0;
        let verb = match base & !0x10 {
            0x8 => Verb::Add,
            0x9 => Verb::And,
            0xa => Verb::Or,
            0xb => Verb::Xor,
            0xc if fetches || !gemini => Verb::Ax,
            0xd if fetches => Verb::CompareSwap,
            _ => return None,
        };
        Some(Amo { verb, fetches, bytes: 8, cached })
    }

    /// The new value.
    pub fn apply(&self, old: u64, first: u64, second: u64) -> u64 {
        let short = self.bytes == 4;
        let float = |f32s: fn(f32, f32) -> f32, f64s: fn(f64, f64) -> f64| {
            if short {
                f32s(f32::from_bits(old as u32), f32::from_bits(first as u32)).to_bits().into()
            } else {
                f64s(f64::from_bits(old), f64::from_bits(first)).to_bits()
            }
        };
        let signed = |choose: fn(i64, i64) -> i64| {
            if short {
                choose((old as i32).into(), (first as i32).into()) as u64
            } else {
                choose(old as i64, first as i64) as u64
            }
        };
        let masked = |v: u64| if short { v & 0xffff_ffff } else { v };
        masked(match self.verb {
            Verb::Add => old.wrapping_add(first),
            Verb::And => old & first,
            Verb::Or => old | first,
            Verb::Xor => old ^ first,
            Verb::Ax => (old & first) ^ second,
            Verb::CompareSwap if old == masked(first) => second,
            Verb::CompareSwap => old,
            Verb::Swap => first,
            Verb::Min => signed(i64::min),
            Verb::Max => signed(i64::max),
            Verb::FloatMin => float(f32::min, f64::min),
            Verb::FloatMax => float(f32::max, f64::max),
            Verb::FloatAdd => float(|a, b| a + b, |a, b| a + b),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(command: i32, old: u64, first: u64, second: u64) -> u64 {
        Amo::of(command, false).expect("a command").apply(old, first, second)
    }

    #[test]
    fn values_of_each_command() {
        assert_eq!(run(0x008, u64::MAX, 2, 0), 1, "the sum wraps");
        assert_eq!((run(0x009, 12, 10, 0), run(0x00a, 12, 10, 0), run(0x00b, 12, 10, 0)), (8, 14, 6));
        assert_eq!(run(0x00c, 12, 10, 1), 9);
        assert_eq!((run(0x00d, 5, 5, 7), run(0x00d, 5, 6, 7)), (7, 5));
        assert_eq!(
            (run(0x047, 5, 6, 0), run(0x051, (-3i64) as u64, 2, 0), run(0x053, (-3i64) as u64, 2, 0)),
            (6, (-3i64) as u64, 2)
        );
        assert_eq!(run(0x254, 0xffff_ffff, 1, 0), 0, "32 bits wrap");
        assert_eq!(run(0x250, 0xffff_fffe, 1, 0), 0xffff_fffe, "32 bits are signed");
        assert_eq!(
            run(0x25c, f32::to_bits(1.5).into(), f32::to_bits(2.0).into(), 0),
            u64::from(f32::to_bits(3.5))
        );
        assert_eq!(run(0x059, f64::to_bits(1.5), f64::to_bits(f64::NAN), 0), f64::to_bits(1.5));
        assert_eq!(run(0x24a, 5, 5, 7), 7, "comparison of 32 bits");
    }

    #[test]
    fn what_a_device_lacks_is_refused() {
        assert_eq!(Amo::of(0x047, true), None, "no second generation on Gemini");
        assert_eq!(Amo::of(0x10c, true), None, "broken on Gemini");
        assert_eq!(
            (Amo::of(0x05d, false), Amo::of(0x15d, false)),
            (None, None),
            "the sum of doubles is disabled"
        );
        assert_eq!(
            (Amo::of(0x10d, false), Amo::of(0x00e, false), Amo::of(0x246 | 1, false)),
            (None, None, None)
        );
        let cached = Amo::of(0x118, true).expect("a command");
        assert!(cached.cached && !cached.fetches);
        assert_eq!(
            Amo::of(0x272, false).map(|a| (a.cached, a.bytes, a.fetches)),
            Some((true, 4, true)),
            "cached, signed maximum of 32 bits"
        );
    }
}
