//! The endpoint that verbs get, and what it keeps for a context.

use crate::peer::Core;
use std::sync::Arc;

/// A process. Several endpoints may be of one.
pub struct TcpEndpoint {
    pub core: Arc<Core>,
}

/// Slots of a context's streams to a process; found when first used.
#[derive(Default)]
pub struct Lane {
    pub plain: Option<usize>,
    pub service: Option<usize>,
}
