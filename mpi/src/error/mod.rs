//! Errors (MPI 5.0 §9.3 to §9.5): from a failure to the error handler that must hear of it.
//!
//! A function of the C interface finds out what is wrong as a [`Failure`] (class and sentence) and hands it to [`raise()`]
//! with the object it was called on ([`ErrorObject`]).
//!
//! Map, from below: `failure` · `codes` (classes, codes and their sentences) · `handler` (handlers as objects) · `raise` (finds and calls
//! the handler) · `body` (runs the body of a function) · `code_calls`, `handler_calls` (the standard's functions of
//! errors).

mod body;
mod code_calls;
pub mod codes;
mod failure;
pub mod handler;
pub mod handler_calls;
mod raise;

pub use body::{call, call_any_time, call_on, call_outside};
pub use failure::{Failure, Res, check, class_of, of_user};
pub use handler::ErrorObject;
pub use raise::{initial, raise, raise_on, raise_without_call};
