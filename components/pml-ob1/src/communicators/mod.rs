//! Communicators: what a message needs to know of one, and how one is found.

pub mod comm;
pub mod inbound;
pub mod index;
pub mod members;
