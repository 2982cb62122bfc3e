//! A message that its transport reads to the place of its receive, which it has met (`long/claims.rs` has the steps).

use crate::receive::incoming::Envelope;
use crate::requests::request::Request;
use oxmpi_pml::Placed;

/// A message that was claimed, and has not come whole.
pub struct Claim {
    /// The id of its receive.
    id: u64,
    about: Envelope,
    /// Bytes of its header.
    header: u64,
    /// Memory for its payload, where that cannot be read to the user's buffer.
    memory: Option<Box<[u8]>>,
}

impl Claim {
    /// Describes a message, with a header of so many bytes, which has met a receive. That has no id yet.
    pub fn new(about: Envelope, header: u64, req: &Request) -> Claim {
        let fits = req.is_plain() && about.len <= req.total();
        let memory = (!fits).then(|| vec![0; about.len as usize].into());
        Claim { id: 0, about, header, memory }
    }

    /// Notes the id of its receive.
    pub fn name(&mut self, id: u64) {
        self.id = id;
    }

    /// Gives the message.
    pub fn about(&self) -> Envelope {
        self.about
    }

    /// Gives the memory of ours that its payload lies in. `None`: it lies in the user's buffer.
    pub fn memory(&self) -> Option<&[u8]> {
        self.memory.as_deref()
    }

    /// Gives the id of its receive.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Gives the place of its payload, whose receive is not over.
    pub fn place(&mut self, req: &Request) -> Placed {
        let at = self.memory.as_mut().map_or(req.buf(), |memory| memory.as_mut_ptr());
        Placed { header: self.header, at }
    }
}
