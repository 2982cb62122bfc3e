//! Parts that several one-sided components are made of are values here, which a component puts behind its own locks.
//!
//! The crate is no part of the contract: a component may have its own of each. It has no `static` and starts no thread, so every
//! plugin may link it.

mod address;
mod comm;
mod elements;
mod epoch;
mod exposed;
mod list;
mod listener;
mod locks;
mod range;
pub mod reduction;
mod registrar;
mod registration;
mod requests;
pub mod runs;
pub mod simple;
pub mod wire;

pub use address::Address;
pub use comm::Comm;
pub use elements::{Destination, Elements, Sink, Source};
pub use epoch::{Access, Epochs};
pub use exposed::{Blocks, Exposed};
pub use list::{Entries, Entry, Results};
pub use listener::{Carrier, serve};
pub use locks::Locks;
pub use range::offset;
pub use registrar::{Registrar, spokesmen, transports};
pub use registration::{
    HANDLE, Registered, RemoteRegistration, Services, TRANSPORTS, module_key, registration_by,
};
pub use requests::{Pending, Request, RequestPool};
