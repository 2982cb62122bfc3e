//! The receiving side: shards of a communicator, posted receives, and messages that arrive.

pub mod arrive;
pub mod content;
pub mod moving;
pub mod place;
pub mod post;
pub mod probe;
pub mod shard;
pub mod shards;
pub mod spread;
