//! A process we talk to, on one FIFO: the transport that reaches it, its credits, and what waits to go out.
//!
//! Made on first use; the one of FIFO 0 leads to those of the others and has
//! what they share ([`Base`]). **It stays** until `finalize`, or until its process has parted for good (`ending/parting.rs`): a verb that names
//! the process, a request that is under way with it, and whoever holds a CRI may use it. The holder of the FIFO's CRI has its [`Flow`], which [`Peer::flow`] gives for the guard of that CRI, and no other;
//! of the rest, `consumed` alone changes, and is also touched by receiving threads.

use crate::order::signals::{Passed, Pending, Switch};
use crate::peers::abilities::{can_get, can_put};
use crate::peers::choice::ProtocolChoice;
use crate::peers::flow::Flow;
use crate::peers::link::Link;
use crate::peers::stripes::Rails;
use crate::requests::request::Request;
use crate::requests::work::Work;
use crate::state::fifos::SHARDS;
use crate::state::locked::Locked;
use crate::wire::{self, Parcel};
use core::ffi::c_void;
use oxmpi_btl::{BtlAttrs, BtlHandle, MAY_WAIT, Reach, cap};
use oxmpi_mca::host::am_tag;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use oxmpi_mca::{CriGuard, OfCri, Status};
use std::sync::Arc;

/// A process on one FIFO.
#[repr(C, align(64))]
pub struct Peer {
    // Fields that every send reads: one cache line.
    link: Link,
    /// Largest payload behind a plain MATCH header; at most [`MAX_EAGER`].
    eager_payload: u32,
    /// The tag of eager messages.
    eager_tag: u32,
    /// Data of the FIFO's holder; it begins with the FIFO's number.
    flow: OfCri<Flow>,

    proc: u32,
    /// Eager bytes consumed here since the last CREDIT message.
    pub(super) consumed: AtomicU64,
    /// When `consumed` is told.
    pub(super) return_at: u64,
    /// The work that waits on the FIFO's CRI.
    work: Arc<Work>,
    pub(super) base: &'static Base,
    choice: ProtocolChoice,
    /// Transports that share its fragments (`stripes.rs`).
    rails: Rails,
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
    /// The lock is taken where stamped messages wait for room.
    pub(super) pending: Locked<Pending>,
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

    /// Gives the peer on FIFO `ctx`. `None`: none was made.
    pub(super) fn flow_made(&self, ctx: u32) -> Option<&Peer> {
        // SAFETY: null, or a peer, which stays while it may be used (the file's head).
        unsafe { self.flows.get(ctx as usize)?.load(Ordering::Acquire).as_ref() }
    }

    /// Gives the FIFO that messages of a shard take to this process. `None`: none went by its tag yet, or there is only
    /// one FIFO.
    #[inline(always)]
    pub fn fifo_of_shard(&self, shard: usize) -> Option<&Peer> {
        // SYNC POINT with `set_fifo_of_shard`.
        // SAFETY: null, or a peer, which stays while it may be used (the file's head).
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
    /// Makes the sender's state for one FIFO to process `proc`: nothing is queued, and all of the credit is there. `reach`: the transport that carries
    /// headers. `base`: the fields that all FIFOs to this process share. `ctx`: the FIFO's number; `work`: what waits on its CRI.
    pub(super) fn new(proc: u32, reach: &Reach, base: &'static Base, ctx: u32, work: Arc<Work>) -> Peer {
        let (link, theirs) = (Link::new(reach), base.their_credit);
        let btl = link.btl();
        let largest = limit(btl.attrs().max_send_size, u64::MAX);
        let eager = limit(btl.attrs().eager_limit, MAX_EAGER).min(largest);
        let flow = Flow::new(base.our_credit, can_get(btl), can_put(btl));
        Peer {
            link,
            eager_payload: eager.saturating_sub(wire::MATCH_BYTES as u64) as u32,
            eager_tag: am_tag::PML as u32
                | if btl.attrs().flags & BtlAttrs::GATHERS != 0 { MAY_WAIT } else { 0 },
            flow: OfCri::new(ctx, flow),
            proc,
            consumed: AtomicU64::new(0),
            return_at: (theirs / 2).max(1),
            work,
            base,
            choice: ProtocolChoice::new(ctx),
            rails: Rails::new(base.reached, ctx),
        }
    }

    /// Gives the peer at the other end of a request. `None`: no FIFO was chosen yet.
    pub fn of_request(req: &Request) -> Option<&Peer> {
        // SAFETY: null, or what [`Peer::note_in`] wrote, which is the address of a peer; it stays while a request is under way with it, which is the caller's promise.
        unsafe { req.peer().cast::<Peer>().as_ref() }
    }
    /// Notes in a request that this is the peer at the other end.
    pub fn note_in(&self, req: &Request) {
        // SAFETY: the address of a peer, which stays while the request is under way.
        unsafe { req.set_peer(core::ptr::from_ref(self).cast()) }
    }

    /// Gives what belongs to the holder of the FIFO's CRI. Panics where another CRI is held.
    #[inline(always)]
    pub fn flow<'s>(&'s self, held: &'s mut CriGuard<'_>) -> &'s mut Flow {
        self.flow.get(held)
    }

    /// Gives the number of the FIFO.
    #[inline(always)]
    pub fn ctx(&self) -> u32 {
        self.flow.ctx()
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
        self.link.btl()
    }
    /// Gives the transport that carries headers with its endpoint of the process.
    pub fn link(&self) -> &Link {
        &self.link
    }
    /// Gives the transport's endpoint of the process.
    pub fn endpoint(&self) -> *mut c_void {
        self.link.endpoint()
    }
    /// Gives the largest payload behind a plain MATCH header.
    #[inline(always)]
    pub fn eager_payload(&self) -> u64 {
        u64::from(self.eager_payload)
    }
    /// Gives the tag of eager messages, which may wait for others where the transport understands that.
    #[inline(always)]
    pub fn eager_tag(&self) -> u32 {
        self.eager_tag
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
    pub fn is_failed(&self, held: &mut CriGuard<'_>) -> bool {
        self.flow(held).is_failed()
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

    /// Gives the work that waits on this FIFO's CRI.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// Calls the transport's `send` once, on this FIFO. `NO_RESOURCE`: there is no room now, and nothing was sent.
    #[inline(always)]
    pub fn transmit(&self, held: &mut CriGuard<'_>, parcel: &Parcel<'_>) -> Status {
        debug_assert_eq!(held.ctx(), self.ctx());
        self.link.transmit(held, parcel)
    }

    /// Gives the largest message that goes eagerly, in bytes with its header (first part of a rendezvous:
    /// [`Peer::rndv_limit`]).
    pub fn eager_limit(&self) -> u64 {
        self.eager_payload() + wire::MATCH_BYTES as u64
    }

    /// Gives the largest message that may go eagerly where reading is slow, in bytes with its header; 0 where there is
    /// no choice between copying and reading.
    pub fn copied_limit(&self, held: &mut CriGuard<'_>) -> u64 {
        if chooses(self.btl()) && self.flow(held).may_read() {
            limit(self.btl().attrs().max_send_size, MAX_EAGER)
        } else {
            0
        }
    }

    /// Gives the largest message that the transport takes, in bytes with its header.
    pub fn largest(&self) -> u64 {
        limit(self.btl().attrs().max_send_size, u64::MAX)
    }

    /// Gives the largest first message of a rendezvous, in bytes with its header.
    pub fn rndv_limit(&self) -> u64 {
        limit(self.btl().attrs().rndv_eager_limit, MAX_EAGER)
            .min(limit(self.btl().attrs().max_send_size, MAX_EAGER))
    }

    /// Gives the payload of one fragment in bytes, in whole pages. Where the transport's get varies in cost, its
    /// largest message is longer than a fragment needs to be, and half of it is taken.
    pub fn fragment(&self) -> u64 {
        let largest = limit(self.btl().attrs().max_send_size, MAX_FRAGMENT);
        let varies = self.btl().attrs().flags & BtlAttrs::GET_COST_VARIES != 0;
        let fragment = if varies { largest / 2 } else { largest };
        whole_pages(fragment.saturating_sub(wire::FRAG_BYTES as u64)).max(1)
    }

    /// Notes the oldest stamp of the messages that wait for room on this FIFO, or 0, and tells the receiver that of all FIFOs where it changes.
    pub(super) fn tell_oldest(&self, oldest: u64) {
        self.base.pending.with(|pending| {
            // SYNC POINT with `announced_by` (the transport's release and acquire).
            pending.changed(self.ctx() as usize, oldest, |first| {
                // SAFETY: endpoints stay as long as peers; the lock around `pending` keeps others out.
                unsafe { self.btl().hold(self.endpoint(), first) }
            });
        });
    }

    /// Gives the stamp of the oldest message that the process has for us and found no room for, as the transport shows
    /// it; 0: there is none.
    pub fn announced_stamp(&self) -> u64 {
        if !self.btl().can(cap::HOLD) {
            return 0;
        }
        // SAFETY: endpoints stay as long as peers.
        unsafe { self.btl().held(self.endpoint()) }
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

/// Keeps the fields that every send reads in one line.
const _: () = assert!(core::mem::offset_of!(Peer, flow) == 40);
