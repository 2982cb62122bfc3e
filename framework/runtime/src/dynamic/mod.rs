//! Processes of other jobs: how they become known and are forgotten, and communicators with them (MPI 5.0 §11.7 to §11.10).
//!
//! A job is what one mpirun, or one MPI_Comm_spawn, has started; its processes know each other from the start. Those of another job become
//! known when a communicator with them is made, and what a process needs of them comes to it then, once: their names, where they are, and what they have
//! published in their own job ([`profile`]). So nobody is asked later, and two jobs need nothing in common but a way between them.
//!
//! Map: `profile` (a process for others) · `strangers` (those that are known, by index) · `acquaint` (getting to know, and parting) · `patience` (waiting for descriptors) ·
//! `introduction`, `connect` (two groups that have met) · `open_ports`, `ports` (meeting by a port) · `spawn` (processes that are started) · `join` (meeting by a
//! socket) · `names`, `served_names` (of services) · `parting` (MPI_Comm_disconnect) · `colors` (splitting).

pub(crate) mod acquaint;
mod colors;
mod connect;
mod introduction;
mod join;
mod names;
pub(crate) mod open_ports;
mod parting;
pub(crate) mod patience;
mod ports;
pub(crate) mod profile;
mod served_names;
mod spawn;
pub(crate) mod strangers;

pub use ports::Side;
pub use spawn::Spawned;
