//! Names of numbers, for people.

use core::ffi::{CStr, c_char};

fn of(names: &'static [&'static CStr], number: u32) -> *const c_char {
    names.get(number as usize).copied().unwrap_or(c"unknown").as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn ibv_wc_status_str(status: u32) -> *const c_char {
    const NAMES: &[&CStr] = &[
        c"success",
        c"local length error",
        c"local QP operation error",
        c"local EE context operation error",
        c"local protection error",
        c"work request flushed",
        c"memory management operation error",
        c"bad response",
        c"local access error",
        c"remote invalid request",
        c"remote access error",
        c"remote operation error",
        c"transport retry counter exceeded",
        c"RNR retry counter exceeded",
        c"local RDD violation error",
        c"remote invalid RD request",
        c"aborted error",
        c"invalid EE context number",
        c"invalid EE context state",
        c"fatal error",
        c"response timeout error",
        c"general error",
    ];
    of(NAMES, status)
}

#[unsafe(no_mangle)]
pub extern "C" fn ibv_event_type_str(event: u32) -> *const c_char {
    const NAMES: &[&CStr] = &[
        c"CQ error",
        c"local work queue catastrophic error",
        c"invalid request local work queue error",
        c"local access violation work queue error",
        c"communication established",
        c"send queue drained",
        c"path migrated",
        c"path migration request error",
        c"local catastrophic error",
        c"port active",
        c"port error",
    ];
    of(NAMES, event)
}

#[unsafe(no_mangle)]
pub extern "C" fn ibv_port_state_str(state: u32) -> *const c_char {
    of(&[c"no state change", c"down", c"init", c"armed", c"active", c"active deferred"], state)
}

#[unsafe(no_mangle)]
pub extern "C" fn ibv_node_type_str(kind: u32) -> *const c_char {
    of(&[c"unknown", c"channel adapter", c"switch", c"router", c"RNIC"], kind)
}
