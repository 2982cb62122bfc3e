//! The device in software, as a library that the component opens.

#![allow(dead_code, reason = "each test uses a part")]

use core::ffi::{CStr, c_char, c_int, c_void};
use oxmpi_btl_conformance::Setup;
use std::ffi::CString;

/// Path of the library, built with this test.
pub fn fake() -> String {
    let exe = std::env::current_exe().expect("the path of this test");
    let name = "liboxmpi_verbs_fake.so";
    let found = exe.ancestors().skip(1).take(2).map(|dir| dir.join(name)).find(|path| path.is_file());
    found.expect("the library beside this test").to_string_lossy().into_owned()
}

/// Jobs over it, or over the library that `OXMPI_TEST_VERBS_LIBRARY` names (`cargo xtask guest`).
pub fn setup() -> Setup {
    let library = std::env::var("OXMPI_TEST_VERBS_LIBRARY").unwrap_or_else(|_| fake());
    Setup::new(btl_verbs::descriptor()).connects().param("library", &library)
}

/// A function of the library beside the verbs.
fn function(name: &CStr) -> *mut c_void {
    let path = CString::new(fake()).expect("a path");
    // SAFETY: the library is open already, or will be; strings.
    let at = unsafe { libc::dlsym(libc::dlopen(path.as_ptr(), libc::RTLD_NOW), name.as_ptr()) };
    assert!(!at.is_null(), "{name:?}");
    at
}

/// A counter of the device.
pub fn counter(name: &CStr) -> u64 {
    type Counter = unsafe extern "C" fn(*const c_char) -> u64;
    // SAFETY: the function has this type.
    let value = unsafe {
        let f = core::mem::transmute::<*mut c_void, Counter>(function(c"oxmpi_fake_verbs_counter"));
        f(name.as_ptr())
    };
    assert_ne!(value, u64::MAX, "{name:?}");
    value
}

/// Takes the port down or up.
pub fn port(up: bool) {
    type Port = extern "C" fn(c_int) -> c_int;
    // SAFETY: the function has this type.
    let f = unsafe { core::mem::transmute::<*mut c_void, Port>(function(c"oxmpi_fake_verbs_port")) };
    assert_eq!(f(up.into()), 0);
}
