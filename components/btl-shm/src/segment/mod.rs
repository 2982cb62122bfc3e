//! The node's segment: its map, cells, and the words by which ranks tell each other that something has come.

pub mod cells;
pub mod doorbell;
pub mod inbox;
pub mod map;
pub mod ready;
pub mod shares;
