//! Pieces of node memory that a process has mapped, by key.

use oxmpi_system::locks::Mutex;
use oxmpi_wireup::mapping::Mapping;
use std::collections::HashMap;

/// Node memory of this process, by the full key.
#[derive(Default)]
pub(crate) struct NodeMemories(pub(crate) Mutex<HashMap<String, Piece>>);

/// Memory of the node that is mapped here.
pub(crate) struct Piece {
    pub(crate) mapping: Mapping,
    pub(crate) bytes: u64,
    /// How often it was asked for and not freed.
    pub(crate) asked: u64,
}
