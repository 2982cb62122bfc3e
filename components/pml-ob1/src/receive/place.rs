//! Places of messages and receives among the shards of a communicator.

/// Most shards a table can have. The models make do with two.
pub const MOST: usize = if cfg!(loom) { 2 } else { 64 };

/// Where a message or receive belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// It belongs into the shard of this number.
    In(usize),
    /// It belongs into none alone.
    AllOver,
}
