//! The part of a turn behind the transports of one CRI whose lock is held: early messages, lost peers, and what waits for room.

use crate::ob1::Ob1;
use crate::peers::peer::Peer;
use crate::requests::work::Work;
use crate::state::guarded::Held;
use oxmpi_mca::Status;

impl Ob1 {
    /// Does on a CRI what a look at its transports has made possible, under its lock: handles early messages that have
    /// become due, closes lost peers, and sends what waits. Returns the number of events.
    #[inline(never)]
    pub fn go_on(&self, held: &Held<'_>) -> i32 {
        if self.instance().cri(held.ctx).closed() != self.peers().lost() {
            self.peers().close_lost(held);
        }
        if self.instance().cri(held.ctx).work().is_marked() { self.drain(held) } else { 0 }
    }

    /// Continues operations whose pieces landed, and offers what waits for room to the transports again. Returns how
    /// many messages went on.
    #[inline(never)]
    fn drain(&self, held: &Held<'_>) -> i32 {
        let cri = self.instance().cri(held.ctx);
        let mut events = self.transfers().take_landed(held);
        if cri.work().has(Work::EARLY) {
            self.receiver().take_early(held);
        }
        if cri.work().has(Work::SWEEP) {
            self.receiver().sweep(held);
        }
        for i in (0..cri.waiting_peers(held)).rev() {
            let peer = cri.waiting_peer(held, i);
            events += self.drain_peer(held, peer);
            if peer.is_idle(held) {
                cri.remove_waiting_peer(held, i);
                self.peers().forget(peer);
            }
        }
        events
    }

    /// Sends what waits for room to a peer: control messages first (others wait for them), then sends in order, then
    /// long messages. Returns how many went on.
    fn drain_peer(&self, held: &Held<'_>, peer: &Peer) -> i32 {
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
        let before = peer.num_streams(held);
        self.transfers().drain_streams(held, peer);
        events += before.saturating_sub(peer.num_streams(held)) as i32;
        events
    }
}
