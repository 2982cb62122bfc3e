//! The component's state for one communicator.
//!
//! All threads of a process share it, but a communicator has one call at a time. Parts of it that change are atomic or behind a lock; here there is
//! nothing to keep. Each operation is in a file of its own.

use oxmpi_coll::safe::Call;
use oxmpi_mca::StrRef;

pub struct TemplateModule;

/// The component's name, as `lib.rs` has it.
pub const NAME: &str = "template";

/// Names of the algorithms, each with its operation's before it; tools find counters of them under these names.
pub const ALGORITHMS: &[StrRef] = &[
    StrRef::new("barrier_dissemination"),
    StrRef::new("bcast_binomial"),
    StrRef::new("reduce_binomial"),
    StrRef::new("allreduce_reduce_bcast"),
    StrRef::new("allgather_ring"),
];

/// An algorithm: its number in the list.
#[derive(Clone, Copy)]
pub enum Algorithm {
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    Allgather,
}

impl TemplateModule {
    /// Tells which algorithm a call goes by, once for the call.
    pub fn goes_by(&self, call: &Call<'_>, algorithm: Algorithm) {
        call.tell_algorithm(NAME, algorithm as u32);
    }
}
