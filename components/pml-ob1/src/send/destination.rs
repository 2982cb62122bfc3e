//! A send's arguments are looked up: its route, its peer and its length.

use crate::communicators::comm::Comm;
use crate::peers::peer::Peer;
use crate::peers::route::Route;
use crate::send::sender::Sender;
use oxmpi_mca::{Entry, Status};
use oxmpi_pml::Outgoing as Args;

/// Where one message of the user goes, as the protocols see it.
pub struct Destination<'a> {
    pub(super) comm: &'a Comm,
    pub(super) route: &'a Route,
    pub(super) peer: &'a Peer,
    pub(super) total: u64,
}

impl Sender {
    /// Looks up the route, the peer and the length of a send. `Err`: no such rank, the peer cannot be reached, or the
    /// length overflows.
    #[inline(always)]
    pub fn destination<'a>(
        &'a self,
        entry: &Entry,
        comm: &'a Comm,
        args: Args<'_>,
    ) -> Result<Destination<'a>, Status> {
        let (route, peer) = self.peers().route(comm, args.dst, entry)?;
        let total = args.packed().ok_or(Status::BAD_PARAM)?;
        Ok(Destination { comm, route, peer, total })
    }
}
