//! A send's arguments are looked up: its route, its peer and its length.

use crate::communicators::comm::Comm;
use crate::peers::peer::Peer;
use crate::peers::route::Route;
use crate::send::sender::Sender;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;
use oxmpi_pml::SendArgs;

/// One message of the user as the protocols see it.
pub struct Outgoing<'a> {
    pub(super) comm: &'a Comm,
    pub(super) route: &'a Route,
    pub(super) peer: &'a Peer,
    pub(super) total: u64,
}

impl Sender {
    /// Looks up the route, the peer and the length of a send. `Err`: no such rank, the peer cannot be reached, or the
    /// length overflows.
    #[inline(always)]
    pub fn outgoing<'a>(&'a self, args: &SendArgs, threaded: bool) -> Result<Outgoing<'a>, Status> {
        // SAFETY: the host passes a communicator and a type that are alive.
        let (comm, dtype): (&Comm, &TypeDesc) = unsafe { (Comm::of(args.comm), &*args.dtype) };
        let (route, peer) = self.peers().route(comm, args.dst, threaded)?;
        let total = dtype.packed.checked_mul(args.count).ok_or(Status::BAD_PARAM)?;
        Ok(Outgoing { comm, route, peer, total })
    }
}
