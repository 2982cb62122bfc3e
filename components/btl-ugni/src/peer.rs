//! A peer process, as its links, datagrams and operations share it.

use crate::wire::Card;
use core::sync::atomic::AtomicBool;
use oxmpi_btl::Loss;
use std::sync::OnceLock;

/// A process, as far as its links need to know.
pub struct Core {
    pub proc: u32,
    pub card: OnceLock<Card>,
    pub loss: Loss,
    /// It has said good-bye.
    pub gone: AtomicBool,
}
