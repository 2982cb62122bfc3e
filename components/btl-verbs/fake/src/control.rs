//! Entry points for tests beside the verbs.

use crate::counters;
use crate::nic::nic;
use core::ffi::{CStr, c_char, c_int};
use oxmpi_verbs_abi::numbers::event;
use std::sync::atomic::Ordering;

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
    nic.port_up.store(up != 0, Ordering::SeqCst);
    let kind = if up != 0 { event::PORT_ACTIVE } else { event::PORT_ERR };
    for context in crate::qp::locked(&nic.contexts).iter().filter_map(|c| c.upgrade()) {
        context.events.raise(kind, 1);
    }
    0
}
