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

use crate::state::instance::Ob1;
use crate::state::memory::Memory;
use crate::state::objects::{Peer, Request};
use core::ffi::c_void;
use core::ptr::{null, null_mut};
use oxmpi_btl::{BtlHandle, HANDLE_LIMIT, RegHandle, Registration};
use oxmpi_mca::Status;

/// `deregister` or `release` of the host's services.
type End = extern "C" fn(*mut c_void, *const BtlHandle, *const Registration) -> Status;

/// How many bytes a registration handle of the peer's transport has.
pub fn handle_size(peer: &Peer) -> usize {
    peer.btl.attrs().registration_handle_size as usize
}

impl Ob1 {
    /// Registers the first `len` bytes of a request's buffer for the transport to a peer, if that needs it. Does nothing if
    /// that was done before.
    pub fn register_memory(&self, peer: &Peer, req: &Request, len: u64, access: u32) -> Result<(), Status> {
        if handle_size(peer) == 0 || !req.memory.get().is_null() {
            return Ok(());
        }
        let (services, mut local) = (self.btl_services(), null());
        let register = if services.keeps() { services.acquire } else { services.register };
        register(services.instance, peer.btl, req.buf.get(), len, access, &mut local).ok()?;
        let memory = Memory { btl: peer.btl, local, remote: [0; HANDLE_LIMIT / 8] };
        req.memory.set(Box::into_raw(Box::new(memory)));
        Ok(())
    }

    /// Peers do not reach the request's buffer any more.
    pub fn release_memory(&self, req: &Request) {
        let memory = req.memory.replace(null_mut());
        if !memory.is_null() {
            self.give_memory_back(memory);
        }
    }

    /// All accesses to the request's buffer are over, ours and those of peers. It may stay registered.
    pub fn leave_memory(&self, req: &Request) {
        let memory = req.memory.replace(null_mut());
        if !memory.is_null() {
            let keeps = self.btl_services().keeps();
            self.end_memory(
                memory,
                if keeps { self.btl_services().release } else { self.btl_services().deregister },
            );
        }
    }

    /// As `release_memory`, for memory that was taken out of its request.
    pub fn give_memory_back(&self, memory: *mut Memory) {
        self.end_memory(memory, self.btl_services().deregister);
    }

    fn end_memory(&self, memory: *mut Memory, end: End) {
        // SAFETY: made by `register_memory`; its request does not have it any more.
        let memory = unsafe { Box::from_raw(memory) };
        let status = end(self.btl_services().instance, memory.btl, memory.local);
        if status.is_err() {
            // A program that reuses the buffer may have it changed by a peer.
            self.host.fatal(&format!("memory cannot be taken back from {}: {status}", memory.btl.name()));
        }
    }
}

impl Request {
    fn registered(&self) -> Option<&Memory> {
        // SAFETY: it stays until `release_memory`, which the holder of the CRI's lock calls.
        unsafe { self.memory.get().as_ref() }
    }

    /// The handle of our own memory; null: it needs none.
    pub fn local_handle(&self) -> *const RegHandle {
        // SAFETY: a registration is valid until it is given back.
        self.registered().map_or(null(), |m| unsafe { (*m.local).handle })
    }
    /// Our handle as it is sent to a peer.
    pub fn handle_bytes(&self) -> &[u8] {
        let Some(memory) = self.registered() else { return &[] };
        // SAFETY: as above; so many bytes stand there.
        unsafe {
            let local = &*memory.local;
            core::slice::from_raw_parts(local.handle.cast(), local.handle_size as usize)
        }
    }

    pub fn remote_handle(&self) -> *const RegHandle {
        self.registered().map_or(null(), |m| m.remote.as_ptr().cast())
    }
    /// Keeps the handle that a peer sent; its length was checked.
    pub fn keep_remote_handle(&self, bytes: &[u8]) {
        // SAFETY: the holder of the CRI's lock is alone with it.
        if let Some(memory) = unsafe { self.memory.get().as_mut() } {
            for (word, part) in memory.remote.iter_mut().zip(bytes.chunks(8)) {
                let mut whole = [0; 8];
                whole[..part.len()].copy_from_slice(part);
                *word = u64::from_ne_bytes(whole);
            }
        }
    }
}
