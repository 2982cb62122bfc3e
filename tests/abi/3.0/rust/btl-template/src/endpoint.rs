//! One peer process, as the sender sees it.

use crate::sys::PeerName;

/// Made by `add_proc`, given back with every verb. All threads have it at the same time, so what changes in it is atomic; what belongs to
/// one context is a lane.
pub struct TemplateEndpoint {
    pub proc: u32,
    /// The sockets of the peer's contexts.
    pub names: Box<[PeerName]>,
    /// Where requests go.
    pub service: PeerName,
}
