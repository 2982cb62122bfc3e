//! Content of shards, as the change from one shard to several and back sees it (`shards.rs`).

/// The content of a shard, which its lock guards, in parts that can move from one shard to another.
pub trait Content: Sized {
    /// The key that leads to a shard.
    type Layout: Copy + PartialEq;
    /// Something that moves.
    type Part;

    /// Gives the layout that the next table is to have; asked of home.
    fn layout(&self) -> Self::Layout;
    /// Makes an empty content for a shard beside home.
    fn another(&self) -> Self;
    /// Prepares a shard of an earlier time in mode many to be used again: behind all that home has seen.
    fn begin(&mut self, home: &Self);
    /// Takes everything out of home, in order, each part with the number of its shard. `None`: something belongs into
    /// no shard alone, and nothing was moved.
    fn take_apart(&mut self) -> Option<Vec<(usize, Self::Part)>>;
    /// Takes a part, behind those before.
    fn accept(&mut self, part: Self::Part);
    /// Takes everything out of all shards into home.
    fn gather(&mut self, shards: &mut [&mut Self]);
    /// Gives back what is left, before any of the contents goes.
    fn clear(&mut self);
}
