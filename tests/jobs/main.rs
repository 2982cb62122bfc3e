//! Whole jobs: C programs compiled by the installed `mpicc`, started by the installed `mpirun`.
//!
//! `messages` · `matching` (every engine) · `communicators` · `tools` (PMPI, the wrappers, a moved install) ·
//! `endings` (exit statuses, killed jobs, nothing left) · `objects` (sessions, what is not freed) · `parameters`.

mod communicators;
mod endings;
mod matching;
mod messages;
mod objects;
mod parameters;
mod tools;
