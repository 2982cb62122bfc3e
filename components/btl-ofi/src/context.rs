//! Contexts: an endpoint with its completion queue, buffers and links, all of which the context's holder has to itself.
//!
//! The service context has the same, and the request that it serves (`service.rs`). Code of both is written once, for a [`Holder`].

use crate::abi::CqEntry;
use crate::buffers::{Buffers, Route};
use crate::endpoints::Ep;
use crate::link::{Core, In, Out};
use crate::operations::Operations;
use crate::order::Buffered;
use crate::pause::Pause;
use crate::unsent::Unsent;
use crate::ward::Ward;
use crate::wire::Kind;
use oxmpi_btl::Completion;
use oxmpi_btl_support::Timer;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// How often a context sleeps for a moment alone behind a message for which there was no room: where it has not been offered again by then,
/// nobody wants to send it any more.
pub const NAPS: u32 = 5_000;

/// The holder of an endpoint: an ordinary context, or the service context.
pub trait Holder: Send {
    /// It is the service context.
    const SERVES: bool;

    fn context(&mut self) -> &mut Context;

    /// A request has come by that link; its receiver runs next.
    fn begin_request(&mut self, _link: u32) {}

    /// The receiver has run. True: it has left the request without an answer.
    fn end_request(&mut self) -> bool {
        false
    }
}

/// Each on cache lines of its own, because another thread works on the next.
#[repr(align(128))]
pub struct Context {
    /// Number of the endpoint's address in the card.
    pub lane: u16,
    /// Number of its domain.
    pub device: usize,
    pub ep: Ep,
    pub buffers: Buffers,
    /// Receive buffers that the provider does not have: they wait to be handed back to it.
    pub unposted: Vec<u32>,
    /// Messages that have come and were not handed up.
    pub arrived: VecDeque<Buffered>,
    /// Receive buffers of messages that are early.
    pub kept: u32,
    /// The endpoint, as the attendant sees it.
    pub ward: Arc<Ward>,
    /// Messages sent since the completion queue was read.
    pub blind: u32,
    /// Longest message, head included, that the provider takes at once; bytes to put it together in.
    pub inject: usize,
    pub scratch: Box<[u8]>,
    /// Places for the entries of the completion queue.
    pub entries: Box<[CqEntry]>,
    pub outs: Vec<Out>,
    /// Links by process and its endpoint.
    pub out_of: HashMap<(u32, u16), u32>,
    pub ins: Vec<In>,
    /// Links of `ins` that nobody has proved yet, oldest first, and places there that are free.
    pub challenged: VecDeque<u32>,
    pub free_ins: Vec<u32>,
    pub unsent: VecDeque<Unsent>,
    /// Proofs, which open links that messages of `unsent` wait for. They come to light while those are sent, too, so they have a queue of their own.
    pub proofs: VecDeque<Unsent>,
    /// A message found no room, which comes without an event: sleeps are short so many times.
    pub starved: u32,
    pub operations: Operations<Completion>,
    /// Wakes a sleeper that waits for room.
    pub timer: Timer,
    /// The next sleep of one that does not wait for room.
    pub pause: Pause,
    /// A turn is running; a turn inside it does nothing.
    pub is_busy: bool,
}

// SAFETY: all parts but the entries may be in any thread; those hold addresses of records of this very context.
unsafe impl Send for Context {}

impl Holder for Context {
    const SERVES: bool = false;

    #[inline]
    fn context(&mut self) -> &mut Context {
        self
    }
}

impl Context {
    /// A message found no room.
    pub fn starves(&mut self) {
        self.starved = NAPS;
    }

    /// Whether a message waits to be sent.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty() || !self.proofs.is_empty()
    }

    /// Has a message wait for room, behind those that do.
    pub fn wait(&mut self, via: Route, kind: Kind, tag: u8, bytes: Box<[u8]>) {
        self.unsent.push_back(Unsent { via, kind, tag, bytes });
    }

    /// Number of the next message by a link.
    #[inline]
    pub fn number_of(&mut self, via: Route) -> &mut u16 {
        match via {
            Route::Out(link) => &mut self.outs[link as usize].number,
            Route::In(link) => &mut self.ins[link as usize].number,
        }
    }

    /// The process at the other end of a link.
    pub fn core_of(&self, via: Route) -> Arc<Core> {
        match via {
            Route::Out(link) => self.outs[link as usize].core.clone(),
            Route::In(link) => self.ins[link as usize].core.clone(),
        }
    }
}
