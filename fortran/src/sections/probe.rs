//! The questions of the program that `mpifort` compiles and runs before it takes a compiler's descriptors (`xtask/src/generate/fortran/descriptors.f90`).
//!
//! The compiler is asked by what the library makes of its descriptors, not by their members: a section is read as a call with that section would be.

use super::descriptor::{self, Descriptor};
use super::section::Section;
use crate::abi::Fint;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// Copies the first `size` bytes of the array that a buffer stands for. The number of bytes that it has, or -1: it is contiguous, -2: it cannot be read.
///
/// # Safety
/// A descriptor, a place for as many bytes, and a number.
// SAFETY: the name is of this library's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpifort_probe_copy(
    buffer: *const Descriptor,
    to: *mut u8,
    size: *const Fint,
) -> i64 {
    // SAFETY: the caller's promise: the buffer has as many bytes.
    unsafe {
        let size = *size;
        let base = descriptor::address(buffer).cast::<u8>();
        if descriptor::is_contiguous(buffer) {
            to.copy_from_nonoverlapping(base, size as usize);
            return -1;
        }
        let Ok(section) = Section::of(buffer) else { return -2 };
        if i64::from(size) <= section.len() {
            section.pieces(0, i64::from(size), |at, from, n| {
                to.offset(from as isize).copy_from_nonoverlapping(base.offset(at as isize), n as usize);
            });
        }
        section.len()
    }
}

/// Bytes of an element: of a text, its length.
///
/// # Safety
/// A descriptor.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpifort_probe_element(buffer: *const Descriptor) -> i64 {
    // SAFETY: the caller's promise.
    unsafe { descriptor::element(buffer) as i64 }
}

/// Whether the buffer is MPI_IN_PLACE.
///
/// # Safety
/// A descriptor.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpifort_probe_in_place(buffer: *const Descriptor) -> Fint {
    // SAFETY: the caller's promise.
    unsafe { Fint::from(crate::sentinels::is_in_place(descriptor::address(buffer))) }
}

/// Whether an optional argument is there.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn mpifort_probe_present(code: *const Fint) -> Fint {
    Fint::from(!code.is_null())
}

static KEPT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Keeps the address of a buffer, as a nonblocking procedure does.
///
/// # Safety
/// A descriptor of integers, which are there until [`mpifort_probe_write`].
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpifort_probe_keep(buffer: *const Descriptor) {
    // SAFETY: the caller's promise.
    KEPT.store(unsafe { descriptor::address(buffer) }, Ordering::Relaxed);
}

/// Writes into that buffer, as the end of the operation does.
///
/// # Safety
/// As there.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpifort_probe_write(value: *const Fint) {
    // SAFETY: the caller's promise.
    unsafe { KEPT.load(Ordering::Relaxed).cast::<Fint>().write(*value) };
}
