//! Sleeping: a context's descriptor is readable when the device has reported something to its lane, or when somebody rings its bell.
//!
//! The queue is told to report, and then looked at once more: what came before is found by that, what comes behind makes the channel
//! readable. Of a lane with several contexts the one that takes the report hands on what is another's, and the one that takes the event rings for
//! the others.

use crate::context::Context;
use crate::rail::Rail;
use core::sync::atomic::Ordering;
use core::time::Duration;
use oxmpi_btl::{WaitFd, WaitSet};
use oxmpi_mca::Status;

const READABLE: u32 = 1;
/// Longest sleep while a peer may still write to a ring.
const NAP: Duration = Duration::from_millis(1);

impl Rail {
    pub fn arm(&self, context: &mut Context, set: &mut WaitSet) -> Status {
        let left = context.hold(|holder| self.leave_rings(holder));
        context.sleeps(true);
        self.listen(context);
        if !left {
            // Nothing wakes us for what is written there.
            context.nap(NAP);
        }
        let taken = context.hold(|holder| self.take(holder));
        if taken > 0 || !context.is_empty() || context.lane.news.load(Ordering::SeqCst) {
            return Status::PENDING;
        }
        set.add_fd(WaitFd { fd: context.fd(), events: READABLE })
    }

    pub fn disarm(&self, context: &mut Context) {
        context.sleeps(false);
        context.silence();
        if context.lane.is_shared {
            // The others may sleep on the same reports.
            self.listen(context);
            context.hold(|holder| self.take(holder));
        }
    }

    /// Reports that were waited for before are over, and the next one is waited for.
    fn listen(&self, context: &mut Context) {
        let any = context.hold(|holder| holder.lane.queue.listen(&mut holder.held.reports));
        // Room that this event was about may be what another context of these lanes sleeps for: it finds the channel empty now.
        let (queue, is_shared) = (&context.lane.queue, context.lane.is_shared);
        if any && (is_shared || queue.is_shared()) {
            queue.lanes().for_each(|lane| self.wake(lane));
        }
    }
}
