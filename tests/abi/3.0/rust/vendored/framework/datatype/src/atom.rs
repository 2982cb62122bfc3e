//! A basic element and its conversion between native form and external32.

use crate::desc::Base;

/// How the bytes of a number change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    /// Their order only.
    Order,
    /// Order and, where the sizes differ, width, with the sign extended.
    Signed,
    /// The same without a sign.
    Unsigned,
    /// x87's extended format to binary128.
    #[cfg(target_arch = "x86_64")]
    Extended,
}

/// A basic element, natively and in external32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Atom {
    change: Change,
    /// Numbers in the element: 2 for complex.
    parts: u8,
    native: u8,
    external: u8,
}

impl Atom {
    /// MPI_LONG and MPI_UNSIGNED_LONG: 8 bytes here, 4 there.
    pub const LONG: Atom = Atom { change: Change::Signed, parts: 1, native: 8, external: 4 };
    pub const UNSIGNED_LONG: Atom = Atom { change: Change::Unsigned, parts: 1, native: 8, external: 4 };

    /// A number of `size` bytes that only changes the order of its bytes.
    pub const fn plain(size: u8, parts: u8) -> Atom {
        Atom { change: Change::Order, parts, native: size, external: size }
    }

    /// Of a basic type that is no pair; `None` for MIXED and pairs.
    pub const fn of(base: Base) -> Option<Atom> {
        #[cfg(target_arch = "x86_64")]
        const LONG_DOUBLE: Change = Change::Extended;
        #[cfg(not(target_arch = "x86_64"))]
        const LONG_DOUBLE: Change = Change::Order;
        Some(match base {
            Base::WCHAR => Atom { change: Change::Unsigned, parts: 1, native: 4, external: 2 },
            Base::LONG_DOUBLE => Atom { change: LONG_DOUBLE, ..Atom::plain(16, 1) },
            Base::C_LONG_DOUBLE => Atom { change: LONG_DOUBLE, ..Atom::plain(16, 2) },
            Base::C16 => Atom::plain(2, 2),
            Base::C32 => Atom::plain(4, 2),
            Base::C64 => Atom::plain(8, 2),
            Base::C128 => Atom::plain(16, 2),
            other => match other.layout() {
                Some(basic) if basic.elements == 1 => Atom::plain(basic.packed as u8, 1),
                _ => return None,
            },
        })
    }

    pub const fn bytes(&self) -> u64 {
        self.native as u64 * self.parts as u64
    }
    pub const fn external_bytes(&self) -> u64 {
        self.external as u64 * self.parts as u64
    }

    /// Converts one element.
    pub(crate) fn encode(&self, native: &[u8], external: &mut [u8]) -> Result<(), Misfit> {
        let (from, to) = (self.native as usize, self.external as usize);
        for (n, e) in native.chunks_exact(from).zip(external.chunks_exact_mut(to)) {
            match self.change {
                #[cfg(target_arch = "x86_64")]
                Change::Extended => e.copy_from_slice(&extended::to_quad(n).to_be_bytes()),
                Change::Signed | Change::Unsigned if from != to => {
                    let signed = self.change == Change::Signed;
                    let value = integer(n.iter().copied(), signed);
                    if integer(n.iter().copied().take(to), signed) != value {
                        return Err(Misfit { value, bytes: self.external });
                    }
                    e.iter_mut().rev().zip(n).for_each(|(e, n)| *e = *n);
                }
                _ => e.iter_mut().rev().zip(n).for_each(|(e, n)| *e = *n),
            }
        }
        Ok(())
    }

    pub(crate) fn decode(&self, external: &[u8], native: &mut [u8]) {
        let (from, to) = (self.external as usize, self.native as usize);
        for (e, n) in external.chunks_exact(from).zip(native.chunks_exact_mut(to)) {
            match self.change {
                #[cfg(target_arch = "x86_64")]
                Change::Extended => {
                    let mut quad = [0; 16];
                    quad.copy_from_slice(e);
                    n.copy_from_slice(&extended::from_quad(u128::from_be_bytes(quad)));
                }
                _ => {
                    let negative = self.change == Change::Signed && e[0] & 0x80 != 0;
                    n.fill(if negative { 0xff } else { 0 });
                    n.iter_mut().zip(e.iter().rev()).for_each(|(n, e)| *n = *e);
                }
            }
        }
    }
}

/// A number of little-endian bytes.
fn integer(bytes: impl DoubleEndedIterator<Item = u8>, signed: bool) -> i128 {
    let mut value = None;
    for byte in bytes.rev() {
        let first = if signed { byte as i8 as i128 } else { byte as i128 };
        value = Some(value.map_or(first, |v: i128| v << 8 | byte as i128));
    }
    value.unwrap_or(0)
}

/// A value that external32 has no room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Misfit {
    pub value: i128,
    /// How many bytes there are.
    pub bytes: u8,
}

/// x87's format: one bit of sign, 15 of exponent, 64 of mantissa with its leading one written out.
#[cfg(target_arch = "x86_64")]
mod extended {
    const EXPONENT: u16 = 0x7fff;
    const ONE: u64 = 1 << 63;

    /// Every number of the format is one in binary128, too.
    pub fn to_quad(bytes: &[u8]) -> u128 {
        let mut mantissa = [0; 8];
        mantissa.copy_from_slice(&bytes[..8]);
        let mantissa = u64::from_le_bytes(mantissa);
        let head = u16::from_le_bytes([bytes[8], bytes[9]]);
        let (sign, mut exponent) = (head & !EXPONENT, head & EXPONENT);
        let mut fraction = (mantissa & !ONE) as u128;
        match (exponent, mantissa & ONE != 0) {
            // The leading one may be written where the exponent says there is none.
            (0, true) => exponent = 1,
            // It may not be missing elsewhere; the processor takes such bytes for no number.
            (1..=0x7ffe, false) => (exponent, fraction) = (EXPONENT, 1 << 62),
            _ => {}
        }
        ((sign | exponent) as u128) << 112 | fraction << 49
    }

    /// Rounds to nearest, ties to even.
    pub fn from_quad(quad: u128) -> [u8; 16] {
        let head = (quad >> 112) as u16;
        let (sign, mut exponent) = (head & !EXPONENT, head & EXPONENT);
        let fraction = quad & ((1 << 112) - 1);
        let mut mantissa = (fraction >> 49) as u64;
        let rest = fraction & ((1 << 49) - 1);
        if exponent == EXPONENT {
            // A NaN stays one, quiet, whatever bits are lost.
            mantissa |= ONE | if fraction != 0 { 1 << 62 } else { 0 };
        } else {
            let half = 1u128 << 48;
            mantissa += (rest > half || rest == half && mantissa & 1 != 0) as u64;
            if exponent != 0 {
                // Rounding may have carried to the next power of two, perhaps to infinity.
                if mantissa & ONE != 0 {
                    exponent += 1;
                    mantissa = 0;
                }
                mantissa |= ONE;
            } else if mantissa & ONE != 0 {
                exponent = 1;
            }
        }
        let mut out = [0; 16];
        out[..8].copy_from_slice(&mantissa.to_le_bytes());
        out[8..10].copy_from_slice(&(sign | exponent).to_le_bytes());
        out
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn there_and_back(atom: Atom, native: &[u8], external: &[u8]) {
        let mut e = vec![0xee; external.len()];
        assert_eq!(atom.encode(native, &mut e), Ok(()));
        assert_eq!(e, external);
        let mut n = vec![0xee; native.len()];
        atom.decode(external, &mut n);
        assert_eq!(n, native);
    }

    #[test]
    fn numbers_are_big_endian() {
        there_and_back(Atom::of(Base::I32).unwrap(), &(-2i32).to_le_bytes(), &(-2i32).to_be_bytes());
        there_and_back(Atom::of(Base::F64).unwrap(), &1.5f64.to_le_bytes(), &1.5f64.to_be_bytes());
        there_and_back(Atom::of(Base::C16).unwrap(), &[1, 2, 3, 4], &[2, 1, 4, 3]);
        there_and_back(Atom::of(Base::WCHAR).unwrap(), &0x20acu32.to_le_bytes(), &[0x20, 0xac]);
        there_and_back(Atom::LONG, &(-3i64).to_le_bytes(), &(-3i32).to_be_bytes());
        there_and_back(Atom::UNSIGNED_LONG, &0xffff_fffdu64.to_le_bytes(), &0xffff_fffdu32.to_be_bytes());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let misfit = |value| Err(Misfit { value, bytes: 4 });
        let mut out = [0; 4];
        assert_eq!(Atom::LONG.encode(&(1i64 << 31).to_le_bytes(), &mut out), misfit(1 << 31));
        assert_eq!(Atom::LONG.encode(&(-1i64 << 40).to_le_bytes(), &mut out), misfit(-1 << 40));
        assert_eq!(Atom::UNSIGNED_LONG.encode(&u64::MAX.to_le_bytes(), &mut out), misfit(u64::MAX as i128));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn long_doubles_are_binary128() {
        let x87 = |head: u16, mantissa: u64| {
            let mut b = [0; 16];
            b[..8].copy_from_slice(&mantissa.to_le_bytes());
            b[8..10].copy_from_slice(&head.to_le_bytes());
            b
        };
        let atom = Atom::of(Base::LONG_DOUBLE).unwrap();
        let one = 1u64 << 63;
        for (head, mantissa, quad) in [
            (0, 0, 0),
            (0x8000, 0, 0x8000u128 << 112),
            (0x3fff, one, 0x3fffu128 << 112),                      // 1
            (0xc000, one | 1 << 61, 0xc000u128 << 112 | 1 << 110), // -2.5
            (0x3fff, one | 1, 0x3fffu128 << 112 | 1 << 49),        // 1 and the last bit
            (0, 1, 1 << 49),                                       // the smallest
            (0x7fff, one, 0x7fffu128 << 112),                      // infinity
            (0x7fff, one | 1 << 62, 0x7fffu128 << 112 | 1 << 111), // NaN
        ] {
            there_and_back(atom, &x87(head, mantissa), &quad.to_be_bytes());
        }
        // Half of the last bit goes to the even neighbour, more goes up, up to infinity.
        let half = 1u128 << 48;
        assert_eq!(extended::from_quad(0x3fffu128 << 112 | half), x87(0x3fff, one));
        assert_eq!(extended::from_quad(0x3fffu128 << 112 | half | 1), x87(0x3fff, one | 1));
        assert_eq!(extended::from_quad((0x3fffu128 << 112) + 3 * half), x87(0x3fff, one | 2));
        assert_eq!(extended::from_quad((0x7fffu128 << 112) - 1), x87(0x7fff, one));
        assert_eq!(extended::from_quad((1u128 << 112) - 1), x87(1, one));
    }
}
