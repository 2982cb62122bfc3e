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

use crate::requests::memory::{Memory, MemoryPart};
use crate::state::instance::Ob1;
use crate::state::objects::{Peer, Request};
use core::ptr::null;
use oxmpi_btl::{HANDLE_LIMIT, RegHandle};
use oxmpi_mca::Status;

/// Transports that share a message's memory at most.
const MOST_RAILS: usize = 8;

/// Bytes of handles that are sent to a peer at most.
pub fn handles_size(peer: &Peer) -> usize {
    handle_size(peer) * peer.rails.for_rdma().len().clamp(1, MOST_RAILS)
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
    peer.btl.attrs().registration_handle_size as usize
}

impl Ob1 {
    /// Registers the first `len` bytes of a request's buffer with each transport that may carry its pieces, where these
    /// need registration. Does nothing if that was done before. `Err`: the first transport cannot register it.
    pub fn register_memory(&self, peer: &Peer, req: &Request, len: u64, access: u32) -> Result<(), Status> {
        if handle_size(peer) == 0 || !req.memory.get().is_null() {
            return Ok(());
        }
        let (services, mut local) = (self.btl_services(), null());
        let register = if services.keeps() { services.acquire } else { services.register };
        register(services.instance, peer.btl, req.buf.get(), len, access, &mut local).ok()?;
        let part = |btl, local| MemoryPart { btl, local, remote: [0; HANDLE_LIMIT / 8] };
        let mut parts = vec![part(peer.btl, local)];
        // Memory that cannot be registered with a further transport does not go over it.
        for rail in peer.rails.for_rdma().iter().skip(1).take(MOST_RAILS - 1) {
            let mut local = null();
            if register(services.instance, rail.btl, req.buf.get(), len, access, &mut local).is_err() {
                break;
            }
            parts.push(part(rail.btl, local));
        }
        let bytes = parts.iter().flat_map(|part| part.bytes().iter().copied()).collect();
        req.memory.set(Box::into_raw(Box::new(Memory { parts, bytes, remotes: 0 })));
        Ok(())
    }
}

impl Request {
    /// The registered memory of the request, if it has one.
    fn registered(&self) -> Option<&Memory> {
        // SAFETY: it stays until `release_memory`, which the holder of the CRI's lock calls.
        unsafe { self.memory.get().as_ref() }
    }

    /// How many rails both sides have registered the message's memory for; 0: it needs no handles.
    pub fn registered_rails(&self) -> usize {
        self.registered().map_or(0, |m| m.parts.len().min(m.remotes))
    }

    /// Our registration handle for a rail; null: the transport needs none.
    pub fn local_handle(&self, rail: usize) -> *const RegHandle {
        // SAFETY: a registration is valid until it is given back.
        self.registered().map_or(null(), |m| unsafe { (*m.parts[rail].local).handle })
    }

    /// Our registration handles, one behind the other, as they are sent to a peer; empty if the transport needs none.
    pub fn handle_bytes(&self) -> &[u8] {
        self.registered().map_or(&[], |m| &m.bytes)
    }

    /// The peer's handle for a rail, as it was sent; null: the transport needs none.
    pub fn remote_handle(&self, rail: usize) -> *const RegHandle {
        self.registered().map_or(null(), |m| m.parts[rail].remote.as_ptr().cast())
    }

    /// Keeps the registration handles of the other side's memory for the request's message, as the peer sent them: one
    /// for each rail, behind the other ([`Request::remote_handle`]). Does nothing if the request's own buffer is not
    /// registered. The caller holds the CRI's lock and has checked the length ([`are_handles`]).
    pub fn keep_remote_handles(&self, peer: &Peer, bytes: &[u8]) {
        // SAFETY: the holder of the CRI's lock is alone with it.
        let Some(memory) = (unsafe { self.memory.get().as_mut() }) else { return };
        memory.remotes = 0;
        for (part, bytes) in memory.parts.iter_mut().zip(bytes.chunks(handle_size(peer).max(1))) {
            memory.remotes += 1;
            for (word, bytes) in part.remote.iter_mut().zip(bytes.chunks(8)) {
                let mut whole = [0; 8];
                whole[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_ne_bytes(whole);
            }
        }
    }
}

impl MemoryPart {
    /// Our handle of one transport, as bytes to send.
    fn bytes(&self) -> &[u8] {
        // SAFETY: a registration is valid until it is given back; so many bytes stand there.
        unsafe {
            let local = &*self.local;
            core::slice::from_raw_parts(local.handle.cast(), local.handle_size as usize)
        }
    }
}
