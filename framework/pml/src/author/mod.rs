//! The author's side of a PML: one safe trait, from which [`module()`] makes the table.
//!
//! | what | type | who has it |
//! |---|---|---|
//! | the layer | the implementor of [`Pml`], `Sync` | `&self`, in any thread |
//! | a communicator | [`Pml::Comm`] | an [`Arc`](std::sync::Arc), from `add_comm` to `del_comm`; verbs get a reference |
//! | a request | [`Pml::Request`] | the layer's own, for ever; the host has it from the verb to [`Pml::release`] |
//! | a message that a matched probe took | [`Pml::Message`] | a box, from `improbe` to `imrecv` |
//! | a call's way in | [`Entry`](oxmpi_mca::Entry) | `&mut`, for the verb; who holds a CRI has borrowed it |
//!
//! **Arrivals** come as [`Pml::arrive`], inside a transport's turn of a context, with the guard of that context.
//!
//! Map: `layer` (the trait) · `args` (arguments as authors see them) · `care` (when locks are taken) · `state` (the state of a module) · `thunk` (the
//! functions of the table, which hold the `unsafe`) · `module`.

mod args;
mod care;
mod layer;
mod module;
mod state;
mod thunk;

pub use args::{Arrived, Described, Given, Incoming, Outgoing};
pub use care::{Admission, Care};
pub use layer::{Begun, Claimed, Next, Part, Placed, Pml};
pub use module::{module, operations};
