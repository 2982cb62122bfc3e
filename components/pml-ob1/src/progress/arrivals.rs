//! The transports are asked for what has come on one CRI.

use crate::state::guarded::Held;
use crate::state::instance::Ob1;
use core::sync::atomic::Ordering;

impl Ob1 {
    /// Polls the transports on one CRI, and handles early messages that have become due. Returns the transports' number
    /// of events.
    pub fn take_arrivals(&self, held: &Held<'_>) -> i32 {
        let events = self.poll_several(held.ctx);
        if self.watchful.load(Ordering::Relaxed) != 0 {
            self.take_early(held);
        }
        events
    }

    /// Calls the progress of every active transport on a CRI. Returns the number of events.
    #[inline(never)]
    pub fn poll_several(&self, ctx: u32) -> i32 {
        let active = self.transports().iter().filter(|t| self.is_active(t) && t.has(ctx));
        active.map(|t| (t.btl.progress)(t.btl.state, ctx)).sum()
    }
}
