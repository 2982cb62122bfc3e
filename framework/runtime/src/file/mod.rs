//! Files (MPI 5.0 §14): a communicator, an open file of the system, and the components that serve it.
//!
//! Map: `object` (what a file is) · `components` (opened with the first file) · `mount`, `serve` (a path, what the system says of it, the components of one process's file) ·
//! `opening` (open, close, delete), `presence` (the file as one rank has it open; ranks that open later) · `hints`, `layout` (what hints ask for; who transfers for others) · `view_data`, `view` (views and pointers) · `pointer` (shared pointers) ·
//! `attributes` (size, durability, atomic mode) · `space` (had ahead) · `calls` (data access, as functions want it) · `submission` (pieces that a component transfers) · `sieved_write` (writes under locks, holes included) · `access` (one rank's access) · `planned`, `collective`, `atomic` (accesses as plans) · `locks` (ranges) · `bell` (how ends are told) ·
//! `counts`, `totals` · `error` · `tell` (a file is told about before it is opened).
//!
//! **Independent and blocking**: the calling thread submits and waits. **Nonblocking, collective, split**: a plan of `host_requests/schedule`, whose steps submit and never wait, so they
//! are done by whatever thread makes progress.
//!
//! **Errors** are equal in all ranks of a collective call that opens, closes, resizes a file or sets its view.

mod access;
mod atomic;
mod attributes;
mod bell;
mod calls;
mod collective;
mod components;
mod counts;
mod error;
mod hints;
mod layout;
mod locks;
mod mount;
mod object;
mod opening;
mod planned;
mod pointer;
mod presence;
mod serve;
mod sieved_write;
mod space;
mod submission;
mod tell;
mod totals;
mod view;
mod view_data;

pub use access::Elements;
pub use calls::{Where, Wish};
pub use counts::FileCounters;
pub use error::{class_of_system, words as error_words};
pub use object::{File, SplitKind};
pub use opening::{Wanted, delete};
pub use planned::Finish;
pub use view::Whence;
pub use view_data::ViewData;
