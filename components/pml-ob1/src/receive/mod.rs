//! The receiving side: shards of a communicator, posted receives, and messages that arrive.

pub mod arrive;
pub mod moving;
pub mod post;
pub mod probe;
pub mod shard;
pub mod shards;
pub mod spread;
