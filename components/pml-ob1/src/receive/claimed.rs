//! Messages that a transport reads to the buffer of their receive: they are claimed when they begin ([`ClaimOf`](oxmpi_btl::ClaimOf)).
//!
//! A MATCH or RNDV meets its receive when its header is there, as one that is streamed does (`streamed.rs`), and the receive has an id from then on, by which the transport asks
//! for the place and tells that all of the payload lies there. So it is known as a rendezvous is: if the peer fails or the communicator is revoked it ends, its id
//! finds nothing any more, and the transport leaves the buffer alone. Of a rendezvous the rest is asked for at once; its fragments may come by other
//! rails before the first part has come.
//!
//! The place is the user's buffer, where the data is in one piece and fits. Otherwise it is memory of ours, from which the data is stored as ever.

use crate::receive::meet::set_status;
use crate::receive::receiver::Receiver;
use crate::requests::claim::Claim;
use crate::wire::{self, Reader, kind};
use oxmpi_mca::CriGuard;
use oxmpi_pml::{Arrived, Claimed};

impl Receiver {
    /// Takes a message of `len` bytes whose first ones have come, if it is a MATCH or RNDV that meets a posted receive. `None`: it is refused, and nothing happened.
    pub fn claim(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>, len: u64) -> Option<Claimed> {
        let proc = arrived.proc();
        let peer = self.peers().flow(proc, held.ctx(), held.entry()).ok()?;
        if self.instance().is_watchful() || peer.is_failed(held) {
            return None;
        }
        let mut r = Reader::new(arrived.bytes());
        let head = r.word()?;
        if !matches!(wire::kind_of(head), kind::MATCH | kind::RNDV) {
            return None;
        }
        let (completer, about, header) = self.meet_beginning(held, peer, head, r, len)?;
        set_status(&completer, about.key, about.msg_len, completer.total());
        let req = completer.park(held.ctx());
        let claim = Claim::new(about, header, req);
        self.transfers().begin_claimed(held, peer, req, claim)
    }
}
