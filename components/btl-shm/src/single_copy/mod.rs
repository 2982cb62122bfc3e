//! Copies from and to a peer's memory, by system calls or a mapping.

pub mod attached;
pub mod cooperative;
pub mod copy;
pub mod mapper;
pub mod reads;
pub mod rma;
pub mod stretch;
pub mod xpmem;
