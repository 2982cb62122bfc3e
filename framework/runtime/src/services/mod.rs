//! The services that a component asks for off a message's path: the table of [`HostServices`].
//!
//! One table serves all components of all instances; the first argument of every function is the calling
//! component's context (`host::ComponentCtx`).

mod names;
mod waiting;

use crate::host::ComponentCtx;
use crate::instance::Instance;
use oxmpi_mca::services::PeerFailed;
use oxmpi_mca::{HostServices, NodeMemory, SliceRef, Status, StrRef};
use std::ffi::c_void;

/// The calling component and its instance.
fn at<'a>(ctx: *mut c_void) -> (&'a ComponentCtx, &'a Instance) {
    // SAFETY: a component passes back the `instance` of its own table, which lives as long as it; the instance
    // outlives its components' contexts.
    unsafe {
        let ctx = &*(ctx as *const ComponentCtx);
        (ctx, &*ctx.instance)
    }
}

pub(crate) fn table() -> *const HostServices {
    static TABLE: HostServices = HostServices {
        size: size_of::<HostServices>() as u32,
        reserved: 0,
        name_of: names::name_of,
        index_of: names::index_of,
        place_of: names::place_of,
        exchange_put,
        exchange_try,
        auth_make,
        auth_check,
        node_memory,
        peer_read,
        peer_write,
        peer_pointer,
        wait_until: waiting::wait_until,
        wait_word: waiting::wait_word,
        on_peer_failure,
        off_peer_failure,
        peer_failed,
        osc_tags,
    };
    &raw const TABLE
}

extern "C" fn exchange_put(_: *mut c_void, _: StrRef, _: SliceRef<u8>) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn exchange_try(_: *mut c_void, _: StrRef, _: u32, _: *mut u8, _: *mut usize) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn auth_make(_: *mut c_void, _: SliceRef<u8>, _: SliceRef<u8>, _: *mut u8) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn auth_check(_: *mut c_void, _: SliceRef<u8>, _: SliceRef<u8>, _: SliceRef<u8>) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn node_memory(_: *mut c_void, _: StrRef, _: u64, _: *mut NodeMemory) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn peer_read(_: *mut c_void, _: u32, _: u64, _: *mut u8, _: u64) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn peer_write(_: *mut c_void, _: u32, _: u64, _: *const u8, _: u64) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn peer_pointer(_: *mut c_void, _: u32, _: u64, _: u64, _: *mut *mut u8) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn on_peer_failure(_: *mut c_void, _: PeerFailed, _: *mut c_void) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn off_peer_failure(_: *mut c_void, _: PeerFailed, _: *mut c_void) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn peer_failed(_: *mut c_void, _: u32, _: Status, _: StrRef) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn osc_tags(_: *mut c_void, _: *mut u8) -> Status {
    Status::NOT_SUPPORTED
}
