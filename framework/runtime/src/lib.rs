//! The host of an MPI process: everything that hangs on one value, [`Instance`]. There is no process-wide state here, so several
//! instances (several ranks) may live in one process.
//!
//! Map, from below: `locked` (data under locks of the host) · `objects` (the structs that refer to each other; their fields) · `waits` (waiting in an instance), `levels`, `telling`, `abort` ·
//! `services`, `transports`, `registration` (what components ask for) · `service`, `emulation` (requests of peers, and verbs that a
//! transport lacks by such requests) · `group`, `gid`, `plan`, `message` (buffers and envelopes), `communicator` (messages), `lifetime` (made and closed) · `coll` (modules
//! and their services), `agreement`, `shared_memory_setup` · `host_requests` (requests of the host: plans, partitioned messages) ·
//! `wires`, `spreading`, `construct`, `intercomm`, `pset`, `endpoints`, `topo` (communicators from others) · `dynamic` (processes of other jobs, communicators with them) · `window` · `file` · `host`, `am_table`,
//! `cri_locks` (the tables that components get), `open` (modules of components) · `instance` (start), `ending` (finalize, rest).
//!
//! Beside it: `counting`, `counts`, `spc` (counters), `info`, `buffer`, `request` (slots), `byte_type`, `sharing` (work for waiting threads).

mod abort;
mod agreement;
mod am_table;
mod before_abort;
pub mod buffer;
mod byte_type;
pub mod coll;
mod collectives;
pub mod communicator;
mod construct;
mod counting;
pub mod counts;
mod cri_locks;
pub mod dynamic;
mod emulation;
mod ending;
pub mod endpoints;
pub mod file;
pub mod gid;
pub mod group;
mod host;
pub mod host_requests;
pub mod info;
pub mod instance;
pub mod intercomm;
mod levels;
mod lifetime;
mod locked;
mod message;
mod objects;
mod open;
mod parts;
mod places;
mod plan;
mod pset;
mod reached;
mod registration;
pub mod request;
mod service;
mod services;
pub mod shared_memory;
pub mod shared_memory_setup;
mod sharing;
pub mod spc;
mod spreading;
mod telling;
pub mod topo;
mod transports;
mod turning;
mod waits;
pub mod window;
mod wires;

pub use oxmpi_loading::{Error, ErrorKind, Level, params::outside as param_outside};
pub use oxmpi_rcache::Counts as RegistrationCounts;
pub use oxmpi_waiting::WaitCounts;
pub use {
    communicator::Matched,
    counts::{CriCounts, OfComm},
    group::{Group, ProcId},
    info::Info,
    instance::Config,
    message::{Envelope, RecvBuffer, SendBuffer},
    objects::{Communicator, Instance, Window},
    service::contexts::ServiceCounts,
};
