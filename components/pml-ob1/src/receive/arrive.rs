//! Arrivals come inside a transport's turn of a CRI, with the guard of that, and are handled here if they are plain, else by the handler of their
//! kind (`handlers.rs`).
//!
//! Every message meets its receive under the lock of its shard (`meet.rs`), once its turn is sure. **Admission** in front of that says when: a
//! message without order words is admitted as it comes, a stamped one unless MPI_ANY_TAG receives ask for the order of stamps (`stamped.rs`), a
//! numbered one when those with all numbers before its own have met theirs (`numbered.rs`). The short way of a CRI's last flow, and messages that are
//! received while they are written (`streamed.rs`), differ in how they find the shard and copy the payload, not in this.
//!
//! **A message like the one before it.** A plain message of whose shard the thread owns the lock takes a short way. On a thread's FIFO mostly
//! comes one after the other of one source with one tag, so its CRI notes the last one's head and key and the shard that they led to
//! ([`ArrivalCache`](crate::state::cri::ArrivalCache)). They lead there for as long as the communicator lives; when it goes, all CRIs forget
//! their ways. A shard that is not the right one any more is closed (`shards.rs`), and then, as for all that is not plain about a message, the
//! long way is open.
//!
//! **Early messages** (`order/switch.rs`) that have become due are handled here, in front of the next of their process.

use crate::matching::{Arrival, Key};
use crate::receive::incoming::{Incoming, STAMPED};
use crate::receive::orphan::Orphan;
use crate::receive::receiver::Receiver;
use crate::receive::shard::ShardData;
use crate::receive::shards::Spot;
use crate::wire::{self, kind};
use core::sync::atomic::Ordering;
use oxmpi_mca::CriGuard;
use oxmpi_pml::{Arrived, Next};

impl Receiver {
    /// Handles a message that a transport brings; answers what the transport is to do next. Among other threads it goes by the short way of the shard's
    /// owner, or else by the general one, which is apart, so that registers are saved for the one that is taken.
    #[inline(always)]
    pub fn come(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>) -> Next {
        if !held.is_among() {
            self.handle(held, arrived.bytes(), arrived.proc());
            return self.instance().cri(held.ctx()).take_stop();
        }
        match self.arrive_at_owner(held, arrived) {
            Some(next) => next,
            None => self.come_among(&mut held.lend(), arrived),
        }
    }

    /// Handles a message with threads by the general way; answers what the transport is to do next.
    #[inline(never)]
    fn come_among(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>) -> Next {
        self.handle(held, arrived.bytes(), arrived.proc());
        self.instance().cri(held.ctx()).take_stop()
    }

    /// Handles one message of a process, under the lock of the CRI that it came on.
    #[inline(always)]
    fn handle(&self, held: &mut CriGuard<'_>, data: &[u8], proc: u32) {
        if self.instance().is_watchful() && self.intercept(&mut held.lend(), data, proc) {
            return;
        }
        self.handle_now(held, data, proc);
    }

    /// Handles one message that no early message is in front of.
    #[inline(always)]
    pub fn handle_now(&self, held: &mut CriGuard<'_>, data: &[u8], proc: u32) {
        // The message that matters: plain, perhaps with a stamp, on a communicator we have.
        if let Some(([head, key, order_key], header, payload)) = split_plain(held, data) {
            let (comms, mut held) = self.comms.beside(held);
            if let Some(comm) = comms.comm(head) {
                let ctx = held.ctx();
                let inc = || Incoming::plain(key, order_key, payload, proc, ctx);
                let stamped = held.is_among() && head as u16 == STAMPED;
                if !comm.has_source(wire::source_of(key)) {
                    return match stamped {
                        true => self.arrive_stamped::<false>(&mut held.lend(), comm, &inc()),
                        false => self.arrive::<false>(&mut held.lend(), comm, &inc()),
                    };
                }
                let mut shard = comm.shard_of(key, held.entry(), held.who());
                if stamped && !shard.order.matches_stamped_at_once() {
                    drop(shard);
                    return self.arrive_stamped::<false>(&mut held.lend(), comm, &inc());
                }
                let arrival = Arrival { key, comm: comm.index(), order_key };
                let Some(completer) = shard.meet(arrival, held.entry()) else {
                    if !self.keep_plain(&held.seen(), shard, (header, payload), proc) {
                        self.refuse_large(&mut held.lend(), proc);
                    }
                    return;
                };
                drop(shard);
                return self.deliver_plain(&mut held, completer, (key, payload), proc);
            }
        }
        self.handle_other::<false>(&mut held.lend(), data, proc);
    }

    /// Handles a message as [`Receiver::handle_now`] does, with the match time measured.
    #[inline(never)]
    pub fn handle_timed(&self, held: &mut CriGuard<'_>, data: &[u8], proc: u32) {
        if let Some(([head, key, order_key], _, payload)) = split_plain(held, data) {
            let (comms, mut held) = self.comms.beside(held);
            if let Some(comm) = comms.comm(head) {
                let inc = Incoming::plain(key, order_key, payload, proc, held.ctx());
                return match held.is_among() && head as u16 == STAMPED {
                    true => self.arrive_stamped::<true>(&mut held, comm, &inc),
                    false => self.arrive::<true>(&mut held, comm, &inc),
                };
            }
        }
        self.handle_other::<true>(held, data, proc);
    }
}

/// Splits a plain message, perhaps with a stamp, into the words of its header, that header, and the payload. `None`: it is another.
#[inline(always)]
fn split_plain<'m>(held: &CriGuard<'_>, data: &'m [u8]) -> Option<Plain<'m>> {
    let (header, payload) = data.split_first_chunk()?;
    let words @ [head, ..] = wire::match_words(header);
    let is_plain = head as u16 == kind::MATCH as u16 || (held.is_among() && head as u16 == STAMPED);
    is_plain.then_some((words, header, payload))
}

/// The words of a plain message's header, that header, and the payload.
type Plain<'m> = ([u64; 3], &'m [u8; wire::MATCH_BYTES], &'m [u8]);

/// Whether a header's word 0 is that of a plain MATCH, without flags or with a stamp.
#[inline(always)]
fn is_plain(head: u64) -> bool {
    head as u16 == STAMPED || head as u16 == kind::MATCH.into()
}

impl Receiver {
    /// Takes a plain message if the thread that holds the CRI's lock also owns that of
    /// its shard. Returns the answer to the transport; `None`: it is another message, and nothing happened.
    #[inline(always)]
    fn arrive_at_owner(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>) -> Option<Next> {
        let (header, payload) = arrived.split::<{ wire::MATCH_BYTES }>()?;
        let [head, key, order_key] = wire::match_words(header);
        let seat = held.who()?;
        let spot = self.spot_of(held, head, key)?;
        if self.instance().is_watchful() {
            return None;
        }
        // SAFETY: the communicator lives: with it, the way would have been forgotten.
        let Some(mut shard) = (unsafe { spot.enter_own(held.entry(), seat) }) else {
            // It may be closed for good.
            self.instance().own(held).last_arrival().forget();
            return None;
        };
        if head as u16 == STAMPED && !shard.order.matches_stamped_at_once() {
            return None;
        }
        let arrival = Arrival { key, comm: wire::index_of(head), order_key };
        let Some(completer) = shard.meet(arrival, held.entry()) else {
            if !self.keep_plain(&held.seen(), shard.into_entered(), (header, payload), arrived.proc()) {
                self.refuse_large(&mut held.lend(), arrived.proc());
            }
            return Some(self.instance().cri(held.ctx()).take_stop());
        };
        drop(shard);
        self.deliver_plain(held, completer, (key, payload), arrived.proc());
        Some(Next::Any)
    }

    /// Finds and notes the shard of plain messages with that head and key. `None`: the message is not plain, or its
    /// communicator or shard is not there.
    #[inline(always)]
    fn spot_of(&self, held: &mut CriGuard<'_>, head: u64, key: Key) -> Option<Spot<ShardData>> {
        let (comms, mut held) = self.comms.beside(held);
        let last = self.instance().own(&mut held).last_arrival();
        if let Some(spot) = last.look(head, key) {
            return Some(spot);
        }
        // Not that it is: the two comparisons stay branches.
        core::hint::cold_path();
        if is_plain(head)
            && let Some(comm) = comms.comm(head)
            && comm.has_source(wire::source_of(key))
            && let Some(spot) = comm.shards().spot(|layout| layout.of(key))
        {
            last.take(head, key, spot);
            return Some(spot);
        }
        None
    }

    /// Handles a message behind which others of its process may be early, so it passes by the check for these. Drops it
    /// if the peer is closed.
    pub fn handle_in_turn(&self, held: &mut CriGuard<'_>, data: &[u8], proc: u32) {
        if self.peers().is_closed(proc) {
        } else if self.timing.load(Ordering::Relaxed) {
            self.handle_timed(held, data, proc);
        } else {
            self.handle_now(held, data, proc);
        }
    }

    /// Handles the early messages of a CRI that have become due; returns how many.
    #[cold]
    pub fn take_early(&self, held: &mut CriGuard<'_>) -> usize {
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
    pub fn intercept(&self, held: &mut CriGuard<'_>, data: &[u8], proc: u32) -> bool {
        if self.peers().is_closed(proc) {
            return true;
        }
        let is_his = |o: &Orphan| o.proc == proc;
        if self.instance().own(held).early().iter().any(is_his) {
            self.take_early(held);
            if self.instance().own(held).early().iter().any(is_his) {
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
