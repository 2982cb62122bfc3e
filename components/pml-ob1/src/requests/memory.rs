//! Registered memory of one long message (`long/registration.rs`), and of requests that ended before their peers knew (`retired.rs`).

use oxmpi_btl::{BtlHandle, HANDLE_LIMIT, Registration};
use std::collections::BTreeMap;

/// Registered memory of a request's buffer, and the handles of the other side's.
pub struct Memory {
    /// Registrations by the rails that the message takes (`peers/stripes.rs`), or the one of its peer's transport.
    pub(super) parts: Vec<MemoryPart>,
    /// Our handles as they are sent, one behind the other.
    pub(super) bytes: Vec<u8>,
    /// How many the peer has sent.
    pub(super) remotes: usize,
}

/// The part of one transport in a request's registered memory: our registration, and the peer's handle.
pub struct MemoryPart {
    pub(super) btl: &'static BtlHandle,
    pub(super) local: *const Registration,
    /// The peer's handle, as it came.
    pub(super) remote: [u64; HANDLE_LIMIT / 8],
}

/// Ids that peers may still quote though their requests ended with their communicator, and the memory that they may
/// still read for them.
#[derive(Default)]
pub struct Retired(pub BTreeMap<u64, Option<KeptMemory>>);

/// Memory that a peer may still read.
pub struct KeptMemory(pub *mut Memory);

impl Memory {
    /// Makes the memory of its parts, one for each rail. The peer has sent no handles yet.
    pub fn new(parts: Vec<MemoryPart>) -> Memory {
        let bytes = parts.iter().flat_map(|part| part.bytes().iter().copied()).collect();
        Memory { parts, bytes, remotes: 0 }
    }
}

impl MemoryPart {
    /// Makes the part of a transport of our registration there.
    pub fn new(btl: &'static BtlHandle, local: *const Registration) -> MemoryPart {
        MemoryPart { btl, local, remote: [0; HANDLE_LIMIT / 8] }
    }

    /// Our handle of one transport, as bytes to send.
    fn bytes(&self) -> &[u8] {
        // SAFETY: a registration is valid until it is given back; so many bytes stand there.
        unsafe {
            let local = &*self.local;
            core::slice::from_raw_parts(local.handle.cast(), local.handle_size as usize)
        }
    }
}
