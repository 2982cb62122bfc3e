//! The transports are asked for what has come on one CRI.

use crate::receive::receiver::Receiver;
use oxmpi_mca::CriGuard;

impl Receiver {
    /// Polls the transports on one CRI, and handles early messages that have become due. Returns the transports' number
    /// of events.
    pub fn take_arrivals(&self, held: &mut CriGuard<'_>) -> i32 {
        let events = self.instance().polling().poll(held);
        if self.instance().is_watchful() {
            self.take_early(held);
        }
        events
    }
}
