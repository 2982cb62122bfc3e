//! A receive, or a send, like the one before it.
//!
//! A thread among several mostly posts receive after receive for one source and tag, in a shard whose lock it owns.
//! Where their messages will come ([`Ob1::first_look`]) takes as long to find out as posting them, and changes once at
//! most, when the source's messages part (`fork.rs`). So the thread notes it, and what follows from that
//! for the next receive: it has a tag and a source, and takes a short way.
//!
//! A note is good for one [`Comm::epoch`]: no two communicators have the same, one has another once a source's messages
//! part, and one whose messages may overtake each other has none. A receive's note is a hint as what it says is: where the
//! thread looks first.
//!
//! A send's note says more: the FIFO that messages with that tag take to that rank. It is taken by a send that took that way, once
//! messages of the communicator go by their tags (`fork.rs`). From then on they do, to this rank by this FIFO and with this
//! head, for as long as the communicator lives and its messages may not overtake.

use crate::comm::Comm;
use crate::eager::Eager;
use crate::guarded::Inside;
use crate::matching::{Key, Pattern};
use crate::module::Ob1;
use crate::peer::Peer;
use crate::pool::{Lane, lane_of};
use crate::recv::{describe, post};
use crate::request::Request;
use crate::shard::Inner;
use crate::shards::Owned;
use crate::wire::source_tag;
use core::cell::Cell;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{RequestHeader, Status};
use oxmpi_pml::{RecvArgs, SendArgs, mode};

/// What a thread noted of the last source and tag, or the last rank and tag. Touched by that thread alone.
pub struct Note<T> {
    epoch: Cell<u64>,
    about: Cell<Key>,
    what: Cell<Option<T>>,
}

impl<T> Default for Note<T> {
    fn default() -> Note<T> {
        Note { epoch: Cell::new(Comm::NO_EPOCH), about: Cell::new(0), what: Cell::new(None) }
    }
}

impl<T: Copy> Note<T> {
    /// That is so from now on.
    #[inline(always)]
    pub fn take(&self, epoch: u64, about: Key, what: T) {
        if epoch != Comm::NO_EPOCH {
            self.epoch.set(epoch);
            self.about.set(about);
            self.what.set(Some(what));
        }
    }

    /// What is noted of that.
    #[inline(always)]
    fn look(&self, epoch: u64, about: Key) -> Option<T> {
        if self.epoch.get() == epoch && self.about.get() == about { self.what.get() } else { None }
    }
}

/// What a thread notes of a send: the FIFO that messages with that tag take to that rank, and their head. Good until the
/// module is finalized.
#[derive(Clone, Copy)]
pub struct Sent {
    pub peer: &'static Peer,
    pub head: u64,
}

impl Ob1 {
    /// An eager message of a thread among several. `None`: it is not like the one before, or not eager, and nothing happened.
    #[inline(always)]
    pub fn eager_again(&self, args: &SendArgs) -> Option<Status> {
        let lane = lane_of(args.thread)?;
        // SAFETY: the host passes a communicator and a type that are alive.
        let (comm, dtype): (&Comm, &TypeDesc) = unsafe { (Comm::of(args.comm), &*args.dtype) };
        let Sent { peer, head } = lane.sent.look(comm.epoch(), source_tag(args.dst, args.tag))?;
        let total = dtype.packed.checked_mul(args.count)?;
        if total > peer.eager_payload || args.mode == mode::SYNCHRONOUS {
            return None;
        }
        let inside = Inside::enter(peer.cri(), lane.seat())?;
        let order = self.clock.stamp(Some(lane.lease()));
        let message = Eager { source: comm.my_rank, total, head, order };
        Some(self.eager_on(&inside.held(peer.ctx), peer, &message, args))
    }

    /// A receive of a thread among several. `None`: it is not like the one before, and nothing happened.
    #[inline(always)]
    pub fn recv_again(&self, args: &RecvArgs) -> Option<Result<*mut RequestHeader, Status>> {
        let lane = lane_of(args.thread)?;
        // SAFETY: the host passes a communicator that is alive.
        let comm = unsafe { Comm::of(args.comm) };
        let from = source_tag(args.src, args.tag);
        let ctx = lane.received.look(comm.epoch(), from)?;
        let req = lane.take()?;
        req.begin(RequestHeader::RECV, args.host_comm);
        describe(req, comm, args, true);
        // SAFETY: the host passes the context of the calling thread: it has a lane.
        unsafe { (*args.thread).cri = ctx };
        self.cri(ctx).posted(req);
        self.lane_cares_for(lane, ctx);
        match comm.own_shard(from, lane.seat()) {
            Some(shard) if !shard.spreading.changes_hands(lane.index + 1) => {
                self.post_or_find(shard, comm, req, from, lane)
            }
            // Not while its lock is held.
            inside => {
                drop(inside);
                self.post_elsewhere(comm, req, from, lane);
            }
        }
        Some(Ok(req.handle()))
    }

    #[inline(always)]
    fn post_or_find(
        &self,
        mut shard: Owned<'_, Inner>,
        comm: &Comm,
        req: &'static Request,
        from: Key,
        lane: &'static Lane,
    ) {
        let pattern = Pattern::exact(from);
        match shard.engine.find_unexpected(pattern, true) {
            None => post(&mut shard, req, pattern, true),
            Some(node) => self.deliver_found(shard.into_entered(), comm, req, node, Some(lane)),
        }
    }

    #[inline(never)]
    fn post_elsewhere(&self, comm: &Comm, req: &'static Request, from: Key, lane: &'static Lane) {
        self.post_or_deliver(comm, req, (lane.index, Some(lane.seat())), Pattern::exact(from), true);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_good_for_one_epoch_and_one_source_and_tag() {
        let note = Note::default();
        assert_eq!(note.look(Comm::NO_EPOCH, 0), None, "nothing is noted yet");
        note.take(7, 3, 5);
        assert_eq!((note.look(7, 3), note.look(7, 4), note.look(8, 3)), (Some(5), None, None));
        note.take(Comm::NO_EPOCH, 4, 6);
        assert_eq!((note.look(Comm::NO_EPOCH, 4), note.look(7, 3)), (None, Some(5)));
    }
}
