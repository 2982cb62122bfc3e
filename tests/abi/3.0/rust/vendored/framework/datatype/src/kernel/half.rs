//! IEEE binary16, computed in single precision.
//!
//! Single precision has more than twice its digits and two, so rounding a sum or product twice gives
//! what rounding it once would.

/// A binary16 as its bits.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct Half(pub u16);

impl Half {
    pub fn value(self) -> f32 {
        let sign = (self.0 as u32 & 0x8000) << 16;
        let (exponent, fraction) = (self.0 >> 10 & 0x1f, self.0 as u32 & 0x3ff);
        let magnitude = match exponent {
            // Subnormal: a multiple of 2^-24, exact in single precision.
            0 => (fraction as f32 * f32::from_bits((127 - 24) << 23)).to_bits(),
            0x1f => 0xff << 23 | fraction << 13,
            e => (e as u32 + 127 - 15) << 23 | fraction << 13,
        };
        f32::from_bits(sign | magnitude)
    }

    /// Rounds to nearest, ties to even.
    pub fn of(value: f32) -> Half {
        let bits = value.to_bits();
        let sign = (bits >> 16) as u16 & 0x8000;
        let magnitude = bits & 0x7fff_ffff;
        if magnitude > 0xff << 23 {
            // Keeps the front of the payload and stays a NaN.
            return Half(sign | 0x7e00 | (bits >> 13) as u16 & 0x3ff);
        }
        let half = if magnitude < (127 - 14) << 23 {
            // Subnormal or zero: how many multiples of 2^-24. Adding 0.5 (ulp 2^-24) rounds.
            (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits()
        } else {
            let even = magnitude >> 13 & 1;
            let rounded = magnitude - ((127 - 15) << 23) + 0xfff + even;
            (rounded >> 13).min(0x1f << 10)
        };
        Half(sign | half as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::Half;

    #[test]
    fn every_half_is_its_value() {
        for bits in 0..=u16::MAX {
            let (e, f) = ((bits >> 10 & 0x1f) as i32, (bits & 0x3ff) as f64);
            let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
            let value = Half(bits).value();
            match e {
                0x1f if f != 0.0 => assert!(value.is_nan()),
                0x1f => assert_eq!(value as f64, sign * f64::INFINITY),
                0 => assert_eq!(value as f64, sign * f * 2f64.powi(-24)),
                _ => assert_eq!(value as f64, sign * (1.0 + f / 1024.0) * 2f64.powi(e - 15)),
            }
            let back = Half::of(value);
            if value.is_nan() {
                assert!(back.value().is_nan());
            } else {
                assert_eq!(back.0, bits);
            }
        }
    }

    #[test]
    fn rounds_to_the_nearest_even_one() {
        for bits in 0..0x7bffu16 {
            let (low, high) = (Half(bits).value(), Half(bits + 1).value());
            let middle = (low + high) / 2.0;
            assert_eq!(Half::of(middle).0, bits + (bits & 1), "tie above {low}");
            assert_eq!(Half::of(f32::from_bits(middle.to_bits() - 1)).0, bits);
            assert_eq!(Half::of(f32::from_bits(middle.to_bits() + 1)).0, bits + 1);
        }
        assert_eq!(Half::of(65519.99).0, 0x7bff);
        assert_eq!(Half::of(65520.0).0, 0x7c00);
        assert_eq!(Half::of(-1e30).0, 0xfc00);
    }
}
