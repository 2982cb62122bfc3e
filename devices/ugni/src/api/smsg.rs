//! Short messages.

use super::give;
use crate::counters::{self, Counter};
use crate::cq::{Cq, Request};
use crate::domain::{Ep, EpState};
use crate::engine::{self, Command};
use crate::handles;
use crate::layouts::{MemHandle, SmsgAttr};
use crate::numbers::{Return, SMSG_ANY_TAG, event, rc, statistic};
use crate::operation::{Completion, Operation, Piece, RemoteEvent, Work};
use crate::smsg::{Mailboxes, SLOT_HEAD, size_needed};
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Endpoints that owe credits to their peers.
static OWING: Mutex<Vec<Arc<Ep>>> = Mutex::new(Vec::new());

/// Bytes of a mailbox with these attributes.
///
/// # Safety
/// `attr` is NULL or points to attributes, `size` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_SmsgBufferSizeNeeded(attr: *const SmsgAttr, size: *mut u32) -> Return {
    // SAFETY: promised.
    let Some(needed) = unsafe { attr.as_ref() }.and_then(size_needed) else { return rc::INVALID_PARAM };
    // SAFETY: promised.
    if unsafe { give(size, needed) } { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// Joins an endpoint's mailbox to its peer's.
///
/// # Safety
/// Both are NULL or point to attributes; the local mailbox stays while the endpoint has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_SmsgInit(
    ep: *mut c_void,
    local: *const SmsgAttr,
    remote: *const SmsgAttr,
) -> Return {
    let Some(ep) = handles::ep(ep) else { return rc::INVALID_PARAM };
    let _entered = ep.nic.enter();
    // SAFETY: promised.
    let (Some(local), Some(remote)) = (unsafe { local.as_ref() }, unsafe { remote.as_ref() }) else {
        return rc::INVALID_PARAM;
    };
    let mut s = ep.state();
    if s.bound.is_none() || s.smsg.is_some() {
        return rc::INVALID_STATE;
    }
    let aligned = (local.msg_buffer as u64 + u64::from(local.mbox_offset)).is_multiple_of(8);
    match Mailboxes::of(local, remote).filter(|_| aligned && !local.msg_buffer.is_null()) {
        None => rc::INVALID_PARAM,
        Some(boxes) => {
            s.smsg = Some(boxes);
            rc::SUCCESS
        }
    }
}

/// Times that a lost message is sent again.
#[unsafe(no_mangle)]
pub extern "C" fn GNI_SmsgSetMaxRetrans(nic: *mut c_void, times: u16) -> Return {
    let Some(nic) = handles::nic(nic) else { return rc::INVALID_PARAM };
    nic.max_retrans.store(times.into(), Ordering::Relaxed);
    rc::SUCCESS
}

/// Routing of messages: taken, and without effect.
#[unsafe(no_mangle)]
pub extern "C" fn GNI_SmsgSetDeliveryMode(nic: *mut c_void, _mode: u16) -> Return {
    if handles::nic(nic).is_some() { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// # Safety
/// As GNI_SmsgSendWTag.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_SmsgSend(
    ep: *mut c_void,
    header: *mut c_void,
    header_len: u32,
    data: *mut c_void,
    data_len: u32,
    id: u32,
) -> Return {
    // SAFETY: promised.
    unsafe { GNI_SmsgSendWTag(ep, header, header_len, data, data_len, id, 0) }
}

/// Sends header and data as one message. Both are read when the packet is made, so they stay as they are until the local event.
///
/// # Safety
/// `header` and `data` have their lengths and stay until the event of type SMSG with this `id`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_SmsgSendWTag(
    ep: *mut c_void,
    header: *mut c_void,
    header_len: u32,
    data: *mut c_void,
    data_len: u32,
    id: u32,
    tag: u8,
) -> Return {
    let Some(ep) = handles::ep(ep) else { return rc::INVALID_PARAM };
    let _entered = ep.nic.enter();
    if (header.is_null() && header_len > 0) || (data.is_null() && data_len > 0) {
        return rc::INVALID_PARAM;
    }
    let pieces = [(header as u64, header_len), (data as u64, data_len)];
    match send(&ep, pieces, id, tag) {
        Ok(operation) => {
            counters::add(Counter::Messages, 1);
            counters::add(Counter::Doorbells, 1);
            engine::submit(Command::Post(Box::new(operation)));
            rc::SUCCESS
        }
        Err(code) => code,
    }
}

fn send(ep: &Arc<Ep>, pieces: [(u64, u32); 2], id: u32, tag: u8) -> Result<Operation, Return> {
    let length = u64::from(pieces[0].1) + u64::from(pieces[1].1);
    let mut s = ep.state();
    let bound = s.bound.ok_or(rc::INVALID_PARAM)?;
    if s.broken {
        return Err(rc::INVALID_STATE);
    }
    let EpState { smsg, outstanding, .. } = &mut *s;
    let boxes = smsg.as_mut().ok_or(rc::INVALID_PARAM)?;
    if length > boxes.maxsize.into() {
        return Err(rc::ERROR_RESOURCE);
    }
    if !boxes.has_credit() {
        ep.nic.count(statistic::MBOX_CREDITS_STALL);
        return Err(rc::NOT_DONE);
    }
    let mut completion = None;
    if let Some(cq) = &ep.cq {
        let Some(tid) = cq.begin(ep.handle, Request::Message) else {
            ep.nic.count(statistic::REQ_STALL);
            return Err(rc::NOT_DONE);
        };
        *outstanding += 1;
        let (ep, cq) = (ep.clone(), cq.clone());
        completion = Some(Completion {
            ep,
            cq,
            tid,
            kind: event::SMSG,
            local: false,
            global: true,
            data: id,
            chain: None,
        });
    }
    let (slot, sequence) = boxes.next_slot();
    let meta = length | u64::from(tag) << 32;
    let mut source = vec![Piece::Bytes(meta.to_le_bytes().to_vec())];
    source.extend(
        pieces
            .iter()
            .filter(|(_, n)| *n > 0)
            .map(|(address, n)| Piece::Memory { address: *address, length: (*n).into() }),
    );
    Ok(Operation {
        target: (bound.address, bound.inst),
        inst: ep.nic.inst,
        cookie: ep.nic.cookie,
        handle: boxes.remote_handle,
        address: slot + 8,
        length: SLOT_HEAD - 8 + length,
        work: Work::Put { source, sync: Some((slot, sequence)) },
        event: Some(RemoteEvent { data: bound.remote_event, message: true }),
        bulk: false,
        in_order: false,
        completion,
        modes: ep.nic.modes,
        sent: 0,
        fault: 0,
        retries: ep.nic.max_retrans.load(Ordering::Relaxed),
    })
}

/// # Safety
/// `header` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_SmsgGetNext(ep: *mut c_void, header: *mut *mut c_void) -> Return {
    let mut tag = SMSG_ANY_TAG;
    // SAFETY: promised.
    unsafe { GNI_SmsgGetNextWTag(ep, header, &mut tag) }
}

/// The next message of a mailbox, which stays there until it is released. `tag` says which is wanted, and gets that of the message.
///
/// # Safety
/// `header` and `tag` are NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_SmsgGetNextWTag(
    ep: *mut c_void,
    header: *mut *mut c_void,
    tag: *mut u8,
) -> Return {
    let Some(ep) = handles::ep(ep).filter(|_| !header.is_null() && !tag.is_null()) else {
        return rc::INVALID_PARAM;
    };
    let _entered = ep.nic.enter();
    let mut s = ep.state();
    let broken = s.broken;
    let Some(boxes) = s.smsg.as_mut() else { return rc::INVALID_PARAM };
    let Some(message) = boxes.peek() else {
        drop(s);
        tell_credits(&ep, true);
        return if broken { rc::INVALID_STATE } else { rc::NOT_DONE };
    };
    // SAFETY: checked and promised.
    let wanted = unsafe { *tag };
    if wanted != SMSG_ANY_TAG && wanted != message.tag {
        return rc::NO_MATCH;
    }
    boxes.hold();
    // SAFETY: as above.
    unsafe {
        give(header, message.address as *mut c_void);
        give(tag, message.tag);
    }
    rc::SUCCESS
}

/// Releases the message that GNI_SmsgGetNext gave.
#[unsafe(no_mangle)]
pub extern "C" fn GNI_SmsgRelease(ep: *mut c_void) -> Return {
    let Some(ep) = handles::ep(ep) else { return rc::INVALID_PARAM };
    let _entered = ep.nic.enter();
    let released = match ep.state().smsg.as_mut() {
        None => return rc::INVALID_PARAM,
        Some(boxes) => boxes.release(),
    };
    if !released {
        return rc::NOT_DONE;
    }
    if !tell_credits(&ep, false) {
        let mut owing = OWING.lock().unwrap_or_else(|e| e.into_inner());
        if !owing.iter().any(|e| Arc::ptr_eq(e, &ep)) {
            owing.push(ep.clone());
        }
    }
    rc::SUCCESS
}

/// Tells a peer how many messages were released: all of them, or only when they are many. True: nothing is owed any more.
fn tell_credits(ep: &Arc<Ep>, all: bool) -> bool {
    let mut s = ep.state();
    let (Some(bound), Some(boxes)) = (s.bound, s.smsg.as_mut()) else { return true };
    let handle: MemHandle = boxes.remote_handle;
    let Some((address, value)) = boxes.credits(all) else { return all };
    drop(s);
    engine::submit(Command::Post(Box::new(Operation {
        target: (bound.address, bound.inst),
        inst: ep.nic.inst,
        cookie: ep.nic.cookie,
        handle,
        address,
        length: 0,
        work: Work::Put { source: Vec::new(), sync: Some((address, value)) },
        event: None,
        bulk: false,
        in_order: true,
        completion: None,
        modes: 0,
        sent: 0,
        fault: 0,
        retries: 0,
    })));
    true
}

/// Credits that are owed by endpoints of a queue's device go back.
pub(super) fn return_credits(cq: &Cq) {
    let owing = {
        let mut all = OWING.lock().unwrap_or_else(|e| e.into_inner());
        let (ours, rest) = all.drain(..).partition(|ep| Arc::ptr_eq(&ep.nic.rule, &cq.rule));
        *all = rest;
        let ours: Vec<Arc<Ep>> = ours;
        ours
    };
    owing.iter().for_each(|ep| {
        tell_credits(ep, true);
    });
}
