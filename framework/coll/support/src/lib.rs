//! Parts that several collective components over point-to-point are made of: buffers of a call, temporary memory, failures, and work on
//! data that is done at once or written down in a plan.
//!
//! The crate is no part of the contract: a component may have its own of each, and one that stands on `oxmpi_coll::safe` needs none of it. It has
//! no `static` that can change and starts no thread, so every plugin may link it.

#![deny(missing_docs)]

pub mod data;
mod failure;
pub mod layout;
mod local;
pub mod scratch;

pub use data::{Place, Room, Source, Span};
pub use failure::Failure;
pub use layout::Result;
pub use local::Local;
pub use scratch::{Lease, Scratch};
