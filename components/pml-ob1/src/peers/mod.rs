//! Peers: the processes that messages go to and come from, one object for each FIFO; credit, what waits for room, and losses.

pub mod abilities;
pub mod choice;
pub mod contact;
pub mod control;
pub mod credit;
pub mod flow;
pub mod link;
pub mod loss;
pub mod peer;
pub mod queue;
pub mod quoted;
pub mod route;
pub mod streamed;
pub mod stripes;
pub mod table;
