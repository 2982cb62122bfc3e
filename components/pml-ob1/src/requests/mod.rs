//! Requests: their states, where free ones are, the ids by which peers quote them, and how they end.

pub mod claim;
pub mod completer;
pub mod copy;
pub mod free_list;
pub mod ids;
pub mod life;
pub mod links;
pub mod memory;
pub mod pool;
pub mod registered;
pub mod request;
pub mod retired;
pub mod steps;
pub mod thread_state;
pub mod work;
