//! How a process ended, and what it had to do with MPI then.

use oxmpi_wireup::frame::{Builder, Fields, Malformed};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Exit(i32),
    Signal { number: i32, core: bool },
}

/// A rank's state towards MPI when it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mpi {
    Never,
    /// It was initialized and not finalized.
    Inside,
    Finalized,
}

impl Ending {
    pub(super) fn encode(&self, b: Builder) -> Builder {
        match self {
            Ending::Exit(code) => b.u8(0).i32(*code),
            Ending::Signal { number, core } => b.u8(1 + u8::from(*core)).i32(*number),
        }
    }

    pub(super) fn decode(f: &mut Fields<'_>) -> Result<Ending, Malformed> {
        match f.u8("ending")? {
            0 => Ok(Ending::Exit(f.i32("exit code")?)),
            kind @ (1 | 2) => Ok(Ending::Signal { number: f.i32("signal")?, core: kind == 2 }),
            other => Err(Malformed::Value { field: "ending", value: other.into() }),
        }
    }
}

impl Mpi {
    pub(super) fn decode(f: &mut Fields<'_>) -> Result<Mpi, Malformed> {
        match f.u8("MPI state")? {
            0 => Ok(Mpi::Never),
            1 => Ok(Mpi::Inside),
            2 => Ok(Mpi::Finalized),
            other => Err(Malformed::Value { field: "MPI state", value: other.into() }),
        }
    }
}
