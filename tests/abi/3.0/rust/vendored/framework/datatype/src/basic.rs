//! Sizes and layouts of the predefined types.

use crate::desc::{Base, Run, TypeDesc, flag};
use oxmpi_mca::SliceRef;
use oxmpi_mca::sync::AtomicU32;

/// Layout of a basic type: what [`TypeDesc::basic`] is made of.
#[derive(Clone, Copy, Debug)]
pub struct Basic {
    /// Bytes of data (MPI_Type_size), without padding.
    pub packed: u64,
    /// Bytes from one element to the next.
    pub extent: u64,
    /// The alignment that C demands of an element.
    pub align: u64,
    /// 2 for pairs, 1 for all others.
    pub elements: u64,
    runs: &'static [Run],
}

const fn one(len: u64) -> Run {
    Run { disp: 0, len, count: 1, stride: len as i64 }
}

/// A type without padding.
macro_rules! plain {
    ($size:expr, $align:expr, $elements:expr) => {
        Basic {
            packed: $size,
            extent: $size,
            align: $align,
            elements: $elements,
            runs: const { &[one($size)] },
        }
    };
}

/// A value of `$value` bytes followed by an int, padded behind.
macro_rules! padded_pair {
    ($value:expr, $extent:expr, $align:expr) => {
        Basic {
            packed: $value + 4,
            extent: $extent,
            align: $align,
            elements: 2,
            runs: const { &[one($value + 4)] },
        }
    };
}

impl Base {
    /// The two basic types of a pair.
    pub const fn pair(self) -> Option<(Base, Base)> {
        Some(match self {
            Base::FLOAT_INT => (Base::F32, Base::I32),
            Base::DOUBLE_INT => (Base::F64, Base::I32),
            Base::LONG_INT => (Base::I64, Base::I32),
            Base::TWO_INT => (Base::I32, Base::I32),
            Base::SHORT_INT => (Base::I16, Base::I32),
            Base::LONG_DOUBLE_INT => (Base::LONG_DOUBLE, Base::I32),
            Base::TWO_REAL => (Base::F32, Base::F32),
            Base::TWO_DOUBLE => (Base::F64, Base::F64),
            _ => return None,
        })
    }

    /// Layout of one element; `None` for [`Base::MIXED`] and numbers that are no type.
    pub const fn layout(self) -> Option<Basic> {
        Some(match self {
            Base::BYTE | Base::I8 | Base::U8 | Base::BOOL | Base::CHAR | Base::LOGICAL1 | Base::PACKED => {
                plain!(1, 1, 1)
            }
            Base::I16 | Base::U16 | Base::LOGICAL2 | Base::F16 => plain!(2, 2, 1),
            Base::I32 | Base::U32 | Base::F32 | Base::WCHAR | Base::LOGICAL4 => plain!(4, 4, 1),
            Base::I64 | Base::U64 | Base::F64 | Base::LOGICAL8 | Base::AINT => plain!(8, 8, 1),
            Base::LONG_DOUBLE | Base::I128 | Base::LOGICAL16 | Base::F128 => plain!(16, 16, 1),
            Base::C16 => plain!(4, 2, 1),
            Base::C32 => plain!(8, 4, 1),
            Base::C64 => plain!(16, 8, 1),
            Base::C_LONG_DOUBLE | Base::C128 => plain!(32, 16, 1),
            Base::FLOAT_INT | Base::TWO_INT | Base::TWO_REAL => plain!(8, 4, 2),
            Base::TWO_DOUBLE => plain!(16, 8, 2),
            Base::DOUBLE_INT | Base::LONG_INT => padded_pair!(8, 16, 8),
            Base::LONG_DOUBLE_INT => padded_pair!(16, 32, 16),
            Base::SHORT_INT => Basic {
                packed: 6,
                extent: 8,
                align: 4,
                elements: 2,
                // The int is aligned, so two bytes behind the short are no data.
                runs: const {
                    &[
                        Run { disp: 0, len: 2, count: 1, stride: 2 },
                        Run { disp: 4, len: 4, count: 1, stride: 4 },
                    ]
                },
            },
            _ => return None,
        })
    }
}

impl Basic {
    const fn true_extent(&self) -> i64 {
        let last = self.runs[self.runs.len() - 1];
        last.disp + last.len as i64
    }
}

macro_rules! describe {
    ($base:expr, $b:expr) => {
        TypeDesc {
            size: core::mem::size_of::<TypeDesc>() as u32,
            flags: flag::PREDEFINED
                | flag::COMMITTED
                | flag::of_align($b.align)
                | if $b.packed == $b.extent { flag::CONTIGUOUS } else { 0 },
            packed: $b.packed,
            lb: 0,
            extent: $b.extent as i64,
            true_lb: 0,
            true_extent: $b.true_extent(),
            base: $base,
            refs: AtomicU32::new(1),
            elements: $b.elements,
            runs: SliceRef::new($b.runs),
            free: None,
            nest: SliceRef::new(&[]),
            top: 0,
            places: SliceRef::new(&[]),
        }
    };
}

impl TypeDesc {
    /// Descriptor of a predefined type. The caller keeps it where it outlives every use (a static or
    /// a table of its own: this crate has none) and makes references with [`crate::TypeRef::retain`].
    /// `None` where `base` is no basic type.
    #[cfg(not(loom))]
    pub const fn basic(base: Base) -> Option<TypeDesc> {
        match base.layout() {
            Some(b) => Some(describe!(base, b)),
            None => None,
        }
    }

    /// As above; loom's atomics cannot be made in a constant.
    #[cfg(loom)]
    pub fn basic(base: Base) -> Option<TypeDesc> {
        base.layout().map(|b| describe!(base, b))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_a_type_or_none() {
        let mut known = 0;
        for n in 0..64 {
            let Some(d) = TypeDesc::basic(Base(n)) else { continue };
            known += 1;
            let runs = d.runs();
            assert_eq!(runs.iter().map(|r| r.len * r.count).sum::<u64>(), d.packed, "base {n}");
            assert_eq!(d.is_contiguous(), d.packed == d.extent as u64);
            assert!(d.true_extent <= d.extent && d.true_extent as u64 >= d.packed);
            assert_eq!(d.extent as u64 % Base(n).layout().map_or(0, |b| b.align), 0);
        }
        assert_eq!(known, 38, "MIXED is none, all others are");
        assert!(TypeDesc::basic(Base::MIXED).is_none());
    }

    #[test]
    fn layouts_are_the_compilers() {
        #[repr(C)]
        struct Pair<A, B>(A, B);
        fn check<A, B>(base: Base) {
            let b = base.layout().unwrap();
            assert_eq!(b.extent as usize, size_of::<Pair<A, B>>());
            assert_eq!(b.align as usize, align_of::<Pair<A, B>>());
            assert_eq!(b.packed as usize, size_of::<A>() + size_of::<B>());
            let last = *b.runs.last().unwrap();
            let offset = core::mem::offset_of!(Pair<A, B>, 1);
            assert_eq!(last.disp as usize + last.len as usize, offset + size_of::<B>());
        }
        #[repr(C, align(16))]
        struct LongDouble([u8; 16]);
        check::<f32, i32>(Base::FLOAT_INT);
        check::<f64, i32>(Base::DOUBLE_INT);
        check::<i64, i32>(Base::LONG_INT);
        check::<i32, i32>(Base::TWO_INT);
        check::<i16, i32>(Base::SHORT_INT);
        check::<LongDouble, i32>(Base::LONG_DOUBLE_INT);
        check::<f32, f32>(Base::TWO_REAL);
        check::<f64, f64>(Base::TWO_DOUBLE);
    }
}
