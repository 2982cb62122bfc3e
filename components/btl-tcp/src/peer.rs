//! A peer process: what is known of it, and where to call it.

use crate::card::PeerAddress;
use core::sync::atomic::{AtomicBool, AtomicUsize};
use oxmpi_btl::Loss;
use oxmpi_mca::ProcName;
use std::sync::OnceLock;

/// State that all streams to a process share.
pub struct Core {
    pub proc: u32,
    pub name: ProcName,
    /// Our name is the lower one: where both sides call at once, our call is kept.
    pub first: bool,
    /// Where it is; not known as long as only it has called.
    pub route: OnceLock<Route>,
    pub loss: Loss,
    /// It has said good-bye.
    pub gone: AtomicBool,
    /// Index of the address at which a call was welcome last: new streams begin there.
    pub way: AtomicUsize,
    /// The rail's own network has carried a connection with it.
    pub carried: AtomicBool,
    /// Somebody has heard that the rail's own network does not reach it.
    pub told: AtomicBool,
}

/// Where to call a process.
pub struct Route {
    pub contexts: u16,
    pub rail: u16,
    /// Best first: those of its own pair of rails before those of the others. Never empty.
    pub addresses: Vec<PeerAddress>,
}
