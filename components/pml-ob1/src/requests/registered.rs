//! Registered memory is given back when its request ends (`long/registration.rs` says when, and how it is made).

use crate::requests::memory::Memory;
use crate::requests::pool::Requests;
use crate::requests::request::Request;
use core::ffi::c_void;
use core::ptr::null;
use oxmpi_btl::{BtlHandle, RegHandle, Registration};
use oxmpi_mca::Status;

/// `deregister` or `release` of the host's services.
type End = extern "C" fn(*mut c_void, *const BtlHandle, *const Registration) -> Status;

impl Requests {
    /// Takes back a request's registrations for good, so that peers do not reach its buffer any more.
    pub fn release_memory(&self, req: &Request) {
        if let Some(memory) = req.take_memory() {
            self.give_memory_back(*memory);
        }
    }

    /// Ends a request's use of its registrations after all accesses, ours and those of peers, are over; the host may
    /// keep the buffer registered for the next message.
    pub fn leave_memory(&self, req: &Request) {
        if let Some(memory) = req.take_memory() {
            let services = self.instance().btl_services();
            self.end_memory(*memory, if services.keeps() { services.release } else { services.deregister });
        }
    }

    /// Takes registrations back for good which were taken out of their request (`release_memory` does this for those
    /// that are still in it).
    pub fn give_memory_back(&self, memory: Memory) {
        self.end_memory(memory, self.instance().btl_services().deregister);
    }

    /// Calls `end` for each part of a memory and frees it. A transport that cannot take its registration back ends the
    /// process.
    fn end_memory(&self, memory: Memory, end: End) {
        for part in memory.parts {
            let status = end(self.instance().btl_services().instance, part.btl, part.local());
            if status.is_err() {
                // A program that reuses the buffer may have it changed by a peer.
                self.instance()
                    .host()
                    .fatal(&format!("memory cannot be taken back from {}: {status}", part.btl.name()));
            }
        }
    }
}

impl Request {
    /// The registered memory of the request, if it has one.
    fn registered(&self) -> Option<&Memory> {
        // SAFETY: it stays until `take_memory`, which the request's owner calls, and so is who looks at it.
        unsafe { (*self.memory.as_ptr()).as_deref() }
    }

    /// How many rails both sides have registered the message's memory for; 0: it needs no handles.
    pub fn registered_rails(&self) -> usize {
        self.registered().map_or(0, |m| m.parts.len().min(m.remotes))
    }

    /// Our registration handle for a rail; null: the transport needs none.
    pub fn local_handle(&self, rail: usize) -> *const RegHandle {
        self.registered().map_or(null(), |m| m.parts[rail].handle())
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
    /// for each rail, of `each` bytes, behind the other ([`Request::remote_handle`]). Does nothing if the request's own buffer is not
    /// registered. The caller has checked the length.
    pub fn keep_remote_handles(&self, each: usize, bytes: &[u8]) {
        let Some(mut memory) = self.take_memory() else { return };
        memory.remotes = 0;
        for (part, bytes) in memory.parts.iter_mut().zip(bytes.chunks(each.max(1))) {
            memory.remotes += 1;
            for (word, bytes) in part.remote.iter_mut().zip(bytes.chunks(8)) {
                let mut whole = [0; 8];
                whole[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_ne_bytes(whole);
            }
        }
        self.keep_memory(memory);
    }
}
