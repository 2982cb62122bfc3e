//! The sending side: a lane for each peer and context, and how payload is written.

pub mod lane;
pub mod send;
pub mod writing;
