//! Messages and receives meet, under the lock of their shard, and what is here of a message is delivered to the receive that it met, or kept.

use crate::communicators::comm::Comm;
use crate::matching::{Arrival, Pattern};
use crate::receive::incoming::{Envelope, Incoming, MAX_KEPT, STAMPED};
use crate::receive::receiver::Receiver;
use crate::receive::shard::{KeptMessage, ShardData};
use crate::receive::shards::Entered;
use crate::receive::timing::Watch;
use crate::requests::completer::Completer;
use crate::requests::request::Request;
use crate::state::hand::Hand;
use crate::wire::{self, FREE_BYTES};
use oxmpi_mca::{CriGuard, Entry, MsgStatus, Status};

/// The end of a message's look for its receive.
pub enum Met {
    /// It met this one.
    Receive(Completer),
    /// It is kept.
    Kept,
    /// It is larger than any eager message.
    TooLarge,
}

/// Receives in a shard.
impl ShardData {
    /// Takes the oldest posted receive that an arrival fits out of the shard. `None`: none fits.
    #[inline(always)]
    pub fn meet(&mut self, arrival: Arrival, entry: &Entry) -> Option<Completer> {
        let node = self.engine.match_arrival(arrival)?;
        if entry.is_among() {
            // SAFETY: the engine has given it out, to this call alone.
            self.uncount(unsafe { node.as_ref() }.stamp);
        }
        // SAFETY: as a node of a request it was posted, and the engine has given it out, to this call alone.
        Some(unsafe { Completer::of_node(node) })
    }

    /// Posts a described receive.
    #[inline(always)]
    pub fn post(&mut self, completer: Completer, pattern: Pattern, entry: &Entry) {
        completer.be_posted();
        let mut stamp = self.next_stamp();
        if entry.is_among() && !pattern.has_tag() {
            stamp |= ShardData::COUNTED;
            self.order.wild += 1;
        }
        // SAFETY: requests are never freed, and this one stays posted until the engine gives it out.
        unsafe { self.engine.post(completer.into_node(pattern, stamp)) };
    }

    /// Takes a posted receive out of the shard. `None`: it is not posted here any more.
    pub fn unpost(&mut self, req: &'static Request) -> Option<Completer> {
        let node = req.posted_node();
        // SAFETY: requests are never freed, and a receive's pattern is written before it is posted.
        if !unsafe { self.engine.cancel(node) } {
            return None;
        }
        // SAFETY: the engine has given it out, to this call alone.
        self.uncount(unsafe { node.as_ref() }.stamp);
        // SAFETY: as a node of a request it was posted, and the engine has given it out, to this call alone.
        Some(unsafe { Completer::of_node(node) })
    }

    /// Takes the posted receives out of the shard of which `is_over` says yes; the others stay in their order.
    pub fn unpost_all(&mut self, is_over: impl Fn(Pattern) -> bool) -> Vec<Completer> {
        let mut over = Vec::new();
        for node in self.engine.take_posted() {
            // SAFETY: the engine has given it out, to this call alone.
            let (pattern, stamp) = unsafe { (node.as_ref().pattern, node.as_ref().stamp) };
            if is_over(pattern) {
                self.uncount(stamp);
                // SAFETY: as a node of a request it was posted, and the engine has given it out, to this call alone.
                over.push(unsafe { Completer::of_node(node) });
            } else {
                // SAFETY: requests are never freed, and this one stays posted; they come in the order of their stamps.
                unsafe { self.engine.post(node) };
            }
        }
        over
    }
}

impl Receiver {
    /// Admits a message without order words: it is matched, or kept, as it comes.
    pub fn arrive<const TIMED: bool>(&self, held: &mut CriGuard<'_>, comm: &Comm, inc: &Incoming<'_>) {
        if !comm.has_source(wire::source_of(inc.key)) {
            return self.peers().bad_header(
                held,
                inc.proc,
                "a source rank that its communicator does not have",
            );
        }
        if held.is_among() && self.order().is_wide() {
            // Its sender did not choose this FIFO for its tag.
            self.instance().share(held.ctx());
        }
        let watch = Watch::<TIMED>::start();
        let shard = comm.shard_of(inc.key, held.entry(), held.who());
        let met = self.match_or_keep(held, shard, comm, inc, false, watch);
        self.end_meeting(held, met, inc);
    }

    /// Takes the receive that an admitted message meets, or keeps the message. The shard's lock makes "no receive fits" and "kept"
    /// one step. `stamped`: it has a stamp.
    #[inline(always)]
    pub fn match_or_keep<const TIMED: bool>(
        &self,
        held: &CriGuard<'_>,
        mut shard: Entered<'_, ShardData>,
        comm: &Comm,
        inc: &Incoming<'_>,
        stamped: bool,
        watch: Watch<TIMED>,
    ) -> Met {
        let met = match shard.meet(inc.arrival(comm.index()), held.entry()) {
            Some(completer) => {
                drop(shard);
                Met::Receive(completer)
            }
            None if self.keep_other(held, shard, inc, stamped) => Met::Kept,
            None => Met::TooLarge,
        };
        watch.stop(self, held);
        met
    }

    /// Delivers a message to the receive that it met, or refuses one that cannot be.
    #[inline(always)]
    pub fn end_meeting(&self, held: &mut CriGuard<'_>, met: Met, inc: &Incoming<'_>) {
        match met {
            Met::Receive(completer) => self.deliver(completer, inc, Hand::Held(held)),
            Met::Kept => {}
            Met::TooLarge => self.refuse_large(held, inc.proc),
        }
    }

    /// Refuses a message that is larger than any that may be kept.
    #[cold]
    pub fn refuse_large(&self, held: &mut CriGuard<'_>, proc: u32) {
        self.peers().bad_header(held, proc, "an eager message larger than any");
    }

    /// Keeps a plain message that no receive fits. `false`: it is too large.
    #[inline(never)]
    pub fn keep_plain(
        &self,
        held: &CriGuard<'_>,
        shard: Entered<'_, ShardData>,
        message: (&[u8; wire::MATCH_BYTES], &[u8]),
        proc: u32,
    ) -> bool {
        let [head, key, order_key] = wire::match_words(message.0);
        let inc = Incoming::plain(key, order_key, message.1, proc, held.ctx());
        self.keep(held, shard, &inc, held.is_among() && head as u16 == STAMPED)
    }

    /// The same for a message of any kind. `stamped`: it has a stamp.
    #[inline(never)]
    fn keep_other(
        &self,
        held: &CriGuard<'_>,
        shard: Entered<'_, ShardData>,
        inc: &Incoming<'_>,
        stamped: bool,
    ) -> bool {
        self.keep(held, shard, inc, stamped)
    }

    #[inline(always)]
    fn keep(
        &self,
        held: &CriGuard<'_>,
        mut shard: Entered<'_, ShardData>,
        inc: &Incoming<'_>,
        stamped: bool,
    ) -> bool {
        let cri = self.instance().cri(held.ctx());
        if cri.count_kept(held) {
            cri.ask_to_stop();
        }
        if inc.payload.len() > MAX_KEPT {
            return false;
        }
        let kept = if stamped {
            let message = shard.record(inc, inc.order_key | ShardData::STAMPED);
            message.map(|message| shard.add_waiting(message)).is_some()
        } else {
            let apart = held.is_among() && !shard.spreading.home;
            let number = if apart { cri.number(held) } else { 0 };
            shard.keep(inc, number)
        };
        if !kept {
            drop(shard);
            self.instance().host().fatal("no memory to keep a message that nobody receives yet");
        }
        true
    }
}

/// The status of a receive with room for `capacity` bytes on a message. One that is longer is truncated.
#[inline(always)]
pub(crate) fn status_of(about: &Envelope, capacity: u64) -> MsgStatus {
    let (source, tag, bytes) = (wire::source_of(about.key), wire::tag_of(about.key), about.msg_len);
    match bytes > capacity {
        false => MsgStatus { source, tag, error: Status::OK, cancelled: 0, bytes },
        true => truncated(source, tag, bytes, capacity),
    }
}

/// Sets the status of a receive with room for `capacity` bytes on a message of `bytes` bytes. It is not given as one of two, which would be made
/// in memory first.
#[inline(always)]
pub(crate) fn set_status(req: &Request, key: u64, bytes: u64, capacity: u64) {
    let (source, tag) = (wire::source_of(key), wire::tag_of(key));
    req.set_status(MsgStatus { source, tag, error: Status::OK, cancelled: 0, bytes });
    if bytes > capacity {
        req.set_status(truncated(source, tag, bytes, capacity));
    }
}

/// The length that did not fit stands above the lowest bit of `cancelled`, for the function that tells the user; at most 31 bits of it.
#[cold]
#[inline(never)]
fn truncated(source: i32, tag: i32, bytes: u64, capacity: u64) -> MsgStatus {
    let dropped = (bytes - capacity).min(u64::from(u32::MAX >> 1)) as u32;
    MsgStatus { source, tag, error: Status::TRUNCATED, cancelled: dropped << 1, bytes: capacity }
}

impl Receiver {
    /// Puts what is here of a matched message into the user's buffer, and completes the request or
    /// asks the sender for the rest.
    #[inline(always)]
    pub fn deliver(&self, completer: Completer, inc: &Incoming<'_>, mut hand: Hand<'_, '_>) {
        let room = completer.total();
        set_status(&completer, inc.key, inc.msg_len, room);
        let store = |req: &Request| {
            let n = inc.payload.len().min(room as usize);
            if n > 0 {
                // SAFETY: so many bytes fit the buffer.
                unsafe { req.store(&self.instance().config().copies, 0, &inc.payload[..n]) };
            }
        };
        if inc.is_plain() {
            store(&completer);
            self.peers().consumed(inc, hand.lend());
            return self.requests().complete(completer, hand.entry());
        }
        if inc.kind == wire::kind::FAILURE {
            return self.deliver_failure(completer, inc, hand);
        }
        // Where fragments follow, their sender hears of it first (`ask_for_rest`).
        let goes_on = inc.kind == wire::kind::RNDV && inc.len < room.min(inc.msg_len);
        if !matches!(inc.kind, wire::kind::RUNS | wire::kind::RGET) && !goes_on {
            store(&completer);
        }
        let starting = matches!(hand, Hand::Free(_));
        hand.with(self.instance(), inc.ctx.into(), |held| {
            self.transfers().ask_for_rest(held, completer.park(held.ctx()), inc, starting);
        });
    }

    /// Ends a receive with the error that its sender tells.
    #[cold]
    fn deliver_failure(&self, completer: Completer, inc: &Incoming<'_>, mut hand: Hand<'_, '_>) {
        // Checked when it came.
        completer.set_error(inc.failure().unwrap_or(Status::PEER_FAILED));
        self.peers().consumed(inc, hand.lend());
        self.requests().complete(completer, hand.entry())
    }

    /// Stores a plain message that just came in its receive's buffer and completes the request.
    #[inline(always)]
    pub fn deliver_plain(
        &self,
        held: &mut CriGuard<'_>,
        completer: Completer,
        (key, payload): (u64, &[u8]),
        proc: u32,
    ) {
        let (room, len) = (completer.total(), payload.len() as u64);
        set_status(&completer, key, len, room);
        let n = len.min(room) as usize;
        if n > 0 {
            // SAFETY: so many bytes fit the buffer.
            unsafe { completer.store(&self.instance().config().copies, 0, &payload[..n]) };
        }
        if len > FREE_BYTES {
            let ctx = held.ctx();
            self.peers().count_consumed(proc, ctx, len, Hand::Held(&mut held.lend()));
        }
        self.requests().complete(completer, held.entry())
    }

    /// Delivers an unexpected message and gives its record back to the shard.
    #[inline(never)]
    pub fn deliver_record(&self, entry: &mut Entry, comm: &Comm, completer: Completer, message: KeptMessage) {
        let inc = message.incoming();
        let key = inc.key;
        self.deliver(completer, &inc, Hand::Free(entry));
        comm.shard_of(key, entry, None).give(message);
    }
}
