//! The C descriptor of an actual argument, by its address, element length, rank and dimensions.
//!
//! Compilers agree on these members and on where they lie. They differ in the order of the three behind the version, in the numbers of types, and in
//! versions, so none of that is read. Descriptors end behind their last dimension: one is never taken as a whole.

use core::ffi::{c_int, c_void};
use core::ptr::addr_of;

/// A dimension: elements, and bytes from one to the next.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dimension {
    lower_bound: isize,
    pub extent: isize,
    pub stride: isize,
}

/// `CFI_cdesc_t`.
#[repr(C)]
pub struct Descriptor {
    base: *mut c_void,
    elem_len: usize,
    version: c_int,
    rank: u8,
    others: [u8; 3],
    dimensions: [Dimension; 0],
}

/// The address of the first element.
///
/// # Safety
/// A descriptor, as long as the call lasts.
#[inline(always)]
pub unsafe fn address(of: *const Descriptor) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { (*of).base }
}

/// Bytes of an element.
///
/// # Safety
/// As [`address`].
#[inline(always)]
pub unsafe fn element(of: *const Descriptor) -> usize {
    // SAFETY: the caller's promise.
    unsafe { (*of).elem_len }
}

/// All dimensions.
///
/// # Safety
/// As [`address`], for as long as the result is used.
pub unsafe fn dimensions<'a>(of: *const Descriptor) -> &'a [Dimension] {
    // SAFETY: a descriptor has as many dimensions behind it as its rank says.
    unsafe {
        core::slice::from_raw_parts(addr_of!((*of).dimensions).cast::<Dimension>(), usize::from((*of).rank))
    }
}

/// Whether elements follow each other in memory. Arrays of assumed size do, and their last extent is negative.
///
/// # Safety
/// As [`address`].
#[inline(always)]
pub unsafe fn is_contiguous(of: *const Descriptor) -> bool {
    // SAFETY: the caller's promise; the first dimension is there if the rank is not 0.
    unsafe {
        match (*of).rank {
            0 => true,
            1 => {
                let first = addr_of!((*of).dimensions).cast::<Dimension>();
                (*first).extent <= 1 || (*first).stride as usize == (*of).elem_len
            }
            _ => is_contiguous_of_several(of),
        }
    }
}

/// # Safety
/// As [`address`].
#[inline(never)]
unsafe fn is_contiguous_of_several(of: *const Descriptor) -> bool {
    // SAFETY: the caller's promise.
    let (element, dimensions) = unsafe { (element(of) as isize, dimensions(of)) };
    let mut due = element;
    for dimension in dimensions {
        if dimension.extent <= 0 {
            // Without elements, or of assumed size.
            return true;
        }
        if dimension.extent > 1 && dimension.stride != due {
            return false;
        }
        due = due.wrapping_mul(dimension.extent);
    }
    true
}
