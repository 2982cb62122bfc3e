//! libibverbs as a table of functions, found by name when the component opens.
//!
//! The inline functions of verbs.h (posting, polling, thread domains) are reached through the tables in and in front of a
//! context, by `objects.rs`. Functions that older libraries lack may be missing.

use crate::sys::Library;
use core::ffi::{CStr, c_char, c_int, c_void};
use oxmpi_verbs_abi::*;
use std::sync::Arc;

macro_rules! functions {
    (needed { $($needed:ident: fn($($t:ty),*) $(-> $r:ty)?;)* } optional { $($optional:ident($symbol:literal): fn($($ot:ty),*) $(-> $or:ty)?;)* }) => {
        /// The functions, each under its name without `ibv_`.
        pub struct Api {
            $(pub $needed: unsafe extern "C" fn($($t),*) $(-> $r)?,)*
            $(pub $optional: Option<unsafe extern "C" fn($($ot),*) $(-> $or)?>,)*
        }

        impl Api {
            /// Opens the library. The error says what is missing.
            pub fn open(path: &str) -> Result<Arc<Api>, String> {
                let library = Library::open(path)?;
                let find = |name: &str| {
                    let name = format!("{name}\0");
                    CStr::from_bytes_with_nul(name.as_bytes()).ok().and_then(|n| library.symbol(n))
                };
                Ok(Arc::new(Api {
                    $($needed: {
                        let name = concat!("ibv_", stringify!($needed));
                        let at = find(name).ok_or_else(|| format!("it has no function {name}"))?;
                        // SAFETY: the library's function of that name has this type.
                        unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($t),*) $(-> $r)?>(at) }
                    },)*
                    $($optional: find($symbol).map(|at| {
                        // SAFETY: as above.
                        unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ot),*) $(-> $or)?>(at) }
                    }),)*
                }))
            }
        }
    };
}

functions! {
    needed {
        get_device_list: fn(*mut c_int) -> *mut *mut Device;
        free_device_list: fn(*mut *mut Device);
        get_device_name: fn(*mut Device) -> *const c_char;
        open_device: fn(*mut Device) -> *mut Context;
        close_device: fn(*mut Context) -> c_int;
        query_device: fn(*mut Context, *mut DeviceAttr) -> c_int;
        query_port: fn(*mut Context, u8, *mut c_void) -> c_int;
        query_gid: fn(*mut Context, u8, c_int, *mut Gid) -> c_int;
        query_pkey: fn(*mut Context, u8, c_int, *mut u16) -> c_int;
        alloc_pd: fn(*mut Context) -> *mut Pd;
        dealloc_pd: fn(*mut Pd) -> c_int;
        reg_mr: fn(*mut Pd, *mut c_void, usize, c_int) -> *mut Mr;
        dereg_mr: fn(*mut Mr) -> c_int;
        create_comp_channel: fn(*mut Context) -> *mut CompChannel;
        destroy_comp_channel: fn(*mut CompChannel) -> c_int;
        create_cq: fn(*mut Context, c_int, *mut c_void, *mut CompChannel, c_int) -> *mut Cq;
        destroy_cq: fn(*mut Cq) -> c_int;
        get_cq_event: fn(*mut CompChannel, *mut *mut Cq, *mut *mut c_void) -> c_int;
        ack_cq_events: fn(*mut Cq, u32);
        create_srq: fn(*mut Pd, *mut SrqInitAttr) -> *mut Srq;
        destroy_srq: fn(*mut Srq) -> c_int;
        create_qp: fn(*mut Pd, *mut QpInitAttr) -> *mut Qp;
        modify_qp: fn(*mut Qp, *mut QpAttr, c_int) -> c_int;
        destroy_qp: fn(*mut Qp) -> c_int;
        create_ah: fn(*mut Pd, *mut AhAttr) -> *mut Ah;
        destroy_ah: fn(*mut Ah) -> c_int;
        get_async_event: fn(*mut Context, *mut AsyncEvent) -> c_int;
        ack_async_event: fn(*mut AsyncEvent);
        wc_status_str: fn(u32) -> *const c_char;
        event_type_str: fn(u32) -> *const c_char;
    }
    optional {
        query_gid_ex("_ibv_query_gid_ex"): fn(*mut Context, u32, u32, *mut GidEntry, u32, usize) -> c_int;
    }
}

impl Api {
    /// Words of a completion's status.
    pub fn status_text(&self, status: u32) -> String {
        // SAFETY: any number has a text, which is the library's.
        text(unsafe { (self.wc_status_str)(status) })
    }
    /// Words of an asynchronous event.
    pub fn event_text(&self, event: u32) -> String {
        // SAFETY: as above.
        text(unsafe { (self.event_type_str)(event) })
    }
}

/// A C string of the library, or what to say where there is none.
pub fn text(at: *const c_char) -> String {
    if at.is_null() {
        return "(no text)".into();
    }
    // SAFETY: the library's text.
    unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
}
