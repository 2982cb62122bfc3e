//! A message of the link: something that is a frame on its way.

use oxmpi_wireup::frame::{Frame, Malformed};

/// Longest payload either end takes: arguments and environment of a program fit.
pub const LIMIT: usize = 64 << 20;

/// A message of one of the two directions.
pub trait Message: Sized {
    fn encode(&self) -> Result<Vec<u8>, Malformed>;
    fn decode(frame: Frame<'_>) -> Result<Self, Malformed>;
}
