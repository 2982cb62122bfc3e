//! Arrivals come by one callback of the transports, under the CRI lock, and are handled here if they are plain, else by the handler of their
//! kind (`handlers.rs`).
//!
//! Every message meets its receive under the lock of its shard (`meet.rs`), once its turn is sure. **Admission** in front of that says when: a
//! message without order words is admitted as it comes, a stamped one unless MPI_ANY_TAG receives ask for the order of stamps (`stamped.rs`), a
//! numbered one when those with all numbers before its own have met theirs (`numbered.rs`). The short way of a CRI's last flow, and messages that are
//! received while they are written (`streamed.rs`), differ in how they find the shard and copy the payload, not in this.
//!
//! **A message like the one before it.** A plain message of whose shard the thread owns the lock takes a short way. On a thread's FIFO mostly
//! comes one after the other of one source with one tag, so its CRI notes the last one's head and key and what they led to, communicator and shard
//! ([`ArrivalCache`](crate::state::cri::ArrivalCache)). They lead there for as long as the communicator lives; when it goes, all CRIs forget
//! their ways. A shard that is not the right one any more is closed (`shards.rs`), and then, as for all that is not plain about a message, the
//! long way is open.
//!
//! **Early messages** (`order/switch.rs`) that have become due are handled here, in front of the next of their process.

use crate::communicators::index::Found;
use crate::matching::{Arrival, Key};
use crate::receive::incoming::{Incoming, STAMPED};
use crate::receive::meet::meet;
use crate::receive::orphan::Orphan;
use crate::receive::receiver::Receiver;
use crate::receive::shard::ShardData;
use crate::receive::shards::{Owned, Spot};
use crate::state::cri::Cri;
use crate::state::guarded::Held;
use crate::wire::{self, kind};
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use oxmpi_mca::host::receive::CONTINUE;
use oxmpi_mca::{RecvDesc, Seat};

/// The transport's callback for a message of the PML; returns what the transport is to do next.
pub extern "C" fn entry(ctx: *mut c_void, msg: *const RecvDesc) -> u32 {
    // SAFETY: `enable` registered the receiver; the transport passes a descriptor that is valid for
    // the call.
    let (receiver, msg) = unsafe { (&*ctx.cast::<Receiver>(), &*msg) };
    // Two calls at the very end, so that registers are saved for the one that is made.
    if receiver.instance().threaded() { entry_threaded(receiver, msg) } else { entry_alone(receiver, msg) }
}

/// Handles a message where no locks are taken; returns what the transport is to do next.
#[inline(never)]
extern "C" fn entry_alone(receiver: &Receiver, msg: &RecvDesc) -> u32 {
    // SAFETY: who is alone holds every lock.
    let held = unsafe { Held::inherited(msg.ctx, false, None) };
    receiver.handle(&held, data_of(msg), msg.proc);
    receiver.instance().cri(msg.ctx).take_stop()
}

/// Handles a message with threads: by the short way of the shard's owner, or else by the general one. Returns what the
/// transport is to do next.
#[inline(never)]
extern "C" fn entry_threaded(receiver: &Receiver, msg: &RecvDesc) -> u32 {
    match receiver.arrive_at_owner(msg) {
        Some(answer) => answer,
        None => entry_among(receiver, msg),
    }
}

/// Handles a message with threads by the general way; returns what the transport is to do next.
#[inline(never)]
extern "C" fn entry_among(receiver: &Receiver, msg: &RecvDesc) -> u32 {
    // SAFETY: the transport's caller holds the lock of the context for longer than this call.
    let held = unsafe { receiver.instance().inherit(msg.ctx, true) };
    receiver.handle(&held, data_of(msg), msg.proc);
    receiver.instance().cri(msg.ctx).take_stop()
}

/// The bytes of a message that a transport passes on, header and payload.
#[inline(always)]
pub fn data_of(msg: &RecvDesc) -> &[u8] {
    if msg.len == 0 {
        return &[];
    }
    // SAFETY: the descriptor has `len` readable bytes for as long as it is passed on.
    unsafe { core::slice::from_raw_parts(msg.data, msg.len as usize) }
}

impl Receiver {
    /// Handles one message of a process, under the lock of the CRI that it came on.
    #[inline(always)]
    pub fn handle(&self, held: &Held<'_>, data: &[u8], proc: u32) {
        if self.instance().is_watchful() && self.intercept(held, data, proc) {
            return;
        }
        self.handle_now::<false>(held, data, proc);
    }

    /// Handles one message that no early message is in front of. `TIMED`: match time is measured.
    #[inline(always)]
    pub fn handle_now<const TIMED: bool>(&self, held: &Held<'_>, data: &[u8], proc: u32) {
        // The message that matters: plain, perhaps with a stamp, on a communicator we have.
        if let Some((header, payload)) = data.split_first_chunk::<{ wire::MATCH_BYTES }>()
            && let [head, key, order_key] = wire::match_words(header)
            && (head as u16 == kind::MATCH as u16 || (held.threaded && head as u16 == STAMPED))
            && let Found::Comm(comm) = self.comms.with(held, |t| t.find(head))
        {
            let inc = || Incoming::plain(key, order_key, payload, proc, held.ctx);
            let stamped = held.threaded && head as u16 == STAMPED;
            if TIMED || !comm.has_source(wire::source_of(key)) {
                return match stamped {
                    true => self.arrive_stamped::<TIMED>(held, comm, &inc()),
                    false => self.arrive::<TIMED>(held, comm, &inc()),
                };
            }
            let mut shard = comm.shard_of(key, held.threaded, held.who);
            if stamped && !shard.order.matches_stamped_at_once() {
                drop(shard);
                return self.arrive_stamped::<TIMED>(held, comm, &inc());
            }
            let arrival = Arrival { key, comm: comm.index(), order_key };
            return match meet(&mut shard, arrival, held.threaded) {
                Some(req) => {
                    drop(shard);
                    self.deliver_plain(req, key, payload, held.threaded, |len| {
                        self.peers().count_consumed(proc, held.ctx, len, Some(held), held.threaded);
                    });
                }
                None => self.keep_arrived(held, shard, comm, &inc(), stamped),
            };
        }
        self.handle_other::<TIMED>(held, data, proc);
    }
}

/// Whether a header's word 0 is that of a plain MATCH, without flags or with a stamp.
#[inline(always)]
fn is_plain(head: u64) -> bool {
    head as u16 == STAMPED || head as u16 == kind::MATCH.into()
}

impl Receiver {
    /// Takes a plain message, inside a transport's callback, if the thread that holds the CRI's lock also owns that of
    /// its shard. Returns the callback's answer; `None`: it is another message, and nothing happened.
    #[inline(always)]
    pub fn arrive_at_owner(&self, msg: &RecvDesc) -> Option<u32> {
        let cri = self.instance().cri(msg.ctx);
        let (header, payload) = data_of(msg).split_first_chunk::<{ wire::MATCH_BYTES }>()?;
        let [head, key, order_key] = wire::match_words(header);
        let seat = cri.base().holder()?;
        let spot = cri.last_arrival().look(head, key).or_else(|| self.find_spot(head, key, cri, seat))?;
        if self.instance().is_watchful() {
            return None;
        }
        // SAFETY: the communicator lives: with it, the way would have been forgotten.
        let Some(mut shard) = (unsafe { spot.enter_own(seat) }) else {
            // It may be closed for good.
            cri.last_arrival().drop_spot();
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
                    self.peers().count_consumed(msg.proc, msg.ctx, len, Some(&held), true);
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
        let held = unsafe { Held::inherited(cri.ctx(), true, Some(seat)) };
        if is_plain(head)
            && let Found::Comm(comm) = self.comms.with(&held, |t| t.find(head))
            && comm.has_source(wire::source_of(key))
            && let Some(spot) = comm.shards().spot(|layout| layout.of(key))
        {
            cri.last_arrival().take(head, key, comm, spot);
            return Some(spot);
        }
        None
    }

    /// Keeps a message that no receive fits, in the shard that the CRI's note led to. Returns the callback's answer.
    #[inline(never)]
    fn keep_again(&self, shard: Owned<'_, ShardData>, msg: &RecvDesc, cri: &Cri) -> u32 {
        // SAFETY: the transport's caller holds the lock of the context for longer than this call.
        let held = unsafe { self.instance().inherit(msg.ctx, true) };
        // SAFETY: the way is this message's, and its communicator lives.
        let comm = unsafe { &*cri.last_arrival().comm() };
        if let Some((header, payload)) = data_of(msg).split_first_chunk::<{ wire::MATCH_BYTES }>() {
            let [head, key, order_key] = wire::match_words(header);
            let inc = Incoming::plain(key, order_key, payload, msg.proc, msg.ctx);
            self.keep_arrived(&held, shard.into_entered(), comm, &inc, head as u16 == STAMPED);
        }
        cri.take_stop()
    }

    /// Handles a message with the match time measured.
    #[inline(never)]
    pub fn handle_timed(&self, held: &Held<'_>, data: &[u8], proc: u32) {
        self.handle_now::<true>(held, data, proc);
    }

    /// Handles a message behind which others of its process may be early, so it passes by the check for these. Drops it
    /// if the peer is closed.
    pub fn handle_in_turn(&self, held: &Held<'_>, data: &[u8], proc: u32) {
        if self.peers().is_closed(proc) {
        } else if self.timing.load(Ordering::Relaxed) {
            self.handle_timed(held, data, proc);
        } else {
            self.handle_now::<false>(held, data, proc);
        }
    }

    /// Handles the early messages of a CRI that have become due; returns how many.
    #[cold]
    pub fn take_early(&self, held: &Held<'_>) -> usize {
        let due = self.take_due(held);
        for message in &due {
            // Not by `handle`: what is early of the same process is behind it.
            self.handle_in_turn(held, &message.bytes, message.proc);
        }
        due.len()
    }

    /// Decides about a message while some messages are looked at closer (`watchful`). `true`: it is not to be handled
    /// any more: dropped, kept as early, or handled with the match time measured.
    #[cold]
    pub fn intercept(&self, held: &Held<'_>, data: &[u8], proc: u32) -> bool {
        if self.peers().is_closed(proc) {
            return true;
        }
        let kept = |early: &mut Vec<Orphan>| early.iter().any(|o| o.proc == proc);
        if self.instance().cri(held.ctx).early().with(held, kept) {
            self.take_early(held);
            if self.instance().cri(held.ctx).early().with(held, kept) {
                self.keep_early(held, data, proc);
                return true;
            }
        }
        let timed = self.timing.load(Ordering::Relaxed);
        if timed {
            self.handle_timed(held, data, proc);
        }
        timed
    }
}
