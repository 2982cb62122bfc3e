//! The part of a turn behind the transports of one CRI whose lock is held: early messages, lost peers, and what waits for room.

use crate::ob1::Ob1;
use crate::peers::peer::Peer;
use crate::requests::work::Work;
use oxmpi_mca::{CriGuard, Status};

impl Ob1 {
    /// Does on a CRI what a look at its transports has made possible, under its lock: handles early messages that have
    /// become due, closes lost peers, and sends what waits. Returns the number of events.
    #[inline(never)]
    pub fn go_on(&self, held: &mut CriGuard<'_>) -> i32 {
        if *self.instance().own(held).closed() != self.peers().lost() {
            self.peers().close_lost(held);
        }
        if self.instance().cri(held.ctx()).work().is_marked() { self.drain(held) } else { 0 }
    }

    /// Continues operations whose pieces landed, and offers what waits for room to the transports again. Returns how
    /// many messages went on.
    #[inline(never)]
    fn drain(&self, held: &mut CriGuard<'_>) -> i32 {
        let mut events = self.transfers().take_landed(held);
        let work = self.instance().cri(held.ctx()).work();
        if work.has(Work::GATHERED) {
            events += self.sender().complete_gathered(held);
        }
        if work.has(Work::EARLY) {
            self.receiver().take_early(held);
        }
        if work.has(Work::SWEEP) {
            self.receiver().sweep(held);
        }
        for i in (0..self.instance().own(held).backlog().len()).rev() {
            let Some(peer) = self.peers().waiting(held, i) else { continue };
            events += self.drain_peer(held, peer);
            if peer.flow(held).is_idle() {
                self.peers().forget(held, i, peer);
            }
        }
        events
    }

    /// Sends what waits for room to a peer: control messages first (others wait for them), then sends in order, then
    /// long messages. Returns how many went on.
    fn drain_peer(&self, held: &mut CriGuard<'_>, peer: &Peer) -> i32 {
        let mut events = 0;
        if !self.peers().drain_control(held, peer) {
            return events;
        }
        while let Some(req) = peer.dequeue(held) {
            match self.sender().issue(held, peer, req) {
                Status::NO_RESOURCE => {
                    req.wait_for_room();
                    peer.put_back(held, req);
                    return events;
                }
                error if error.is_err() => {
                    peer.queue_changed(held);
                    self.peers().fail(held, req, Status::PEER_FAILED);
                    self.peers().peer_failed(held, peer, error);
                    return events;
                }
                _ => events += 1,
            }
        }
        // Once for all of them: as long as an older message is said to wait, the receiver is only more careful.
        peer.queue_changed(held);
        let before = peer.flow(held).num_streams();
        self.transfers().drain_streams(held, peer);
        events += before.saturating_sub(peer.flow(held).num_streams()) as i32;
        events
    }
}
