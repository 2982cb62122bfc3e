//! Messages and receives meet, under the lock of their shard ([`meet`], [`post`]), and what is here of a message is delivered to the receive that it met, or kept.

use crate::communicators::comm::Comm;
use crate::matching::{Arrival, Pattern};
use crate::receive::incoming::{Incoming, MAX_KEPT};
use crate::receive::receiver::Receiver;
use crate::receive::shard::{Record, ShardData};
use crate::receive::shards::Entered;
use crate::receive::timing::Watch;
use crate::requests::request::{Request, request_of};
use crate::state::guarded::Held;
use crate::wire::{self, FREE_BYTES};
use core::ptr::NonNull;
use oxmpi_mca::{MsgStatus, Status};

/// Takes the oldest posted receive that an arrival fits out of its shard. `threaded`: several threads are in MPI. `None`: none fits.
#[inline(always)]
pub fn meet(shard: &mut ShardData, arrival: Arrival, threaded: bool) -> Option<&'static Request> {
    let node = shard.engine.match_arrival(arrival)?;
    if threaded {
        // SAFETY: it came out of the shard's engine.
        shard.uncount(unsafe { node.as_ref() }.stamp);
    }
    // SAFETY: as above; from here the request is the caller's.
    Some(unsafe { request_of(node) })
}

impl Receiver {
    /// Admits a message without order words: it is matched, or kept, as it comes.
    pub fn arrive<const TIMED: bool>(&self, held: &Held<'_>, comm: &Comm, inc: &Incoming) {
        if !comm.has_source(wire::source_of(inc.key)) {
            return self.peers().bad_header(
                held,
                inc.proc,
                "a source rank that its communicator does not have",
            );
        }
        if held.threaded && self.order().is_wide() {
            // Its sender did not choose this FIFO for its tag.
            self.instance().share(held.ctx);
        }
        let watch = Watch::<TIMED>::start();
        let shard = comm.shard_of(inc.key, held.threaded, held.who);
        self.match_or_keep(held, (shard, comm), inc, false, watch);
    }

    /// Delivers an admitted message to the receive that it meets, or keeps it. The shard's lock makes "no receive fits" and "kept"
    /// one step. `stamped`: it has a stamp.
    #[inline(always)]
    pub fn match_or_keep<const TIMED: bool>(
        &self,
        held: &Held<'_>,
        (mut shard, comm): (Entered<'_, ShardData>, &Comm),
        inc: &Incoming,
        stamped: bool,
        watch: Watch<TIMED>,
    ) {
        match meet(&mut shard, inc.arrival(comm.index()), held.threaded) {
            Some(req) => {
                drop(shard);
                watch.stop(self, held);
                self.deliver(req, inc, Some(held), held.threaded);
            }
            None => {
                self.keep_arrived(held, shard, comm, inc, stamped);
                watch.stop(self, held);
            }
        }
    }

    /// Keeps a message that no receive fits as an unexpected one. `stamped`: it has a stamp.
    #[inline(never)]
    pub fn keep_arrived(
        &self,
        held: &Held<'_>,
        mut shard: Entered<'_, ShardData>,
        comm: &Comm,
        inc: &Incoming,
        stamped: bool,
    ) {
        if self.instance().cri(held.ctx).count_kept(held) {
            self.instance().cri(held.ctx).ask_to_stop();
        }
        if inc.len as usize > MAX_KEPT {
            drop(shard);
            return self.peers().bad_header(held, inc.proc, "an eager message larger than any");
        }
        let kept = if stamped {
            let record = shard.record(comm.handle(), inc, inc.order_key | ShardData::STAMPED);
            record.map(|record| shard.add_waiting(record)).is_some()
        } else {
            let apart = held.threaded && !shard.spreading.home;
            let number = if apart { self.instance().cri(held.ctx).number(held) } else { 0 };
            shard.keep(comm.handle(), inc, number)
        };
        if !kept {
            drop(shard);
            self.instance().host().fatal("no memory to keep a message that nobody receives yet");
        }
    }
}

/// The status of a receive with room for `capacity` bytes on a message.
#[inline(always)]
pub(crate) fn status_of(inc: &Incoming, capacity: u64) -> MsgStatus {
    status_for(inc.key, inc.msg_len, capacity)
}

/// The status of a receive with room for `capacity` bytes on a message of `bytes` bytes; one that is longer is
/// truncated.
#[inline(always)]
fn status_for(key: u64, bytes: u64, capacity: u64) -> MsgStatus {
    let (source, tag) = (wire::source_of(key), wire::tag_of(key));
    match bytes > capacity {
        false => MsgStatus { source, tag, error: Status::OK, cancelled: 0, bytes },
        true => truncated(source, tag, bytes, capacity),
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
    /// asks the sender for the rest. `held`: the CRI lock, where the caller holds it.
    #[inline(always)]
    pub fn deliver(&self, req: &'static Request, inc: &Incoming, held: Option<&Held<'_>>, threaded: bool) {
        let room = req.total();
        req.set_status(status_of(inc, room));
        let n = inc.len.min(room);
        let store = || {
            if n > 0 {
                // SAFETY: `n` bytes are in both, the message and the buffer.
                unsafe { req.store(&self.instance().config().copies, 0, inc.payload, n) };
            }
        };
        if inc.is_plain() {
            store();
            self.peers().consumed(inc, held, threaded);
            return self.requests().complete(req, threaded);
        }
        if inc.kind == wire::kind::FAILURE {
            return self.deliver_failure(req, inc, held, threaded);
        }
        // Where fragments follow, their sender hears of it first (`ask_for_rest`).
        let goes_on = inc.kind == wire::kind::RNDV && inc.len < room.min(inc.msg_len);
        if !matches!(inc.kind, wire::kind::RUNS | wire::kind::RGET) && !goes_on {
            store();
        }
        match held {
            Some(held) => self.transfers().ask_for_rest(held, req, inc, false),
            None => self.transfers().ask_for_rest(
                &self.instance().hold(inc.ctx as u32, None, threaded),
                req,
                inc,
                true,
            ),
        }
    }

    /// Ends a receive with the error that its sender tells.
    #[cold]
    fn deliver_failure(
        &self,
        req: &'static Request,
        inc: &Incoming,
        held: Option<&Held<'_>>,
        threaded: bool,
    ) {
        // Checked when it came.
        req.set_error(inc.failure().unwrap_or(Status::PEER_FAILED));
        self.peers().consumed(inc, held, threaded);
        self.requests().complete(req, threaded)
    }

    /// Stores a plain message that just came in its receive's buffer and completes the request; `count_consumed` is
    /// called with the length if that costs credit.
    #[inline(always)]
    pub fn deliver_plain(
        &self,
        req: &'static Request,
        key: u64,
        payload: &[u8],
        threaded: bool,
        count_consumed: impl FnOnce(u64),
    ) {
        let (room, len) = (req.total(), payload.len() as u64);
        req.set_status(status_for(key, len, room));
        let n = len.min(room);
        if n > 0 {
            // SAFETY: `n` bytes are in both, the message and the buffer.
            unsafe { req.store(&self.instance().config().copies, 0, payload.as_ptr(), n) };
        }
        if len > FREE_BYTES {
            count_consumed(len);
        }
        self.requests().complete(req, threaded)
    }

    /// Delivers an unexpected message and gives its record back to the shard. The caller holds no lock.
    #[inline(never)]
    pub fn deliver_record(
        &self,
        comm: &Comm,
        req: &'static Request,
        record: NonNull<Record>,
        threaded: bool,
    ) {
        // SAFETY: taken out of the engine, so ours.
        let inc = unsafe { record.as_ref() }.incoming();
        self.deliver(req, &inc, None, threaded);
        comm.shard_of(inc.key, threaded, None).give(record);
    }
}

/// Posts a described request in its shard's engine, under the shard's lock.
#[inline(always)]
pub fn post(shard: &mut ShardData, req: &'static Request, pattern: Pattern, threaded: bool) {
    req.be_posted();
    let mut stamp = shard.next_stamp();
    if threaded && !pattern.has_tag() {
        stamp |= ShardData::COUNTED;
        shard.order.wild += 1;
    }
    let node = req.node(pattern, stamp);
    // SAFETY: requests are never freed, and this one stays posted until the engine gives it out.
    unsafe { shard.engine.post(node) };
}
