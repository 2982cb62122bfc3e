//! Protocols: from the first message of a send to its last.

pub mod cancel;
pub mod choice;
pub mod copy;
pub mod credit;
pub mod eager;
pub mod flow_cache;
pub mod naming;
pub mod peer_loss;
pub mod rdma;
pub mod registration;
pub mod rendezvous;
pub mod revoke;
pub mod runs;
pub mod send;
pub mod streamed;
pub mod stripes;
