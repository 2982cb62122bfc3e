//! Order of messages over several FIFOs: who goes where, and how the receiver puts them in order.

pub mod fork;
pub mod numbered;
pub mod ordered;
pub mod sequence;
pub mod signals;
pub mod stamp;
pub mod switch;
pub mod unknown;
