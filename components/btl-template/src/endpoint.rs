//! One peer process, as the sender sees it.

use crate::sys::PeerName;

/// Made by `add_proc`, given back with every verb. The hot verbs get it by reference from several threads,
/// so what changes in it is atomic, or belongs to a context and is serialised with it.
pub struct TemplateEndpoint {
    pub proc: u32,
    /// Where to send, by our context: the peer's context with that number modulo its own count.
    pub names: Box<[PeerName]>,
    /// Where requests go.
    pub service: PeerName,
}
