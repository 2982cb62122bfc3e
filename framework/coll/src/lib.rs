//! The contract of collective components.
//!
//! For every new communicator the host asks each component (`comm_query`) whether it wants to serve
//! it and with what priority; from lowest to highest their tables are laid over one another, so each
//! collective may come from a different component (as in Open MPI). A collective gets its
//! communicator as a [`CollComm`]: who is in it and the services it may use. Collectives talk with
//! negative tags, which MPI_ANY_TAG does not match.
//!
//! **All ranks choose alike.** The answer of `comm_query` follows from facts that are equal in all ranks. A step that may fail in one rank alone, such as
//! mapping memory, is tried before a blocking collective ([`CollModule::comm_prepare`]); then the ranks agree, and where one has refused
//! the component's functions are taken out of the stack in all of them, and those below take over. Algorithms, too, are chosen only by what MPI makes equal
//! everywhere: where counts differ from rank to rank, by the communicator and not by the counts.
//!
//! **Inter-communicators** (MPI 5.0 §6.2.3) are offered only to components whose module has the flag
//! [`flag::INTER`]. Ranks that the services take are then ranks of the remote group; for the phases
//! inside its own group a collective has [`CollComm::local`], a communicator of that group which
//! nothing else uses. `root` is [`ROOT`] in the root, [`NO_ROOT`] in the other ranks of its group, and
//! the root's rank in the ranks of the other group.
//!
//! **Neighborhood collectives** (MPI 5.0 §8.6) get the ranks they talk with in their arguments ([`Neighbors`]): a
//! component knows nothing of topologies. They are called on intra-communicators only.
//!
//! **Plans.** Nonblocking and persistent collectives (MPI 5.0 §6.12, §6.13) are carried out by the host:
//! the component only says what is to be done. It offers a second table ([`CollOffer::plans`]) of functions that
//! are called with [`CollComm::planning`] set and other services: `send`, `recv`, `isend`, `irecv` and `wait_all` write
//! down steps instead of doing them, and what a collective does with data in memory goes through the services that
//! follow those. The host then does the steps in the order they were written down, as far as messages have
//! arrived, in whatever thread makes progress, and again whenever a persistent operation is started. So a function that
//! decides by its arguments alone, not by data, can stand in both tables. It returns at once; the arrays of its arguments
//! are gone afterwards, buffers, types and the operation stay. Tags are the host's, one for each operation: within
//! one, what a rank sends another has to be received in the order it was sent. A step that fails
//! does not end the plan, since other ranks count on the others; the first error is the operation's.
//! An operation that the component can do by itself, on a device say, is one step ([`CollServices::step`]).
//! Messages that depend on what was received (sizes that are not known, trees of unknown shape) are written by a step that the host calls when it is
//! due, and that writes further steps then ([`CollServices::extend`]).
//!
//! **Threads.** Different communicators concurrently; one communicator one call at a time, as MPI
//! demands of the user.

#![deny(missing_docs)]

mod author;
pub mod safe;
mod table;

pub use author::{Coll, CollModule, module};
pub use oxmpi_mca::Place;
pub use table::*;
