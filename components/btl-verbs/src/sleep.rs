//! Sleeping: a context's descriptor is readable when the device has reported something to its lane, or when somebody rings its bell.
//!
//! The queue is told to report, and then looked at once more: what came before is found by that, what comes behind makes the channel
//! readable. Of a lane with several contexts the one that takes the report hands on what is another's, and the one that takes the event rings for
//! the others.

use crate::rail::Rail;
use core::sync::atomic::Ordering;
use core::time::Duration;
use oxmpi_btl::{WaitFd, WaitSet};
use oxmpi_mca::Status;

const READABLE: u32 = 1;
/// Longest sleep while a peer may still write to a ring.
const NAP: Duration = Duration::from_millis(1);

impl Rail {
    pub fn arm(&self, ctx: u32, set: &mut WaitSet) -> Status {
        let context = &self.contexts[ctx as usize];
        let lane = &self.lanes[context.lane];
        let left = self.leave_rings(lane);
        context.sleeps(true);
        self.listen(context.lane);
        if !left {
            // Nothing wakes us for what is written there.
            context.nap(NAP);
        }
        if self.take(lane) > 0 || !context.is_empty() || lane.news.load(Ordering::SeqCst) {
            return Status::PENDING;
        }
        set.add_fd(WaitFd { fd: context.set.fd(), events: READABLE })
    }

    pub fn disarm(&self, ctx: u32) {
        let context = &self.contexts[ctx as usize];
        let lane = &self.lanes[context.lane];
        context.sleeps(false);
        context.silence();
        if lane.is_shared() {
            // The others may sleep on the same reports.
            self.listen(context.lane);
            self.take(lane);
        }
    }

    /// Reports that were waited for before are over, and the next one is waited for.
    fn listen(&self, lane: usize) {
        let (queue, is_shared) = (&self.lanes[lane].queue, self.lanes[lane].is_shared());
        let any = {
            let _guard = self.lanes[lane].enter();
            queue.listen()
        };
        // Room that this event was about may be what another context of these lanes sleeps for: it finds the channel empty now.
        if any && (is_shared || queue.is_shared()) {
            queue.lanes().for_each(|lane| self.wake(lane));
        }
    }
}
