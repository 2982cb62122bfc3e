//! Operations as numbers and types, and the loop that applies one to two buffers.

/// Predefined operations (MPI 5.0 §6.9.2), by number.
#[allow(missing_docs, reason = "the names say it")]
pub mod op {
    pub const USER: u32 = 0;
    pub const SUM: u32 = 1;
    pub const MIN: u32 = 2;
    pub const MAX: u32 = 3;
    pub const PROD: u32 = 4;
    pub const BAND: u32 = 5;
    pub const BOR: u32 = 6;
    pub const BXOR: u32 = 7;
    pub const LAND: u32 = 8;
    pub const LOR: u32 = 9;
    pub const LXOR: u32 = 10;
    pub const MINLOC: u32 = 11;
    pub const MAXLOC: u32 = 12;
    pub const REPLACE: u32 = 13;
    pub const NO_OP: u32 = 14;
}

/// Reduces a number of basic elements: input, inout, how many.
pub(super) type Kernel = unsafe fn(*const u8, *mut u8, usize);

/// How the elements of a pair lie: as C lays them out, or without padding. Others have none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Native,
    Packed,
}

/// One operation on one type.
pub(super) trait Apply<T> {
    fn apply(left: T, right: T) -> T;
}

/// A value that may lie at any address.
#[repr(C, packed)]
#[derive(Clone, Copy)]
struct Cell<T>(T);

/// The loop. Two slices that do not overlap, so the compiler needs no check of its own.
///
/// # Safety
/// As [`super::reduce`], for `n` values of type `T`.
pub(super) unsafe fn each<T: Copy, O: Apply<T>>(input: *const u8, inout: *mut u8, n: usize) {
    if n == 0 {
        return;
    }
    // SAFETY: the caller's promise; a cell has no alignment.
    let (input, inout) = unsafe {
        let input = core::slice::from_raw_parts(input.cast::<Cell<T>>(), n);
        (input, core::slice::from_raw_parts_mut(inout.cast::<Cell<T>>(), n))
    };
    for (right, left) in inout.iter_mut().zip(input) {
        *right = Cell(O::apply(left.0, right.0));
    }
}

pub(super) struct Sum;
pub(super) struct Prod;
pub(super) struct Min;
pub(super) struct Max;

/// Real part first, as in C and Fortran.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Complex<T> {
    pub re: T,
    pub im: T,
}
