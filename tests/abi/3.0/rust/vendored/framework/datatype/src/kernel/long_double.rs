//! long double of x86-64: x87's 80 bits in 16 bytes, for which Rust has no type.
//!
//! Each operation is a few x87 instructions on values in memory. The register stack is empty before
//! and after, and all of it is declared as used. The six bytes behind the value are no data; they
//! are written as zero.

use super::apply::{Apply, Complex, Max, Min, Prod, Sum};
use core::arch::asm;
use core::cmp::Ordering;

#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct Extended([u8; 16]);

macro_rules! x87 {
    ($a:expr, $b:expr, $instruction:literal) => {{
        let (a, b) = ($a, $b);
        let mut result = Extended([0; 16]);
        // SAFETY: reads two values of ten bytes, writes one, all on our stack; the x87 registers are
        // declared, and no instruction traps (Linux starts programs with exceptions masked).
        unsafe {
            asm!(
                "fld tbyte ptr [{a}]",
                "fld tbyte ptr [{b}]",
                $instruction,
                "fstp tbyte ptr [{r}]",
                a = in(reg) &a, b = in(reg) &b, r = in(reg) &mut result,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        result
    }};
}

fn add(a: Extended, b: Extended) -> Extended {
    x87!(a, b, "faddp st(1), st")
}
fn sub(a: Extended, b: Extended) -> Extended {
    x87!(a, b, "fsubp st(1), st")
}
fn mul(a: Extended, b: Extended) -> Extended {
    x87!(a, b, "fmulp st(1), st")
}

impl PartialEq for Extended {
    fn eq(&self, other: &Extended) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Extended {
    fn partial_cmp(&self, other: &Extended) -> Option<Ordering> {
        let (above, below, unordered): (u8, u8, u8);
        // SAFETY: reads two values of ten bytes; the x87 registers are declared.
        unsafe {
            asm!(
                "fld tbyte ptr [{b}]",
                "fld tbyte ptr [{a}]",
                "fucomip st, st(1)",
                "fstp st(0)",
                "seta {above}",
                "setb {below}",
                "setp {unordered}",
                a = in(reg) self, b = in(reg) other,
                above = lateout(reg_byte) above, below = lateout(reg_byte) below,
                unordered = lateout(reg_byte) unordered,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack, readonly),
            );
        }
        match (unordered, above, below) {
            (1, _, _) => None,
            (_, 1, _) => Some(Ordering::Greater),
            (_, _, 1) => Some(Ordering::Less),
            _ => Some(Ordering::Equal),
        }
    }
}

impl Apply<Extended> for Sum {
    fn apply(a: Extended, b: Extended) -> Extended {
        add(a, b)
    }
}
impl Apply<Extended> for Prod {
    fn apply(a: Extended, b: Extended) -> Extended {
        mul(a, b)
    }
}
impl Apply<Extended> for Min {
    fn apply(a: Extended, b: Extended) -> Extended {
        if a < b { a } else { b }
    }
}
impl Apply<Extended> for Max {
    fn apply(a: Extended, b: Extended) -> Extended {
        if a > b { a } else { b }
    }
}
impl Apply<Complex<Extended>> for Sum {
    fn apply(a: Complex<Extended>, b: Complex<Extended>) -> Complex<Extended> {
        Complex { re: add(a.re, b.re), im: add(a.im, b.im) }
    }
}
impl Apply<Complex<Extended>> for Prod {
    fn apply(a: Complex<Extended>, b: Complex<Extended>) -> Complex<Extended> {
        Complex { re: sub(mul(a.re, b.re), mul(a.im, b.im)), im: add(mul(a.re, b.im), mul(a.im, b.re)) }
    }
}
