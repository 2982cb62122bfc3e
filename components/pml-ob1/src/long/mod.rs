//! Long messages: what follows from their match, by get, put, fragments, and in pieces.

pub mod claims;
pub mod parts;
pub mod placed;
pub mod rdma;
pub mod registration;
pub mod rendezvous;
pub mod revoked;
pub mod runs;
pub mod transfer;
pub mod transfers;
pub mod turn;
