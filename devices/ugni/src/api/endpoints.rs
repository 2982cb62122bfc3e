//! Endpoints.

use super::give;
use crate::cq::Use;
use crate::domain::{Bound, Ep};
use crate::handles::{self, Object};
use crate::numbers::{Return, rc};
use std::ffi::c_void;
use std::sync::Arc;

/// Makes an endpoint on a device, with a queue for its local events or NULL.
///
/// # Safety
/// `out` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_EpCreate(nic: *mut c_void, cq: *mut c_void, out: *mut *mut c_void) -> Return {
    let Some(nic) = handles::nic(nic).filter(|_| !out.is_null()) else { return rc::INVALID_PARAM };
    let _entered = nic.enter();
    let mut queue = None;
    if !cq.is_null() {
        let Some(cq) = handles::cq(cq).filter(|c| c.take_for(Use::Local)) else { return rc::INVALID_PARAM };
        cq.attach_endpoint();
        queue = Some(cq);
    }
    let handle = handles::reserve();
    handles::insert(handle, Object::Ep(Arc::new(Ep::new(handle, nic.clone(), queue))));
    // SAFETY: checked and promised.
    unsafe { give(out, handle as *mut c_void) };
    rc::SUCCESS
}

/// Binds an endpoint to a peer. The peer's instance becomes the data of local events, ours that of remote ones.
#[unsafe(no_mangle)]
pub extern "C" fn GNI_EpBind(ep: *mut c_void, address: u32, inst: u32) -> Return {
    let Some(ep) = handles::ep(ep) else { return rc::INVALID_PARAM };
    let _entered = ep.nic.enter();
    let mut s = ep.state();
    if s.bound.is_some() {
        return rc::INVALID_PARAM;
    }
    s.bound = Some(Bound { address, inst, local_event: inst, remote_event: ep.nic.inst });
    rc::SUCCESS
}

/// Sets the data of an endpoint's events, for what is posted from now on.
#[unsafe(no_mangle)]
pub extern "C" fn GNI_EpSetEventData(ep: *mut c_void, local: u32, remote: u32) -> Return {
    let Some(ep) = handles::ep(ep) else { return rc::INVALID_PARAM };
    let _entered = ep.nic.enter();
    match &mut ep.state().bound {
        Some(b) => {
            (b.local_event, b.remote_event) = (local, remote);
            rc::SUCCESS
        }
        None => rc::INVALID_PARAM,
    }
}

/// Whether an endpoint could be unbound: NOT_DONE while something is under way.
#[unsafe(no_mangle)]
pub extern "C" fn GNI_EpIdle(ep: *mut c_void) -> Return {
    let Some(ep) = handles::ep(ep) else { return rc::INVALID_PARAM };
    let s = ep.state();
    match s.bound {
        None => rc::INVALID_PARAM,
        Some(_) if s.outstanding > 0 || s.datagram => rc::NOT_DONE,
        Some(_) => rc::SUCCESS,
    }
}

/// Unbinds an endpoint; its mailboxes are gone.
#[unsafe(no_mangle)]
pub extern "C" fn GNI_EpUnbind(ep: *mut c_void) -> Return {
    let idle = GNI_EpIdle(ep);
    if idle == rc::SUCCESS
        && let Some(ep) = handles::ep(ep)
    {
        let _entered = ep.nic.enter();
        let mut s = ep.state();
        (s.bound, s.smsg, s.broken) = (None, None, false);
    }
    idle
}

/// Destroys an endpoint. Its operations under way are cancelled without events.
#[unsafe(no_mangle)]
pub extern "C" fn GNI_EpDestroy(ep: *mut c_void) -> Return {
    let Some(object) = handles::ep(ep) else { return rc::INVALID_PARAM };
    let _entered = object.nic.enter();
    handles::remove(ep);
    object.nic.sessions().end(object.handle);
    if let Some(cq) = &object.cq {
        cq.detach_endpoint();
        cq.cancel(object.handle);
    }
    rc::SUCCESS
}
