//! Messages with numbers that wait for an earlier one of their source (`receive/numbered.rs`).

use crate::order::sequence::Sequence;
use crate::receive::incoming::{Envelope, Incoming};
use crate::state::locked::Locked;

/// How messages find their FIFO, once there are several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assignment {
    /// A message's FIFO follows from communicator and tag.
    Stream,
    /// Each thread's messages take a FIFO of its own.
    Dedicated,
    /// Messages take the FIFOs one after the other.
    RoundRobin,
}

/// A message that is kept with a copy of its payload.
pub struct EarlyMessage {
    about: Envelope,
    payload: Box<[u8]>,
}

impl EarlyMessage {
    /// Copies a message with its payload.
    pub fn of(inc: &Incoming<'_>) -> EarlyMessage {
        EarlyMessage { about: inc.about, payload: inc.payload.into() }
    }
    /// Describes the message, as on arrival; its payload is the copy here.
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { about: self.about, payload: &self.payload }
    }
}

/// Messages of one source on one communicator that wait for an earlier one. The lock is taken under a CRI's and over a
/// shard's.
pub type Inbound = Locked<Sequence<EarlyMessage>>;
