//! IEEE binary128 (Fortran's REAL(16)) in integer arithmetic.
//!
//! A number is its sign, an exponent and 113 bits. Sums and products are formed with three bits more, the last of which
//! says whether anything was lost behind it, and are rounded once, to nearest, ties to even.

/// A binary128 as its bits.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Quad(pub u128);

const FRACTION: u32 = 112;
const HIDDEN: u128 = 1 << FRACTION;
const BIAS: i32 = 16383;
/// The exponent field of infinity and of what is no number.
const SPECIAL: i32 = 0x7fff;
const SIGN: u128 = 1 << 127;
const INFINITY: u128 = (SPECIAL as u128) << FRACTION;
const QUIET: u128 = HIDDEN >> 1;
/// Bits behind the last one that stays.
const SPARE: u32 = 3;

/// Shifts right; what falls out leaves a one in the last place.
fn sticky_shift(value: u128, by: u32) -> u128 {
    match by {
        0 => value,
        1..=127 => value >> by | u128::from(value << (128 - by) != 0),
        _ => u128::from(value != 0),
    }
}

/// The number of this sign whose significand, with [`SPARE`] bits behind it, has exponent field `exponent`. The leading
/// one is in its place, or the exponent is at most 1.
fn rounded(sign: u128, exponent: i32, significand: u128) -> Quad {
    if exponent >= SPECIAL {
        return Quad(sign | INFINITY);
    }
    let (exponent, significand) = match exponent {
        1.. => (exponent, significand),
        _ => (1, sticky_shift(significand, (1 - exponent) as u32)),
    };
    let (kept, rest) = (significand >> SPARE, significand & ((1 << SPARE) - 1));
    let up = rest > 1 << (SPARE - 1) || (rest == 1 << (SPARE - 1) && kept & 1 == 1);
    // The hidden bit counts as one in the exponent, and so does what rounding carries into it.
    let magnitude = ((exponent as u128 - 1) << FRACTION) + kept + u128::from(up);
    Quad(sign | magnitude.min(INFINITY))
}

impl Quad {
    fn sign(self) -> u128 {
        self.0 & SIGN
    }
    fn magnitude(self) -> u128 {
        self.0 & !SIGN
    }
    fn field(self) -> i32 {
        (self.magnitude() >> FRACTION) as i32
    }
    fn is_nan(self) -> bool {
        self.magnitude() > INFINITY
    }
    fn is_infinite(self) -> bool {
        self.magnitude() == INFINITY
    }
    fn quiet(self) -> Quad {
        Quad(self.0 | QUIET)
    }

    /// Exponent field and significand with its hidden bit; of small numbers, which have none, the field is 1.
    fn parts(self) -> (i32, u128) {
        let fraction = self.0 & (HIDDEN - 1);
        match self.field() {
            0 => (1, fraction),
            field => (field, fraction | HIDDEN),
        }
    }

    pub fn negated(self) -> Quad {
        Quad(self.0 ^ SIGN)
    }

    pub fn is_less(self, other: Quad) -> bool {
        if self.is_nan() || other.is_nan() || (self.magnitude() | other.magnitude()) == 0 {
            return false;
        }
        match (self.sign() != 0, other.sign() != 0) {
            (false, false) => self.magnitude() < other.magnitude(),
            (true, true) => self.magnitude() > other.magnitude(),
            (negative, _) => negative,
        }
    }

    pub fn plus(self, other: Quad) -> Quad {
        if self.is_nan() || other.is_nan() {
            return if self.is_nan() { self.quiet() } else { other.quiet() };
        }
        if self.is_infinite() || other.is_infinite() {
            return match self.is_infinite() && other.is_infinite() && self != other {
                true => Quad(INFINITY | QUIET),
                false if self.is_infinite() => self,
                false => other,
            };
        }
        let (large, small) =
            if self.magnitude() >= other.magnitude() { (self, other) } else { (other, self) };
        let ((exponent, a), (lower, b)) = (large.parts(), small.parts());
        let (a, b) = (a << SPARE, sticky_shift(b << SPARE, (exponent - lower) as u32));
        if large.sign() == small.sign() {
            let sum = a + b;
            let carry = (sum >> (FRACTION + SPARE + 1)) as u32;
            return rounded(large.sign(), exponent + carry as i32, sticky_shift(sum, carry));
        }
        let difference = a - b;
        if difference == 0 {
            return Quad(0);
        }
        let free = difference.leading_zeros() - (127 - FRACTION - SPARE);
        let shift = free.min((exponent - 1) as u32);
        rounded(large.sign(), exponent - shift as i32, difference << shift)
    }

    pub fn times(self, other: Quad) -> Quad {
        if self.is_nan() || other.is_nan() {
            return if self.is_nan() { self.quiet() } else { other.quiet() };
        }
        let sign = self.sign() ^ other.sign();
        let zero = self.magnitude() == 0 || other.magnitude() == 0;
        if self.is_infinite() || other.is_infinite() {
            return Quad(if zero { INFINITY | QUIET } else { sign | INFINITY });
        }
        if zero {
            return Quad(sign);
        }
        let ((e, a), (f, b)) = (self.normal(), other.normal());
        let (high, low) = wide(a, b);
        // The product's leading one is bit 224 or 225; it goes to FRACTION + SPARE or one above.
        const DOWN: u32 = FRACTION - SPARE;
        let product = high << (128 - DOWN) | low >> DOWN | u128::from(low << (128 - DOWN) != 0);
        let carry = (product >> (FRACTION + SPARE + 1)) as u32;
        rounded(sign, e + f - BIAS + carry as i32, sticky_shift(product, carry))
    }

    /// As [`Quad::parts`], with the leading one in its place whatever the exponent becomes.
    fn normal(self) -> (i32, u128) {
        let (exponent, significand) = self.parts();
        let shift = significand.leading_zeros() - (127 - FRACTION);
        (exponent - shift as i32, significand << shift)
    }
}

/// The product of two numbers, upper half first.
fn wide(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (ah, al, bh, bl) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (low, mid, cross, high) = (al * bl, ah * bl, al * bh, ah * bh);
    let carried = (low >> 64) + (mid & LOW) + (cross & LOW);
    (high + (mid >> 64) + (cross >> 64) + (carried >> 64), carried << 64 | low & LOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Exact: a double's numbers are among a quad's.
    fn of(value: f64) -> Quad {
        let bits = u128::from(value.to_bits());
        let sign = bits >> 63 << 127;
        if value == 0.0 {
            return Quad(sign);
        }
        let fraction = (bits & ((1 << 52) - 1)) << 60;
        Quad(sign | ((bits >> 52 & 0x7ff) + 16383 - 1023) << FRACTION | fraction)
    }

    proptest! {
        /// Sums and products of whole numbers of 53 bits are exact, and so is their order.
        #[test]
        fn whole_numbers(a in -1i64 << 53..1 << 53, b in -1i64 << 53..1 << 53) {
            let exact = |n: i128| {
                let mut sum = Quad(0);
                for part in 0..5 {
                    let piece = ((n.unsigned_abs() >> (26 * part)) & 0x3ff_ffff) as f64;
                    sum = sum.plus(of(piece * (2.0f64).powi(26 * part)));
                }
                if n < 0 { sum.negated() } else { sum }
            };
            let (x, y) = (of(a as f64), of(b as f64));
            prop_assert_eq!(x.plus(y), exact(a as i128 + b as i128));
            prop_assert_eq!(x.times(y).magnitude(), exact(a as i128 * b as i128).magnitude());
            prop_assert_eq!(x.is_less(y), a < b);
        }
    }

    /// At the edges: the smallest, the largest, halfway, and what is no number.
    #[test]
    fn edges() {
        let (one, tiny, large) = (of(1.0), Quad(1), Quad(INFINITY - 1));
        let half_ulp = Quad(((BIAS - 113) as u128) << FRACTION);
        assert_eq!(one.plus(half_ulp), one);
        assert_eq!(one.plus(half_ulp).plus(Quad(half_ulp.0 + 1)), Quad(one.0 + 1));
        assert_eq!(Quad(one.0 + 1).plus(half_ulp), Quad(one.0 + 2));
        assert_eq!(tiny.plus(tiny), Quad(2));
        assert_eq!(Quad(HIDDEN - 1).plus(tiny), Quad(HIDDEN));
        assert_eq!(Quad(HIDDEN).plus(tiny.negated()), Quad(HIDDEN - 1));
        assert_eq!(tiny.times(of(0.5)), Quad(0));
        assert_eq!(Quad(3).times(of(0.5)), Quad(2));
        assert_eq!(Quad(HIDDEN).times(of(0.5)), Quad(HIDDEN >> 1));
        assert_eq!(large.plus(large), Quad(INFINITY));
        assert_eq!(large.times(of(-2.0)), Quad(SIGN | INFINITY));
        assert_eq!(Quad(INFINITY).plus(Quad(INFINITY | SIGN)).field(), SPECIAL);
        assert!(Quad(INFINITY).times(Quad(0)).is_nan() && Quad(INFINITY | 1).plus(one).is_nan());
        assert_eq!(one.plus(one.negated()), Quad(0));
        assert!(!Quad(0).is_less(Quad(SIGN)) && !Quad(SIGN).is_less(Quad(0)) && of(-1.0).is_less(tiny));
    }
}
