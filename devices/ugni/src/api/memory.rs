//! Registration.

use super::give;
use crate::cq::Use;
use crate::handles;
use crate::layouts::MemHandle;
use crate::memory;
use crate::numbers::{Return, rc};
use std::ffi::c_void;

/// Registers memory, with a queue for remote events or NULL. Where it fails the handle is untouched.
///
/// # Safety
/// `handle` is NULL or valid for a write. The memory is the program's for as long as it is registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_MemRegister(
    nic: *mut c_void,
    address: u64,
    length: u64,
    cq: *mut c_void,
    flags: u32,
    _vmdh_index: u32,
    handle: *mut MemHandle,
) -> Return {
    let Some(nic) = handles::nic(nic).filter(|_| !handle.is_null()) else { return rc::INVALID_PARAM };
    let _entered = nic.enter();
    let mut queue = None;
    if !cq.is_null() {
        let Some(cq) = handles::cq(cq).filter(|c| c.take_for(Use::Remote)) else { return rc::INVALID_PARAM };
        queue = Some(cq);
    }
    match memory::register(address, length, queue, flags, nic.cookie) {
        Err(code) => code,
        Ok(registered) => {
            // SAFETY: checked and promised.
            unsafe { give(handle, registered) };
            rc::SUCCESS
        }
    }
}

/// Ends a registration. Operations under way to it complete with an error.
///
/// # Safety
/// `handle` is NULL or points to a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_MemDeregister(nic: *mut c_void, handle: *mut MemHandle) -> Return {
    let Some(nic) = handles::nic(nic).filter(|_| !handle.is_null()) else { return rc::INVALID_PARAM };
    let _entered = nic.enter();
    // SAFETY: checked and promised.
    let handle = unsafe { handle.read_unaligned() };
    if memory::deregister(handle) { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// Whether a registration has an attribute (`gni_mem_handle_attr_t`); only READONLY is ever there.
///
/// # Safety
/// `handle` is NULL or points to a handle, `answer` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_MemHndlQueryAttr(
    handle: *mut MemHandle,
    attribute: i32,
    answer: *mut i32,
) -> Return {
    if handle.is_null() || !(1..=7).contains(&attribute) {
        return rc::INVALID_PARAM;
    }
    // SAFETY: checked and promised.
    let value = unsafe { handle.read_unaligned() };
    let is_set = attribute == 1 && memory::is_read_only(value);
    // SAFETY: promised.
    if unsafe { give(answer, is_set.into()) } { rc::SUCCESS } else { rc::INVALID_PARAM }
}
