//! Several FIFOs to one peer: the switch to them, and the order of what goes over them.

pub mod flows;
pub mod fork;
pub mod sequence;
pub mod signals;
pub mod skip;
pub mod stamp;
pub mod switch;
