//! The predefined datatypes: a table indexed by the handle, so that MPI_BYTE or MPI_INT on the path
//! of a message costs a subtraction, a comparison and an address.

use crate::constants::*;
use core::cell::UnsafeCell;
use core::sync::atomic::AtomicU32;
use oxmpi_datatype::external::Atom;
use oxmpi_datatype::{Base, Signature, TypeDesc, flag};
use oxmpi_mca::SliceRef;

/// First handle of the table, and its length.
pub const FIRST: usize = MPI_DATATYPE_NULL;
pub const LEN: usize = 256;

/// Stands where no type is: not committed, so every use is refused.
const fn none() -> TypeDesc {
    TypeDesc {
        size: size_of::<TypeDesc>() as u32,
        flags: flag::PREDEFINED,
        packed: 0,
        lb: 0,
        extent: 0,
        true_lb: 0,
        true_extent: 0,
        base: Base::MIXED,
        refs: AtomicU32::new(1),
        elements: 0,
        runs: SliceRef::new(&[]),
        free: None,
        nest: SliceRef::new(&[]),
        top: 0,
        places: SliceRef::new(&[]),
    }
}

/// The descriptors, by handle. They are what is written below but where the program has told before MPI begins that its Fortran compiler's types have other
/// sizes ([`replace`]).
struct Table(UnsafeCell<[TypeDesc; LEN]>);

// SAFETY: it is written by `replace` alone, whose caller sees to it that no thread reads; a descriptor itself may be shared.
unsafe impl Sync for Table {}

macro_rules! predefined {
    ($($name:ident = $base:ident,)*) => {
        static DESCS: Table = Table(UnsafeCell::new({
            let mut all = [const { none() }; LEN];
            $(if let Some(desc) = TypeDesc::basic(Base::$base) { all[$name - FIRST] = desc; })*
            all
        }));
        static NAMES: &[(usize, &str)] = &[
            (MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL"),
            $(($name, stringify!($name)),)*
        ];
    };
}

// Of two names for one type, the one that MPI 5.0 §3.2.2 calls it by; the other is its synonym.
predefined! {
    MPI_BYTE = BYTE, MPI_PACKED = PACKED,
    MPI_CHAR = C_CHAR, MPI_WCHAR = WCHAR, MPI_C_BOOL = BOOL, MPI_CXX_BOOL = BOOL,
    MPI_SIGNED_CHAR = I8, MPI_UNSIGNED_CHAR = U8,
    MPI_SHORT = I16, MPI_UNSIGNED_SHORT = U16,
    MPI_INT = I32, MPI_UNSIGNED = U32,
    MPI_LONG = I64, MPI_UNSIGNED_LONG = U64,
    MPI_LONG_LONG_INT = I64, MPI_UNSIGNED_LONG_LONG = U64,
    MPI_INT8_T = I8, MPI_UINT8_T = U8, MPI_INT16_T = I16, MPI_UINT16_T = U16,
    MPI_INT32_T = I32, MPI_UINT32_T = U32, MPI_INT64_T = I64, MPI_UINT64_T = U64,
    MPI_AINT = AINT, MPI_COUNT = AINT, MPI_OFFSET = AINT,
    MPI_FLOAT = F32, MPI_DOUBLE = F64, MPI_LONG_DOUBLE = LONG_DOUBLE,
    MPI_C_COMPLEX = C32, MPI_C_DOUBLE_COMPLEX = C64, MPI_C_LONG_DOUBLE_COMPLEX = C_LONG_DOUBLE,
    MPI_CXX_FLOAT_COMPLEX = C32, MPI_CXX_DOUBLE_COMPLEX = C64, MPI_CXX_LONG_DOUBLE_COMPLEX = C_LONG_DOUBLE,
    MPI_FLOAT_INT = FLOAT_INT, MPI_DOUBLE_INT = DOUBLE_INT, MPI_LONG_INT = LONG_INT, MPI_2INT = TWO_INT,
    MPI_SHORT_INT = SHORT_INT, MPI_LONG_DOUBLE_INT = LONG_DOUBLE_INT,
    MPI_CHARACTER = CHAR, MPI_LOGICAL = LOGICAL4, MPI_INTEGER = I32, MPI_REAL = F32,
    MPI_DOUBLE_PRECISION = F64, MPI_COMPLEX = C32, MPI_DOUBLE_COMPLEX = C64,
    MPI_2REAL = TWO_REAL, MPI_2DOUBLE_PRECISION = TWO_DOUBLE, MPI_2INTEGER = TWO_INT,
    MPI_LOGICAL1 = LOGICAL1, MPI_LOGICAL2 = LOGICAL2, MPI_LOGICAL4 = LOGICAL4, MPI_LOGICAL8 = LOGICAL8,
    MPI_INTEGER1 = I8, MPI_INTEGER2 = I16, MPI_INTEGER4 = I32, MPI_INTEGER8 = I64,
    MPI_REAL2 = F16, MPI_REAL4 = F32, MPI_REAL8 = F64,
    MPI_COMPLEX4 = C16, MPI_COMPLEX8 = C32, MPI_COMPLEX16 = C64,
    MPI_LOGICAL16 = LOGICAL16, MPI_INTEGER16 = I128, MPI_REAL16 = F128, MPI_COMPLEX32 = C128,
}

/// The descriptor at a handle of the table's range; one that is no type is not committed.
#[inline(always)]
pub fn at(index: usize) -> &'static TypeDesc {
    // SAFETY: nobody writes while there may be readers.
    unsafe { &(*DESCS.0.get())[index] }
}

/// Has a handle stand for another type; `None`: for none, so that every use is refused.
///
/// # Safety
/// MPI has not begun, so that no thread has a descriptor of the table, and no other thread is in here.
pub unsafe fn replace(handle: usize, base: Option<Base>) {
    let desc = base.and_then(TypeDesc::basic).unwrap_or_else(none);
    // SAFETY: the caller's promise.
    unsafe { (*DESCS.0.get())[handle - FIRST] = desc };
}

/// The standard's name of a predefined type.
pub fn name(handle: usize) -> Option<&'static str> {
    NAMES.iter().find(|(h, _)| *h == handle).map(|(_, name)| *name)
}

/// The basic elements of a predefined type.
pub fn signature(handle: usize) -> Signature {
    match handle {
        MPI_LONG => Signature::atom(Atom::LONG),
        MPI_UNSIGNED_LONG => Signature::atom(Atom::UNSIGNED_LONG),
        // The long in the pair has external32's size of one, too.
        MPI_LONG_INT => Signature::pair(Atom::LONG, Base::I32),
        _ => match handle.checked_sub(FIRST).filter(|index| *index < LEN) {
            Some(index) => Signature::basic(at(index).base),
            None => Signature::default(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the ABI bits 3 to 5 of the handle of a fixed-size type are the logarithm of its size.
    #[test]
    fn sizes_agree_with_the_handles() {
        for (handle, name) in NAMES.iter().filter(|(h, _)| *h >= 0x240) {
            assert_eq!(at(handle - FIRST).packed, 1 << (handle >> 3 & 7), "{name}");
        }
    }

    #[test]
    fn signatures_have_the_sizes() {
        for (handle, name) in NAMES {
            let (sig, desc) = (signature(*handle), at(handle - FIRST));
            assert_eq!((sig.bytes(), sig.elements()), (desc.packed, desc.elements), "{name}");
        }
        assert_eq!(signature(MPI_LONG_INT).external_bytes(), 8);
        assert_eq!(signature(MPI_C_LONG_DOUBLE_COMPLEX).external_bytes(), 32);
    }

    #[test]
    fn every_type_of_the_standard_is_there() {
        let there = |h: &usize| at(h - FIRST).flags & flag::COMMITTED != 0;
        assert_eq!((FIRST..FIRST + LEN).filter(there).count(), NAMES.len() - 1);
        assert_eq!(at(MPI_LONG_DOUBLE - FIRST).packed, 16);
        assert_eq!(at(MPI_LONG_DOUBLE_INT - FIRST).extent, 32);
        assert!(!there(&MPI_DATATYPE_NULL) && !there(&(FIRST + 0x3f)));
        assert_eq!(name(MPI_2INT), Some("MPI_2INT"));
    }
}
