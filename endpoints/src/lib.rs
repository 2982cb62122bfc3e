//! `liboxmpi_ep.so`: endpoints by proxy processes, over any MPI library with the standard ABI.
//!
//! The library stands between a program and its MPI by the profiling interface. Calls with conventional handles pass on; calls on
//! a communicator of endpoints become commands for proxy processes (`oxmpi-ep-server`), ranks of the same job that are
//! no part of the application's world. `docs/endpoints-by-proxies.md` is the user's page.
//!
//! Map: `abi` (types, constants) · `pmpi` (the library's functions) · `hello` (who is who) · `hints` (info objects as bytes) · `protocol` · `report` (lines on standard error) ·
//! `client` (everything the program calls).

#![cfg_attr(test, allow(dead_code, reason = "the exported functions are entry points of the library only"))]

#[cfg(not(loom))]
#[macro_use]
mod report;

#[cfg(not(loom))]
#[allow(dead_code, reason = "each side uses its part")]
mod abi;
#[cfg(not(loom))]
mod client;
#[cfg(not(loom))]
mod hello;
#[cfg(not(loom))]
mod hints;
#[cfg(not(loom))]
mod pmpi;
// The models need this alone.
mod protocol;
