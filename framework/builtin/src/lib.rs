//! Components that are linked into the host instead of loaded: one slice that the linker fills.
//!
//! This is the only `static` in `framework/` outside the runtime, and no component links it: a host
//! crate that wants a component built in adds a line with [`macro@linkme::distributed_slice`].

pub use linkme;
use oxmpi_mca::Descriptor;

/// Functions that give the descriptors of linked-in components.
#[linkme::distributed_slice]
pub static BUILTIN: [fn() -> *const Descriptor];
