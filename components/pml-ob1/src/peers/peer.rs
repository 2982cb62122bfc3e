//! A process we talk to, on one FIFO: the transport that reaches it, its credits, and what waits to go out.
//!
//! Made on first use and kept until `finalize`; the one of FIFO 0 leads to those of the others and has
//! what they share ([`Base`]). Everything in a [`Cell`] or [`Guarded`] belongs to the holder of that
//! CRI's lock; `consumed` alone is also touched by receiving threads.

use crate::peers::abilities::{can_get, can_put};
use crate::peers::choice::ProtocolChoice;
use crate::peers::stripes::Rails;
use crate::state::guarded::{Guarded, Held};
use crate::state::objects::{Base, Cri, Peer, Request};
use crate::wire::{self, FREE, FREE_BYTES};
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::NonNull;
use oxmpi_btl::{BtlAttrs, BtlHandle, Reach, SendDesc, cap};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use std::collections::VecDeque;

/// Eager messages are never larger, whatever a transport says; lengths of them are 32-bit here.
const MAX_EAGER: u64 = 1 << 30;

/// Fragments where the transport names no limit.
const MAX_FRAGMENT: u64 = 1 << 20;

// SAFETY: `pending` belongs to the holder of its lock, the rest is atomic or never written; transports may be used from any
// thread under the serialisation of their contract.
unsafe impl Sync for Base {}

impl Base {
    /// Gives the FIFO that messages of a shard take to this process. `None`: none went by its tag yet, or there is only
    /// one FIFO.
    #[inline(always)]
    pub fn fifo_of_shard(&self, shard: usize) -> Option<&Peer> {
        // SYNC POINT with `set_fifo_of_shard`.
        // SAFETY: peers stay until `finalize`.
        unsafe { self.shard_fifos.as_ref()?[shard].load(Ordering::Acquire).as_ref() }
    }

    /// Notes for good that messages of a shard take the FIFO of `peer`; the first note stays.
    #[inline(always)]
    pub fn set_fifo_of_shard(&self, shard: usize, peer: &Peer) {
        if let Some(fifos) = &self.shard_fifos
            && fifos[shard].load(Ordering::Relaxed).is_null()
        {
            // SYNC POINT with `fifo_of_shard`.
            fifos[shard].store(core::ptr::from_ref(peer).cast_mut(), Ordering::Release);
        }
    }
}

/// Gives a transport's limit in bytes, at most `none`; the transport says 0 where it has no limit.
fn limit(value: u64, none: u64) -> u64 {
    if value == 0 { none } else { value.min(none) }
}

/// Rounds a length in bytes down to whole pages; one below a page stays. Where data starts at a page, all its parts
/// then do, and copies of them are never those of which processors make slow ones (`btl-shm/src/copy.rs`).
pub fn whole_pages(len: u64) -> u64 {
    if len < PAGE { len } else { len & !(PAGE - 1) }
}

const PAGE: u64 = 4096;

/// Whether messages of middling length can be copied or read by choice: the transport reads without registration, at a
/// cost that varies.
fn chooses(btl: &BtlHandle) -> bool {
    let a = btl.attrs();
    can_get(btl) && a.registration_handle_size == 0 && a.flags & BtlAttrs::GET_COST_VARIES != 0
}

impl Peer {
    /// The value of `queued` once the peer has failed.
    pub const SHUT: u32 = u32::MAX;

    /// Makes the sender's state for one FIFO to process `proc`: nothing is queued, and all of the credit is there.
    /// `base`: the fields that all FIFOs to this process share. `ctx`, `cri`: the FIFO's number, and the CRI whose lock
    /// guards the state.
    pub(super) fn new(
        proc: u32,
        btl: &'static BtlHandle,
        endpoint: *mut c_void,
        base: &'static Base,
        (ctx, cri): (u32, &Cri),
    ) -> Peer {
        let (our_credit, theirs) = (base.our_credit, base.their_credit);
        let largest = limit(btl.attrs().max_send_size, u64::MAX);
        let eager = limit(btl.attrs().eager_limit, MAX_EAGER).min(largest);
        Peer {
            send: btl.send,
            state: btl.state,
            endpoint,
            eager_payload: eager.saturating_sub(wire::MATCH_BYTES as u64),
            credit: Cell::new(our_credit),
            queued: Cell::new(0),
            proc,
            failed: Cell::new(false),
            no_rget: Cell::new(!can_get(btl)),
            no_get: Cell::new(!can_get(btl)),
            in_backlog: Cell::new(false),
            no_put: Cell::new(!can_put(btl)),
            ctx,
            consumed: AtomicU64::new(0),
            return_at: (theirs / 2).max(1),
            btl,
            queue: Guarded::new(VecDeque::new()),
            cri: NonNull::from(cri.base()),
            state_of_cri: NonNull::from(cri),
            control: Guarded::new(VecDeque::new()),
            streams: Guarded::new(VecDeque::new()),
            oldest: Cell::new(0),
            base,
            choice: ProtocolChoice::default(),
            streamed: Guarded::new(None),
            rails: Rails::new(base.reached, ctx),
        }
    }

    /// Gives how many transports reach the process.
    pub fn transports(&self) -> usize {
        self.base.reached.len()
    }

    /// Whether fragments may come from the process over several transports.
    pub fn has_stripes(&self) -> bool {
        let stripes = |r: &&Reach| r.btl().attrs().flags & BtlAttrs::STRIPES != 0;
        self.base.reached.iter().filter(stripes).count() > 1
    }

    /// Gives the host's CRI of this FIFO.
    #[inline(always)]
    pub fn cri(&self) -> &oxmpi_mca::Cri {
        // SAFETY: the host's table outlives the module.
        unsafe { self.cri.as_ref() }
    }

    /// Gives our state of this FIFO's CRI.
    pub fn state_of_cri(&self) -> &Cri {
        // SAFETY: CRIs stay as long as the module, and peers until `finalize`.
        unsafe { self.state_of_cri.as_ref() }
    }

    /// Calls the transport's `send` once, on this FIFO. `NO_RESOURCE`: there is no room now, and nothing was sent.
    #[inline(always)]
    pub fn transmit(&self, held: &Held<'_>, desc: &SendDesc) -> Status {
        debug_assert_eq!(held.ctx, self.ctx);
        (self.send)(self.state, self.endpoint, self.ctx, desc)
    }

    /// Gives the largest message that goes eagerly, in bytes with its header (first part of a rendezvous:
    /// [`Peer::rndv_limit`]).
    pub fn eager_limit(&self) -> u64 {
        self.eager_payload + wire::MATCH_BYTES as u64
    }

    /// Gives the largest message that may go eagerly where reading is slow, in bytes with its header; 0 where there is
    /// no choice between copying and reading.
    pub fn copied_limit(&self) -> u64 {
        if chooses(self.btl) && !self.no_rget.get() {
            limit(self.btl.attrs().max_send_size, MAX_EAGER)
        } else {
            0
        }
    }

    /// Gives the largest message that the transport takes, in bytes with its header.
    pub fn largest(&self) -> u64 {
        limit(self.btl.attrs().max_send_size, u64::MAX)
    }

    /// Gives the largest first message of a rendezvous, in bytes with its header.
    pub fn rndv_limit(&self) -> u64 {
        limit(self.btl.attrs().rndv_eager_limit, MAX_EAGER)
            .min(limit(self.btl.attrs().max_send_size, MAX_EAGER))
    }

    /// Gives the payload of one fragment in bytes, in whole pages. Where the transport's get varies in cost, its
    /// largest message is longer than a fragment needs to be, and half of it is taken.
    pub fn fragment(&self) -> u64 {
        let largest = limit(self.btl.attrs().max_send_size, MAX_FRAGMENT);
        let varies = self.btl.attrs().flags & BtlAttrs::GET_COST_VARIES != 0;
        let fragment = if varies { largest / 2 } else { largest };
        whole_pages(fragment.saturating_sub(wire::FRAG_BYTES as u64)).max(1)
    }

    /// Takes credit for `bytes` of eager payload, all or nothing; up to [`FREE_BYTES`] cost none. `false`: there is too
    /// little.
    #[inline(always)]
    pub fn take_credit(&self, _held: &Held<'_>, bytes: u64) -> bool {
        if bytes <= FREE_BYTES {
            return true;
        }
        let credit = self.credit.get();
        if credit < bytes {
            return false;
        }
        self.credit.set(credit - bytes);
        true
    }

    /// Gives back credit that was taken for `bytes` of eager payload that were not sent.
    #[inline(always)]
    pub fn give_credit(&self, _held: &Held<'_>, bytes: u64) {
        if bytes > FREE_BYTES {
            self.credit.set(self.credit.get() + bytes);
        }
    }

    /// Tells the receiver, through the transport, the stamp of the oldest message in `queue`. Called after a send was
    /// put into the queue, or has left it for good, before the call that made the message returns.
    pub fn queue_changed(&self, held: &Held<'_>) {
        if !held.threaded || !self.base.stamps || self.base.width == 1 {
            return;
        }
        // Messages that may overtake others keep nobody waiting; those of one FIFO have rising stamps.
        let stamp = |q: &mut VecDeque<&'static Request>| {
            q.iter().map(|r| r.order.get()).find(|&order| order != FREE).unwrap_or(0)
        };
        let oldest = self.queue.with(held, stamp);
        if self.oldest.replace(oldest) == oldest {
            return;
        }
        let _guard = self.base.pending_lock.guard(true);
        // SAFETY: the lock is held, and what is called does not come back here.
        let pending = unsafe { &mut *self.base.pending.get() };
        // SYNC POINT with `announced_by` (the transport's release and acquire).
        pending.changed(self.ctx as usize, oldest, |first| (self.btl.hold)(self.state, self.endpoint, first));
    }

    /// Gives the stamp of the oldest message that the process has for us and found no room for, as the transport shows
    /// it; 0: there is none.
    pub fn announced_stamp(&self) -> u64 {
        if self.btl.caps & cap::HOLD != 0 { (self.btl.held)(self.state, self.endpoint) } else { 0 }
    }

    /// Whether nothing waits for room on this FIFO: no send, no control message, no stream. Of a failed peer sends do
    /// not count.
    pub fn is_idle(&self, held: &Held<'_>) -> bool {
        let queue = self.queued.get();
        (queue == 0 || queue == Peer::SHUT)
            && self.control.with(held, |q| q.is_empty())
            && self.streams.with(held, |q| q.is_empty())
    }

    /// Drops the control messages that wait for room, since the peer is closed.
    pub fn drop_control(&self, held: &Held<'_>) {
        self.control.with(held, |q| q.clear());
    }
}

/// Whether a transport shows a message to its receiver as soon as it is sent, and tells it the messages that wait for
/// room: stamps rest on that.
pub fn shows_messages_at_once(btl: &BtlHandle) -> bool {
    btl.attrs().flags & BtlAttrs::VISIBLE_AT_ONCE != 0 && btl.caps & cap::HOLD != 0
}

/// Whether a transport reads data in pieces by one get, without registration handles.
pub fn can_get_vector(btl: &BtlHandle) -> bool {
    btl.caps & cap::GET_VECTOR != 0 && btl.attrs().registration_handle_size == 0
}

/// Gives a transport's name, for messages to users.
pub fn btl_name(btl: &BtlHandle) -> &str {
    // SAFETY: the name lives as long as the handle.
    unsafe { btl.name.get() }.unwrap_or("?")
}
