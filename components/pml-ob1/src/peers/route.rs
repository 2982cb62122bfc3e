//! How to reach one rank of a communicator, and what is known of its messages. Written once (a release store of the peer),
//! its head again when the receiver's index is known; `comm.rs` says who may touch what.

use crate::state::fifos::{fifo_of, shard_of};
use crate::state::objects::{Peer, Route};
use oxmpi_mca::sync::unmodelled::Ordering;

impl Route {
    /// Counts a message to the rank and gives its number, from 1. A send that the program orders behind this one begins
    /// when this is over.
    pub fn next_number(&self) -> u64 {
        self.numbered.fetch_add(1, Ordering::Relaxed) + 1
    }
    /// Gives the peer of the rank's process on the first FIFO. `None`: the route was not made yet, or its communicator
    /// was revoked.
    #[inline(always)]
    pub fn peer(&self) -> Option<&Peer> {
        // SYNC POINT with the release store in `make_route`.
        // SAFETY: peers stay until `finalize`.
        unsafe { self.peer.load(Ordering::Acquire).as_ref() }
    }
    /// Gives the FIFO, below `width`, of a tag's messages to the rank, where they go by their tags.
    #[inline(always)]
    pub fn fifo(&self, tag: i32, width: u32) -> u32 {
        fifo_of(self.salt.load(Ordering::Relaxed), tag, width)
    }
    /// Gives the shard of a tag's messages to the rank, from which their FIFO follows.
    #[inline(always)]
    pub fn tag_shard(&self, tag: i32) -> usize {
        shard_of(self.salt.load(Ordering::Relaxed), tag)
    }
    /// Gives the FIFO, below `width`, of all tags' messages to the rank until those of several threads part
    /// (`fork.rs`): that of tag 0.
    #[inline(always)]
    pub fn home(&self, width: u32) -> u32 {
        self.fifo(0, width)
    }
    /// Gives the shard of tag 0, from which the FIFO of all tags' messages to the rank follows until they part.
    #[inline(always)]
    pub fn home_shard(&self) -> usize {
        self.tag_shard(0)
    }
}
