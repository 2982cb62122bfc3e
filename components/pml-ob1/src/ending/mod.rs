//! Ends that are asked for: MPI_Cancel, communicators that are revoked, and processes that part.

pub mod cancel;
mod parting;
pub mod revoke;
