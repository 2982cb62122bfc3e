//! Suites that can be run, by name.

use clap::ValueEnum;

/// A suite by its short name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// MPICH's test suite of C and Fortran
    Mpich,
    /// mpi4py's own tests
    Mpi4py,
    /// Examples and tests of the crate `mpi`
    Rsmpi,
}

impl Suite {
    pub const ALL: [Suite; 3] = [Suite::Mpich, Suite::Mpi4py, Suite::Rsmpi];

    /// Its name in results, reasons and folders.
    pub fn name(self) -> &'static str {
        match self {
            Suite::Mpich => "mpich",
            Suite::Mpi4py => "mpi4py",
            Suite::Rsmpi => "rsmpi",
        }
    }
}
