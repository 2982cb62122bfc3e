//! The base of every component, whatever framework it belongs to.
//!
//! A component (one crate, one `.so`) exports one function that returns a [`Descriptor`]. The host
//! (`framework/runtime`) checks it field by field before it calls anything in it, hands over a
//! [`HostTable`] with everything the component may ask of it, and takes back tables of plain
//! functions. Only integers, raw pointers, pointer+length pairs, `repr(C)` structs and
//! `extern "C"` functions cross that line; `docs/abi.md` says why and holds the hash of `abi.rs`.
//!
//! **This crate has no state: no `static`, no thread, no dependency.** A static here would be a
//! different object in the host and in every loaded component.

#![deny(missing_docs)]

pub mod abi;
pub mod biased;
pub mod cache;
pub mod component;
pub mod cri;
pub mod cri_set;
pub mod entry;
pub mod guarded;
pub mod holding;
pub mod host;
pub mod level_lock;
pub mod lock;
pub mod lock_guard;
pub mod params;
pub mod processor;
pub mod refs;
pub mod request;
pub mod resolve;
pub mod services;
pub mod status;
pub mod sync;
pub mod thread;
pub mod wait;
pub mod waking;

pub use abi::{ABI_MAJOR, ABI_MINOR, Descriptor, MAGIC, OpenArgs, SliceRef, StrRef, Version};
pub use biased::{Caller, LOCK_PROTOCOL, LockServices, Seat};
pub use component::{Component, OpenError};
pub use cri::{Cri, CriGuard, LockTable, OwnerGuard};
pub use entry::{Entry, Lent, Seen};
pub use guarded::{OfCri, PerCri, UnderAll};
pub use holding::{CriSetGuard, Cris};
pub use host::{
    AmEntry, AmParts, AmReceive, Host, HostTable, JobInfo, LayerFunction, MemKind, PartDesc, RecvDesc,
};
pub use level_lock::{BiasedLock, Pass};
pub use lock::Lock;
pub use lock_guard::Guard;
pub use params::{Level, ParamDecl, ParamKind, ParamValue, Params, Scope};
pub use request::{Completion, MsgStatus, Object, Owner, RequestHeader, RequestOps};
pub use resolve::{Answers, Process, Refused};
pub use services::{HostServices, NodeMemory, Place, ProcName, ProcPlace, SharedSegment};
pub use status::Status;
pub use thread::ThreadCtx;
pub use wait::{WaitFd, WaitSet, WaitWord};
pub use waking::WakingWord;
