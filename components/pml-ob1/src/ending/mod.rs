//! Ends that are asked for: MPI_Cancel, and communicators that are revoked.

pub mod cancel;
pub mod revoke;
