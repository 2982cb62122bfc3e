//! Address exchange of a component's modules, each under a name of its own.

use super::caller::caller;
use crate::objects::ComponentCtx;
use oxmpi_mca::{SliceRef, Status, StrRef};
use oxmpi_wireup::Polled;
use std::ffi::c_void;

/// Copies a value to a component's buffer; `len` has the room before and the length afterwards. `NO_RESOURCE`: there
/// is too little room.
///
/// # Safety
/// `len` is writable and `data` has as many bytes as it says.
pub(crate) unsafe fn hand_out(blob: &[u8], data: *mut u8, len: *mut usize) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        let room = *len;
        *len = blob.len();
        if blob.len() > room {
            return Status::NO_RESOURCE;
        }
        std::ptr::copy_nonoverlapping(blob.as_ptr(), data, blob.len());
    }
    Status::OK
}

/// Publishes the address of a component's module in the key-value store; in the table as `HostServices::exchange_put`.
pub(super) extern "C" fn put(ctx: *mut c_void, module: StrRef, data: SliceRef<u8>) -> Status {
    let (ctx, instance) = caller!(ctx);
    // SAFETY: the component's text and bytes are readable during the call.
    let (Some(module), data) = (unsafe { module.get() }, unsafe { data.get() }) else {
        return Status::BAD_PARAM;
    };
    instance.exchange_put(&format!("{}/{module}", exchange_key(ctx)), data);
    Status::OK
}

/// Asks for the address that process `proc` has published for a module, without waiting for the answer: `PENDING`
/// until that has come. In the table as `HostServices::exchange_try`.
pub(super) extern "C" fn get(
    ctx: *mut c_void,
    module: StrRef,
    proc: u32,
    data: *mut u8,
    len: *mut usize,
) -> Status {
    let (ctx, instance) = caller!(ctx);
    // SAFETY: the component's name is there during the call, and `len` is its in-out pointer.
    let (Some(module), room) = (unsafe { module.get() }, unsafe { *len }) else { return Status::BAD_PARAM };
    if instance.is_stranger(proc) {
        let value = instance.stranger_value(proc, &format!("{}/{module}", exchange_key(ctx)));
        // SAFETY: the component's buffer and its length.
        return value.map_or(Status::NOT_FOUND, |blob| unsafe { hand_out(&blob, data, len) });
    }
    match instance.client().try_get(proc, &format!("{}/{module}", exchange_key(ctx)), room) {
        // SAFETY: the component's buffer and its length.
        Ok(Polled::Value(Some(blob))) => unsafe { hand_out(&blob, data, len) },
        Ok(Polled::TooLong(bytes)) => {
            // SAFETY: the component's in-out pointer, which is there during the call.
            unsafe { *len = bytes };
            Status::NO_RESOURCE
        }
        Ok(Polled::Value(None)) => Status::NOT_FOUND,
        Ok(Polled::Waits) => Status::PENDING,
        Err(_) => Status::PEER_FAILED,
    }
}

/// The beginning of a component's keys in the key-value store: framework and name.
pub(crate) fn exchange_key(ctx: &ComponentCtx) -> String {
    format!("{}.{}", ctx.framework.name(), ctx.name)
}
