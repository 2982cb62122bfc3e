//! `ompi-server`: a process in the background that keeps names of services for all jobs of the user that were started with `mpirun --ompi-server`.
//!
//! The server itself is `oxmpi_wireup::services`; this is the program around it (`program`), its options (`options`), and how mpirun finds it by a URI, a
//! file with that, or its process number (`find`). A server that runs has a file for the last in a folder of the user's (`register`), which goes with it.

mod find;
mod options;
mod program;
mod register;

pub use find::{Wanted, find};
pub use program::main;
