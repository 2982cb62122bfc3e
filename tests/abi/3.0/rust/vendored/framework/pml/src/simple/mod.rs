//! Parts that a layer may be made of instead of parts of its own: requests, ways to processes, words for the engine. They have no `unsafe` in their interface,
//! so that a layer of them needs none; one that counts instructions has its own.
//!
//! Map: `pool` (requests, and the right to end each) · `links` (sending) · `turns` (the words by which the engine calls the layer).

mod links;
mod pool;
mod turns;

pub use links::{Link, Links};
pub use pool::{Open, Pool, Pooled};
pub use turns::Turns;
