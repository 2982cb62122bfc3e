//! Bitwise and logical operations. Logical results of integers are 1 and 0, whatever the operands were. Fortran compilers have different values for `.TRUE.`, 1 and -1
//! among them, and 0 for `.FALSE.`: the result of LOGICALs is one of the operands as it came, or 0.

use super::apply::{Apply, Kernel, each, op};
use crate::desc::Base;

struct BitAnd;
struct BitOr;
struct BitXor;
struct LogicalAnd;
struct LogicalOr;
struct LogicalXor;
struct FortranAnd;
struct FortranOr;
struct FortranXor;

macro_rules! operations {
    ($($t:ty)*) => { $( operations!(@ $t,
        BitAnd |a, b| a & b;
        BitOr |a, b| a | b;
        BitXor |a, b| a ^ b;
        LogicalAnd |a, b| ((a != 0) & (b != 0)) as $t;
        LogicalOr |a, b| ((a != 0) | (b != 0)) as $t;
        LogicalXor |a, b| ((a != 0) ^ (b != 0)) as $t;
        FortranAnd |a, b| if a == 0 { a } else { b };
        FortranOr |a, b| if a == 0 { b } else { a };
        FortranXor |a, b| if a == 0 { b } else if b == 0 { a } else { 0 };
    ); )* };
    (@ $t:ty, $($op:ident |$a:ident, $b:ident| $body:expr;)*) => { $(
        impl Apply<$t> for $op {
            #[inline(always)]
            fn apply($a: $t, $b: $t) -> $t {
                $body
            }
        }
    )* };
}
operations!(u8 u16 u32 u64 u128);

/// Integers, and bytes (no sign matters to bits).
pub(super) fn bitwise(code: u32, base: Base) -> Option<Kernel> {
    macro_rules! kernels {
        ($t:ty) => {
            match code {
                op::BAND => each::<$t, BitAnd>,
                op::BOR => each::<$t, BitOr>,
                _ => each::<$t, BitXor>,
            }
        };
    }
    Some(match base {
        Base::I8 | Base::U8 | Base::BYTE => kernels!(u8),
        Base::I16 | Base::U16 => kernels!(u16),
        Base::I32 | Base::U32 => kernels!(u32),
        Base::I64 | Base::U64 | Base::AINT => kernels!(u64),
        Base::I128 => kernels!(u128),
        _ => return None,
    })
}

/// Integers and truth values of C, C++ and Fortran; and MPI_AINT and its like, which the standard's table leaves
/// out here and other libraries do not.
pub(super) fn logical(code: u32, base: Base) -> Option<Kernel> {
    macro_rules! kernels {
        ($t:ty) => {
            match code {
                op::LAND => each::<$t, LogicalAnd>,
                op::LOR => each::<$t, LogicalOr>,
                _ => each::<$t, LogicalXor>,
            }
        };
    }
    Some(match base {
        Base::I8 | Base::U8 | Base::BOOL => kernels!(u8),
        Base::I16 | Base::U16 => kernels!(u16),
        Base::I32 | Base::U32 => kernels!(u32),
        Base::I64 | Base::U64 | Base::AINT => kernels!(u64),
        Base::I128 => kernels!(u128),
        _ => return of_fortran(code, base),
    })
}

fn of_fortran(code: u32, base: Base) -> Option<Kernel> {
    macro_rules! kernels {
        ($t:ty) => {
            match code {
                op::LAND => each::<$t, FortranAnd>,
                op::LOR => each::<$t, FortranOr>,
                _ => each::<$t, FortranXor>,
            }
        };
    }
    Some(match base {
        Base::LOGICAL1 => kernels!(u8),
        Base::LOGICAL2 => kernels!(u16),
        Base::LOGICAL4 => kernels!(u32),
        Base::LOGICAL8 => kernels!(u64),
        Base::LOGICAL16 => kernels!(u128),
        _ => return None,
    })
}
