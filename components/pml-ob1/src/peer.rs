//! A process we talk to, on one FIFO: the transport that reaches it, its credits, and what waits to go out.
//!
//! Made on first use and kept until `finalize`; the one of FIFO 0 leads to those of the others and has
//! what they share ([`Base`]). Everything in a [`Cell`] or [`Guarded`] belongs to the holder of that
//! CRI's lock; `consumed` alone is also touched by receiving threads.

use crate::abilities::{can_get, can_put};
use crate::coming::Coming;
use crate::either::Either;
use crate::fan::FREE;
use crate::fifos::{FIFO, SHARDS};
use crate::guarded::{Guarded, Held};
use crate::module::{Cri, Ob1, Transport};
use crate::numbered::Assignment;
use crate::request::Request;
use crate::signals::{Passed, Pending};
use crate::stripes::Rails;
use crate::wire::{self, Card, Header};
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use oxmpi_btl::{BtlAttrs, BtlHandle, Reach, SendDesc, cap};
use oxmpi_mca::host::am_tag;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use oxmpi_mca::{Lock, SliceRef, Status};
use std::collections::VecDeque;

/// Payload up to this size costs no credit: it lies inside the record of an unexpected message.
pub const FREE_BYTES: u64 = 64;
/// Eager messages are never larger, whatever a transport says; lengths of them are 32-bit here.
const MAX_EAGER: u64 = 1 << 30;
/// Fragments where the transport names no limit.
const MAX_FRAGMENT: u64 = 1 << 20;

/// See the module's head.
#[repr(C, align(64))]
pub struct Peer {
    // Fields that every send reads: one cache line.
    send: extern "C" fn(*mut c_void, *mut c_void, u32, *const SendDesc) -> Status,
    state: *mut c_void,
    pub endpoint: *mut c_void,
    /// Largest payload behind a plain MATCH header.
    pub eager_payload: u64,
    /// Bytes of eager payload (messages above [`FREE_BYTES`]) we may still send.
    pub credit: Cell<u64>,
    /// Requests in `queue`; while there are any, later ones go behind them. [`Peer::SHUT`] once failed,
    /// so that the short way, which looks at nothing else, is closed.
    pub queued: Cell<u32>,
    pub proc: u32,
    /// It broke the protocol or its transport failed.
    pub failed: Cell<bool>,
    /// It cannot read our memory; do not offer RGET again.
    pub no_rget: Cell<bool>,
    /// We cannot read its memory.
    pub no_get: Cell<bool>,
    in_backlog: Cell<bool>,
    /// OPEN went out, or is not needed (`fan.rs`).
    pub opened: Cell<bool>,
    /// We cannot write to its memory.
    pub no_put: Cell<bool>,
    /// The FIFO.
    pub ctx: u32,

    /// Eager bytes consumed here since the last CREDIT message.
    pub consumed: AtomicU64,
    /// When `consumed` is told.
    pub return_at: u64,
    pub btl: &'static BtlHandle,
    /// Sends that found no room, oldest first.
    pub queue: Guarded<VecDeque<&'static Request>>,
    /// The CRI of the FIFO, which lives as long as the module.
    cri: NonNull<oxmpi_mca::Cri>,
    /// Small messages of ours that found no room.
    control: Guarded<VecDeque<Header>>,
    /// Long sends and pulls that go on when there is room.
    pub streams: Guarded<VecDeque<&'static Request>>,
    /// The stamp that the receiver was told last (`queue_changed`).
    oldest: Cell<u64>,
    pub base: &'static Base,
    pub either: Either,
    /// The message from it of which a part is here.
    pub coming: Guarded<Option<Coming>>,
    /// Transports that share its fragments (`stripes.rs`).
    pub rails: Rails,
}

/// Fields that all FIFOs to a process share. Rarely written.
#[repr(align(128))]
pub struct Base {
    /// FIFOs on which we may send to it.
    pub width: u32,
    /// FIFOs on which it may send to us.
    pub width_in: u32,
    /// Messages have stamps, so that the receiver must know which of them wait for room; else they have numbers.
    pub stamps: bool,
    /// We send on several FIFOs (`fan.rs`).
    pub spread: Passed,
    /// It sends on several: its MARK was seen.
    pub marked: Passed,
    /// It broke the protocol or its transport failed.
    pub lost: AtomicBool,
    /// A leaf, taken where stamped messages wait for room.
    pending_lock: Lock,
    pending: UnsafeCell<Pending>,
    /// By FIFO; made when first used.
    pub flows: Box<[AtomicPtr<Peer>]>,
    /// By the shard of (communicator, tag): the FIFO of messages whose tags choose it, once one went there. Where there are
    /// several FIFOs.
    ways: Option<Box<[AtomicPtr<Peer>; SHARDS as usize]>>,
    our_credit: u64,
    their_credit: u64,
    /// The transports that reach it, best first: the host's list, which stays.
    reached: &'static [Reach],
}

// SAFETY: `pending` belongs to the holder of its lock, the rest is atomic or never written; transports may be used from any
// thread under the serialisation of their contract.
unsafe impl Sync for Base {}

impl Base {
    /// The FIFO of a shard's messages, if one went there before.
    #[inline(always)]
    pub fn way(&self, shard: usize) -> Option<&Peer> {
        // SYNC POINT with `go_this_way`.
        // SAFETY: peers stay until `finalize`.
        unsafe { self.ways.as_ref()?[shard].load(Ordering::Acquire).as_ref() }
    }

    /// The FIFO of a shard's messages is that of `peer`, now and for ever.
    #[inline(always)]
    pub fn go_this_way(&self, shard: usize, peer: &Peer) {
        if let Some(ways) = &self.ways
            && ways[shard].load(Ordering::Relaxed).is_null()
        {
            // SYNC POINT with `way`.
            ways[shard].store(core::ptr::from_ref(peer).cast_mut(), Ordering::Release);
        }
    }
}

/// A limit as data where 0 means none.
fn limit(value: u64, none: u64) -> u64 {
    if value == 0 { none } else { value.min(none) }
}

/// As much of a message as ends where a page does if it starts where one does, but for short parts: parts of data that starts
/// there then start there, too, and copies of them are never those of which processors make slow ones (`btl-shm/src/copy.rs`).
pub fn whole_pages(len: u64) -> u64 {
    if len < PAGE { len } else { len & !(PAGE - 1) }
}
const PAGE: u64 = 4096;

/// Whether there are two ways for messages of middling length.
fn chooses(btl: &BtlHandle) -> bool {
    let a = btl.attrs();
    can_get(btl) && a.registration_handle_size == 0 && a.flags & BtlAttrs::GET_COST_VARIES != 0
}

impl Peer {
    /// In `queued`.
    pub const SHUT: u32 = u32::MAX;

    fn new(
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
            opened: Cell::new(ctx == FIFO),
            no_put: Cell::new(!can_put(btl)),
            ctx,
            consumed: AtomicU64::new(0),
            return_at: (theirs / 2).max(1),
            btl,
            queue: Guarded::new(VecDeque::new()),
            cri: NonNull::from(cri.base()),
            control: Guarded::new(VecDeque::new()),
            streams: Guarded::new(VecDeque::new()),
            oldest: Cell::new(0),
            base,
            either: Either::default(),
            coming: Guarded::new(None),
            rails: Rails::new(base.reached, ctx),
        }
    }

    /// How many transports reach the process.
    pub fn transports(&self) -> usize {
        self.base.reached.len()
    }

    /// Whether fragments may come from the process over several transports.
    pub fn has_stripes(&self) -> bool {
        let stripes = |r: &&Reach| r.btl().attrs().flags & BtlAttrs::STRIPES != 0;
        self.base.reached.iter().filter(stripes).count() > 1
    }

    /// The CRI of the FIFO.
    #[inline(always)]
    pub fn cri(&self) -> &oxmpi_mca::Cri {
        // SAFETY: the host's table outlives the module.
        unsafe { self.cri.as_ref() }
    }

    /// One call of the transport.
    #[inline(always)]
    pub fn transmit(&self, held: &Held<'_>, desc: &SendDesc) -> Status {
        debug_assert_eq!(held.ctx, self.ctx);
        (self.send)(self.state, self.endpoint, self.ctx, desc)
    }

    /// Largest message with header that goes eagerly (first part of a rendezvous: `rndv`).
    pub fn eager_limit(&self) -> u64 {
        self.eager_payload + wire::MATCH_BYTES as u64
    }
    /// Largest message with header that may go eagerly where reading is slow, and 0 where only one way is to be had.
    pub fn copied_limit(&self) -> u64 {
        if chooses(self.btl) && !self.no_rget.get() {
            limit(self.btl.attrs().max_send_size, MAX_EAGER)
        } else {
            0
        }
    }
    /// Largest message at all.
    pub fn largest(&self) -> u64 {
        limit(self.btl.attrs().max_send_size, u64::MAX)
    }
    pub fn rndv_limit(&self) -> u64 {
        limit(self.btl.attrs().rndv_eager_limit, MAX_EAGER)
            .min(limit(self.btl.attrs().max_send_size, MAX_EAGER))
    }
    /// Payload of one fragment. Where the largest message of the transport is one that may be copied or read it is longer than
    /// a fragment needs to be.
    pub fn fragment(&self) -> u64 {
        let largest = limit(self.btl.attrs().max_send_size, MAX_FRAGMENT);
        let varies = self.btl.attrs().flags & BtlAttrs::GET_COST_VARIES != 0;
        let fragment = if varies { largest / 2 } else { largest };
        whole_pages(fragment.saturating_sub(wire::FRAG_BYTES as u64)).max(1)
    }

    /// Takes credit for `bytes` of payload, all or nothing.
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
    #[inline(always)]
    pub fn give_credit(&self, _held: &Held<'_>, bytes: u64) {
        if bytes > FREE_BYTES {
            self.credit.set(self.credit.get() + bytes);
        }
    }

    /// Sends a message that is all header, or keeps it until there is room. Where the peer is not there any more,
    /// what only informs it is dropped: it may have ended in good order before its last message was read, and
    /// whoever waits for one that did not finds out by what it waits for.
    pub fn control(&self, held: &Held<'_>, ob1: &Ob1, header: Header) {
        if self.failed.get() {
            return;
        }
        if self.control.with(held, |q| q.is_empty()) {
            match self.transmit(held, &header_only(&header)) {
                Status::OK => return,
                Status::NO_RESOURCE => {}
                Status::PEER_FAILED if header.only_informs() => return,
                error => return ob1.peer_failed(held, self, error),
            }
        }
        self.control.with(held, |q| q.push_back(header));
        ob1.remember(held, self);
    }

    /// Sends kept control messages; false: there is no room yet.
    pub fn drain_control(&self, held: &Held<'_>, ob1: &Ob1) -> bool {
        loop {
            // The message leaves the queue only after it went out, so that order is kept.
            let Some(header) = self.control.with(held, |q| q.front().cloned()) else { return true };
            match self.transmit(held, &header_only(&header)) {
                Status::NO_RESOURCE => return false,
                status if !status.is_err() || status == Status::PEER_FAILED && header.only_informs() => {
                    self.control.with(held, |q| q.pop_front());
                }
                error => {
                    ob1.peer_failed(held, self, error);
                    return true;
                }
            }
        }
    }

    /// Something was put into `queue`, or taken out for good and is in its FIFO: tells the receiver which message
    /// is the oldest that waits. To be called before the call that made the message returns.
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
        // SYNC POINT with `told_by` (the transport's release and acquire).
        pending.changed(self.ctx as usize, oldest, |first| (self.btl.hold)(self.state, self.endpoint, first));
    }

    /// The stamp of the oldest message that this process has for us and found no room for, or 0.
    pub fn told(&self) -> u64 {
        if self.btl.caps & cap::HOLD != 0 { (self.btl.held)(self.state, self.endpoint) } else { 0 }
    }

    /// Whether anything waits for room.
    pub fn is_idle(&self, held: &Held<'_>) -> bool {
        let queue = self.queued.get();
        (queue == 0 || queue == Peer::SHUT)
            && self.control.with(held, |q| q.is_empty())
            && self.streams.with(held, |q| q.is_empty())
    }

    pub fn drop_control(&self, held: &Held<'_>) {
        self.control.with(held, |q| q.clear());
    }
}

/// Whether a message is seen by its receiver as soon as it is sent, and what waits for room is told: what stamps rest on.
fn shows(btl: &BtlHandle) -> bool {
    btl.attrs().flags & BtlAttrs::VISIBLE_AT_ONCE != 0 && btl.caps & cap::HOLD != 0
}

/// A transport that reads data in pieces. The verb takes no handles.
pub fn can_get_vector(btl: &BtlHandle) -> bool {
    btl.caps & cap::GET_VECTOR != 0 && btl.attrs().registration_handle_size == 0
}

/// A descriptor of a message without payload.
pub fn header_only(header: &Header) -> SendDesc {
    SendDesc {
        tag: am_tag::PML as u32,
        hdr_len: header.bytes() as u32,
        hdr: header.ptr(),
        payload: core::ptr::null(),
        len: 0,
        pack: None,
        pack_ctx: null_mut(),
    }
}

impl Ob1 {
    /// Whether messages of a process are dropped.
    #[cold]
    pub fn is_closed(&self, proc: u32) -> bool {
        let slot = self.peers.get(proc as usize).map(|s| s.load(Ordering::Acquire));
        // SAFETY: peers stay until `finalize`.
        slot.and_then(|p| unsafe { p.as_ref() }).is_some_and(|p| p.base.lost.load(Ordering::Acquire))
    }

    /// The peer of a job rank, made on first use.
    #[inline(always)]
    pub fn peer(&self, proc: u32, threaded: bool) -> Result<&Peer, Status> {
        if let Some(slot) = self.peers.get(proc as usize) {
            // SYNC POINT with the release store in `make_peer`.
            // SAFETY: peers stay until `finalize`.
            if let Some(peer) = unsafe { slot.load(Ordering::Acquire).as_ref() } {
                return Ok(peer);
            }
        }
        self.make_peer(proc, threaded)
    }

    #[cold]
    fn make_peer(&self, proc: u32, threaded: bool) -> Result<&Peer, Status> {
        let _guard = self.peers_lock.guard(threaded);
        let slot: &AtomicPtr<Peer> = self.peers.make(proc as usize).ok_or(Status::BAD_PARAM)?;
        // SAFETY: as in `peer`.
        if let Some(peer) = unsafe { slot.load(Ordering::Acquire).as_ref() } {
            return Ok(peer);
        }
        let card = self.card_of(proc)?;
        let (transport, reached) = self.reach(proc)?;
        let reach = &reached[0];
        let stamps = self.assignment == Assignment::Stream && shows(transport.btl);
        let width = self.width_to(transport, reach, true);
        let width_in = self.width_to(transport, reach, card.flags & (Card::NUMBERS | Card::COUNTS) != 0);
        let flows = (0..width.max(width_in)).map(|_| AtomicPtr::new(null_mut())).collect();
        // Freed by `finalize`, after which nobody looks at peers.
        let base: &'static Base = Box::leak(Box::new(Base {
            width,
            width_in,
            ways: (width > 1).then(|| Box::new(core::array::from_fn(|_| AtomicPtr::new(null_mut())))),
            stamps,
            spread: Passed::new(),
            marked: Passed::new(),
            lost: AtomicBool::new(false),
            pending_lock: Lock::new(),
            pending: UnsafeCell::new(Pending::default()),
            flows,
            our_credit: self.config.eager_credit,
            their_credit: card.eager_credit,
            reached,
        }));
        let peer = Box::into_raw(Box::new(Peer::new(
            proc,
            transport.btl,
            reach.endpoint,
            base,
            (FIFO, self.cri(FIFO)),
        )));
        if transport.own {
            self.self_active.store(true, Ordering::Relaxed);
            self.lone.store(core::ptr::null_mut(), Ordering::Relaxed);
        }
        base.flows[FIFO as usize].store(peer, Ordering::Release);
        // SYNC POINT with the acquire loads above.
        slot.store(peer, Ordering::Release);
        // SAFETY: just made; freed by `finalize` alone.
        Ok(unsafe { &*peer })
    }

    /// How many FIFOs there may be to a process, or from it. Several only where messages have numbers, or
    /// one is visible to its receiver as soon as `send` has returned and those that wait for room are told: the
    /// order of MPI_ANY_TAG rests on that.
    fn width_to(&self, transport: &Transport, reach: &Reach, numbers: bool) -> u32 {
        if !numbers && !shows(transport.btl) {
            return 1;
        }
        reach.width.clamp(1, self.width())
    }

    /// The FIFO `ctx` to a job rank, made on first use.
    #[inline(always)]
    pub fn flow(&self, proc: u32, ctx: u32, threaded: bool) -> Result<&Peer, Status> {
        let peer = self.peer(proc, threaded)?;
        if ctx == FIFO { Ok(peer) } else { self.flow_of(peer, ctx, threaded) }
    }

    /// The FIFO `ctx` to the process of `peer`. A peer that has fewer has none.
    #[inline(always)]
    pub fn flow_of<'a>(&'a self, peer: &'a Peer, ctx: u32, threaded: bool) -> Result<&'a Peer, Status> {
        let slot = peer.base.flows.get(ctx as usize).ok_or(Status::UNREACHABLE)?;
        // SYNC POINT with the release store in `make_flow`.
        // SAFETY: flows stay until `finalize`.
        match unsafe { slot.load(Ordering::Acquire).as_ref() } {
            Some(flow) => Ok(flow),
            None => Ok(self.make_flow(peer, slot, ctx, threaded)),
        }
    }

    #[cold]
    fn make_flow<'a>(
        &'a self,
        peer: &'a Peer,
        slot: &'a AtomicPtr<Peer>,
        ctx: u32,
        threaded: bool,
    ) -> &'a Peer {
        let _guard = self.peers_lock.guard(threaded);
        // SAFETY: as in `flow_of`.
        if let Some(flow) = unsafe { slot.load(Ordering::Acquire).as_ref() } {
            return flow;
        }
        let flow = Box::new(Peer::new(peer.proc, peer.btl, peer.endpoint, peer.base, (ctx, self.cri(ctx))));
        let flow = Box::into_raw(flow);
        // SYNC POINT with the acquire load in `flow_of`.
        slot.store(flow, Ordering::Release);
        // SAFETY: just made.
        unsafe { &*flow }
    }

    /// The record that the process published; a process that speaks another wire is refused here, before the
    /// first message.
    fn card_of(&self, proc: u32) -> Result<Card, Status> {
        let blob = self.host.exchange_get(proc).map_err(|status| {
            self.host.help("no-card", &[&proc.to_string(), status.name()]);
            Status::UNREACHABLE
        })?;
        let ours = wire::VERSION.to_string();
        match Card::decode(&blob) {
            Some(card) if card.version == wire::VERSION => Ok(card),
            card => {
                let theirs = card.map_or("unreadable".into(), |c| c.version.to_string());
                self.host.help("wire-version", &[&proc.to_string(), &theirs, &ours]);
                Err(Status::UNREACHABLE)
            }
        }
    }

    /// The transport that carries headers to the process, and all that reach it, of which it is the first.
    fn reach(&self, proc: u32) -> Result<(&Transport, &'static [Reach]), Status> {
        let services = self.btl_services();
        let mut reached = SliceRef { ptr: core::ptr::null(), len: 0 };
        (services.reach)(services.instance, proc, &mut reached).ok()?;
        // SAFETY: the host's list, valid as long as the instance.
        let all = unsafe { core::slice::from_raw_parts(reached.ptr, reached.len) };
        let first = all.first().ok_or(Status::UNREACHABLE)?;
        let same = |t: &&Transport| core::ptr::eq(t.btl, first.btl);
        let transport = self.transports().iter().find(same).ok_or(Status::INTERNAL)?;
        Ok((transport, all))
    }

    /// Puts a peer on the list that progress drains.
    pub fn remember(&self, held: &Held<'_>, peer: &Peer) {
        if !peer.in_backlog.replace(true) {
            let cri = self.cri(held.ctx);
            cri.backlog.with(held, |b| b.push(peer));
            cri.mark(Cri::BACKLOG);
        }
    }
    /// Undoes `remember` for a peer just taken off the list.
    pub fn forget(&self, peer: &Peer) {
        peer.in_backlog.set(false);
    }
}

/// A transport's name for messages.
pub fn btl_name(btl: &BtlHandle) -> &str {
    // SAFETY: the name lives as long as the handle.
    unsafe { btl.name.get() }.unwrap_or("?")
}
