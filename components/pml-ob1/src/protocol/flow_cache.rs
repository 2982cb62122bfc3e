//! A receive, a send or a message like the one before it.
//!
//! A thread among several mostly posts receive after receive for one source and tag, in a shard whose lock it owns.
//! Where their messages will come ([`Ob1::first_look`]) takes as long to find out as posting them, and changes once at
//! most, when the source's messages part (`fork.rs`). So the thread notes it, and what follows from that
//! for the next receive: it has a tag and a source, and takes a short way. Once it has found the shard as its owner, it notes that,
//! too.
//!
//! A note is good for one [`Comm::epoch`]: no two communicators have the same, one has another once a source's messages
//! part, and one whose messages may overtake each other has none. A receive's note is a hint as what it says is: where the
//! thread looks first.
//!
//! A send's note says more: the FIFO that messages with that tag take to that rank. It is taken by a send that took that way, once
//! messages of the communicator go by their tags (`fork.rs`). From then on they do, to this rank by this FIFO and with this
//! head, for as long as the communicator lives and its messages may not overtake.
//!
//! **Messages.** A plain message of whose shard the thread owns the lock takes a short way, too. On a thread's FIFO mostly comes one after
//! the other of one source with one tag, so its CRI notes the last one's head and key and what they led to, communicator and shard
//! ([`ArrivalCache`](crate::state::objects::ArrivalCache)). They lead there for as long as the communicator lives; when it goes, all CRIs forget their ways. A shard that is not
//! the right one any more is closed (`shards.rs`), and then, as for all that is not plain about a message, the long way is open.

use crate::matching::{Arrival, Key, Pattern};
use crate::protocol::eager::Eager;
use crate::receive::arrive::{STAMPED, data_of, meet};
use crate::receive::post::{describe, post};
use crate::receive::shard::{Incoming, Record, ShardData};
use crate::receive::shards::{Owned, Spot};
use crate::state::comm::Found;
use crate::state::guarded::{Held, Inside};
use crate::state::instance::Ob1;
use crate::state::objects::{Comm, Cri, Received, Sent, ThreadState};
use crate::state::thread_state::state_and_seat;
use crate::wire::{self, kind, source_tag};
use core::sync::atomic::Ordering;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::host::receive::CONTINUE;
use oxmpi_mca::{RecvDesc, RequestHeader, Seat, Status};
use oxmpi_pml::{RecvArgs, SendArgs, mode};

/// Whether a header's word 0 is that of a plain MATCH, without flags or with a stamp.
#[inline(always)]
fn is_plain(head: u64) -> bool {
    head as u16 == STAMPED || head as u16 == kind::MATCH.into()
}

/// Joins rank and tag of a call to one word. They are read one by one, as the caller has just written them: the
/// processor cannot pass two stores on to one load, which would wait until they and all stores before them have left
/// the core.
#[inline(always)]
fn word_of(rank: &i32, tag: &i32) -> Key {
    // SAFETY: both are references.
    unsafe { source_tag(core::ptr::read_volatile(rank), core::ptr::read_volatile(tag)) }
}

impl Ob1 {
    /// Takes a plain message, inside a transport's callback, if the thread that holds the CRI's lock also owns that of
    /// its shard. Returns the callback's answer; `None`: it is another message, and nothing happened.
    #[inline(always)]
    pub fn arrive_at_owner(&self, msg: &RecvDesc) -> Option<u32> {
        let cri = self.cri(msg.ctx);
        let (header, payload) = data_of(msg).split_first_chunk::<{ wire::MATCH_BYTES }>()?;
        let [head, key, order_key] = wire::match_words(header);
        let seat = cri.base().holder()?;
        let spot = cri.last_arrival.look(head, key).or_else(|| self.find_spot(head, key, cri, seat))?;
        if self.watchful.load(Ordering::Relaxed) != 0 {
            return None;
        }
        // SAFETY: the communicator lives: with it, the way would have been forgotten.
        let Some(mut shard) = (unsafe { spot.enter_own(seat) }) else {
            // It may be closed for good.
            cri.last_arrival.spot.set(None);
            return None;
        };
        if head as u16 == STAMPED && !shard.order.matches_stamped_at_once() {
            return None;
        }
        match meet(&mut shard, Arrival { key, comm: wire::index_of(head), order_key }, true) {
            Some(req) => {
                drop(shard);
                self.deliver_plain(req, key, payload, true, |len| {
                    // SAFETY: the transport's caller holds the lock of the context for longer than this call.
                    let held = unsafe { Held::inherited(msg.ctx, true, Some(seat)) };
                    self.count_consumed(msg.proc, msg.ctx, len, Some(&held), true);
                });
                Some(CONTINUE)
            }
            None => Some(self.keep_again(shard, msg, cri)),
        }
    }

    /// Finds and notes the shard of plain messages with that head and key. `None`: the message is not plain, or its
    /// communicator or shard is not there. The thread of that seat holds the CRI's lock.
    #[inline(always)]
    fn find_spot(&self, head: u64, key: Key, cri: &Cri, seat: &'static Seat) -> Option<Spot<ShardData>> {
        // SAFETY: the caller is inside a callback of that CRI.
        let held = unsafe { Held::inherited(cri.ctx, true, Some(seat)) };
        if is_plain(head)
            && let Found::Comm(comm) = self.comms.with(&held, |t| t.find(head))
            && (wire::source_of(key) as u32) < comm.num_peers
            && let Some(spot) = comm.shards.spot(|layout| layout.of(key))
        {
            cri.last_arrival.take(head, key, comm, spot);
            return Some(spot);
        }
        None
    }

    /// Keeps a message that no receive fits, in the shard that the CRI's note led to. Returns the callback's answer.
    #[inline(never)]
    fn keep_again(&self, shard: Owned<'_, ShardData>, msg: &RecvDesc, cri: &Cri) -> u32 {
        // SAFETY: the transport's caller holds the lock of the context for longer than this call.
        let held = unsafe { self.inherit(msg.ctx, true) };
        // SAFETY: the way is this message's, and its communicator lives.
        let comm = unsafe { &*cri.last_arrival.comm.get() };
        if let Some((header, payload)) = data_of(msg).split_first_chunk::<{ wire::MATCH_BYTES }>() {
            let [head, key, order_key] = wire::match_words(header);
            let inc = Incoming::plain(key, order_key, payload, msg.proc, msg.ctx);
            self.keep_arrived(&held, shard.into_entered(), comm, &inc, head as u16 == STAMPED);
        }
        cri.stop.take()
    }

    /// Sends an eager message by the thread's note of its last send. `None`: the message goes to another rank or tag
    /// than noted, or is not eager, and nothing happened.
    #[inline(always)]
    pub fn eager_again(&self, args: &SendArgs) -> Option<Status> {
        let (thread_state, seat) = state_and_seat(args.thread)?;
        // SAFETY: the host passes a communicator and a type that are alive.
        let (comm, dtype): (&Comm, &TypeDesc) = unsafe { (Comm::of(args.comm), &*args.dtype) };
        let Sent { peer, head } = thread_state.sent.look(comm.epoch(), word_of(&args.dst, &args.tag))?;
        let total = dtype.packed.checked_mul(args.count)?;
        if total > peer.eager_payload || args.mode == mode::SYNCHRONOUS {
            return None;
        }
        let inside = Inside::enter(peer.cri(), seat)?;
        let order = self.clock.stamp(Some(thread_state.lease()));
        let message = Eager { source: comm.my_rank, total, head, order };
        Some(self.eager_on(&inside.held(peer.ctx), peer, &message, args))
    }

    /// Notes in the thread's state that messages of this source and tag come on CRI `ctx`, for as long as the epoch.
    pub fn note_cri(&self, thread_state: &ThreadState, epoch: u64, from: Key, ctx: u32) {
        // SAFETY: CRIs go with the module, whose verbs alone look at the notes.
        let cri = unsafe { &*core::ptr::from_ref(self.cri(ctx)) };
        thread_state.received.take(epoch, from, Received { cri, spot: None });
    }

    /// Posts a receive of a thread among several. The common case takes no call: same source and tag as noted, in a
    /// shard that is noted too, and where no message waits.
    #[inline(always)]
    pub fn recv_among(&self, args: &RecvArgs, out: &mut *mut RequestHeader) -> Status {
        // While all messages come on one CRI there is nothing to note.
        if self.wide.load(Ordering::Relaxed)
            && let Some((thread_state, seat)) = state_and_seat(args.thread)
            // SAFETY: the host passes a communicator that is alive.
            && let comm = unsafe { Comm::of(args.comm) }
            && let from = word_of(&args.src, &args.tag)
            && let Some(Received { cri, spot }) = thread_state.received.look(comm.epoch(), from)
        {
            if let Some(spot) = spot
                && thread_state.attention.has_mine(cri.ctx)
                // SAFETY: it is of this communicator, which the epoch says, and that is alive.
                && let Some(mut shard) = unsafe { spot.enter_own(seat) }
                && !shard.spreading.changes_hands(thread_state.index + 1)
                && shard.engine.surely_none_waits()
                && let Some(req) = thread_state.take()
            {
                req.begin(RequestHeader::RECV, args.host_comm);
                describe(req, comm, args, true);
                // SAFETY: the host passes the context of the calling thread: it has a state here.
                unsafe { (*args.thread).cri = cri.ctx };
                cri.posted(req);
                post(&mut shard, req, Pattern::exact(from), true);
                *out = req.handle();
                return Status::PENDING;
            }
            return self.recv_noted(args, out);
        }
        self.recv_unlike(args, out)
    }

    /// Posts a receive for which the thread has no note, by the general way.
    #[inline(never)]
    fn recv_unlike(&self, args: &RecvArgs, out: &mut *mut RequestHeader) -> Status {
        match self.recv_immediate(args, true) {
            Ok(req) => {
                *out = req;
                Status::PENDING
            }
            Err(error) => error,
        }
    }

    /// Posts a receive whose CRI is noted, but not its shard, or whose message may wait already; notes the shard if the
    /// thread owns its lock.
    #[inline(never)]
    fn recv_noted(&self, args: &RecvArgs, out: &mut *mut RequestHeader) -> Status {
        // SAFETY: the host passes a communicator that is alive.
        let (comm, from) = (unsafe { Comm::of(args.comm) }, source_tag(args.src, args.tag));
        let Some((thread_state, seat)) = state_and_seat(args.thread) else {
            return self.recv_unlike(args, out);
        };
        // Once: if it changes meanwhile, what is noted is of the epoch before.
        let epoch = comm.epoch();
        let (Some(Received { cri, .. }), Some(req)) =
            (thread_state.received.look(epoch, from), thread_state.take())
        else {
            return self.recv_unlike(args, out);
        };
        req.begin(RequestHeader::RECV, args.host_comm);
        describe(req, comm, args, true);
        // SAFETY: the host passes the context of the calling thread: it has a state here.
        unsafe { (*args.thread).cri = cri.ctx };
        cri.posted(req);
        self.expect_on_state(thread_state, cri.ctx);
        match comm.own_shard(from, seat) {
            Some(mut shard) if !shard.spreading.changes_hands(thread_state.index + 1) => {
                thread_state.received.take(epoch, from, Received { cri, spot: Some(shard.spot()) });
                match shard.engine.find_unexpected(Pattern::exact(from), true) {
                    None => post(&mut shard, req, Pattern::exact(from), true),
                    // SAFETY: it came out of the shard's engine.
                    Some(node) => self.deliver_waiting(
                        shard.into_entered(),
                        comm,
                        req,
                        unsafe { Record::of(node) },
                        true,
                    ),
                }
            }
            // Not while its lock is held.
            inside => {
                drop(inside);
                self.post_or_deliver(comm, req, (thread_state.index, Some(seat)), Pattern::exact(from), true);
            }
        }
        *out = req.handle();
        Status::PENDING
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::matching::{Choice, Engine, Setting, Simd, Windows};
    use crate::receive::shards::{Lock, Shards};
    use crate::receive::spread::{Layout, Spreading};
    use crate::state::note::Note;
    use crate::state::objects::ArrivalCache;
    use core::ptr::null;
    use oxmpi_mca::LockServices;

    #[test]
    fn a_note_is_good_for_one_epoch_and_one_source_and_tag() {
        let note = Note::default();
        assert_eq!(note.look(Comm::NO_EPOCH, 0), None, "nothing is noted yet");
        note.take(7, 3, 5);
        assert_eq!((note.look(7, 3), note.look(7, 4), note.look(8, 3)), (Some(5), None, None));
        note.take(Comm::NO_EPOCH, 4, 6);
        assert_eq!((note.look(Comm::NO_EPOCH, 4), note.look(7, 3)), (None, Some(5)));
    }

    #[test]
    fn a_way_is_good_for_one_head_and_key_until_it_is_forgotten() {
        let setting =
            Setting { choice: Choice::List, simd: Simd::best(), walk: 1, windows: Windows::default() };
        let spreading = Spreading::new(Layout::new(0, 1, false));
        let shards = Shards::new(
            ShardData::new(Engine::new(setting), spreading),
            Lock::new(LockServices::WITHOUT_OWNERS),
        );
        let spot = shards.spot(|layout| layout.of(3)).unwrap();
        let (cache, head) = (ArrivalCache::default(), u64::from(STAMPED));
        assert!(cache.look(0, 0).is_none(), "nothing is noted yet");
        cache.take(head, 3, null(), spot);
        assert!(cache.look(head, 3).is_some());
        assert!(cache.look(head, 4).is_none() && cache.look(head | 1 << 40, 3).is_none());
        // SAFETY: nobody else is here.
        cache.forget(&unsafe { Held::inherited(0, true, None) });
        assert!(cache.look(head, 3).is_none());
    }
}
