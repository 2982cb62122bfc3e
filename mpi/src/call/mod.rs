//! The machinery of a call: what every function of the C interface goes through, whatever its chapter.
//!
//! Map: `macros` (how a function is defined) · `gate` and `entry` (the way into a function), `context` (a thread finds its own),
//! `thread_rank` · `process` (the running MPI), `users` (who uses it, from when to when), `leftovers` (objects that nobody freed),
//! `installation` (where the library lies), `builtin` (components that are linked in) · `handle` (numbers to objects), `operands` (the checks on a message's
//! path), `memory` (the user's pointers), `local_requests` (those that complete without progress) · `counting`, `watching` (the call a
//! thread is in), `standstill` (a program that stands still after an error), `crash`, `stdio` (a rank's standard output).

#[macro_use]
mod macros;

#[cfg(feature = "builtin")]
pub mod builtin;
pub mod context;
pub mod counting;
pub mod crash;
pub mod entry;
pub mod gate;
pub mod handle;
pub mod installation;
pub mod leftovers;
pub mod local_requests;
pub mod memory;
pub mod operands;
pub mod process;
pub mod standstill;
pub mod stdio;
pub mod thread_rank;
pub mod users;
pub mod watching;
