//! Arrivals from the transports: the one callback, the checks of everything a peer says, and the one place ([`meet`]) where an arrival
//! meets a posted receive.
//!
//! Every message meets its receive under the lock of its shard, once its turn is sure. **Admission** in front of that says when: a message
//! without order words is admitted as it comes, a stamped one unless MPI_ANY_TAG receives ask for the order of stamps (`ordered.rs`), a
//! numbered one when those with all numbers before its own have met theirs (`numbered.rs`). The cache of a CRI's last flow
//! (`flow_cache.rs`) and messages that are received while they are written (`streamed.rs`) differ in how they find the shard and copy
//! the payload, not in this.
//!
//! Runs inside a transport's `progress`, under the CRI lock. **A header is never trusted**: indices,
//! ranks, lengths, offsets and request ids are checked here or in `rendezvous.rs` before they are used,
//! and what fails closes the peer with a sentence that says what was wrong.

use crate::matching::Arrival;
use crate::progress::timing::Watch;
use crate::protocol::registration::are_handles;
use crate::protocol::runs;
use crate::receive::shard::{Incoming, ShardData};
use crate::receive::shards::Entered;
use crate::state::comm::Found;
use crate::state::guarded::Held;
use crate::state::instance::Ob1;
use crate::state::objects::{Comm, Request};
use crate::state::request::request_of;
use crate::wire::{self, Prefix, Reader, flag, kind};
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use oxmpi_mca::RecvDesc;
use oxmpi_mca::host::receive::STOP;

/// The transport's callback for a message of the PML; returns what the transport is to do next.
pub extern "C" fn entry(ctx: *mut c_void, msg: *const RecvDesc) -> u32 {
    // SAFETY: `enable` registered the module; the transport passes a descriptor that is valid for
    // the call.
    let (ob1, msg) = unsafe { (&*ctx.cast::<Ob1>(), &*msg) };
    // Two calls at the very end, so that registers are saved for the one that is made.
    if ob1.threaded() { entry_threaded(ob1, msg) } else { entry_alone(ob1, msg) }
}

/// Handles a message where no locks are taken; returns what the transport is to do next.
#[inline(never)]
extern "C" fn entry_alone(ob1: &Ob1, msg: &RecvDesc) -> u32 {
    // SAFETY: who is alone holds every lock.
    let held = unsafe { Held::inherited(msg.ctx, false, None) };
    ob1.handle(&held, data_of(msg), msg.proc);
    ob1.cri(msg.ctx).stop.take()
}

/// Handles a message with threads: by the short way of the shard's owner, or else by the general one. Returns what the
/// transport is to do next.
#[inline(never)]
extern "C" fn entry_threaded(ob1: &Ob1, msg: &RecvDesc) -> u32 {
    match ob1.arrive_at_owner(msg) {
        Some(answer) => answer,
        None => entry_among(ob1, msg),
    }
}

/// Handles a message with threads by the general way; returns what the transport is to do next.
#[inline(never)]
extern "C" fn entry_among(ob1: &Ob1, msg: &RecvDesc) -> u32 {
    // SAFETY: the transport's caller holds the lock of the context for longer than this call.
    let held = unsafe { ob1.inherit(msg.ctx, true) };
    ob1.handle(&held, data_of(msg), msg.proc);
    ob1.cri(msg.ctx).stop.take()
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

/// Payload of a message that is kept has a 32-bit length.
pub const MAX_KEPT: usize = 1 << 30;

/// Kind and flags of a plain message with a stamp.
pub const STAMPED: u16 = kind::MATCH as u16 | (flag::STAMPED as u16) << 8;

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

impl Incoming {
    /// The fields of a message by which it is matched.
    #[inline(always)]
    pub fn arrival(&self, comm: &Comm) -> Arrival {
        Arrival { key: self.key, comm: comm.index(), order_key: self.order_key }
    }
}

impl Ob1 {
    /// Handles one message of a process, under the lock of the CRI that it came on.
    #[inline(always)]
    pub fn handle(&self, held: &Held<'_>, data: &[u8], proc: u32) {
        if self.watchful.load(Ordering::Relaxed) != 0 && self.intercept(held, data, proc) {
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
            if TIMED || wire::source_of(key) as u32 >= comm.num_peers {
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
                        self.count_consumed(proc, held.ctx, len, Some(held), held.threaded);
                    });
                }
                None => self.keep_arrived(held, shard, comm, &inc(), stamped),
            };
        }
        self.handle_other::<TIMED>(held, data, proc);
    }

    /// Admits a plain message with a stamp or a number. `false`: it is another message, and nothing happened.
    #[inline(always)]
    fn handle_ordered<const TIMED: bool>(&self, held: &Held<'_>, data: &[u8], proc: u32) -> bool {
        const NUMBERED: u16 = kind::MATCH as u16 | (flag::NUMBERED as u16) << 8;
        let Some((header, payload)) = data.split_first_chunk::<{ wire::MATCH_BYTES }>() else { return false };
        let [head, key, order_key] = wire::match_words(header);
        if head as u16 != STAMPED && head as u16 != NUMBERED {
            return false;
        }
        let Found::Comm(comm) = self.comms.with(held, |t| t.find(head)) else { return false };
        let inc = Incoming::plain(key, order_key, payload, proc, held.ctx);
        if head as u16 == STAMPED {
            self.arrive_stamped::<TIMED>(held, comm, &inc);
        } else {
            self.arrive_numbered::<TIMED>(held, comm, &inc);
        }
        true
    }

    /// Handles any message by its header's kind; one that makes no sense closes the peer.
    #[inline(never)]
    fn handle_other<const TIMED: bool>(&self, held: &Held<'_>, data: &[u8], proc: u32) {
        if self.handle_ordered::<TIMED>(held, data, proc) {
            return;
        }
        let mut r = Reader::new(data);
        let Some(head) = r.word() else {
            return self.bad_header(held, proc, "a message shorter than any header");
        };
        let understood = match wire::kind_of(head) {
            kind::MATCH
            | kind::RNDV
            | kind::RGET
            | kind::RPUT
            | kind::SKIP
            | kind::RUNS
            | kind::CANCEL
            | kind::FAILURE => self.on_matching::<TIMED>(held, head, r, data, proc),
            kind::ACK => self.on_ack(held, head, r, proc),
            kind::FRAG => self.on_fragment(held, r, proc),
            kind::FIN => self.on_fin(held, head, r, proc),
            kind::CANCELLED => self.on_cancelled(held, r, proc),
            kind::CREDIT => self.on_credit(held, r, proc),
            kind::CID => self.on_index(held, head, r, proc),
            kind::SWITCH => return self.on_switch(held, data, proc),
            kind::OPEN => return self.on_open(held, data, proc),
            kind::PUT => self.on_put(held, r, proc),
            other => return self.bad_header(held, proc, &format!("type {other}, which does not exist")),
        };
        if understood.is_none() {
            self.bad_header(held, proc, "a header that is cut off");
        }
    }

    /// Handles a message that is matched, in all its forms, and CANCEL. `None`: the header is cut off.
    fn on_matching<const TIMED: bool>(
        &self,
        held: &Held<'_>,
        head: u64,
        r: Reader<'_>,
        data: &[u8],
        proc: u32,
    ) -> Option<()> {
        let flags = wire::flags_of(head);
        let (inc, prefix, payload) = Incoming::read(head, r, proc, held.ctx)?;
        let wrong = self.what_is_wrong(flags, &inc, payload);
        let of_handle = || (inc.kind == kind::RGET).then(|| self.wrong_handle(held, &inc)).flatten();
        if let Some(wrong) = wrong.or_else(of_handle) {
            self.bad_header(held, proc, wrong);
            return Some(());
        }
        if let Some(comm) = self.destination(held, head, prefix.as_ref(), data, &inc) {
            if inc.kind == kind::CANCEL {
                self.withdraw(held, comm, &inc);
            } else if flags & flag::NUMBERED != 0 {
                self.arrive_numbered::<TIMED>(held, comm, &inc);
            } else if flags & flag::STAMPED != 0 {
                self.arrive_stamped::<TIMED>(held, comm, &inc);
            } else {
                self.arrive::<TIMED>(held, comm, &inc);
            }
        }
        Some(())
    }

    /// The first thing about a matched message's header that cannot be, in words; `None`: it is sound.
    pub fn what_is_wrong(&self, flags: u8, inc: &Incoming, payload: &[u8]) -> Option<&'static str> {
        let skip = inc.kind == kind::SKIP;
        if flags & !(flag::CID | flag::SYNC | flag::STAMPED | flag::NUMBERED) != 0 {
            Some("flags that do not exist")
        } else if flags & flag::STAMPED != 0 && flags & flag::NUMBERED != 0 {
            Some("a stamp and a number at once")
        } else if skip && (flags & !flag::CID != flag::NUMBERED || inc.len != 0) {
            Some("a number to skip that is none")
        } else if inc.kind == kind::CANCEL && (flags & !flag::CID != 0 || inc.len != 0) {
            Some("a message to take back that is none")
        } else if inc.kind == kind::RUNS && !runs::is_list(payload, inc.msg_len) {
            Some("a list of pieces that does not fit its message")
        } else if inc.kind == kind::RPUT && inc.len != 0 {
            Some("data in front of what is to be put")
        } else if inc.kind == kind::FAILURE && (flags & flag::SYNC != 0 || inc.failure().is_none()) {
            Some("a failure that is none")
        } else if !matches!(inc.kind, kind::RUNS | kind::RGET | kind::FAILURE) && inc.len > inc.msg_len {
            Some("more data than its length says")
        } else if inc.msg_len > i64::MAX as u64 {
            Some("a length that no buffer has")
        } else if (matches!(inc.kind, kind::RNDV | kind::RGET | kind::RPUT | kind::RUNS | kind::CANCEL)
            || flags & flag::SYNC != 0)
            && inc.src_req == 0
        {
            Some("no request to answer to")
        } else {
            None
        }
    }

    /// The first thing about an RGET's address and registration handles that cannot be, in words; `None`: they are
    /// sound.
    fn wrong_handle(&self, held: &Held<'_>, inc: &Incoming) -> Option<&'static str> {
        let Ok(peer) = self.flow(inc.proc, held.ctx, held.threaded) else {
            return Some("an offer that cannot be answered");
        };
        match inc.address() {
            None => Some("an offer to read without an address"),
            Some((addr, _)) if addr.checked_add(inc.msg_len).is_none() => Some("an address range that wraps"),
            Some((_, handles)) if !are_handles(peer, handles.len()) => {
                Some("registration handles of another length than the transport's")
            }
            Some(_) => None,
        }
    }

    /// The communicator of a message. `None`: the message was kept until there is one, dropped, or refused.
    fn destination<'a>(
        &'a self,
        held: &Held<'_>,
        head: u64,
        prefix: Option<&Prefix>,
        data: &[u8],
        inc: &Incoming,
    ) -> Option<&'a Comm> {
        let Some(prefix) = prefix else {
            match self.comms.with(held, |t| t.find(head)) {
                Found::Comm(comm) => return Some(comm),
                Found::NotYet | Found::Gone if inc.kind == kind::CANCEL => self.withdraw_stray(held, inc),
                Found::NotYet => self.keep_orphan(held, inc.proc, data),
                Found::Gone => self.drop_message(held, inc),
                Found::Nonsense => self.bad_header(held, inc.proc, "a communicator nobody told it of"),
            }
            return None;
        };
        if prefix.version != wire::VERSION {
            let what = format!("wire version {}, this process speaks {}", prefix.version, wire::VERSION);
            self.bad_header(held, inc.proc, &what);
            return None;
        }
        match self.comms.with(held, |t| t.find_gid(prefix.gid, wire::endpoint_of(head))) {
            Some(comm) => {
                self.answer_prefix(held, comm, wire::source_of(inc.key), inc.proc, prefix);
                Some(comm).filter(|_| !self.is_closed(inc.proc))
            }
            None => {
                match inc.kind {
                    kind::CANCEL => self.withdraw_stray(held, inc),
                    _ => self.keep_orphan(held, inc.proc, data),
                }
                None
            }
        }
    }

    /// Discards a message whose communicator is gone.
    fn drop_message(&self, held: &Held<'_>, inc: &Incoming) {
        self.host.debug(&format!(
            "dropped {} bytes from process {} for a communicator that is gone",
            inc.msg_len, inc.proc
        ));
        self.discard_message(held, inc);
    }

    /// Admits a message without order words: it is matched, or kept, as it comes.
    pub fn arrive<const TIMED: bool>(&self, held: &Held<'_>, comm: &Comm, inc: &Incoming) {
        if wire::source_of(inc.key) as u32 >= comm.num_peers {
            return self.bad_header(held, inc.proc, "a source rank that its communicator does not have");
        }
        if held.threaded && self.wide.load(Ordering::Relaxed) {
            // Its sender did not choose this FIFO for its tag.
            self.cri(held.ctx).shared.set();
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
        match meet(&mut shard, inc.arrival(comm), held.threaded) {
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
        if self.cri(held.ctx).count_kept(held) {
            self.cri(held.ctx).stop.set(STOP);
        }
        if inc.len as usize > MAX_KEPT {
            drop(shard);
            return self.bad_header(held, inc.proc, "an eager message larger than any");
        }
        let kept = if stamped {
            let record = shard.record(comm.handle(), inc, inc.order_key | ShardData::STAMPED);
            record.map(|record| shard.add_waiting(record)).is_some()
        } else {
            let apart = held.threaded && !shard.spreading.home;
            let number = if apart { self.cri(held.ctx).number(held) } else { 0 };
            shard.keep(comm.handle(), inc, number)
        };
        if !kept {
            drop(shard);
            self.host.fatal("no memory to keep a message that nobody receives yet");
        }
    }

    /// Handles CID: the receiver's answer to a prefix, which tells its index of the communicator. `None`: the header is
    /// cut off.
    fn on_index(&self, held: &Held<'_>, head: u64, mut r: Reader<'_>, proc: u32) -> Option<()> {
        let rank = wire::source_of(r.word()?);
        r.word()?;
        let prefix = r.prefix()?;
        if prefix.version != wire::VERSION {
            self.bad_header(held, proc, "another wire version in an answer");
        } else {
            self.learn_index(held, head, rank, proc, &prefix);
        }
        Some(())
    }
}
