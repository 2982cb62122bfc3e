//! Entry points for tests beside the verbs.

use crate::counters;
use crate::nic::nic;
use core::ffi::{CStr, c_char, c_int};

/// The value of a counter; all bits set: there is none of that name.
///
/// # Safety
/// A C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oxmpi_fake_verbs_counter(name: *const c_char) -> u64 {
    // SAFETY: the caller's string.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_str().ok().and_then(counters::by_name).unwrap_or(u64::MAX)
}

/// Takes the port of this process's devices down (0) or up. -1: there is no device.
#[unsafe(no_mangle)]
pub extern "C" fn oxmpi_fake_verbs_port(up: c_int) -> c_int {
    let Ok(nic) = nic() else { return -1 };
    nic.set_port(up != 0);
    0
}
