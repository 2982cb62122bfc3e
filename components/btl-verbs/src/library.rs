//! libibverbs as a table of functions, found by name when the component opens.
//!
//! The inline functions of verbs.h (posting, polling, thread domains) are reached through the tables in and in front of a
//! context, by `objects.rs`. Functions that older libraries lack may be missing.

use core::ffi::{CStr, c_char, c_int, c_void};
use oxmpi_verbs_abi::*;

oxmpi_btl_support::functions! {
    /// The functions, each under its name without `ibv_`.
    pub struct Api;
    needed {
        get_device_list("ibv_get_device_list"): fn(*mut c_int) -> *mut *mut Device;
        free_device_list("ibv_free_device_list"): fn(*mut *mut Device);
        get_device_name("ibv_get_device_name"): fn(*mut Device) -> *const c_char;
        open_device("ibv_open_device"): fn(*mut Device) -> *mut Context;
        close_device("ibv_close_device"): fn(*mut Context) -> c_int;
        query_device("ibv_query_device"): fn(*mut Context, *mut DeviceAttr) -> c_int;
        query_port("ibv_query_port"): fn(*mut Context, u8, *mut c_void) -> c_int;
        query_gid("ibv_query_gid"): fn(*mut Context, u8, c_int, *mut Gid) -> c_int;
        query_pkey("ibv_query_pkey"): fn(*mut Context, u8, c_int, *mut u16) -> c_int;
        alloc_pd("ibv_alloc_pd"): fn(*mut Context) -> *mut Pd;
        dealloc_pd("ibv_dealloc_pd"): fn(*mut Pd) -> c_int;
        reg_mr("ibv_reg_mr"): fn(*mut Pd, *mut c_void, usize, c_int) -> *mut Mr;
        dereg_mr("ibv_dereg_mr"): fn(*mut Mr) -> c_int;
        create_comp_channel("ibv_create_comp_channel"): fn(*mut Context) -> *mut CompChannel;
        destroy_comp_channel("ibv_destroy_comp_channel"): fn(*mut CompChannel) -> c_int;
        create_cq("ibv_create_cq"): fn(*mut Context, c_int, *mut c_void, *mut CompChannel, c_int) -> *mut Cq;
        destroy_cq("ibv_destroy_cq"): fn(*mut Cq) -> c_int;
        get_cq_event("ibv_get_cq_event"): fn(*mut CompChannel, *mut *mut Cq, *mut *mut c_void) -> c_int;
        ack_cq_events("ibv_ack_cq_events"): fn(*mut Cq, u32);
        create_srq("ibv_create_srq"): fn(*mut Pd, *mut SrqInitAttr) -> *mut Srq;
        destroy_srq("ibv_destroy_srq"): fn(*mut Srq) -> c_int;
        create_qp("ibv_create_qp"): fn(*mut Pd, *mut QpInitAttr) -> *mut Qp;
        modify_qp("ibv_modify_qp"): fn(*mut Qp, *mut QpAttr, c_int) -> c_int;
        destroy_qp("ibv_destroy_qp"): fn(*mut Qp) -> c_int;
        create_ah("ibv_create_ah"): fn(*mut Pd, *mut AhAttr) -> *mut Ah;
        destroy_ah("ibv_destroy_ah"): fn(*mut Ah) -> c_int;
        get_async_event("ibv_get_async_event"): fn(*mut Context, *mut AsyncEvent) -> c_int;
        ack_async_event("ibv_ack_async_event"): fn(*mut AsyncEvent);
        wc_status_str("ibv_wc_status_str"): fn(u32) -> *const c_char;
        event_type_str("ibv_event_type_str"): fn(u32) -> *const c_char;
    }
    optional {
        query_gid_ex("_ibv_query_gid_ex"): fn(*mut Context, u32, u32, *mut GidEntry, u32, usize) -> c_int;
    }
    data {}
}

impl Api {
    /// Words of a completion's status.
    pub fn status_text(&self, status: u32) -> String {
        // SAFETY: any status has a text, which is the library's.
        unsafe { text((self.wc_status_str)(status)) }
    }
    /// Words of an asynchronous event.
    pub fn event_text(&self, event: u32) -> String {
        // SAFETY: any event has a text, which is the library's.
        unsafe { text((self.event_type_str)(event)) }
    }
}

/// A C string of the library, or what to say where there is none.
///
/// # Safety
/// Null, or a C string.
pub unsafe fn text(at: *const c_char) -> String {
    if at.is_null() {
        return "(no text)".into();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
}
