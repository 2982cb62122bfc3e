//! libfabric as a table of functions, found by name when the component opens. Everything else is reached through the tables of its objects.

use crate::abi::{FabricAttr, FabricObject, FiInfo, version};
use core::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

oxmpi_btl_support::functions! {
    /// The functions.
    pub struct Api;
    needed {
        version("fi_version"): fn() -> u32;
        getinfo("fi_getinfo"): fn(u32, *const c_char, *const c_char, u64, *const FiInfo, *mut *mut FiInfo) -> c_int;
        freeinfo("fi_freeinfo"): fn(*mut FiInfo);
        dupinfo("fi_dupinfo"): fn(*const FiInfo) -> *mut FiInfo;
        fabric("fi_fabric"): fn(*mut FabricAttr, *mut *mut FabricObject, *mut c_void) -> c_int;
        strerror("fi_strerror"): fn(c_int) -> *const c_char;
    }
    optional {}
    data {}
}

/// The library that is opened unless another is named.
pub const LIBRARY: &str = "libfabric.so.1";
/// The version whose interface this driver speaks: what it asks of the library, and the oldest one that has it.
pub const SPOKEN: u32 = version(1, 17);

impl Api {
    /// Opens the library, if it is new enough. The error completes "the library cannot be used: …".
    pub fn load(path: &str) -> Result<Arc<Api>, String> {
        let api = Api::open(path)?;
        let found = api.release();
        if found < SPOKEN {
            let (major, minor) = (found >> 16, found & 0xffff);
            return Err(format!("it is version {major}.{minor}, and 1.17 is the oldest one that will do"));
        }
        Ok(api)
    }

    /// The library's version, the major above the minor.
    pub fn release(&self) -> u32 {
        // SAFETY: a function without arguments.
        unsafe { (self.version)() }
    }

    /// Words of an error number.
    pub fn text(&self, code: i32) -> String {
        // SAFETY: any number has a text, which is the library's.
        unsafe { text((self.strerror)(code)) }.unwrap_or_else(|| format!("error {code}"))
    }
}

/// A C string of the library. `None`: there is none.
///
/// # Safety
/// Null, or a C string.
pub unsafe fn text(at: *const c_char) -> Option<String> {
    // SAFETY: the caller's promise.
    (!at.is_null()).then(|| unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned())
}
