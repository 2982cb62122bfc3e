//! The host's full table of a module, made of what the component offers.
//!
//! Read exactly as far as the sizes in tables and attributes say; a verb that is not offered gets a function that refuses.

use core::ffi::c_void;
use core::mem::{offset_of, size_of};
use oxmpi_btl::{
    AtomicDesc, BtlAttrs, BtlHandle, BtlModule, BtlTable, Endpoint, FlushDesc, ListDesc, ProcInfo, RegHandle,
    RmaDesc, RmaVectorDesc, SendDesc, WaitSet, cap,
};
use oxmpi_mca::{MemKind, SliceRef, Status, StrRef};

/// The module's attributes; what an older component does not say keeps its default.
///
/// # Safety
/// `module` must be a component's.
pub unsafe fn attributes(module: &BtlModule) -> Result<BtlAttrs, String> {
    if module.attrs.is_null() || !module.attrs.is_aligned() {
        return Err("the module has no attributes".into());
    }
    // SAFETY: attributes begin with their size.
    let size = unsafe { (*module.attrs).size } as usize;
    if size < 8 {
        return Err(format!("attrs.size is {size}"));
    }
    let mut own = BtlAttrs::new();
    // SAFETY: `size` bytes are there, and any bytes are integers.
    unsafe {
        let n = size.min(size_of::<BtlAttrs>());
        core::ptr::copy_nonoverlapping(module.attrs.cast::<u8>(), (&raw mut own).cast(), n);
    }
    Ok(own)
}

/// The host's own full table, made of what the module offers. `attrs` must outlive it.
///
/// # Safety
/// `module` and `name` must be a component's.
pub unsafe fn handle(module: &BtlModule, attrs: &BtlAttrs, name: StrRef) -> BtlHandle {
    let table: *const BtlTable = module.table;
    // SAFETY: every table begins with its size.
    let size = unsafe { (*table).size } as usize;
    macro_rules! slot {
        ($name:ident) => {{
            let there = size >= offset_of!(BtlTable, $name) + size_of::<usize>();
            // SAFETY: a table is readable as far as its size says. No reference to the whole is made,
            // because an older one is shorter.
            if there { unsafe { (*table).$name } } else { None }
        }};
    }
    // Half a pair is no offer.
    let (get, put, flush, atomic) = (slot!(get), slot!(put), slot!(flush), slot!(atomic));
    let register = slot!(register_mem).zip(slot!(deregister_mem));
    let sleep = slot!(arm).zip(slot!(disarm));
    let get_vector = slot!(get_vector);
    let hold = slot!(hold).zip(slot!(held));
    let service = slot!(service_open)
        .zip(slot!(service_request))
        .zip(slot!(service_progress))
        .zip(slot!(service_reply))
        .filter(|_| attrs.service_limit > 0);
    let list = slot!(list).filter(|_| attrs.list_limit > 0);
    let service_sleep = slot!(service_arm).zip(slot!(service_disarm));
    let caps = [
        (cap::GET, get.is_some()),
        (cap::PUT, put.is_some()),
        (cap::FLUSH, flush.is_some()),
        (cap::ATOMIC, atomic.is_some()),
        (cap::REGISTER, register.is_some()),
        (cap::SLEEP, sleep.is_some()),
        (cap::GET_VECTOR, get_vector.is_some()),
        (cap::HOLD, hold.is_some()),
        (cap::SERVICE, service.is_some()),
        (cap::SERVICE_SLEEP, service_sleep.is_some()),
        (cap::LIST, list.is_some()),
        (cap::PARTNER, slot!(partner).is_some()),
    ];
    let (((open, request), serve), reply) =
        service.unwrap_or((((missing::open, missing::request), missing::progress_service), missing::reply));
    BtlHandle {
        size: size_of::<BtlHandle>() as u32,
        caps: caps.iter().filter(|c| c.1).fold(0, |all, c| all | c.0),
        state: module.state,
        send: slot!(send).unwrap_or(missing::send),
        progress: slot!(progress).unwrap_or(missing::progress),
        get: get.unwrap_or(missing::rma),
        put: put.unwrap_or(missing::rma),
        flush: flush.unwrap_or(missing::flush),
        atomic: atomic.unwrap_or(missing::atomic),
        register_mem: register.map_or(missing::register as _, |r| r.0),
        deregister_mem: register.map_or(missing::deregister as _, |r| r.1),
        arm: sleep.map_or(missing::arm as _, |s| s.0),
        disarm: sleep.map_or(missing::disarm as _, |s| s.1),
        get_vector: get_vector.unwrap_or(missing::vector),
        hold: hold.map_or(missing::hold as _, |h| h.0),
        held: hold.map_or(missing::held as _, |h| h.1),
        service_open: open,
        service_request: request,
        service_progress: serve,
        service_reply: reply,
        service_pending: slot!(service_pending).unwrap_or(missing::pending),
        service_arm: service_sleep.map_or(missing::service_arm as _, |s| s.0),
        service_disarm: service_sleep.map_or(missing::service_disarm as _, |s| s.1),
        add_procs: slot!(add_procs).unwrap_or(missing::add_procs),
        del_procs: slot!(del_procs).unwrap_or(missing::del_procs),
        finalize: slot!(finalize).unwrap_or(missing::finalize),
        attrs,
        name,
        emulated: 0,
        index: 0,
        list: list.unwrap_or(missing::list),
        partner: slot!(partner).unwrap_or(missing::partner),
    }
}

/// Stand-ins for verbs that a component does not offer.
mod missing {
    use super::*;
    type State = *mut c_void;

    pub extern "C" fn partner(_: State, _: *mut Endpoint) -> u32 {
        oxmpi_btl::SAME_NUMBER
    }
    pub extern "C" fn add_procs(_: State, _: SliceRef<ProcInfo>, _: *mut *mut Endpoint) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn del_procs(_: State, _: SliceRef<*mut Endpoint>) -> Status {
        Status::OK
    }
    pub extern "C" fn finalize(_: State) -> Status {
        Status::OK
    }
    pub extern "C" fn send(_: State, _: *mut Endpoint, _: u32, _: *const SendDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn progress(_: State, _: u32) -> i32 {
        0
    }
    pub extern "C" fn rma(_: State, _: *mut Endpoint, _: u32, _: *const RmaDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn vector(_: State, _: *mut Endpoint, _: u32, _: *const RmaVectorDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn flush(_: State, _: *mut Endpoint, _: u32, _: *const FlushDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn atomic(_: State, _: *mut Endpoint, _: u32, _: *const AtomicDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn list(_: State, _: *mut Endpoint, _: u32, _: *const ListDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn register(
        _: State,
        _: *mut u8,
        _: u64,
        _: u32,
        _: MemKind,
        _: *mut RegHandle,
    ) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn deregister(_: State, _: *const RegHandle) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn arm(_: State, _: u32, _: *mut WaitSet) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn disarm(_: State, _: u32) {}
    pub extern "C" fn hold(_: State, _: *mut Endpoint, _: u64) {}
    pub extern "C" fn held(_: State, _: *mut Endpoint) -> u64 {
        0
    }
    pub extern "C" fn open(_: State) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn request(_: State, _: *mut Endpoint, _: u32, _: *const SendDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn progress_service(_: State) -> i32 {
        0
    }
    pub extern "C" fn reply(_: State, _: u64, _: *const SendDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn pending(_: State) -> *const u32 {
        core::ptr::null()
    }
    pub extern "C" fn service_arm(_: State, _: *mut WaitSet) -> Status {
        Status::NOT_SUPPORTED
    }
    pub extern "C" fn service_disarm(_: State) {}
}
