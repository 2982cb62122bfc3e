//! Models of the lock-free code, checked by loom.

pub mod pieces;
pub mod ring;
pub mod service;
