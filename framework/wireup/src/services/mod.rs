//! A server of names of services, for jobs of one user that have no mpirun in common (MPI 5.0 §11.9.4).
//!
//! It listens as a port does ([`crate::port`]), and who calls proves that he knows the user's key: access is for one user's processes. Its **URI** is
//! `oxmpi-names1:` and the name of that port, one word. A caller asks in short frames and is answered in order.
//!
//! **A name lives as long as the connection over which it was published**, or until it is taken back: a process that dies without that leaves
//! nothing behind. Several connections publish one name one after the other, never at once.
//!
//! Nothing here blocks: whoever waits makes turns.

mod question;
mod server;
mod uri;
mod words;

pub use question::Question;
pub use server::NameServer;
pub use uri::ServerUri;
pub use words::{Reply, Request};
