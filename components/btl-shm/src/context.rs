//! The state of one context: verbs get it by the context's lock, and nobody else touches it.
//!
//! Its two sides are separate fields, because a message that is taken makes ready for one in return: the receiver, and the outgoing
//! ends, one for each process of the segment. Both are those of the first segment; what the context has of others is `further`. A peer may have several endpoints (each `add_procs` gives one), and all of them use the
//! same rings, so an endpoint says no more than which peer it is.
//!
//! **While a message is handed up** its receiver may send on this context, so nothing of the context is borrowed then. The ring that the
//! message lies in is taken out of its place for the time (`receiver/drain.rs`).

use crate::receiver::footholds::{Aside, Footholds};
use crate::receiver::incoming::Receiver;
use crate::sender::outgoing::{Outgoing, unknown_peer};
use crate::service::ends::Requests;
use crate::single_copy::reads::CooperativeReads;
use crate::single_copy::xpmem::Attachments;
use oxmpi_btl::Entered;

/// A context. The fields that an idle turn needs are in the first line, and the two words that it reads last in another. (It has a power of two of
/// bytes, so that its number is shifted where it is looked up.)
#[repr(C, align(512))]
pub struct Context {
    /// The outgoing ends in the first segment, by the peers' local ranks.
    pub outgoing: Box<[Outgoing]>,
    pub receiver: Receiver,
    /// The links of service requests.
    pub requests: Requests,
    pub aside: Aside,
    pub reads: CooperativeReads,
    pub attached: Attachments,
    pub further: Footholds,
}

impl Context {
    /// The outgoing end to a peer of a segment in which this context takes part.
    #[inline(always)]
    pub fn outgoing_mut(&mut self, peer: u32) -> &mut Outgoing {
        match self.outgoing.get_mut(peer as usize) {
            Some(outgoing) => outgoing,
            None => self.further.outgoing_mut(peer).unwrap_or_else(|| unknown_peer()),
        }
    }
}

/// A context as verbs get it.
pub type At<'a> = Entered<'a, Context>;
