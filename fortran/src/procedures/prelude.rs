//! The names that lines of all chapters use.

pub use crate::abi::Fint;
pub use crate::dummies::handles;
pub use crate::dummies::index;
pub use crate::dummies::kept::{self, Kept};
pub use crate::dummies::logical;
pub use crate::dummies::started;
pub use crate::dummies::text;
pub use crate::dummies::values::{Choice, Detached, Dropped, Place, Statuses, Value, Weights};
pub use crate::dummies::{Dummy, len};
pub use crate::hand::topology::{indegree, outdegree, peers, peers_of};
pub use crate::kinds::*;
pub use crate::sections::pending::Pending;
pub use crate::sections::roles::*;
pub use crate::sections::strided::{Actual, Strided};
pub use crate::sections::{descriptor, refusal};
pub use core::ffi::{c_int, c_void};

/// Bytes of texts with their zero byte (MPI 5.0 §20.3).
pub const MPI_MAX_DATAREP_STRING: usize = 128;
pub const MPI_MAX_ERROR_STRING: usize = 512;
pub const MPI_MAX_INFO_KEY: usize = 256;
pub const MPI_MAX_LIBRARY_VERSION_STRING: usize = 8192;
pub const MPI_MAX_OBJECT_NAME: usize = 128;
pub const MPI_MAX_PORT_NAME: usize = 1024;
pub const MPI_MAX_PROCESSOR_NAME: usize = 256;
