//! Whole jobs: C programs compiled by the installed `mpicc`, started by the installed `mpirun`.
//!
//! `messages` · `matching` (every engine) · `communicators` · `tools` (PMPI, the wrappers, a moved install) ·
//! `endings` (exit statuses, killed jobs, nothing left) · `objects` (sessions, what is not freed) · `parameters`.
//!
//! And: `extensions` (mpi-ext.h), `info` (mpi-info, parameters from files) · `authors` (components from outside).

mod authors;
mod communicators;
mod endings;
mod extensions;
mod info;
mod matching;
mod messages;
mod objects;
mod parameters;
mod tools;
