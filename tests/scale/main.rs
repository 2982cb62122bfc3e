//! One-sided components by the number of nodes, up to 8192 with 128 ranks each, counted: real components in one process, whose other ranks are
//! not there. No time is taken, and nothing is estimated; small worlds are compared with whole jobs.
//!
//! `memory` (bytes of a window) · `locks` (messages and atomics of MPI_Win_lock_all) · `accumulates` (verbs of one under its lock) · `order` (of unlike operations, and its price) · `process`, `operations`, `echo` (the host, what it does, and its transport) ·
//! `allocations` (what a thread holds) · `documents` (tables that are counted).

mod accumulates;
mod allocations;
mod documents;
mod echo;
mod locks;
mod memory;
mod operations;
mod order;
mod process;

#[global_allocator]
static MEMORY: allocations::Counting = allocations::Counting;
