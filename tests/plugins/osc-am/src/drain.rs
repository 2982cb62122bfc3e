//! Emptying the outbox: what waits is sent, and messages of this process to itself are received.

use crate::receive::receive;
use crate::state::SharedState;
use oxmpi_mca::Host;

impl SharedState {
    /// Sends what waits, and receives what waits for this process; the caller holds the CRI of our context. How many
    /// messages moved.
    pub fn drain(&mut self, host: &Host) -> i32 {
        let (me, mut moved) = (host.job().rank, 0);
        loop {
            let (own, sent) = self.outbox.send(host);
            moved += sent + own.len() as i32;
            if own.is_empty() {
                return moved;
            }
            for message in own {
                receive(self, host, me, &message);
            }
        }
    }
}
