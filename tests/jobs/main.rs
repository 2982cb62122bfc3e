//! Whole jobs: C programs compiled by the installed `mpicc`, started by the installed `mpirun`.
//!
//! `messages` · `communicators` · `tools` (PMPI, the wrappers, a moved install) · `endings` (exit statuses, killed
//! jobs, nothing left) · `parameters`.

mod communicators;
mod endings;
mod messages;
mod parameters;
mod tools;
