//! Sleeping: a context's completion queue has a descriptor that becomes readable when the provider has work.
//!
//! The provider says whether one may sleep on it now. Room for messages may come without an event, so a context in which a message waits for room
//! sleeps for a moment alone. Nor does one that has sent something sleep for ever where the provider has no progress of its own (`pause.rs`).

use crate::context::{Context, Holder};
use crate::link::Calling;
use crate::rail::Rail;
use core::time::Duration;
use oxmpi_btl::{Entered, WaitFd, WaitSet};
use oxmpi_mca::Status;

/// How long a context sleeps that waits for room.
const NAP: Duration = Duration::from_micros(500);
/// POLLIN of poll(2).
const READABLE: u32 = 1;

impl Rail {
    pub fn arm<C: Holder>(&self, at: &mut Entered<'_, C>, set: &mut WaitSet) -> Status {
        let cx = at.context();
        let Some(fd) = cx.ep.cq.fd else { return Status::PENDING };
        if has_work(cx) || !cx.ward.may_sleep() || !cx.ep.cq.may_sleep() {
            return Status::PENDING;
        }
        let longest = if waits_for_room(cx) {
            cx.starved = cx.starved.saturating_sub(1);
            Some(NAP)
        } else {
            (self.attendant.is_some() && cx.ward.has_sent()).then(|| cx.pause.lengthen())
        };
        if longest.is_some() {
            cx.timer.set(longest);
            match set.add_fd(WaitFd { fd: cx.timer.fd(), events: READABLE }) {
                Status::OK => {}
                status => return status,
            }
        }
        if let Some(target) = &self.target {
            target.resume();
        }
        set.add_fd(WaitFd { fd, events: READABLE })
    }
}

/// Something is there that a turn would take.
fn has_work(cx: &Context) -> bool {
    !cx.arrived.is_empty() || !cx.operations.over.is_empty() || !cx.unposted.is_empty()
}

fn waits_for_room(cx: &Context) -> bool {
    cx.starved > 0
        || cx.has_unsent()
        || !cx.operations.again.is_empty()
        || cx
            .outs
            .iter()
            .any(|out| !matches!(out.calling, Calling::Open | Calling::New) && !out.core.is_out())
}
