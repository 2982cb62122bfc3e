//! The MPI 5.0 standard ABI: libmpi_abi.so.1.
//!
//! Every function of the standard is defined here by the macro `mpi_fn!`, under its own name and under
//! the profiling name, checks its arguments, and calls the runtime; nothing below this crate ever calls
//! an `MPI_` function. `INDEX.md` says which function is where and whether it is whole.
//!
//! Map, by chapter: `environment`, `session` · `error` · `comm` · `group` · `info` · `attr` · `p2p`, `sendrecv`, `buffered`, `persistent`,
//! `partitioned`, `probe` · `request`, `complete`, `get_status`, `grequest` · `status` ·
//! `datatype`, `predefined`, `type_create`, `type_array`, `type_contents`, `type_match`, `pack`, `address` · `op`,
//! `collective` · `dynamic` · `topo`, `topo_graph` · `win` · `file` · `tool` (MPI_T) · `abi_info`, `abi_fortran`, `fortran` · `removed` (functions of
//! MPI-1) · extensions (`mpi-ext.h`): `ext`, `ext_sync`, `endpoints`, `threadcomm`, `streams`.
//! In a chapter that is a folder `object` is what a handle leads to, and `calls` are the standard's functions.
//!
//! Under them is `call`, the machinery of a call; `types`; and what is generated: `constants`.

#[macro_use]
mod call;

mod abi_fortran;
mod abi_info;
mod address;
mod attr;
mod buffered;
mod collective;
mod comm;
mod complete;
mod complete_some;
mod constants;
mod datatype;
mod dynamic;
mod endpoints;
mod environment;
mod error;
mod ext;
mod ext_sync;
mod file;
mod fortran;
mod get_status;
mod grequest;
mod group;
mod info;
mod op;
mod p2p;
mod pack;
mod partitioned;
mod persistent;
mod predefined;
mod probe;
mod removed;
mod request;
mod sendrecv;
mod session;
mod start;
mod status;
mod streams;
mod threadcomm;
mod tool;
mod topo;
mod topo_graph;
mod type_array;
mod type_contents;
mod type_create;
mod type_match;
mod types;
mod win;
