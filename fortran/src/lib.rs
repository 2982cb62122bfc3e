//! The Fortran procedures of MPI, as external procedures with the names and arguments that compilers give them.
//!
//! Each takes its arguments by address, converts what differs from C (`dummies`), calls the C function of the standard ABI, and writes back (`macros`). All but
//! those that need more (`hand`) are made from the table `mpi/abi/fortran.tsv` by `cargo xtask generate` (`procedures`). The library knows nothing of the one that has
//! the C functions but that ABI (MPI 5.0 §20), and whether its handles are numbers (`kinds`).
//!
//! `mpif.h` and the sources of the modules are made from the same table; README.md says how a program gets them.

#![allow(
    clashing_extern_declarations,
    reason = "each procedure declares its C function with the types of its own dummies, which the ABI takes for the same"
)]

#[macro_use]
mod macros;
#[macro_use]
mod optional;

mod abi;
mod dummies;
mod hand;
mod kinds;
mod language;
mod objects;
mod procedures;
mod sections;
mod sentinels;
mod strangers;
mod truth;
