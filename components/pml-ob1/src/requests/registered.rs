//! Registered memory is given back when its request ends (`long/registration.rs` says when, and how it is made).

use crate::requests::memory::Memory;
use crate::state::instance::Ob1;
use crate::state::objects::Request;
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_btl::{BtlHandle, Registration};
use oxmpi_mca::Status;

/// `deregister` or `release` of the host's services.
type End = extern "C" fn(*mut c_void, *const BtlHandle, *const Registration) -> Status;

impl Ob1 {
    /// Takes back a request's registrations for good, so that peers do not reach its buffer any more.
    pub fn release_memory(&self, req: &Request) {
        let memory = req.memory.replace(null_mut());
        if !memory.is_null() {
            self.give_memory_back(memory);
        }
    }

    /// Ends a request's use of its registrations after all accesses, ours and those of peers, are over; the host may
    /// keep the buffer registered for the next message.
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

    /// Takes registrations back for good which were taken out of their request (`release_memory` does this for those
    /// that are still in it).
    pub fn give_memory_back(&self, memory: *mut Memory) {
        self.end_memory(memory, self.btl_services().deregister);
    }

    /// Calls `end` for each part of a memory and frees it. A transport that cannot take its registration back ends the
    /// process.
    fn end_memory(&self, memory: *mut Memory, end: End) {
        // SAFETY: made by `register_memory`; its request does not have it any more.
        let memory = unsafe { Box::from_raw(memory) };
        for part in memory.parts {
            let status = end(self.btl_services().instance, part.btl, part.local);
            if status.is_err() {
                // A program that reuses the buffer may have it changed by a peer.
                self.host.fatal(&format!("memory cannot be taken back from {}: {status}", part.btl.name()));
            }
        }
    }
}
