//! The ring between one sender and one receiver: messages of any length, in order.
//!
//! **Shape.** A ring has *lines* of 64 bytes, each a flag word and 56 bytes, and behind them *bulk*.
//! A message of up to [`MAX_SHORT`](crate::wire::MAX_SHORT) bytes lies in lines, one behind the other
//! and over the end; one of up to 56 bytes is one cache line, and sending it moves one cache line. A longer one
//! lies in the bulk, contiguous, and its line says where.
//!
//! **How the receiver tells a line that was written from one that was not.** Every line is written once
//! per lap, whole or not, and always gets a flag word with the lap's number. So what lies in a line
//! is from this lap, the one before, or the ring's birth, whatever the payload: nothing needs to be
//! cleared. Every line of a message has its flag, and the sender writes them front to back: the receiver
//! takes the first line over while the sender still writes the last. It leaves lines that it finds
//! incomplete, and looks at them again later.
//!
//! **Writers.** The sender writes lines and bulk; the receiver the two heads and the
//! notification word (which belongs to `doorbell.rs`). The receiver never writes a line of messages.
//!
//! A message may also lie in a *cell*, behind this ring or the one the other way (`cells.rs`); its line says in which. A long one may be
//! announced piece by piece: its first line when the first piece is written, and one more line behind that with each other.
//!
//! **Heads.** Tails (private to the sender) and positions (private to the receiver) are exact. The heads
//! in shared memory trail: they are written after every long message, and otherwise when a quarter of
//! the lines has been read. That is enough for progress: when the receiver has read everything and says
//! nothing more, three quarters of the lines and all of the bulk are known to be free. A long message that
//! does not fit before the end of the bulk starts at its beginning, so none is longer than half the bulk
//! ([`largest_slot`]).
//!
//! **Window.** Lines that both sides used a moment ago are the nearest. So in a large ring messages of less than 32 KiB stay in the
//! first [`window`](memory::window) bytes of the bulk: a sender that would leave them goes back to the beginning, if it is known that the
//! receiver has read what lies there.
//!
//! **Limit.** The sender's fast path compares one number. A ring that is full or not even made exceeds
//! it, and the slow path finds out which.
//!
//! **Coming back.** A sender that finds a ring of an earlier life of itself walks from the heads over
//! published messages to the first line of another lap: that is the tail ([`Producer::adopt`]). A fresh
//! ring is the case of no steps.
//!
//! **A peer is not trusted.** A place or length outside the bulk, an unknown kind or an impossible head
//! is garbage; sizes and masks are private, so no word of a peer makes either side touch memory outside
//! the mapping. A flag word is read once.
//!
//! Model: `model.rs` (loom) runs this very code over lines of loom atomics.

mod consumer;
mod memory;
mod producer;
#[cfg(all(test, not(loom)))]
mod tests;

pub use consumer::{Consumer, Front, LineMessage, Location, Look, Rest};
pub use memory::{Mapped, RingMem, fetch_all, largest_slot};
pub use producer::{Producer, Room};
