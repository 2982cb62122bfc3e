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

#[cfg(loom)]
pub mod progress {
    mod contexts;
    pub mod events;
    pub mod gate;
    pub mod meeting;
    pub mod sync;
    pub mod tasks;
}

#[cfg(not(loom))]
pub mod accept;
#[cfg(not(loom))]
mod agreement;
#[cfg(not(loom))]
mod am_table;
#[cfg(not(loom))]
mod before_abort;
#[cfg(not(loom))]
pub mod buffer;
#[cfg(not(loom))]
mod byte_type;
#[cfg(not(loom))]
pub mod coll;
#[cfg(not(loom))]
mod collectives;
#[cfg(not(loom))]
pub mod communicator;
#[cfg(not(loom))]
mod construct;
#[cfg(not(loom))]
mod counting;
#[cfg(not(loom))]
pub mod counts;
#[cfg(not(loom))]
mod cri_locks;
#[cfg(not(loom))]
mod emulation;
#[cfg(not(loom))]
mod ending;
#[cfg(not(loom))]
pub mod endpoints;
#[cfg(not(loom))]
pub mod error;
#[cfg(not(loom))]
pub mod gid;
#[cfg(not(loom))]
pub mod group;
#[cfg(not(loom))]
pub mod hardware;
#[cfg(not(loom))]
pub mod help;
#[cfg(not(loom))]
mod host;
#[cfg(not(loom))]
pub mod host_requests;
#[cfg(not(loom))]
pub mod in_force;
#[cfg(not(loom))]
pub mod info;
#[cfg(not(loom))]
pub mod instance;
#[cfg(not(loom))]
pub mod intercomm;
#[cfg(not(loom))]
mod levels;
#[cfg(not(loom))]
pub mod loader;
#[cfg(not(loom))]
mod locks;
#[cfg(not(loom))]
mod log;
#[cfg(not(loom))]
mod mapping;
#[cfg(not(loom))]
mod objects;
#[cfg(not(loom))]
mod open;
#[cfg(not(loom))]
mod open_mpi;
#[cfg(not(loom))]
mod params;
#[cfg(not(loom))]
mod places;
#[cfg(not(loom))]
mod plan;
#[cfg(not(loom))]
pub mod progress;
#[cfg(not(loom))]
mod pset;
mod rcache;
#[cfg(not(loom))]
mod reached;
#[cfg(not(loom))]
mod registration;
#[cfg(not(loom))]
pub mod registry;
#[cfg(not(loom))]
pub mod request;
#[cfg(not(loom))]
mod select;
#[cfg(not(loom))]
mod service;
#[cfg(not(loom))]
mod services;
#[cfg(not(loom))]
pub mod shared_memory;
#[cfg(not(loom))]
pub mod shared_memory_setup;
#[cfg(not(loom))]
pub mod spc;
#[cfg(not(loom))]
mod stopping;
mod system;
#[cfg(not(loom))]
pub mod thread;
#[cfg(not(loom))]
pub mod topo;
#[cfg(not(loom))]
mod transports;
#[cfg(not(loom))]
mod values;
#[cfg(not(loom))]
pub mod window;
#[cfg(not(loom))]
pub mod wireup;

#[cfg(not(loom))]
pub use {
    counts::{CriCounts, OfComm, WaitCounts},
    error::{Error, ErrorKind},
    group::{Group, ProcId},
    info::Info,
    instance::Config,
    objects::{Communicator, Instance, Window},
    params::outside as param_outside,
    rcache::Counts as RegistrationCounts,
    service::contexts::ServiceCounts,
    thread::Level,
};
