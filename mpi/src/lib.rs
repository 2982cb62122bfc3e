//! The MPI 5.0 standard ABI: libmpi_abi.so.1.
//!
//! Every function of the standard is defined here by the macro `mpi_fn!`, under its own name and under
//! the profiling name, checks its arguments, and calls the runtime; nothing below this crate ever calls
//! an `MPI_` function. `INDEX.md` says which function is where and whether it is whole.
//!
//! Map, by chapter: `environment`, `session` · `error` · `comm` · `group` · `info` · `attr` · `p2p`, `sendrecv`, `buffered`, `persistent`,
//! `partitioned`, `probe` · `request`, `complete`, `get_status`, `grequest` · `status` ·
//! `datatype`, `predefined`, `type_create`, `type_array`, `type_contents`, `type_match`, `pack`, `address` · `op`,
//! `collective` · `topo`, `topo_graph` · `win` · `tool` (MPI_T) · `abi_info`, `fortran` · `removed` (functions of
//! MPI-1) · extensions (`mpi-ext.h`): `ext`, `ext_sync`, `endpoints`, `threadcomm`, `streams`.
//! In a chapter that is a folder `object` is what a handle leads to, and `calls` are the standard's functions.
//!
//! Under them: `process` (the running MPI), `users` (who uses it, from when to when), `gate` and `entry` (the way into
//! a function), `context` (a thread finds its own), `installation` (where the library lies, what is linked in), `leftovers` (what nobody
//! freed), `handle` (numbers to objects), `operands` (the checks on a message's path), `local_requests` (those that complete without progress), `memory`
//! (the user's pointers), `counting`, `watching` (the call a thread is in), `standstill` (a program that stands still after
//! an error), `crash`, `stdio` (a rank's standard output), `thread_rank`, `types`, `macros`; generated: `constants`,
//! `unsupported`.

#[macro_use]
mod macros;

mod abi_info;
mod address;
mod attr;
mod buffered;
#[cfg(feature = "builtin")]
mod builtin;
mod collective;
mod comm;
mod complete;
mod complete_some;
mod constants;
mod context;
mod counting;
mod crash;
mod datatype;
mod endpoints;
mod entry;
mod environment;
mod error;
mod ext;
mod ext_sync;
mod fortran;
mod gate;
mod get_status;
mod grequest;
mod group;
mod handle;
mod info;
mod installation;
mod leftovers;
mod local_requests;
mod memory;
mod op;
mod operands;
mod p2p;
mod pack;
mod partitioned;
mod persistent;
mod predefined;
mod probe;
mod process;
mod removed;
mod request;
mod sendrecv;
mod session;
mod standstill;
mod start;
mod status;
mod stdio;
mod streams;
mod thread_rank;
mod threadcomm;
mod tool;
mod topo;
mod topo_graph;
mod type_array;
mod type_contents;
mod type_create;
mod type_match;
mod types;
mod unsupported;
mod users;
mod watching;
mod win;
