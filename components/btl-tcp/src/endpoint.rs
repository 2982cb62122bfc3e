//! A peer process: what is known of it, and our streams to it.

use crate::card::Way;
use crate::stream::Stream;
use core::sync::atomic::AtomicBool;
use oxmpi_mca::ProcName;
use std::sync::{Arc, OnceLock};

/// State that all streams to a process share.
pub struct Core {
    pub proc: u32,
    pub name: ProcName,
    /// Our name is the lower one: where both sides call at once, our call is kept.
    pub first: bool,
    /// Where it is; not known as long as only it has called.
    pub route: OnceLock<Route>,
    /// It was reported as failed.
    pub failed: AtomicBool,
    /// It has said good-bye.
    pub gone: AtomicBool,
}

/// Where to call a process.
pub struct Route {
    pub contexts: u16,
    pub rail: u16,
    /// Best first: those of its own pair of rails before those of the others. Never empty.
    pub ways: Vec<Way>,
}

/// A process with our streams to it, by our context; made when first used.
pub struct Peer {
    pub core: Arc<Core>,
    pub plain: Box<[OnceLock<Arc<Stream>>]>,
    pub service: Box<[OnceLock<Arc<Stream>>]>,
}

impl Peer {
    pub fn new(core: Core, contexts: usize) -> Peer {
        let streams = || (0..contexts).map(|_| OnceLock::new()).collect();
        Peer { core: Arc::new(core), plain: streams(), service: streams() }
    }
}

/// The endpoint that verbs get. Several may be of one process.
pub struct TcpEndpoint {
    pub peer: Arc<Peer>,
}
