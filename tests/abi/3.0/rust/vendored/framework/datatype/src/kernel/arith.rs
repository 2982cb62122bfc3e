//! Sum, product, minimum, maximum.
//!
//! Integers wrap. The minimum and maximum of floats take the right operand unless the left one is
//! smaller (larger), which is what the vector instructions do; so a NaN on the right stays.

use super::apply::{Apply, Complex, Kernel, Max, Min, Prod, Sum, each, op};
use super::half::Half;
use super::quad::Quad;
use crate::desc::Base;

macro_rules! apply {
    ($op:ident, $t:ty, |$a:ident, $b:ident| $body:expr) => {
        impl Apply<$t> for $op {
            #[inline(always)]
            fn apply($a: $t, $b: $t) -> $t {
                $body
            }
        }
    };
}

macro_rules! integers {
    ($($t:ty)*) => { $(
        apply!(Sum, $t, |a, b| a.wrapping_add(b));
        apply!(Prod, $t, |a, b| a.wrapping_mul(b));
        apply!(Min, $t, |a, b| if a < b { a } else { b });
        apply!(Max, $t, |a, b| if a > b { a } else { b });
    )* };
}
integers!(i8 u8 i16 u16 i32 u32 i64 u64 i128);

macro_rules! floats {
    ($($t:ty)*) => { $(
        apply!(Sum, $t, |a, b| a + b);
        apply!(Prod, $t, |a, b| a * b);
        apply!(Min, $t, |a, b| if a < b { a } else { b });
        apply!(Max, $t, |a, b| if a > b { a } else { b });
    )* };
}
floats!(f32 f64);

apply!(Sum, Half, |a, b| Half::of(a.value() + b.value()));
apply!(Prod, Half, |a, b| Half::of(a.value() * b.value()));
apply!(Min, Half, |a, b| if a.value() < b.value() { a } else { b });
apply!(Max, Half, |a, b| if a.value() > b.value() { a } else { b });

apply!(Sum, Quad, |a, b| a.plus(b));
apply!(Prod, Quad, |a, b| a.times(b));
apply!(Min, Quad, |a, b| if a.is_less(b) { a } else { b });
apply!(Max, Quad, |a, b| if b.is_less(a) { a } else { b });

macro_rules! complex {
    ($($t:ty)*) => { $(
        apply!(Sum, Complex<$t>, |a, b| Complex { re: a.re + b.re, im: a.im + b.im });
        apply!(Prod, Complex<$t>, |a, b| Complex {
            re: a.re * b.re - a.im * b.im,
            im: a.re * b.im + a.im * b.re,
        });
    )* };
}
complex!(f32 f64);

impl Complex<Half> {
    fn single(self) -> Complex<f32> {
        Complex { re: self.re.value(), im: self.im.value() }
    }
    fn rounded(c: Complex<f32>) -> Complex<Half> {
        Complex { re: Half::of(c.re), im: Half::of(c.im) }
    }
}
apply!(Sum, Complex<Half>, |a, b| Complex::rounded(Sum::apply(a.single(), b.single())));
apply!(Prod, Complex<Half>, |a, b| Complex::rounded(Prod::apply(a.single(), b.single())));

apply!(Sum, Complex<Quad>, |a, b| Complex { re: a.re.plus(b.re), im: a.im.plus(b.im) });
apply!(Prod, Complex<Quad>, |a, b| Complex {
    re: a.re.times(b.re).plus(a.im.times(b.im).negated()),
    im: a.re.times(b.im).plus(a.im.times(b.re)),
});

fn ordered<T: Copy>(code: u32) -> Option<Kernel>
where
    Sum: Apply<T>,
    Prod: Apply<T>,
    Min: Apply<T>,
    Max: Apply<T>,
{
    match code {
        op::MIN => Some(each::<T, Min>),
        op::MAX => Some(each::<T, Max>),
        _ => unordered::<T>(code),
    }
}

fn unordered<T: Copy>(code: u32) -> Option<Kernel>
where
    Sum: Apply<T>,
    Prod: Apply<T>,
{
    match code {
        op::SUM => Some(each::<T, Sum>),
        op::PROD => Some(each::<T, Prod>),
        _ => None,
    }
}

pub(super) fn kernel(code: u32, base: Base) -> Option<Kernel> {
    match base {
        Base::I8 => ordered::<i8>(code),
        Base::U8 => ordered::<u8>(code),
        Base::I16 => ordered::<i16>(code),
        Base::U16 => ordered::<u16>(code),
        Base::I32 => ordered::<i32>(code),
        Base::U32 => ordered::<u32>(code),
        Base::I64 | Base::AINT => ordered::<i64>(code),
        Base::U64 => ordered::<u64>(code),
        Base::I128 => ordered::<i128>(code),
        Base::F16 => ordered::<Half>(code),
        Base::F32 => ordered::<f32>(code),
        Base::F64 => ordered::<f64>(code),
        Base::F128 => ordered::<Quad>(code),
        Base::C16 => unordered::<Complex<Half>>(code),
        Base::C32 => unordered::<Complex<f32>>(code),
        Base::C64 => unordered::<Complex<f64>>(code),
        Base::C128 => unordered::<Complex<Quad>>(code),
        #[cfg(target_arch = "x86_64")]
        Base::LONG_DOUBLE => ordered::<super::long_double::Extended>(code),
        #[cfg(target_arch = "x86_64")]
        Base::C_LONG_DOUBLE => unordered::<Complex<super::long_double::Extended>>(code),
        _ => None,
    }
}
