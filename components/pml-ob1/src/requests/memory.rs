//! Registered memory of one long message (`long/registration.rs`), and of requests that ended before their peers knew (`retired.rs`).

use core::ptr::NonNull;
use oxmpi_btl::{BtlHandle, HANDLE_LIMIT, RegHandle, Registration};
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
    local: NonNull<Registration>,
    /// The peer's handle, as it came.
    pub(super) remote: [u64; HANDLE_LIMIT / 8],
}

// SAFETY: a registration is the host's and any thread may use it and give it back; the part has it until it is given back, once.
unsafe impl Send for MemoryPart {}
// SAFETY: through a reference the registration is only read, which nobody changes before it is given back.
unsafe impl Sync for MemoryPart {}

/// Ids that peers may still quote though their requests ended with their communicator, and the memory that they may
/// still read for them.
#[derive(Default)]
pub struct Retired(pub BTreeMap<u64, Option<Box<Memory>>>);

impl Memory {
    /// Makes the memory of its parts, one for each rail. The peer has sent no handles yet.
    pub fn new(parts: Vec<MemoryPart>) -> Memory {
        let bytes = parts.iter().flat_map(|part| part.bytes().iter().copied()).collect();
        Memory { parts, bytes, remotes: 0 }
    }
}

impl MemoryPart {
    /// Makes the part of a transport of our registration there. `None`: the registration is null.
    ///
    /// # Safety
    /// The host's service made the registration for that transport, and whoever has the part gives it back.
    pub unsafe fn new(btl: &'static BtlHandle, local: *const Registration) -> Option<MemoryPart> {
        let local = NonNull::new(local.cast_mut())?;
        Some(MemoryPart { btl, local, remote: [0; HANDLE_LIMIT / 8] })
    }

    /// Gives our registration.
    pub(super) fn local(&self) -> &Registration {
        // SAFETY: a registration is valid until it is given back, which takes the part (`new`).
        unsafe { self.local.as_ref() }
    }

    /// Our handle of one transport.
    pub(super) fn handle(&self) -> *const RegHandle {
        self.local().handle
    }

    /// Our handle of one transport, as bytes to send.
    fn bytes(&self) -> &[u8] {
        let local = self.local();
        // SAFETY: so many bytes stand there as long as the registration is valid, which it is while the part is borrowed.
        unsafe { core::slice::from_raw_parts(local.handle.cast(), local.handle_size as usize) }
    }
}
