//! Completion queues with their channels, and the right to take what is in one.

use super::open_device::{OpenDevice, Raw, Refused};
use crate::sys::called;
use core::ffi::c_int;
use core::ptr::null_mut;
use oxmpi_verbs_abi::numbers::cq_flags;
use oxmpi_verbs_abi::*;
use std::os::fd::RawFd;
use std::sync::Arc;

type Poll = unsafe extern "C" fn(*mut Cq, c_int, *mut Wc) -> c_int;
type Notify = unsafe extern "C" fn(*mut Cq, c_int) -> c_int;
type CreateCqEx = unsafe extern "C" fn(*mut Context, *mut CqInitAttrEx) -> *mut CqEx;

/// A completion channel, whose descriptor does not block.
pub struct Channel {
    raw: Raw<CompChannel>,
    device: Arc<OpenDevice>,
}

impl Channel {
    pub fn new(device: &Arc<OpenDevice>) -> Result<Arc<Channel>, Refused> {
        // SAFETY: an open context.
        let (raw, why) = called(|| unsafe { (device.api.create_comp_channel)(device.raw.at()) });
        // SAFETY: the library has just made it, for us.
        let raw =
            unsafe { Raw::of(raw) }.ok_or_else(|| format!("cannot make a completion channel: {why}"))?;
        let channel = Channel { raw, device: device.clone() };
        // SAFETY: the channel's descriptor is open as long as it.
        unsafe { crate::sys::never_block(channel.fd()) }
            .map_err(|e| format!("cannot set up a completion channel: {e}"))?;
        Ok(Arc::new(channel))
    }
    pub fn fd(&self) -> RawFd {
        // SAFETY: alive.
        unsafe { (*self.raw.at()).fd }
    }
    /// Takes all events that are there, and acknowledges them. Whether there was one.
    pub fn drain(&self) -> bool {
        let (mut cq, mut context) = (null_mut(), null_mut());
        let mut any = false;
        // SAFETY: alive; an event names a queue that is there.
        unsafe {
            while (self.device.api.get_cq_event)(self.raw.at(), &mut cq, &mut context) == 0 {
                (self.device.api.ack_cq_events)(cq, 1);
                any = true;
            }
        }
        any
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // SAFETY: its queues hold it, so none is left.
        unsafe { (self.device.api.destroy_comp_channel)(self.raw.at()) };
    }
}

/// A completion queue, as those know it who make pairs that report to it.
pub struct Completions {
    pub(super) raw: Raw<Cq>,
    device: Arc<OpenDevice>,
    pub channel: Option<Arc<Channel>>,
}

/// The right to take what is in a completion queue, of which each has one: a queue for one thread has no lock in the library.
pub struct Poller {
    completions: Arc<Completions>,
    poll: Poll,
    notify: Notify,
}

impl Completions {
    /// `alone`: one thread at a time uses it, as far as the library can make use of that.
    pub fn new(
        device: &Arc<OpenDevice>,
        entries: u32,
        channel: Option<Arc<Channel>>,
        alone: bool,
    ) -> Result<(Arc<Completions>, Poller), Refused> {
        let raw_channel = channel.as_ref().map_or(null_mut(), |c| c.raw.at());
        let extended = device.ext(ext::CREATE_CQ_EX).filter(|_| alone).and_then(|f| {
            let mut attr = CqInitAttrEx {
                cqe: entries,
                cq_context: null_mut(),
                channel: raw_channel,
                comp_vector: 0,
                wc_flags: 0,
                comp_mask: cq_flags::MASK_FLAGS,
                flags: cq_flags::SINGLE_THREADED,
                parent_domain: null_mut(),
            };
            // SAFETY: the slot has this type; an open context and its channel.
            let made = unsafe {
                let f: CreateCqEx = core::mem::transmute(f);
                f(device.raw.at(), &mut attr)
            };
            // SAFETY: just made, for us; an extended completion queue begins with a plain one.
            unsafe { Raw::of(made.cast::<Cq>()) }
        });
        let plain = || {
            let create = device.api.create_cq;
            // SAFETY: an open context and its channel, or none.
            let make = || unsafe { create(device.raw.at(), entries as c_int, null_mut(), raw_channel, 0) };
            let (made, why) = called(make);
            let none = || format!("cannot make a completion queue of {entries} entries: {why}");
            // SAFETY: the library has just made it, for us.
            unsafe { Raw::of(made) }.ok_or_else(none)
        };
        let raw = extended.map_or_else(plain, Ok)?;
        // SAFETY: slots of the context's table have these types.
        let (poll, notify) = unsafe {
            (
                core::mem::transmute::<usize, Poll>(device.op(op::POLL_CQ)),
                core::mem::transmute::<usize, Notify>(device.op(op::REQ_NOTIFY_CQ)),
            )
        };
        let completions = Arc::new(Completions { raw, device: device.clone(), channel });
        Ok((completions.clone(), Poller { completions, poll, notify }))
    }
}

impl Drop for Completions {
    fn drop(&mut self) {
        if let Some(channel) = &self.channel {
            // A queue with an event that is not acknowledged is waited for.
            channel.drain();
        }
        // SAFETY: its pairs and its poller hold it, so none is left.
        unsafe { (self.device.api.destroy_cq)(self.raw.at()) };
    }
}

impl Poller {
    /// How many entries were written to the front of `out`. Err: the queue is lost.
    #[inline]
    pub fn poll(&mut self, out: &mut [Wc]) -> Result<usize, ()> {
        // SAFETY: alive, and room for so many; nobody else polls it (`self`).
        let got = unsafe { (self.poll)(self.completions.raw.at(), out.len() as c_int, out.as_mut_ptr()) };
        usize::try_from(got).map_err(|_| ())
    }

    /// Reports that were waited for before are over, and the next one is told on the channel. Whether there was one.
    pub fn listen(&mut self) -> bool {
        let any = self.completions.channel.as_ref().is_some_and(|channel| channel.drain());
        // SAFETY: alive; nobody else polls it or does this (`self`).
        unsafe { (self.notify)(self.completions.raw.at(), 0) };
        any
    }
}
