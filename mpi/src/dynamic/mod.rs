//! Processes that are started, and jobs that meet (MPI 5.0 §11.7 to §11.10).
//!
//! Map: `arguments` (commands, hints and time limits as C has them) · `parent` (the processes that started this job) · `spawn` · `ports` ·
//! `names` (of services) · `join` (by a socket).

mod arguments;
mod join;
mod names;
pub mod parent;
mod ports;
mod spawn;
