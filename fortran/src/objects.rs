//! Asks the dynamic linker, when MPI begins, for executables and shared libraries with COMMON blocks of their own that did not say so when they were loaded.
//!
//! They have no object file of ours (`fortran/object/object.c`), since they were linked with `libmpifort_abi.so.1` by its name. Each that is found stays loaded: it would not say that it is
//! unloaded either, and other memory may come to lie there.

use crate::sentinels;
use core::ffi::{CStr, c_char, c_int, c_void};
use std::ffi::CString;

/// The beginning of `struct dl_phdr_info`.
#[repr(C)]
struct Loaded {
    address: usize,
    name: *const c_char,
}

unsafe extern "C" {
    fn dl_iterate_phdr(
        callback: unsafe extern "C" fn(*const Loaded, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
    fn dlclose(handle: *mut c_void) -> c_int;
}

const RTLD_LAZY: c_int = 1;
const RTLD_NOLOAD: c_int = 4;

/// Adds a name to the list.
///
/// # Safety
/// Called by `dl_iterate_phdr` with the address of a list.
unsafe extern "C" fn note(loaded: *const Loaded, _: usize, names: *mut c_void) -> c_int {
    // SAFETY: the list of the caller below; a name is null or ends with a zero.
    unsafe {
        let name = (*loaded).name;
        if !name.is_null() && *name != 0 {
            (*names.cast::<Vec<CString>>()).push(CStr::from_ptr(name).to_owned());
        }
    }
    0
}

/// Has `sentinels` know the blocks of all that is loaded.
pub fn find() {
    let mut names: Vec<CString> = Vec::new();
    // SAFETY: the function and its list.
    unsafe { dl_iterate_phdr(note, (&raw mut names).cast()) };
    for name in names {
        // SAFETY: names of what is loaded, and of variables; a look at them changes nothing.
        unsafe {
            let handle = dlopen(name.as_ptr(), RTLD_LAZY | RTLD_NOLOAD);
            if handle.is_null() {
                continue;
            }
            let constants = dlsym(handle, c"mpifort_constants_".as_ptr()).cast_const();
            let statuses = dlsym(handle, c"mpifort_statuses_".as_ptr()).cast_const();
            let has_both = !constants.is_null() && !statuses.is_null();
            if !(has_both && sentinels::add_unless_known(constants, statuses)) {
                dlclose(handle);
            }
        }
    }
}
