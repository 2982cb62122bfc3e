//! Messages that are all header go out at once, or wait for room in front of everything else to their peer.

use crate::peers::peer::Peer;
use crate::peers::table::Peers;
use crate::wire::{Header, Parcel};
use oxmpi_mca::{CriGuard, Status};

impl Peers {
    /// Sends a message that is all header, or queues it until there is room. Where the process is not there any more, a
    /// message that only informs it is dropped: the process may have ended in good order before its last message was
    /// read. For any other message the peer fails.
    pub fn control(&self, held: &mut CriGuard<'_>, peer: &Peer, header: Header) {
        let flow = peer.flow(held);
        if flow.failed {
            return;
        }
        if flow.control.is_empty() {
            match peer.transmit(held, &Parcel::header_only(&header)) {
                Status::OK => return,
                Status::NO_RESOURCE => {}
                Status::PEER_FAILED if header.only_informs() => return,
                error => return self.peer_failed(held, peer, error),
            }
        }
        peer.flow(held).control.push_back(header);
        self.remember(held, peer);
    }

    /// Sends the queued control messages, oldest first. `false`: the transport has no room for the next one yet.
    pub fn drain_control(&self, held: &mut CriGuard<'_>, peer: &Peer) -> bool {
        loop {
            // The message leaves the queue only after it went out, so that order is kept.
            let Some(header) = peer.flow(held).control.front().cloned() else { return true };
            match peer.transmit(held, &Parcel::header_only(&header)) {
                Status::NO_RESOURCE => return false,
                status if !status.is_err() || status == Status::PEER_FAILED && header.only_informs() => {
                    peer.flow(held).control.pop_front();
                }
                error => {
                    self.peer_failed(held, peer, error);
                    return true;
                }
            }
        }
    }
}
