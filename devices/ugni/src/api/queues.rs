//! Completion queues and channels.

use super::cancellation::{ever, in_parts};
use super::give;
use crate::config::config;
use crate::cq::{Channel, Cq, Handler, Use, Wish, wait_any};
use crate::engine;
use crate::entry;
use crate::handles::{self, Object};
use crate::layouts::PostDescriptor;
use crate::node;
use crate::numbers::{Return, cq_mode, mode, rc};
use crate::sys;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex};

/// Makes a queue of at least `entries` entries on a device.
///
/// # Safety
/// `out` is NULL or valid for a write; `handler` may be called with `context` as long as the queue is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CqCreate(
    nic: *mut c_void,
    entries: u32,
    _delay: u32,
    mode: u32,
    handler: Option<Handler>,
    context: *mut c_void,
    out: *mut *mut c_void,
) -> Return {
    let Some(nic) = handles::nic(nic) else { return rc::INVALID_PARAM };
    if out.is_null() || entries == 0 || mode & !cq_mode::KNOWN != 0 {
        return rc::INVALID_PARAM;
    }
    let _entered = nic.enter();
    if !node::take(node::Resource::Queues, 1, config().cqs.into()) {
        return rc::ERROR_RESOURCE;
    }
    let handle = handles::reserve();
    let dual = nic.modes & mode::DUAL_EVENTS != 0;
    let wish = Wish { entries, mode, dual, handler, context: context as usize };
    handles::insert(handle, Object::Cq(Arc::new(Cq::new(handle, nic.rule.clone(), wish))));
    // SAFETY: checked and promised.
    unsafe { give(out, handle as *mut c_void) };
    rc::SUCCESS
}

/// Ends a queue: ERROR_RESOURCE while an endpoint or a registration refers to it.
#[unsafe(no_mangle)]
pub extern "C" fn GNI_CqDestroy(cq: *mut c_void) -> Return {
    let Some(object) = handles::cq(cq) else { return rc::INVALID_PARAM };
    if object.is_referenced() {
        return rc::ERROR_RESOURCE;
    }
    handles::remove(cq);
    node::give(node::Resource::Queues, 1);
    rc::SUCCESS
}

/// Takes the oldest entry. Credits of the device's mailboxes go back on this occasion, too.
///
/// A look in vain takes a turn of the card, which is a thread here: see `engine`. Not so where the queue's channel is to fire: that is the
/// last look before a sleep.
///
/// # Safety
/// `event` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CqGetEvent(cq: *mut c_void, event: *mut u64) -> Return {
    let Some(cq) = handles::cq(cq).filter(|_| !event.is_null()) else { return rc::INVALID_PARAM };
    let _entered = cq.rule.enter();
    super::smsg::return_credits(&cq);
    let (mut outcome, mut entry) = cq.take();
    if outcome == rc::NOT_DONE && !cq.is_armed() {
        engine::turn_for_caller();
        (outcome, entry) = cq.take();
    }
    if outcome != rc::NOT_DONE {
        // SAFETY: checked and promised.
        unsafe { give(event, entry) };
    }
    outcome
}

/// Whether there is an entry. Needs no care for threads. A look in vain takes a turn of the card, too.
#[unsafe(no_mangle)]
pub extern "C" fn GNI_CqTestEvent(cq: *mut c_void) -> Return {
    match handles::cq(cq) {
        None => rc::INVALID_PARAM,
        Some(cq) if cq.has_entry() => rc::SUCCESS,
        Some(cq) if cq.is_armed() => rc::NOT_DONE,
        Some(cq) => {
            engine::turn_for_caller();
            if cq.has_entry() { rc::SUCCESS } else { rc::NOT_DONE }
        }
    }
}

/// Queues of an array of the program's, all blocking.
unsafe fn blocking(cqs: *const *mut c_void, n: u32) -> Result<Vec<Arc<Cq>>, Return> {
    if cqs.is_null() || n == 0 {
        return Err(rc::INVALID_PARAM);
    }
    // SAFETY: the entry point's caller promises `n` handles.
    let given = unsafe { core::slice::from_raw_parts(cqs, n as usize) };
    let found: Option<Vec<_>> = given.iter().map(|c| handles::cq(*c)).collect();
    let found = found.ok_or(rc::INVALID_PARAM)?;
    if found.iter().all(|c| c.is_blocking()) { Ok(found) } else { Err(rc::ERROR_RESOURCE) }
}

/// # Safety
/// `event` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GNI_CqWaitEvent(cq: *mut c_void, ms: u64, event: *mut u64) -> Return {
    let mut which = 0;
    // SAFETY: one handle; the rest is promised.
    unsafe { GNI_CqVectorWaitEvent(&cq, 1, ms, event, &mut which) }
}

/// Waits for an entry in any of the queues, and takes it.
///
/// # Safety
/// `cqs` has `n` handles; `event` and `which` are NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GNI_CqVectorWaitEvent(
    cqs: *const *mut c_void,
    n: u32,
    ms: u64,
    event: *mut u64,
    which: *mut u32,
) -> Return {
    // SAFETY: promised.
    in_parts(ever(ms), |ms| unsafe { take_of_any(cqs, n, ms, event, which) })
}

/// A part of a wait that takes an entry.
///
/// # Safety
/// As GNI_CqVectorWaitEvent.
unsafe fn take_of_any(cqs: *const *mut c_void, n: u32, ms: u64, event: *mut u64, which: *mut u32) -> Return {
    // SAFETY: promised.
    let queues = match unsafe { blocking(cqs, n) } {
        Ok(queues) if !event.is_null() && !which.is_null() => queues,
        Ok(_) => return rc::INVALID_PARAM,
        Err(code) => return code,
    };
    engine::take_over();
    let Some(i) = wait_any(&queues, ms) else { return rc::TIMEOUT };
    let (outcome, entry) = queues[i].take();
    // SAFETY: checked and promised.
    unsafe {
        give(event, entry);
        give(which, i as u32);
    }
    outcome
}

/// Waits for an entry in any of the queues, and leaves it there. Needs no care for threads.
///
/// # Safety
/// `cqs` has `n` handles; `which` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn GNI_CqVectorMonitor(
    cqs: *const *mut c_void,
    n: u32,
    ms: u64,
    which: *mut u32,
) -> Return {
    // SAFETY: promised.
    in_parts(ever(ms), |ms| unsafe { look_at_any(cqs, n, ms, which) })
}

/// A part of a wait that leaves the entry.
///
/// # Safety
/// As GNI_CqVectorMonitor.
unsafe fn look_at_any(cqs: *const *mut c_void, n: u32, ms: u64, which: *mut u32) -> Return {
    // SAFETY: promised.
    let queues = match unsafe { blocking(cqs, n) } {
        Ok(queues) if !which.is_null() => queues,
        Ok(_) => return rc::INVALID_PARAM,
        Err(code) => return code,
    };
    if queues.iter().any(|c| c.is_masked()) {
        return rc::NOT_DONE;
    }
    engine::take_over();
    let Some(i) = wait_any(&queues, ms) else { return rc::TIMEOUT };
    // SAFETY: checked and promised.
    unsafe { give(which, i as u32) };
    rc::SUCCESS
}

fn mask(cq: *mut c_void, masked: bool) -> Return {
    match handles::cq(cq) {
        None => rc::INVALID_PARAM,
        Some(cq) if !cq.is_blocking() => rc::ERROR_RESOURCE,
        Some(cq) => {
            cq.mask(masked);
            rc::SUCCESS
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn GNI_CqInterruptMask(cq: *mut c_void) -> Return {
    mask(cq, true)
}

#[unsafe(no_mangle)]
pub extern "C" fn GNI_CqInterruptUnmask(cq: *mut c_void) -> Return {
    mask(cq, false)
}

/// The descriptor whose post an entry completes: the very one that was posted.
///
/// # Safety
/// `out` is NULL or valid for a write; posted descriptors are where they were.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_GetCompleted(
    cq: *mut c_void,
    event: u64,
    out: *mut *mut PostDescriptor,
) -> Return {
    let Some(cq) = handles::cq(cq).filter(|_| !out.is_null()) else { return rc::INVALID_PARAM };
    let _entered = cq.rule.enter();
    let (outcome, descriptor) = cq.completed(event);
    // SAFETY: checked and promised.
    unsafe { give(out, descriptor) };
    outcome
}

/// Words about an entry's error.
///
/// # Safety
/// `text` is NULL or has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CqErrorStr(event: u64, text: *mut c_void, len: u32) -> Return {
    if text.is_null() || len == 0 {
        return rc::INVALID_PARAM;
    }
    let words = entry::describe(event);
    if words.len() >= len as usize {
        return rc::SIZE_ERROR;
    }
    let text = text.cast::<u8>();
    // SAFETY: there is room for the words and the end.
    unsafe {
        core::ptr::copy_nonoverlapping(words.as_ptr(), text, words.len());
        text.add(words.len()).write(0);
    }
    rc::SUCCESS
}

/// Whether what an entry reports may be tried again.
///
/// # Safety
/// `answer` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CqErrorRecoverable(event: u64, answer: *mut u32) -> Return {
    let Some(recoverable) = entry::is_recoverable(event) else { return rc::INVALID_STATE };
    // SAFETY: promised.
    if unsafe { give(answer, recoverable.into()) } { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// Makes a channel: a descriptor that polls ready when an armed queue has an entry.
///
/// # Safety
/// `out` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CompChanCreate(nic: *mut c_void, out: *mut *mut c_void) -> Return {
    if handles::nic(nic).is_none() || out.is_null() {
        return rc::INVALID_PARAM;
    }
    let Ok(bell) = sys::bell() else { return rc::ERROR_NOMEM };
    let handle = handles::reserve();
    handles::insert(handle, Object::Channel(Arc::new(Channel { bell, fired: Mutex::new(VecDeque::new()) })));
    // SAFETY: checked and promised.
    unsafe { give(out, handle as *mut c_void) };
    rc::SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn GNI_CompChanDestroy(channel: *mut c_void) -> Return {
    if handles::channel(channel).is_none() {
        return rc::INVALID_PARAM;
    }
    handles::remove(channel);
    rc::SUCCESS
}

/// # Safety
/// `fd` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CompChanFd(channel: *mut c_void, fd: *mut i32) -> Return {
    let Some(channel) = handles::channel(channel) else { return rc::INVALID_PARAM };
    // SAFETY: promised.
    if unsafe { give(fd, channel.bell.as_raw_fd()) } { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// The queue that fired: NOT_DONE where none has.
///
/// # Safety
/// `out` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CompChanGetEvent(channel: *mut c_void, out: *mut *mut c_void) -> Return {
    let Some(channel) = handles::channel(channel).filter(|_| !out.is_null()) else {
        return rc::INVALID_PARAM;
    };
    let mut fired = channel.fired.lock().unwrap_or_else(|e| e.into_inner());
    let Some(cq) = fired.pop_front() else { return rc::NOT_DONE };
    if fired.is_empty() {
        sys::silence(&channel.bell);
    }
    // SAFETY: checked and promised.
    unsafe { give(out, cq as *mut c_void) };
    rc::SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn GNI_CqAttachCompChan(cq: *mut c_void, channel: *mut c_void) -> Return {
    let (Some(cq), Some(channel)) = (handles::cq(cq), handles::channel(channel)) else {
        return rc::INVALID_PARAM;
    };
    if cq.is_blocking() && cq.join(channel) { rc::SUCCESS } else { rc::INVALID_PARAM }
}

/// Arms queues for one event each.
///
/// # Safety
/// `cqs` has `n` handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GNI_CqArmCompChan(cqs: *const *mut c_void, n: u32) -> Return {
    // SAFETY: promised.
    match unsafe { blocking(cqs, n) } {
        Err(code) => code,
        Ok(queues) => {
            engine::take_over();
            if queues.iter().all(|c| c.arm()) { rc::SUCCESS } else { rc::INVALID_PARAM }
        }
    }
}

/// A queue for local events as a post names it.
pub(super) fn local_queue(cq: *mut c_void) -> Option<Arc<Cq>> {
    handles::cq(cq).filter(|c| c.take_for(Use::Local))
}
