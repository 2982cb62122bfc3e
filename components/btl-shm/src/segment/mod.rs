//! The node's segments: the map of one, cells, the words by which ranks tell each other that something has come, and the segments of this process.

pub mod cells;
pub mod doorbell;
pub mod inbox;
pub mod joined;
pub mod map;
pub mod ready;
pub mod refused;
pub mod shares;
