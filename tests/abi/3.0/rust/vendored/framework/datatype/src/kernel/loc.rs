//! Minimum and maximum with their place: the smaller index where values are equal, and its pair as a
//! whole otherwise (MPI 5.0 §6.9.4).

use super::apply::{Form, Kernel};
use crate::desc::Base;

/// The loop for values of type `V` at the start of an element, indices of type `I` at byte `AT`, and
/// elements `STEP` bytes apart.
///
/// # Safety
/// As [`super::reduce`], for `n` elements of that layout.
unsafe fn each<V, I, const AT: usize, const STEP: usize, const MIN: bool>(
    input: *const u8,
    inout: *mut u8,
    n: usize,
) where
    V: Copy + PartialOrd,
    I: Copy + PartialOrd,
{
    for i in 0..n {
        // SAFETY: the caller's promise; nothing is said about alignment.
        unsafe {
            let (left, right) = (input.add(i * STEP), inout.add(i * STEP));
            let (a, b) = (left.cast::<V>().read_unaligned(), right.cast::<V>().read_unaligned());
            let (from, to) = (left.add(AT).cast::<I>(), right.add(AT).cast::<I>());
            let index = from.read_unaligned();
            let better = if MIN { a < b } else { a > b };
            if better {
                right.cast::<V>().write_unaligned(a);
            }
            if better || a == b && index < to.read_unaligned() {
                to.write_unaligned(index);
            }
        }
    }
}

/// `$step` in C's layout, `$at`; then the same without padding.
macro_rules! pair {
    ($min:expr, $form:expr, $v:ty, $i:ty, $at:expr, $step:expr) => {{
        const V: usize = size_of::<$v>();
        const PACKED: usize = V + size_of::<$i>();
        match ($min, $form) {
            (true, Form::Native) => each::<$v, $i, $at, $step, true>,
            (false, Form::Native) => each::<$v, $i, $at, $step, false>,
            (true, Form::Packed) => each::<$v, $i, V, PACKED, true>,
            (false, Form::Packed) => each::<$v, $i, V, PACKED, false>,
        }
    }};
}

pub(super) fn kernel(min: bool, base: Base, form: Form) -> Option<Kernel> {
    Some(match base {
        Base::FLOAT_INT => pair!(min, form, f32, i32, 4, 8),
        Base::DOUBLE_INT => pair!(min, form, f64, i32, 8, 16),
        Base::LONG_INT => pair!(min, form, i64, i32, 8, 16),
        Base::TWO_INT => pair!(min, form, i32, i32, 4, 8),
        Base::SHORT_INT => pair!(min, form, i16, i32, 4, 8),
        Base::TWO_REAL => pair!(min, form, f32, f32, 4, 8),
        Base::TWO_DOUBLE => pair!(min, form, f64, f64, 8, 16),
        #[cfg(target_arch = "x86_64")]
        Base::LONG_DOUBLE_INT => pair!(min, form, super::long_double::Extended, i32, 16, 32),
        _ => return None,
    })
}
