//! Sleeping: a context's descriptors become readable when a message has come, or when somebody rings its bell.
//!
//! The queue of arrivals is armed, and then looked at once more. Buffers that become free are reported as well while there are none.
//! Credits come without an event, so a context of which a message was refused for want of them, or whose requests or replies wait for them,
//! sleeps for a moment alone.

use crate::rail::Rail;
use core::sync::atomic::Ordering;
use core::time::Duration;
use oxmpi_btl::{WaitFd, WaitSet};
use oxmpi_mca::Status;

/// How long a context sleeps that waits for credits.
const NAP: Duration = Duration::from_micros(200);
/// POLLIN of poll(2).
const READABLE: u32 = 1;

impl Rail {
    pub fn arm(&self, number: usize, set: &mut WaitSet) -> Status {
        let lane = &self.lanes[number];
        let Some(channel) = &lane.channel else { return Status::PENDING };
        let mut held = lane.held.borrow_mut();
        if !held.ready.is_empty() {
            return Status::PENDING;
        }
        if held.starved > 0 || held.unsent.iter().any(|u| u.link.ep().is_some()) {
            held.starved = held.starved.saturating_sub(1);
            lane.timer.set(Some(NAP));
            match set.add_fd(WaitFd { fd: lane.timer.fd(), events: READABLE }) {
                Status::OK => {}
                status => return status,
            }
        }
        // The thread is not woken reliably by what was called for.
        if self.calls.load(Ordering::SeqCst) > 0 || lane.has_news() || lane.arrivals.has_entry() {
            return Status::PENDING;
        }
        if !held.operations.is_empty() {
            match self.arm_devices(&held.operations.on_device, set) {
                Status::OK => {}
                status => return status,
            }
        }
        if held.pool.is_exhausted() {
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
