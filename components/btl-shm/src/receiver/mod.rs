//! The receiving side: rings that are looked at, messages taken out of them, and when to look.

pub mod drain;
pub mod handover;
pub mod incoming;
pub mod pace;
pub mod pieces;
