//! One-sided verbs that a transport lacks, by requests to the target's process: both sides of a request, without a host.
//!
//! Map: `requester` (operations under way, counters, flushes) · `target` (registered memory, carrying out) · `amo` (atomics by the
//! processor) · `wire` (bytes) · `slab` (numbers with generations). The host makes the handle that has the missing verbs, and opens
//! the service context whose lock guards [`Memory`].

pub mod amo;
pub mod requester;
mod slab;
pub mod target;
pub mod wire;

pub use target::Memory;
pub use wire::RegistrationName;
