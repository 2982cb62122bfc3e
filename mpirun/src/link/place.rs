//! A rank's place on its node.

/// Where a rank of a node runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Index into the programs.
    pub program: u32,
    /// Processors it may run on; an empty list binds to nothing.
    pub processors: Vec<u32>,
}
