//! Finds, checks and selects components, and says which values their parameters have. Nothing here starts anything: a
//! process that only looks ([`registry`]) uses the same code as one that runs.
//!
//! Map: [`loader`] (find and open files) · [`accept`] (the handshake and the host's own tables) · [`select`] (who wins) ·
//! [`params`] (parameters of the host, declarations of components), [`values`] (as they are used), [`in_force`] (values that
//! parameters really have) · [`registry`] (what could be used and set) · [`open_mpi`] (names that Open MPI has), `implementation` (its `io` and `sharedfp`) · [`counters`] (names of
//! performance counters) · [`level`] (thread level) · [`error`], [`help`], [`log`] (texts for people).

pub mod accept;
pub mod counters;
pub mod error;
pub mod help;
mod implementation;
pub mod in_force;
pub mod level;
pub mod loader;
pub mod log;
pub mod open_mpi;
pub mod params;
pub mod registry;
pub mod select;
pub mod values;

pub use error::{Error, ErrorKind};
pub use level::Level;
