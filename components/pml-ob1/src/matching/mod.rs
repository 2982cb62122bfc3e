//! What a matching engine is: it pairs messages that arrive with receives that are posted.
//!
//! An engine serves one **shard** and is called under that shard's lock, so `&mut self` is honest.
//! Nodes are intrusive: [`Posted`] lies in a request, [`Unexpected`] in a message record, and the
//! engine owns their links while it holds them. Neither node moves or goes while it is held.
//!
//! **The rules of MPI 5.0 §3.5 that every engine keeps**: a message matches the oldest posted
//! receive it fits; a receive matches the oldest waiting message it fits; MPI_ANY_TAG fits tags from
//! 0 up only (negative ones are the library's own). "Oldest" is the order of `post` and of
//! `add_unexpected`; an engine that keeps several lists decides between them by the stamp of a
//! posted receive and the arrival order of a message. Order keys travel with messages so that
//! engines over several FIFOs can restore the sender's order; with one FIFO they are all 0.

mod list;

pub use list::ListEngine;

use core::ptr::NonNull;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG};

/// Source and tag of a message, as in word 1 of its header.
pub type Key = u64;

/// Which messages a receive takes: `(key ^ want) & mask == 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub want: u64,
    pub mask: u64,
}

impl Pattern {
    /// MPI_ANY_SOURCE leaves the source out; MPI_ANY_TAG looks at the tag's sign alone.
    #[inline(always)]
    pub fn new(source: i32, tag: i32) -> Pattern {
        let (s, sm) = if source == ANY_SOURCE { (0, 0) } else { (source as u32, u32::MAX) };
        let (t, tm) = if tag == ANY_TAG { (0, 1 << 31) } else { (tag as u32, u32::MAX) };
        Pattern { want: s as u64 | (t as u64) << 32, mask: sm as u64 | (tm as u64) << 32 }
    }
    #[inline(always)]
    pub fn fits(&self, key: Key) -> bool {
        (key ^ self.want) & self.mask == 0
    }
}

/// A message at the moment it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub key: Key,
    /// Local index of its communicator, for engines that serve several.
    pub comm: u32,
    pub order_key: u64,
}

/// A posted receive.
#[repr(C)]
#[derive(Debug)]
pub struct Posted {
    pub(crate) next: *mut Posted,
    pub pattern: Pattern,
    /// Counts the receives posted in the communicator.
    pub stamp: u64,
}

/// A message that waits for its receive.
#[repr(C)]
#[derive(Debug)]
pub struct Unexpected {
    pub(crate) next: *mut Unexpected,
    pub key: Key,
    pub order_key: u64,
}

/// The contract; see the module's head.
pub trait MatchEngine {
    /// Takes a receive that no waiting message fits.
    ///
    /// # Safety
    /// The node stays valid and unmoved until the engine gives it out again.
    unsafe fn post(&mut self, node: NonNull<Posted>);

    /// Gives out the oldest posted receive that fits.
    fn match_arrival(&mut self, arrival: Arrival) -> Option<NonNull<Posted>>;

    /// Takes a message that no posted receive fits.
    ///
    /// # Safety
    /// As [`MatchEngine::post`].
    unsafe fn add_unexpected(&mut self, node: NonNull<Unexpected>);

    /// Gives out the oldest waiting message that fits, or with `take` false only shows it.
    fn find_unexpected(&mut self, pattern: Pattern, take: bool) -> Option<NonNull<Unexpected>>;

    /// Takes a posted receive back. False: it is not here.
    fn cancel(&mut self, node: NonNull<Posted>) -> bool;

    /// Gives out any waiting message, for clearing up.
    fn pop_unexpected(&mut self) -> Option<NonNull<Unexpected>>;

    fn has_posted(&self) -> bool;
}

/// The engine of a shard: a closed set, so that a call costs no indirection.
pub enum Engine {
    List(ListEngine),
}

impl Engine {
    /// By the name of an info key or parameter. `None`: no such engine.
    pub fn by_name(name: &str) -> Option<Engine> {
        match name {
            "list" => Some(Engine::List(ListEngine::new())),
            _ => None,
        }
    }
}

macro_rules! each {
    ($self:ident, $e:ident => $call:expr) => {
        match $self {
            Engine::List($e) => $call,
        }
    };
}

impl MatchEngine for Engine {
    #[inline(always)]
    unsafe fn post(&mut self, node: NonNull<Posted>) {
        // SAFETY: the caller's promise, passed on.
        each!(self, e => unsafe { e.post(node) })
    }
    #[inline(always)]
    fn match_arrival(&mut self, arrival: Arrival) -> Option<NonNull<Posted>> {
        each!(self, e => e.match_arrival(arrival))
    }
    #[inline(always)]
    unsafe fn add_unexpected(&mut self, node: NonNull<Unexpected>) {
        // SAFETY: the caller's promise, passed on.
        each!(self, e => unsafe { e.add_unexpected(node) })
    }
    #[inline(always)]
    fn find_unexpected(&mut self, pattern: Pattern, take: bool) -> Option<NonNull<Unexpected>> {
        each!(self, e => e.find_unexpected(pattern, take))
    }
    fn cancel(&mut self, node: NonNull<Posted>) -> bool {
        each!(self, e => e.cancel(node))
    }
    fn pop_unexpected(&mut self) -> Option<NonNull<Unexpected>> {
        each!(self, e => e.pop_unexpected())
    }
    fn has_posted(&self) -> bool {
        each!(self, e => e.has_posted())
    }
}
