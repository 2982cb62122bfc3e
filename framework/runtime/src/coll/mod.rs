//! Collective modules: asked for every new communicator, laid over one another by priority, called
//! through one table of our own.
//!
//! Each component that wants a communicator gives a module and the collectives it has. From lowest to
//! highest priority they overwrite the slots, so each collective may come from a different component.
//! A collective that no component has answers NOT_SUPPORTED. A component that served nothing in the end gets its module
//! back at once.
//!
//! The functions that make plans (`host_requests::schedule`) are laid over one another in the same way.
//!
//! Things that a component can lack in one rank alone are found out when they are first needed, and agreed on by all.
//!
//! Map: `stack` (asked) · `choice` (laid over one another, given back) · `preparing` (agreed on at first use) · `calls` (run, plan) · `algorithms` (counted) · `services` (what components may ask of the host) with `parts` (nodes, parts of a communicator)
//! and `in_plans_only` · `slot` (which collective). A stack gets the table of services from the instance, so nothing here calls up.

mod algorithms;
mod calls;
mod choice;
mod in_plans_only;
pub(crate) mod parts;
pub(crate) mod preparing;
pub(crate) mod services;
pub(crate) mod slot;
mod stack;

pub use slot::Slot;
