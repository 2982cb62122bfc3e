//! Partitioned messages (MPI 5.0 §4.2): one persistent message in parts that the sender marks ready one
//! by one, from any of its threads.
//!
//! ```text
//! Psend_init   announcement (tag, first channel, partitions, bytes each) ─────►  met by a Precv_init
//! Start                                                                          Start
//! Pready(i)    channel first+i  ──────────────────────────────────────────────►  Parrived(j)
//! ```
//!
//! **Set-up.** The sender never waits for the receiver: it numbers its *channels* (one per partition)
//! itself and sends one small announcement when the operation is made. A channel is a tag of the
//! library's own, negative and far below those of collectives, so no receive of the user, wildcard or
//! not, can ever match. Each partition is a persistent send on its channel, made once; the receiver
//! makes one persistent receive per *sender's* partition once it has met the announcement, at the place in
//! its buffer where those bytes belong. Start and Pready start persistent requests and allocate nothing.
//!
//! **Matching.** All announcements of a communicator go by one tag, and carry the user's. Each
//! Precv_init posts one receive for an announcement of its source; what has come is paired with the
//! oldest Precv_init of that source and tag ([`Meeting`]). Announcements of a pair arrive in the order
//! of Psend_init, so operations pair in the order they were made, as the standard wants. A receive
//! request that is freed before it met anyone still takes its announcement off the line.
//!
//! **Partitions need not agree**: receiver's partition j has arrived when all sender's partitions that
//! overlap its bytes have. Where a sender's partition ends inside an element of a receive type with
//! gaps, the bytes are received aside and unpacked when they are there.
//!
//! **Access.** Cells and vectors belong to the holder of the request's pool lock (`host_requests`),
//! and are not changed while the operation is active but for the cursor. The word of each part is what
//! threads share: `Pready` claims it (IDLE → CLAIMED → STARTED), arrival of a part that is received
//! aside likewise (IDLE → CLAIMED → DONE).

mod announcement;
mod expected;
mod meeting;
mod part;
mod receiving;
mod sending;

pub(crate) use expected::Meeting;
pub use part::Layout;
pub use receiving::Receiving;
pub use sending::Sending;

use crate::objects::Made;

/// The sender's side of a request, if it is one.
pub fn sending(made: &Made) -> Option<&Sending> {
    made.body()
}

/// The receiver's side of a request, if it is one.
pub fn receiving(made: &Made) -> Option<&Receiving> {
    made.body()
}
