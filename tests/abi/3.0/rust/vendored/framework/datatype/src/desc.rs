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

/// The facts about an item of a layout that [`Run`] does not have: whether it is a loop, and where it ends.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nest {
    /// Bytes of data of this item and those before it in the same list.
    pub end: u64,
    /// The items of the loop's body lie in the list of all items from here on.
    pub first: u32,
    /// How many they are; 0: it is no loop.
    pub items: u32,
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
    /// MPI_CHARACTER, MPI_WCHAR: no arithmetic is defined on them.
    pub const CHAR: Base = Base(17);
    pub const WCHAR: Base = Base(18);
    /// C's char, with the arithmetic of the integer that the compiler makes of it. MPI leaves reductions of MPI_CHAR
    /// out (MPI 5.0 §6.9.2); Open MPI, MPICH and Intel MPI do them, and benchmarks use them.
    pub const C_CHAR: Base = if core::ffi::c_char::MIN < 0 { Base::I8 } else { Base::U8 };
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
    /// Fortran INTEGER, LOGICAL, REAL and COMPLEX of 16 bytes (a part).
    pub const I128: Base = Base(35);
    pub const LOGICAL16: Base = Base(36);
    pub const F128: Base = Base(37);
    pub const C128: Base = Base(38);
}

/// Bits of [`TypeDesc::flags`].
pub mod flag {
    /// `count` elements are one block of `count * packed` bytes starting at the buffer's address.
    pub const CONTIGUOUS: u32 = 1;
    pub const PREDEFINED: u32 = 2;
    pub const COMMITTED: u32 = 4;
    /// The bounds were set by the user (MPI_Type_create_resized and what is built with it): they do
    /// not follow from the data (MPI 5.0 §5.1.6).
    pub const BOUNDED: u32 = 8;
    /// From this bit on: the logarithm of the strictest alignment of the basic types.
    pub const ALIGN_SHIFT: u32 = 8;
    pub const ALIGN_MASK: u32 = 0xf << ALIGN_SHIFT;

    /// The bits that say so.
    pub const fn of_align(align: u64) -> u32 {
        align.ilog2() << ALIGN_SHIFT
    }
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
    /// All items of the layout (`layout.rs`). A loop is a run whose blocks are copies of its body and
    /// have as many bytes of data as that.
    pub runs: SliceRef<Run>,
    /// Frees the descriptor when the last reference goes; null for PREDEFINED.
    pub free: Option<extern "C" fn(*mut TypeDesc)>,
    /// One for each of `runs`; or none, where there are only few runs and no loops.
    pub nest: SliceRef<Nest>,
    /// How many of the first of `runs` make up the element; the others are bodies. Not read where `nest`
    /// is empty: all are then.
    pub top: u64,
    /// Where the blocks of a layout without a pattern lie, from the element's address, in the order of the packed
    /// data; all have one length. None for other layouts. Not read where `size` ends before it.
    pub places: SliceRef<i32>,
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
    pub fn nest(&self) -> &[Nest] {
        // SAFETY: as above.
        unsafe { self.nest.get() }
    }
    /// The blocks one by one, of a layout that is a long list of short ones; else none.
    #[inline(always)]
    pub fn places(&self) -> &[i32] {
        if (self.size as usize) < core::mem::size_of::<TypeDesc>() {
            // Made by a host that knows no such lists.
            return &[];
        }
        // SAFETY: as above.
        unsafe { self.places.get() }
    }
    /// How many of the first of `runs` make up the element.
    pub fn top(&self) -> usize {
        if self.nest.len == 0 { self.runs.len } else { self.top as usize }
    }
    /// The strictest alignment of the basic types, in bytes.
    pub fn align(&self) -> u64 {
        1 << ((self.flags & flag::ALIGN_MASK) >> flag::ALIGN_SHIFT)
    }
    /// Where the data of `count` elements lies, if it is one block: `(displacement, bytes)`.
    pub fn one_block(&self, count: u64) -> Option<(i64, u64)> {
        match *self.runs() {
            [run] if run.count == 1 && (count == 1 || self.extent == run.len as i64) => {
                Some((run.disp, run.len * count))
            }
            _ => None,
        }
    }
}

/// Keeps a descriptor alive. Cloning costs nothing for predefined types.
///
/// **Counting without threads.** Below MPI_THREAD_MULTIPLE one thread at a time is inside the library, and
/// what hands the turn on orders memory; [`TypeRef::retain_alone`] and [`TypeRef::release_alone`] count with
/// plain loads and stores there. Counts of both kinds mix: when the level rises, no thread is between
/// such a load and its store.
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
    /// As `retain`, where no other thread can be in the library.
    ///
    /// # Safety
    /// As `retain`, and the thread level is below MULTIPLE.
    #[inline]
    pub unsafe fn retain_alone(desc: *const TypeDesc) -> TypeRef {
        // SAFETY: alive by the caller's promise.
        let d = unsafe { &*desc };
        if d.flags & flag::PREDEFINED == 0 {
            d.refs.store(d.refs.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        TypeRef(desc)
    }

    /// Gives the reference back, where no other thread can be in the library.
    ///
    /// # Safety
    /// The thread level is below MULTIPLE.
    #[inline]
    pub unsafe fn release_alone(self) {
        let left = self.refs.load(Ordering::Relaxed) - 1;
        if self.flags & flag::PREDEFINED != 0 {
            return core::mem::forget(self);
        }
        if left > 0 {
            self.refs.store(left, Ordering::Relaxed);
            core::mem::forget(self);
        }
        // The last one is dropped the ordinary way.
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
    assert!(core::mem::size_of::<TypeDesc>() == 128);
    assert!(core::mem::size_of::<Nest>() == 16);
};
