//! The host side of oxmpi. Everything an MPI process has is reached from one value, [`Instance`];
//! there is no process-wide state here, so several instances (several ranks) may live in one process.
//!
//! Map: `objects` (the structs that refer to each other, with all their fields), `instance` (start), `ending` (finalize, rest) · `loader` (find and open files) · `accept` (the
//! handshake and the host's own tables) · `select` (who wins) · `open` (modules of the winners) ·
//! `host` (the table given to components), `am_table` (receivers of active messages) · `params`, `values` (resolution for one instance) · `registry` (what could
//! be used and set, without starting anything), `in_force` (values that parameters really have) · `open_mpi` (names that Open MPI has) · `progress` (engine,
//! sync object, waiting) · `thread` (contexts, level) · `request` (slots) · `made` (the host's own
//! requests), `buffer` (space of buffered sends), `byte_type` · `group`, `communicator`,
//! `construct` (communicators from communicators), `pset` (process sets, and communicators from groups
//! alone), `gid` · `topo` (grids, graphs) · `shared_memory_setup` (memory of several ranks), `mapping`
//! (of the node, in this process), `window` (windows: memory, places, one-sided component) · `coll` (stacking of collective modules,
//! their services) · `rcache` (registrations that outlive their operation) · `service` (requests of peers, their lock and their helper) · `emulation` (one-sided verbs that a
//! transport lacks, by such requests) · `info` · `help`, `log` · `spc`, `counts`, `counting` · `wireup` (the node daemon's protocol: job facts,
//! key-value store, shared segment).
//!
//! Under `--cfg loom` only what is modelled is built: the sync object, the queue of events, the
//! task pool, the gate, states of cached registrations.

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
mod emulation;
mod ending;
pub mod endpoints;
pub mod gid;
pub mod group;
mod host;
pub mod host_requests;
pub mod info;
pub mod instance;
pub mod intercomm;
mod levels;
mod lifetime;
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
mod telling;
pub mod topo;
mod transports;
mod waits;
pub mod window;
mod wires;

pub use oxmpi_loading::{Error, ErrorKind, Level, params::outside as param_outside};
pub use oxmpi_rcache::Counts as RegistrationCounts;
pub use oxmpi_waiting::WaitCounts;
pub use {
    counts::{CriCounts, OfComm},
    group::{Group, ProcId},
    info::Info,
    instance::Config,
    objects::{Communicator, Instance, Window},
    service::contexts::ServiceCounts,
};
