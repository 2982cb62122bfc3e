//! Every MPI function of the loaded library, by its profiling name.
//!
//! The symbol is looked up at the first call: this library is loaded before MPI, into processes that have none, and over any
//! library with the standard ABI, so nothing is linked.
#![allow(dead_code, reason = "the whole table is there")]
#![allow(non_snake_case, reason = "the standard's names")]
#![allow(clippy::too_many_arguments, reason = "the standard's")]

use crate::abi::{Status, c_char, c_int, c_void};
use core::ffi::CStr;
use core::sync::atomic::{AtomicPtr, Ordering};

pub struct Symbol {
    name: &'static CStr,
    at: AtomicPtr<c_void>,
}

impl Symbol {
    pub const fn new(name: &'static CStr) -> Symbol {
        Symbol { name, at: AtomicPtr::new(core::ptr::null_mut()) }
    }

    #[inline]
    pub fn get(&self) -> *mut c_void {
        let at = self.at.load(Ordering::Relaxed);
        if at.is_null() { self.find() } else { at }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let mut at = self.look_up();
        // A linker that drops libraries whose symbols others define first has left MPI out of the program.
        if at.is_null() && load_default() {
            at = self.look_up();
        }
        if at.is_null() {
            let name = self.name.to_string_lossy();
            report!("the MPI library of this process has no {name}");
            std::process::abort();
        }
        self.at.store(at, Ordering::Relaxed);
        at
    }

    fn look_up(&self) -> *mut c_void {
        // SAFETY: a string that ends with a zero.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, self.name.as_ptr()) }
    }
}

/// Loads the library of the standard ABI that the system finds.
fn load_default() -> bool {
    // SAFETY: a library's initialisers are trusted as those of a linked one.
    unsafe { !libc::dlopen(c"libmpi_abi.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL).is_null() }
}

/// Is a library with the standard ABI loaded?
pub fn is_there() -> bool {
    // SAFETY: a string that ends with a zero.
    unsafe { !libc::dlsym(libc::RTLD_DEFAULT, c"PMPI_Abi_get_version".as_ptr()).is_null() }
}

include!(concat!(env!("OUT_DIR"), "/pmpi.rs"));
