//! A check, as it is registered.

use crate::rank::Rank;

/// A check, and for how many ranks it makes sense.
pub struct Check {
    pub name: &'static str,
    /// Jobs of these sizes run it.
    pub ranks: &'static [u32],
    /// The instances have level MPI_THREAD_MULTIPLE.
    pub threads: bool,
    pub run: fn(&Rank),
}
