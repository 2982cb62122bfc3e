//! The author's side of a BTL: safe traits, from which [`module()`] makes the table.
//!
//! The basic verbs are [`Btl`]; what a device can do beyond is a trait each ([`BtlGet`], [`BtlPut`], [`BtlFlush`], [`BtlAtomics`],
//! [`BtlLists`], [`BtlMemory`], [`BtlSleep`], [`BtlService`], [`BtlPartner`], [`BtlPlaces`], [`BtlKeeps`]) and is added to the table by name:
//! `module(shm, contexts).get().sleep().build()`. A trait that is not added is not offered, so capabilities cannot differ from the code.
//!
//! **Access to state** follows from the types, and an author writes no `unsafe` for it:
//!
//! | state | type | a verb gets |
//! |---|---|---|
//! | the device's | the implementor of [`Btl`], `Sync` | `&self`, in any thread |
//! | of one context | [`Btl::Context`], `Send` alone | `&mut` [`Entered`], which the context's lock gives |
//! | of one peer | [`Btl::Endpoint`], `Sync` | `&`, in any thread |
//! | of one peer on one context | [`Btl::Lane`], `Send` alone | `&mut`, by [`Entered::lane`] |
//! | of the service context | [`BtlService::Service`], `Send` alone | `&mut` [`Entered`] |
//!
//! **Calls of the host from inside a verb** (a message handed up, a completion) may come back with verbs of the same context. They are methods of
//! [`Entered`] that borrow it whole: nothing of the context is borrowed while one runs, and a payload that is handed up lies outside it.
//!
//! Map: `device` (the traits) · `entered` (a context, as a verb has it) · `peer` · `message`, `vector` and `placer` (descriptors as authors see them) · `state` (the state of
//! a module) · `thunk` (the functions of the table, which hold the `unsafe`) · `module` (the builder).

mod device;
mod entered;
mod message;
mod module;
mod peer;
mod placer;
mod state;
mod thunk;
mod vector;

pub use device::{
    Btl, BtlAtomics, BtlFlush, BtlGet, BtlGetVector, BtlHold, BtlKeeps, BtlLists, BtlMemory, BtlPartner,
    BtlPlaces, BtlPut, BtlService, BtlServiceSleep, BtlSleep, Memory, Peer,
};
pub use entered::{Answer, Arrival, Completion, Contexts, Entered};
pub use message::{Bytes, Message, Vouched};
pub use module::{ModuleBuilder, module};
pub use placer::{PayloadPlace, Placer};
