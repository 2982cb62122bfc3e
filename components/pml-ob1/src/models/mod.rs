//! Models of the lock-free code, checked by loom.

pub mod fifos;
pub mod shards;
