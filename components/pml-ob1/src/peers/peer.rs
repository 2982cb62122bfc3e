//! A process we talk to, on one FIFO: the transport that reaches it, its credits, and what waits to go out.
//!
//! Made on first use and kept until `finalize`; the one of FIFO 0 leads to those of the others and has
//! what they share ([`Base`]). Everything in a [`Cell`] or [`Guarded`] belongs to the holder of that
//! CRI's lock; `consumed` alone is also touched by receiving threads.

use crate::order::signals::{Passed, Pending, Switch};
use crate::peers::abilities::{can_get, can_put};
use crate::peers::choice::ProtocolChoice;
use crate::peers::streamed::Streamed;
use crate::peers::stripes::Rails;
use crate::requests::request::Request;
use crate::requests::work::Work;
use crate::state::fifos::SHARDS;
use crate::state::guarded::{Guarded, Held};
use crate::wire::Header;
use crate::wire::{self, FREE, FREE_BYTES};
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::ptr::NonNull;
use oxmpi_btl::{BtlAttrs, BtlHandle, Reach, SendDesc, cap};
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use oxmpi_mca::{Lock, Status};
use std::collections::VecDeque;

/// A process on one FIFO.
#[repr(C, align(64))]
pub struct Peer {
    // Fields that every send reads: one cache line.
    pub(super) send: unsafe extern "C" fn(*mut c_void, *mut c_void, u32, *const SendDesc) -> Status,
    pub(super) state: *mut c_void,
    pub(super) endpoint: *mut c_void,
    /// Largest payload behind a plain MATCH header.
    pub(super) eager_payload: u64,
    /// Bytes of eager payload (messages above [`FREE_BYTES`]) we may still send.
    pub(super) credit: Cell<u64>,
    /// Requests in `queue`; while there are any, later ones go behind them. [`Peer::SHUT`] once failed,
    /// so that the short way, which looks at nothing else, is closed.
    pub(super) queued: Cell<u32>,
    pub(super) proc: u32,
    /// The process broke the protocol or its transport failed.
    pub(super) failed: Cell<bool>,
    /// The process cannot read our memory; do not offer RGET again.
    pub(super) no_rget: Cell<bool>,
    /// We cannot read its memory.
    pub(super) no_get: Cell<bool>,
    pub(super) in_backlog: Cell<bool>,
    /// We cannot write to its memory.
    pub(super) no_put: Cell<bool>,
    /// The FIFO.
    pub(super) ctx: u32,

    /// Eager bytes consumed here since the last CREDIT message.
    pub(super) consumed: AtomicU64,
    /// When `consumed` is told.
    pub(super) return_at: u64,
    pub(super) btl: &'static BtlHandle,
    /// Sends that found no room, oldest first.
    pub(super) queue: Guarded<VecDeque<&'static Request>>,
    /// The CRI of the FIFO, which lives as long as the module, and what waits on it.
    pub(super) cri: NonNull<oxmpi_mca::Cri>,
    pub(super) work: NonNull<Work>,
    /// Small messages of ours that found no room.
    pub(super) control: Guarded<VecDeque<Header>>,
    /// Long sends and pulls that go on when there is room.
    pub(super) streams: Guarded<VecDeque<&'static Request>>,
    /// The stamp that the receiver was told last (`queue_changed`).
    pub(super) oldest: Cell<u64>,
    pub(super) base: &'static Base,
    pub(super) choice: ProtocolChoice,
    /// The message from it of which a part is here.
    pub(super) streamed: Guarded<Option<Streamed>>,
    /// Transports that share its fragments (`stripes.rs`).
    pub(super) rails: Rails,
}

/// Fields that all FIFOs to a process share. Rarely written.
#[repr(align(128))]
pub struct Base {
    /// FIFOs on which we may send to it.
    pub(super) width: u32,
    /// FIFOs on which it may send to us.
    pub(super) width_in: u32,
    /// Messages have stamps, so that the receiver must know which of them wait for room; else they have numbers.
    pub(super) stamps: bool,
    /// We send on several FIFOs (`switch.rs`).
    pub(super) switch: Switch,
    /// The process sends on several FIFOs: its SWITCH was seen.
    pub(super) peers_switch: Passed,
    /// The process broke the protocol or its transport failed.
    pub(super) lost: AtomicBool,
    /// A leaf, taken where stamped messages wait for room.
    pub(super) pending_lock: Lock,
    pub(super) pending: UnsafeCell<Pending>,
    /// The peers by FIFO; made when first used.
    pub(super) flows: Box<[AtomicPtr<Peer>]>,
    /// The FIFO of messages that go by their tags, by the shard of (communicator, tag), once one went there. `None`:
    /// there is only one FIFO.
    pub(super) shard_fifos: Option<Box<[AtomicPtr<Peer>; SHARDS as usize]>>,
    pub(super) our_credit: u64,
    pub(super) their_credit: u64,
    /// The transports that reach it, best first: the host's list, which stays.
    pub(super) reached: &'static [Reach],
}

/// Eager messages are never larger, whatever a transport says; lengths of them are 32-bit here.
const MAX_EAGER: u64 = 1 << 30;

/// Fragments where the transport names no limit.
const MAX_FRAGMENT: u64 = 1 << 20;

// SAFETY: `pending` belongs to the holder of its lock, the rest is atomic or never written; transports may be used from any
// thread under the serialisation of their contract.
unsafe impl Sync for Base {}

impl Base {
    /// Gives on how many FIFOs we may send to the process.
    #[inline(always)]
    pub fn width(&self) -> u32 {
        self.width
    }
    /// Gives on how many FIFOs the process may send to us.
    pub fn width_in(&self) -> u32 {
        self.width_in
    }
    /// Whether messages over several FIFOs have stamps; else they have numbers.
    #[inline(always)]
    pub fn has_stamps(&self) -> bool {
        self.stamps
    }
    /// Gives our switch to several FIFOs.
    #[inline(always)]
    pub fn switch(&self) -> &Switch {
        &self.switch
    }
    /// Gives the process's switch to several FIFOs.
    pub fn peers_switch(&self) -> &Passed {
        &self.peers_switch
    }
    /// Whether the process broke the protocol or its transport failed.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

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
    /// `base`: the fields that all FIFOs to this process share. `ctx`: the FIFO's number; `cri`, `work`: the CRI whose
    /// lock guards the state, and what waits on it.
    pub(super) fn new(
        proc: u32,
        btl: &'static BtlHandle,
        endpoint: *mut c_void,
        base: &'static Base,
        ctx: u32,
        (cri, work): (&oxmpi_mca::Cri, &Work),
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
            cri: NonNull::from(cri),
            work: NonNull::from(work),
            control: Guarded::new(VecDeque::new()),
            streams: Guarded::new(VecDeque::new()),
            oldest: Cell::new(0),
            base,
            choice: ProtocolChoice::default(),
            streamed: Guarded::new(None),
            rails: Rails::new(base.reached, ctx),
        }
    }

    /// Gives the peer at the other end of a request. `None`: no FIFO was chosen yet.
    pub fn of_request(req: &Request) -> Option<&Peer> {
        // SAFETY: only [`Peer::note_in`] writes it, and peers stay until `finalize`.
        unsafe { req.peer().cast::<Peer>().as_ref() }
    }
    /// Notes in a request that this is the peer at the other end.
    pub fn note_in(&self, req: &Request) {
        req.set_peer(core::ptr::from_ref(self).cast());
    }

    /// Gives the number of the FIFO.
    #[inline(always)]
    pub fn ctx(&self) -> u32 {
        self.ctx
    }
    /// Gives the process, as its rank in the job.
    #[inline(always)]
    pub fn proc(&self) -> u32 {
        self.proc
    }
    /// Gives what all FIFOs to the process share.
    #[inline(always)]
    pub fn base(&self) -> &'static Base {
        self.base
    }
    /// Gives the transport that carries headers.
    #[inline(always)]
    pub fn btl(&self) -> &'static BtlHandle {
        self.btl
    }
    /// Gives the transport's endpoint of the process.
    pub fn endpoint(&self) -> *mut c_void {
        self.endpoint
    }
    /// Gives the largest payload behind a plain MATCH header.
    #[inline(always)]
    pub fn eager_payload(&self) -> u64 {
        self.eager_payload
    }
    /// Gives the transports that share fragments, gets and puts.
    pub fn rails(&self) -> &Rails {
        &self.rails
    }
    /// Gives the record of how long messages of middling length take, read or copied.
    pub fn choice(&self) -> &ProtocolChoice {
        &self.choice
    }

    /// Whether the process broke the protocol or its transport failed, as far as this FIFO's CRI has been told.
    #[inline(always)]
    pub fn is_failed(&self) -> bool {
        self.failed.get()
    }
    /// Whether the process may read our memory, as far as is known.
    pub fn may_read(&self) -> bool {
        !self.no_rget.get()
    }
    /// Notes that the process cannot read our memory, so that it is not offered again.
    pub fn refuse_reading(&self) {
        self.no_rget.set(true);
    }
    /// Whether we may read the process's memory, as far as is known.
    pub fn is_readable(&self) -> bool {
        !self.no_get.get()
    }
    /// Notes that we cannot read the process's memory.
    pub fn be_unreadable(&self) {
        self.no_get.set(true);
    }
    /// Whether we may write to the process's memory, as far as is known.
    pub fn is_writable(&self) -> bool {
        !self.no_put.get()
    }
    /// Notes that we cannot write to the process's memory.
    pub fn be_unwritable(&self) {
        self.no_put.set(true);
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

    /// Gives the work that waits on this FIFO's CRI.
    pub fn work(&self) -> &Work {
        // SAFETY: CRIs stay as long as the module, and peers until `finalize`.
        unsafe { self.work.as_ref() }
    }

    /// Calls the transport's `send` once, on this FIFO. `NO_RESOURCE`: there is no room now, and nothing was sent.
    #[inline(always)]
    pub fn transmit(&self, held: &Held<'_>, desc: &SendDesc) -> Status {
        debug_assert_eq!(held.ctx, self.ctx);
        // SAFETY: the FIFO is held; endpoints stay until the PML is finalized, the descriptor is valid for the call.
        unsafe { (self.send)(self.state, self.endpoint, self.ctx, desc) }
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
            q.iter().map(|r| r.order()).find(|&order| order != FREE).unwrap_or(0)
        };
        let oldest = self.queue.with(held, stamp);
        if self.oldest.replace(oldest) == oldest {
            return;
        }
        let _guard = self.base.pending_lock.guard(true);
        // SAFETY: the lock is held, and what is called does not come back here.
        let pending = unsafe { &mut *self.base.pending.get() };
        // SYNC POINT with `announced_by` (the transport's release and acquire).
        pending.changed(self.ctx as usize, oldest, |first| {
            // SAFETY: endpoints stay until the PML is finalized; `pending_lock` keeps others out.
            unsafe { self.btl.hold(self.endpoint, first) }
        });
    }

    /// Gives the stamp of the oldest message that the process has for us and found no room for, as the transport shows
    /// it; 0: there is none.
    pub fn announced_stamp(&self) -> u64 {
        if !self.btl.can(cap::HOLD) {
            return 0;
        }
        // SAFETY: endpoints stay until the PML is finalized.
        unsafe { self.btl.held(self.endpoint) }
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
