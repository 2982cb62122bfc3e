//! Messages with numbers that wait for an earlier one of their source (`receive/numbered.rs`).

use crate::order::sequence::Sequence;
use crate::receive::incoming::Incoming;
use core::cell::UnsafeCell;
use oxmpi_mca::Lock;

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
    inc: Incoming,
    payload: Box<[u8]>,
}

// SAFETY: its pointer is replaced by one to its own payload before anybody reads it.
unsafe impl Send for EarlyMessage {}

impl EarlyMessage {
    /// Copies a message with its payload.
    pub fn of(inc: &Incoming) -> EarlyMessage {
        let payload = match inc.len {
            0 => Box::default(),
            // SAFETY: the payload is readable for `len` bytes.
            len => unsafe { core::slice::from_raw_parts(inc.payload, len as usize) }.into(),
        };
        EarlyMessage { inc: *inc, payload }
    }
    /// Describes the message, as on arrival; its payload is the copy here.
    pub fn incoming(&self) -> Incoming {
        Incoming { payload: self.payload.as_ptr(), ..self.inc }
    }
}

/// Messages of one source on one communicator that wait for an earlier one. The lock is taken under a CRI's and over a
/// shard's.
#[derive(Default)]
pub struct Inbound {
    lock: Lock,
    sequence: UnsafeCell<Sequence<EarlyMessage>>,
}

// SAFETY: the sequence belongs to the holder of the lock.
unsafe impl Sync for Inbound {}

impl Inbound {
    /// Calls `f` with the sequence under its lock; `f` does not come back here.
    pub fn with<R>(&self, f: impl FnOnce(&mut Sequence<EarlyMessage>) -> R) -> R {
        let _guard = self.lock.guard(true);
        // SAFETY: the lock is held, and uses do not nest.
        f(unsafe { &mut *self.sequence.get() })
    }
}
