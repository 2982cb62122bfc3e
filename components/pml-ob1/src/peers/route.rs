//! How to reach one rank of a communicator, and what is known of its messages. Written once (a release store of the peer),
//! its head again when the receiver's index is known; `comm.rs` says who may touch what.

use crate::order::signals::{Passed, Switch};
use crate::peers::peer::Peer;
use crate::requests::request::Request;
use crate::state::fifos::{fifo_of, shard_of};
use core::ptr::null_mut;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// The way to one rank of a communicator.
#[derive(Default)]
pub struct Route {
    peer: AtomicPtr<Peer>,
    /// Word 0 of a MATCH header to it; has the prefix flag while its index is unknown.
    head: AtomicU64,
    /// The `salt` of the FIFOs of our messages to the rank ([`Fifos::salt_to`](crate::state::fifos::Fifos::salt_to)). Written before the peer.
    salt: AtomicU32,
    /// We told it our index.
    answered: AtomicBool,
    /// Messages to it that have a number (`numbered.rs`).
    numbered: AtomicU64,
    /// The switch that says which FIFOs our messages to it take.
    fork: Switch,
    /// Its messages to us take the FIFOs of their tags: the SWITCH of these was seen.
    forked: Passed,
}

impl Route {
    /// Gives the route of a send.
    ///
    /// # Safety
    /// The request is a send that was described, and its communicator is alive.
    pub unsafe fn of_request(req: &Request) -> &Route {
        // SAFETY: what [`Route::note_in`] wrote, which is the address of a route; that it is alive is the caller's promise.
        unsafe { &*req.route().cast::<Route>() }
    }
    /// Opens the route: messages to the rank have this word 0 and this salt, and go to this peer.
    pub fn open(&self, head: u64, salt: u32, peer: &Peer) {
        self.head.store(head, Ordering::Relaxed);
        self.salt.store(salt, Ordering::Relaxed);
        // SYNC POINT with the acquire load in `Route::peer`.
        self.peer.store(core::ptr::from_ref(peer).cast_mut(), Ordering::Release);
    }
    /// Closes the route: nothing is sent to the rank any more.
    pub fn close(&self) {
        self.peer.store(null_mut(), Ordering::Release);
    }
    /// Gives word 0 of a MATCH header to the rank; it has the prefix flag while the rank's index is unknown.
    #[inline(always)]
    pub fn head(&self) -> u64 {
        self.head.load(Ordering::Relaxed)
    }
    /// Keeps word 0 of a MATCH header to the rank, which has told its index.
    pub fn learn(&self, head: u64) {
        self.head.store(head, Ordering::Relaxed);
    }
    /// Notes that the rank is told our index. `false`: it was told before.
    pub fn answer(&self) -> bool {
        !self.answered.swap(true, Ordering::Relaxed)
    }
    /// Gives our switch from the communicator's one FIFO to those of the tags.
    #[inline(always)]
    pub fn fork(&self) -> &Switch {
        &self.fork
    }
    /// Whether the rank's messages take the FIFOs of their tags.
    #[inline(always)]
    pub fn is_forked(&self) -> bool {
        self.forked.is_passed()
    }
    /// Notes that the rank's messages take the FIFOs of their tags from now on.
    pub fn pass_fork(&self) {
        self.forked.pass();
    }
    /// Notes in the request of a send that it takes this route.
    pub fn note_in(&self, req: &Request) {
        // SAFETY: the address of a route.
        unsafe { req.set_route(core::ptr::from_ref(self).cast()) }
    }
    /// Counts a message to the rank and gives its number, from 1. A send that the program orders behind this one begins
    /// when this is over.
    pub fn next_number(&self) -> u64 {
        self.numbered.fetch_add(1, Ordering::Relaxed) + 1
    }
    /// Gives the peer of the rank's process on the first FIFO. `None`: the route was not made yet, or its communicator
    /// was revoked.
    #[inline(always)]
    pub fn peer(&self) -> Option<&Peer> {
        // SYNC POINT with the release store in `open`.
        // SAFETY: a peer stays while a communicator has its process.
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
