//! The `repr(C)` type descriptor and its counted reference.

use oxmpi_mca::SliceRef;
use oxmpi_mca::sync::{AtomicU32, Ordering};

/// `count` blocks of `len` bytes, `stride` bytes from start to start, the first at `disp` from the
/// element's address.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub disp: i64,
    pub len: u64,
    pub count: u64,
    pub stride: i64,
}

/// Basic type of the data, for reductions and external32. `MIXED` where there are several.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Base(pub u32);

#[allow(missing_docs, reason = "the names say it")]
impl Base {
    pub const MIXED: Base = Base(0);
    pub const BYTE: Base = Base(1);
    pub const I8: Base = Base(2);
    pub const U8: Base = Base(3);
    pub const I16: Base = Base(4);
    pub const U16: Base = Base(5);
    pub const I32: Base = Base(6);
    pub const U32: Base = Base(7);
    pub const I64: Base = Base(8);
    pub const U64: Base = Base(9);
    pub const F32: Base = Base(10);
    pub const F64: Base = Base(11);
    /// x87 extended in 16 bytes on x86-64.
    pub const LONG_DOUBLE: Base = Base(12);
    pub const C32: Base = Base(13);
    pub const C64: Base = Base(14);
    pub const C_LONG_DOUBLE: Base = Base(15);
    /// C and C++ bool: one byte, logical operations.
    pub const BOOL: Base = Base(16);
    /// MPI_CHAR, MPI_CHARACTER, MPI_WCHAR: no arithmetic is defined on them.
    pub const CHAR: Base = Base(17);
    pub const WCHAR: Base = Base(18);
    /// Fortran LOGICAL of 1, 2, 4, 8 bytes.
    pub const LOGICAL1: Base = Base(19);
    pub const LOGICAL2: Base = Base(20);
    pub const LOGICAL4: Base = Base(21);
    pub const LOGICAL8: Base = Base(22);
    /// Pairs for MINLOC and MAXLOC: (float, int), (double, int), (long, int), (int, int), (short, int), (long double, int).
    pub const FLOAT_INT: Base = Base(23);
    pub const DOUBLE_INT: Base = Base(24);
    pub const LONG_INT: Base = Base(25);
    pub const TWO_INT: Base = Base(26);
    pub const SHORT_INT: Base = Base(27);
    pub const LONG_DOUBLE_INT: Base = Base(28);
    pub const TWO_REAL: Base = Base(29);
    pub const TWO_DOUBLE: Base = Base(30);
    pub const PACKED: Base = Base(31);
    pub const F16: Base = Base(32);
    pub const C16: Base = Base(33);
    /// MPI_AINT, MPI_OFFSET and MPI_COUNT: as I64, but no logical operations are defined on them.
    pub const AINT: Base = Base(34);
}

/// Bits of [`TypeDesc::flags`].
pub mod flag {
    /// `count` elements are one block of `count * packed` bytes starting at the buffer's address.
    pub const CONTIGUOUS: u32 = 1;
    pub const PREDEFINED: u32 = 2;
    pub const COMMITTED: u32 = 4;
}

#[repr(C)]
pub struct TypeDesc {
    pub size: u32,
    pub flags: u32,
    /// Bytes of data in one element (MPI_Type_size).
    pub packed: u64,
    pub lb: i64,
    pub extent: i64,
    pub true_lb: i64,
    pub true_extent: i64,
    pub base: Base,
    /// Counted by [`TypeRef`]; not counted for PREDEFINED.
    pub refs: AtomicU32,
    /// Basic elements in one element.
    pub elements: u64,
    pub runs: SliceRef<Run>,
    /// Frees the descriptor when the last reference goes; null for PREDEFINED.
    pub free: Option<extern "C" fn(*mut TypeDesc)>,
}

// SAFETY: immutable but for the reference count.
unsafe impl Send for TypeDesc {}
// SAFETY: as above.
unsafe impl Sync for TypeDesc {}

impl TypeDesc {
    #[inline(always)]
    pub fn is_contiguous(&self) -> bool {
        self.flags & flag::CONTIGUOUS != 0
    }
    pub fn runs(&self) -> &[Run] {
        // SAFETY: the maker of the descriptor keeps the runs as long as it.
        unsafe { self.runs.get() }
    }
}

/// Keeps a descriptor alive. Cloning costs nothing for predefined types.
pub struct TypeRef(*const TypeDesc);

// SAFETY: the count is atomic, the rest immutable.
unsafe impl Send for TypeRef {}
// SAFETY: as above.
unsafe impl Sync for TypeRef {}

impl TypeRef {
    /// Takes a new reference.
    ///
    /// # Safety
    /// `desc` must be alive (somebody holds a reference to it).
    #[inline]
    pub unsafe fn retain(desc: *const TypeDesc) -> TypeRef {
        // SAFETY: alive by the caller's promise.
        let d = unsafe { &*desc };
        if d.flags & flag::PREDEFINED == 0 {
            d.refs.fetch_add(1, Ordering::Relaxed);
        }
        TypeRef(desc)
    }
    /// Takes over a reference that already counts (a new descriptor is born with one).
    ///
    /// # Safety
    /// The caller owns that reference.
    pub unsafe fn adopt(desc: *const TypeDesc) -> TypeRef {
        TypeRef(desc)
    }
    pub fn as_ptr(&self) -> *const TypeDesc {
        self.0
    }
}

impl core::ops::Deref for TypeRef {
    type Target = TypeDesc;
    #[inline(always)]
    fn deref(&self) -> &TypeDesc {
        // SAFETY: we hold a reference.
        unsafe { &*self.0 }
    }
}

impl Clone for TypeRef {
    fn clone(&self) -> TypeRef {
        // SAFETY: alive, we hold a reference.
        unsafe { TypeRef::retain(self.0) }
    }
}

impl Drop for TypeRef {
    fn drop(&mut self) {
        if self.flags & flag::PREDEFINED != 0 {
            return;
        }
        // SYNC POINT: release of every user's last access, acquire by the one who frees.
        if self.refs.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(free) = self.free
        {
            free(self.0 as *mut TypeDesc)
        }
    }
}

const _: () = {
    assert!(core::mem::size_of::<Run>() == 32);
    #[cfg(not(loom))]
    assert!(core::mem::size_of::<TypeDesc>() == 88);
};
