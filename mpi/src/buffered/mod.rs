//! Buffered sends and the buffers they use (MPI 5.0 §3.6).
//!
//! A buffered send packs its message into the attached buffer and sends it from there; the call is over
//! then, and the space is free again when the send is complete. Which buffer: the communicator's, or
//! else that of the session it comes from, or else the process's. With MPI_BUFFER_AUTOMATIC the
//! space comes from the heap.
//!
//! Map: `slot` (a place for a buffer, its messages) · `attached` (attach, flush, detach) · `send`.

mod attached;
mod attaching;
mod send;
mod slot;

pub use attached::finish;
pub use slot::Slot;
