//! The receiving side: rings that are looked at, messages taken out of them, and when to look.

mod attach;
pub mod drain;
pub mod footholds;
pub mod handover;
pub mod incoming;
mod joining;
pub mod pace;
pub mod pieces;
