//! Registered memory of one long message, and the handle of the other side's.
//!
//! A transport with registration handles reads and writes only memory that is registered, by the host's service. A request has
//! a [`Memory`] from the moment its own buffer is registered until nobody reaches it any more: a send from its RGET to
//! the FIN or ACK that answers it, or while it puts; a receive while it gets, or from its PUT to the FIN or first fragment
//! behind it. It ends **before the request completes**: the buffer is its user's then, and no late access may reach it. Where all has gone
//! well no access can be late, and `leave_memory` lets the host keep the memory registered for the next message. `release_memory` ends
//! it in every other case, with the registration.
//!
//! Transports whose memory needs no registration have no handles; their requests have no `Memory`.
//!
//! The service says no where a limit is reached or the memory is not of a kind that can be registered. Nobody waits for
//! that to change: who holds the rest may need this message to go on. It goes by fragments.

use crate::long::transfers::Transfers;
use crate::peers::peer::Peer;
use crate::requests::memory::{Memory, MemoryPart};
use crate::requests::request::Request;
use core::ptr::null;
use oxmpi_mca::Status;

/// Transports that share a message's memory at most.
const MOST_RAILS: usize = 8;

/// Bytes of handles that are sent to a peer at most.
pub fn handles_size(peer: &Peer) -> usize {
    handle_size(peer) * peer.rails().for_rdma().len().clamp(1, MOST_RAILS)
}

/// Whether a peer may send so many bytes as handles: of one transport at least, and of those that reach it at most.
pub fn are_handles(peer: &Peer, bytes: usize) -> bool {
    let most = peer.transports().clamp(1, MOST_RAILS);
    match handle_size(peer) {
        0 => bytes == 0,
        each => bytes.is_multiple_of(each) && (1..=most).contains(&(bytes / each)),
    }
}

/// How many bytes a registration handle of the peer's transport has.
pub fn handle_size(peer: &Peer) -> usize {
    peer.btl().attrs().registration_handle_size as usize
}

impl Transfers {
    /// Registers the first `len` bytes of a request's buffer with each transport that may carry its pieces, where these
    /// need registration. Does nothing if that was done before. `Err`: the first transport cannot register it.
    pub fn register_memory(&self, peer: &Peer, req: &Request, len: u64, access: u32) -> Result<(), Status> {
        if handle_size(peer) == 0 || req.has_memory() {
            return Ok(());
        }
        let (services, mut local) = (self.instance().btl_services(), null());
        let register = if services.keeps() { services.acquire } else { services.register };
        register(services.instance, peer.btl(), req.buf(), len, access, &mut local).ok()?;
        // SAFETY: the service has just made it for this transport, and the memory is given back.
        let first = unsafe { MemoryPart::new(peer.btl(), local) };
        let mut parts = vec![first.ok_or(Status::INTERNAL)?];
        // Memory that cannot be registered with a further transport does not go over it.
        for rail in peer.rails().for_rdma().iter().skip(1).take(MOST_RAILS - 1) {
            let mut local = null();
            if register(services.instance, rail.btl(), req.buf(), len, access, &mut local).is_err() {
                break;
            }
            // SAFETY: as for the first, for that transport.
            parts.extend(unsafe { MemoryPart::new(rail.btl(), local) });
        }
        req.keep_memory(Box::new(Memory::new(parts)));
        Ok(())
    }
}
