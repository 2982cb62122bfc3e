//! libugni in software, as a library that the component opens.

#![allow(dead_code, reason = "each test uses a part")]

use core::ffi::{CStr, c_char};
use oxmpi_btl_conformance::Setup;
use oxmpi_btl_support::Library;
use std::sync::Once;

/// Path of the library, built with this test.
pub fn emulation() -> String {
    let exe = std::env::current_exe().expect("the path of this test");
    let name = "liboxmpi_ugni_emulation.so";
    let found = exe.ancestors().skip(1).take(2).map(|dir| dir.join(name)).find(|path| path.is_file());
    found.expect("the library beside this test").to_string_lossy().into_owned()
}

/// Jobs over it, on a fabric of this process's own.
pub fn setup() -> Setup {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("OXMPI_UGNI").is_none() {
            set_up("");
        }
    });
    Setup::new(btl_ugni::descriptor()).connects().param("library", &emulation())
}

/// A counter of the library.
pub fn counter(name: &CStr) -> u64 {
    type Counter = unsafe extern "C" fn(*const c_char) -> u64;
    let library = Library::open(&emulation()).expect("the library");
    // SAFETY: the function of that name has this type.
    let value =
        unsafe { library.need::<Counter>("oxmpi_ugni_counter").expect("the counters")(name.as_ptr()) };
    library.keep();
    assert_ne!(value, u64::MAX, "{name:?}");
    value
}

/// Sets the library up. The test is alone in its process, and nothing of the library has been called.
pub fn set_up(values: &str) {
    let values = format!("fabric=btl{},{values}", std::process::id());
    // SAFETY: nobody looks at the environment before the library is opened, which comes later.
    unsafe { std::env::set_var("OXMPI_UGNI", values.trim_end_matches(',')) };
}
