//! libugni in software: the entry points of Cray's user-level network interface over shared memory and sockets.
//!
//! Each process that attaches a communication domain has one thread, the engine (`engine.rs`), which plays its network card: it takes what
//! the entry points (`api/`) posted, moves bytes to and from registered memory (`memory.rs`), executes what other processes ask for
//! and fills completion queues (`cq.rs`). So a target makes progress without calling anything. Between processes of one
//! emulated node frames go through rings in shared memory, between nodes through sockets (`link.rs`).
//!
//! Ownership: a handle that a program holds is a number in `handles.rs`, never a pointer that is followed, so a stale or foreign one is
//! GNI_RC_INVALID_PARAM. Objects are `Arc`s with a lock each; the engine's own state (links, operations under way) has no lock. Locks
//! are taken in the order handle table, endpoint, registrations, completion queue, the node's limits; none is held while another process is
//! waited for. That of the registrations is held while their memory is touched, so deregistering waits for the end of that.
//!
//! README.md says what the emulation models and what it does not.

pub mod amo;
pub mod api;
pub mod config;
pub mod counters;
pub mod cq;
pub mod datagram;
pub mod domain;
pub mod engine;
pub mod entry;
pub mod frame;
pub mod handles;
pub mod layouts;
pub mod link;
pub mod memory;
pub mod node;
pub mod numbers;
pub mod operation;
pub mod ring;
pub mod rule;
pub mod smsg;
pub mod sys;
