//! Our streams to a peer process, and the endpoint that verbs get.

use crate::peer::Core;
use crate::stream::Stream;
use std::sync::{Arc, OnceLock};

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
