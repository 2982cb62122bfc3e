//! The daemon itself, and what it proves to others.

use oxmpi_wireup::Secret;

/// A daemon of a job, as it shows itself to the job's others.
#[derive(Clone, Debug)]
pub struct DaemonIdentity {
    pub node: u32,
    pub job: u64,
    pub secret: Secret,
}
