//! Sessions: MPI without a world (MPI 5.0 §11.3), and communicators from groups (§7.4.2).
//!
//! A session is one user of the process's runtime instance (`users`), with a number that its groups
//! carry on to the communicators made of them. Session_finalize takes down what the program has left of
//! those. A session's level of thread support is at least what was asked for, and as high as the process's
//! was when it began, because others asked for more.
//!
//! Map: `object` (what a handle leads to) · `calls` (the standard's functions).

mod calls;
mod object;

pub use object::{WORLD, buffer_of, get, require};
