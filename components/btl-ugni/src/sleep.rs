//! Sleeping: a context's descriptors become readable when a message has come, or when somebody rings its bell.
//!
//! The queue of arrivals is armed, and then looked at once more. Buffers that become free are reported as well while there are none.
//! Credits come without an event, so a context of which a message was refused for want of them, or whose requests or replies wait for them,
//! sleeps for a moment alone.

use crate::context::Holder;
use crate::rail::Rail;
use core::sync::atomic::Ordering;
use core::time::Duration;
use oxmpi_btl::{Entered, WaitFd, WaitSet};
use oxmpi_mca::Status;

/// How long a context sleeps that waits for credits.
const NAP: Duration = Duration::from_micros(200);
/// POLLIN of poll(2).
const READABLE: u32 = 1;

impl Rail {
    pub fn arm<C: Holder>(&self, at: &mut Entered<'_, C>, set: &mut WaitSet) -> Status {
        let lane = self.lane_of(at);
        let Some(channel) = &lane.channel else { return Status::PENDING };
        let context = at.context();
        if context.ready() > 0 {
            return Status::PENDING;
        }
        if context.starved > 0 || context.unsent.iter().any(|u| context.link(u.link).ep().is_some()) {
            context.starved = context.starved.saturating_sub(1);
            context.timer.set(Some(NAP));
            match set.add_fd(WaitFd { fd: context.timer.fd(), events: READABLE }) {
                Status::OK => {}
                status => return status,
            }
        }
        // The thread is not woken reliably by what was called for.
        if self.calls.load(Ordering::SeqCst) > 0 || lane.has_news() || lane.arrivals.has_entry() {
            return Status::PENDING;
        }
        if !context.operations.is_empty() {
            match self.arm_devices(&context.operations.on_device, set) {
                Status::OK => {}
                status => return status,
            }
        }
        if context.pool.is_exhausted() {
            channel.arm(&[&lane.arrivals, &lane.sends]);
        } else {
            channel.arm(&[&lane.arrivals]);
        }
        if lane.arrivals.has_entry() || lane.has_news() || lane.has_finished() {
            return Status::PENDING;
        }
        match set.add_fd(WaitFd { fd: channel.fd, events: READABLE }) {
            Status::OK => set.add_fd(WaitFd { fd: lane.bell.fd(), events: READABLE }),
            status => status,
        }
    }

    /// Has completions wake as well, on the devices where some are due.
    fn arm_devices(&self, due: &[u32], set: &mut WaitSet) -> Status {
        for (device, _) in self.devices.iter().zip(due).filter(|(_, due)| **due > 0) {
            let Some(channel) = &device.channel else { return Status::PENDING };
            channel.arm(&[&device.completions]);
            let waits = device.has_waiting.load(Ordering::SeqCst) || device.is_suspect.load(Ordering::SeqCst);
            if waits || device.completions.has_entry() {
                return Status::PENDING;
            }
            match set.add_fd(WaitFd { fd: channel.fd, events: READABLE }) {
                Status::OK => {}
                status => return status,
            }
        }
        Status::OK
    }
}
