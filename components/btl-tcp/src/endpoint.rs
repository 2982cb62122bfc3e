//! The endpoint that verbs get, and what it keeps for a context.

use crate::peer::Core;
use crate::streams::StreamName;
use std::sync::Arc;

/// A process. Several endpoints may be of one.
pub struct TcpEndpoint {
    pub core: Arc<Core>,
}

/// A context's streams to a process; found when first used.
#[derive(Default)]
pub struct Lane {
    pub plain: Option<StreamName>,
    pub service: Option<StreamName>,
}
