//! A number that is given up is told to the receiver by SKIP, so that nobody waits for its message.

use crate::communicators::comm::Comm;
use crate::order::flows::Order;
use crate::peers::peer::Peer;
use crate::peers::route::Route;
use crate::wire::{self, FREE, Header, flag, kind};
use oxmpi_mca::CriGuard;

impl Order {
    /// Sends SKIP for the number of a send that is not made after all, so that the receiver does not wait for it. Does
    /// nothing for a send that has a stamp or no number.
    pub fn give_up_number(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        comm: &Comm,
        route: &Route,
        tag: i32,
        number: u64,
    ) {
        if peer.base().has_stamps() || number == 0 || number == FREE {
            return;
        }
        let head = route.head();
        let flags = wire::flags_of(head) | flag::NUMBERED;
        let first = head & !0xffff | kind::SKIP as u64 | (flags as u64) << 8;
        let mut h = Header::new(&[first, wire::source_tag(comm.my_rank(), tag), number]);
        if flags & flag::CID != 0 {
            h.push_prefix(&comm.prefix());
        }
        self.peers().control(held, peer, h);
    }
}
