//! Completion channels and completion queues: making, polling, waiting.

use crate::channel::FakeChannel;
use crate::context::FakeContext;
use crate::counters::{self, Counter};
use crate::cq::Shape;
use crate::objects::{CqCore, FakeCq};
use crate::requests::EINVAL;
use core::ffi::{c_int, c_void};
use oxmpi_verbs_abi::numbers::cq_flags;
use oxmpi_verbs_abi::{CompChannel, Context, Cq, CqEx, CqInitAttrEx, Wc};
use std::sync::atomic::Ordering;

/// # Safety
/// A context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_create_comp_channel(context: *mut Context) -> *mut CompChannel {
    FakeChannel::new(context).map_or(core::ptr::null_mut(), |c| Box::into_raw(c).cast())
}

/// # Safety
/// A channel that no queue has any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_destroy_comp_channel(channel: *mut CompChannel) -> c_int {
    // SAFETY: made by us.
    drop(unsafe { Box::from_raw(channel.cast::<FakeChannel>()) });
    0
}

unsafe fn create(
    context: *mut Context,
    cqe: u32,
    cq_context: *mut c_void,
    channel: *mut CompChannel,
    single_threaded: bool,
) -> *mut CqEx {
    // SAFETY: the caller's context and channel.
    let (core, shared) = unsafe {
        let shared = (!channel.is_null()).then(|| (*channel.cast::<FakeChannel>()).shared.clone());
        (FakeContext::of(context).core.clone(), shared)
    };
    let config = &core.nic.config;
    if cqe == 0 || cqe > config.max_cqe || counters::get(Counter::Cqs) >= u64::from(config.max_cq) {
        return core::ptr::null_mut();
    }
    let shape = Shape {
        number: core.nic.number(),
        capacity: cqe,
        single_threaded,
        lenient: config.lenient,
        full_at: config.cq_full_at,
    };
    let number = shape.number;
    let raw = Cq {
        context,
        channel,
        cq_context,
        handle: number as u32,
        cqe: cqe as c_int,
        mutex: [0; 5],
        cond: [0; 6],
        comp_events_completed: 0,
        async_events_completed: 0,
    };
    let made = CqCore::new(shape, shared.clone());
    let made = Box::into_raw(FakeCq::new(raw, made, shared.clone(), core));
    if let Some(channel) = shared {
        channel.join(number, made.cast());
    }
    counters::add(Counter::Cqs, 1);
    counters::add(Counter::Bytes, counters::bytes::CQ);
    made.cast()
}

/// # Safety
/// A context, and a channel or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_create_cq(
    context: *mut Context,
    cqe: c_int,
    cq_context: *mut c_void,
    channel: *mut CompChannel,
    vector: c_int,
) -> *mut Cq {
    if vector != 0 || cqe <= 0 {
        return core::ptr::null_mut();
    }
    // SAFETY: the caller's promise.
    unsafe { create(context, cqe as u32, cq_context, channel, false) }.cast()
}

pub unsafe extern "C" fn create_cq_ex(context: *mut Context, attr: *mut CqInitAttrEx) -> *mut CqEx {
    // SAFETY: the caller's attributes.
    let attr = unsafe { &*attr };
    // Bytes, immediate data, both queue pair numbers: what there is.
    const KNOWN: u64 = 15;
    let flags = if attr.comp_mask & cq_flags::MASK_FLAGS != 0 { attr.flags } else { 0 };
    if attr.comp_vector != 0
        || attr.wc_flags & !KNOWN != 0
        || attr.comp_mask & !cq_flags::MASK_FLAGS != 0
        || flags & !cq_flags::SINGLE_THREADED != 0
    {
        return core::ptr::null_mut();
    }
    let single = flags & cq_flags::SINGLE_THREADED != 0;
    // SAFETY: the caller's promise.
    unsafe { create(context, attr.cqe, attr.cq_context, attr.channel, single) }
}

/// # Safety
/// A queue of ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_resize_cq(cq: *mut Cq, cqe: c_int) -> c_int {
    // SAFETY: the caller's queue.
    let fake = unsafe { FakeCq::of(cq) };
    if cqe <= 0 || cqe as u32 > fake.context.nic.config.max_cqe || !fake.core.resize(cqe as u32) {
        return EINVAL;
    }
    // SAFETY: as above; the field is its owner's.
    unsafe { (*cq).cqe = cqe };
    0
}

/// # Safety
/// A queue that no pair has any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_destroy_cq(cq: *mut Cq) -> c_int {
    // SAFETY: made by `create`.
    let fake = unsafe { Box::from_raw(cq.cast::<FakeCq>()) };
    if let Some(channel) = &fake.channel {
        channel.leave(fake.core.number);
    }
    counters::sub(Counter::Cqs, 1);
    counters::sub(Counter::Bytes, counters::bytes::CQ);
    0
}

pub unsafe extern "C" fn poll_cq(cq: *mut Cq, count: c_int, wc: *mut Wc) -> c_int {
    // SAFETY: the caller's queue, and room for so many.
    let fake = unsafe { FakeCq::of(cq) };
    let _inside = fake.core.lock.enter("a completion queue");
    let take = || {
        let mut at = wc;
        fake.core.take(count.max(0) as usize, |entry| {
            // SAFETY: as above; not more than `count` come.
            unsafe {
                *at = entry;
                at = at.add(1);
            }
        }) as c_int
    };
    let mut got = take();
    if got == 0 {
        fake.context.nic.turn_for_caller();
        got = take();
    }
    if got == 0 && fake.core.overrun.load(Ordering::Acquire) { -1 } else { got }
}

pub unsafe extern "C" fn req_notify_cq(cq: *mut Cq, solicited: c_int) -> c_int {
    // SAFETY: the caller's queue.
    unsafe { FakeCq::of(cq) }.core.arm(solicited != 0);
    0
}

/// # Safety
/// A channel, and two places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_get_cq_event(
    channel: *mut CompChannel,
    cq: *mut *mut Cq,
    cq_context: *mut *mut c_void,
) -> c_int {
    // SAFETY: the caller's channel and places.
    unsafe {
        match (*channel.cast::<FakeChannel>()).next() {
            Ok(queue) => {
                *cq = queue;
                *cq_context = (*queue).cq_context;
                0
            }
            Err(_) => -1,
        }
    }
}

/// # Safety
/// A queue of ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_ack_cq_events(cq: *mut Cq, count: u32) {
    // SAFETY: the caller's queue.
    unsafe { FakeCq::of(cq) }.acked.fetch_add(count, Ordering::Relaxed);
}
