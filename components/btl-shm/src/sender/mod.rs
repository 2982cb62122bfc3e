//! The sending side: the outgoing end of a ring for each peer and context, and how payload is written.

pub mod outgoing;
pub mod send;
pub mod writing;
