//! The installation that this library belongs to, and the components linked into it.

use core::ffi::{CStr, c_void};
use oxmpi_mca_params::Places;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The installation this very code was loaded from, so that it can be moved.
pub fn places() -> Places {
    // SAFETY: all fields are pointers that may be null.
    let mut found: libc::Dl_info = unsafe { core::mem::zeroed() };
    // SAFETY: the address of a function of this library, and a place for the answer.
    let known = unsafe { libc::dladdr(places as *const c_void, &mut found) };
    if known == 0 || found.dli_fname.is_null() {
        return Places::default();
    }
    // SAFETY: dladdr gave a string that lives as long as the library.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Places::around(Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())))
}

/// Components linked into this library.
pub fn builtin() -> Vec<*const oxmpi_mca::Descriptor> {
    #[cfg(feature = "builtin")]
    return crate::call::builtin::all();
    #[cfg(not(feature = "builtin"))]
    Vec::new()
}
