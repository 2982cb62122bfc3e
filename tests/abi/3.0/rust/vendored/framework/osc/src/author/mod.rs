//! Safe traits for the author of an OSC component, from which [`module()`] makes the tables.
//!
//! Verbs get a call's way in as [`Entry`](oxmpi_mca::Entry), `&mut`: what holds a CRI has borrowed it, and so does every wait, so nothing that a call found out about
//! locks is kept across one. Arguments come as [`Rma`] and [`Window`](crate::WinDesc) descriptions that the host vouches for.
//!
//! Map: `window` (the traits) · `args` (arguments as authors see them) · `opened` (the state behind the tables) · `thunk` (the functions of the
//! tables, which hold the `unsafe`) · `module`.

mod args;
mod module;
mod opened;
mod thunk;
mod window;

pub use args::{Flush, LockKind, Memory, Rma, Want};
pub use module::module;
pub use window::{Asked, Osc, Window};
