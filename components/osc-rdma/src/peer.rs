//! A rank as this process reaches it: mapped memory, or a transport with handles; made at first contact and kept until the window goes.
//!
//! **Lives.** Operations under way name the rank that they are to, and count in one of its lanes, without a share of it: threads would write a line in turns.
//! Instead a table of ranks ([`Peers`]) frees none that has something under way, nor the component's state then; and operations are begun to ranks of a
//! table alone ([`Met`], [`Route`]).

use crate::batch::Batch;
use crate::known_regions::KnownRegions;
use crate::order::Ordered;
use crate::queue::Queue;
use crate::rdma::Rdma;
use crate::writes::{Fences, Kind, Record};
use core::ops::Deref;
use oxmpi_btl::amo::{self, operand};
use oxmpi_btl::{BtlAttrs, BtlHandle, Reach, cap};
use oxmpi_mca::sync::unmodelled::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{CriGuard, Status};
use oxmpi_osc::{Flow, Token};
use oxmpi_osc_support::{Address, HANDLE, RemoteRegistration, TRANSPORTS};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bits of [`Peer::epoch`].
pub mod held_by {
    /// Locked by MPI_Win_lock, or on demand.
    pub const LOCK: u32 = 1;
    /// In the group of MPI_Win_start.
    pub const START: u32 = 2;
}

pub struct Peer {
    pub rank: u32,
    /// The window's memory as it can be loaded and stored here; null: it cannot.
    pub base: Address<u8>,
    pub bytes: u64,
    pub disp_unit: i64,
    /// Address of the window's memory there.
    pub remote: u64,
    pub data: RemoteRegistration,
    /// State words as they can be used here; null: they cannot.
    pub words: Address<AtomicU64>,
    pub remote_words: u64,
    pub state: RemoteRegistration,
    /// Words of a duplicate, in the place of those above but for what windows on the same memory share.
    pub own: Option<Box<OwnWords>>,
    /// `None`: all of it is mapped.
    pub link: Option<Link>,
    /// Bits of [`held_by`].
    pub epoch: AtomicU32,
    /// The first failure of an operation without a request since the last synchronisation.
    failure: AtomicI32,
    /// The rank's `REFUSED` as this process last saw it.
    pub refused: AtomicU64,
    /// Locks of it taken so far, where it is far.
    pub locks: AtomicU32,
    pub ordered: Ordered,
    /// 1: a thread of this process has the rank's `ACCUMULATE` word alone, or is the one that asks for it again.
    pub asks: AtomicU32,
    /// Of a dynamic window, as they were last read.
    pub regions: Mutex<KnownRegions>,
}

/// State words of a duplicate at a rank.
pub struct OwnWords {
    /// As they can be used here; null: they cannot.
    pub words: Address<AtomicU64>,
    pub remote: u64,
    /// By all transports, and by that of [`Peer::link`].
    pub registrations: [RemoteRegistration; TRANSPORTS],
    pub registration: RemoteRegistration,
}

/// The transport to a rank.
pub struct Link {
    pub reach: Reach,
    /// Puts are visible when they are done.
    pub remote_done: bool,
    /// Bytes of the longest list; 0: the transport has none.
    pub lists: u64,
    /// The host carries out atomics there for the transport, by requests.
    pub by_requests: bool,
    /// The transport has no way to update a word but by asking the target's process, so lists go for all atomics, and lists of a context are carried out in the
    /// order of the calls.
    pub lines: bool,
    /// The target's listener (`serve.rs`) can be asked, and nothing is faster.
    pub asks: bool,
    /// The transport reads and writes memory of the node by itself, and asks the process for atomics: two copies are cheaper then than an answer, for which
    /// that process, or its helper, may have to get a core first.
    pub copies: bool,
    /// Lanes with writes that later operations have to come behind.
    pub fences: Fences,
    /// By context.
    pub lanes: Box<[Lane]>,
}

/// The operations under way on one context. Written by the holder of its CRI.
pub struct Lane {
    pub flow: Flow,
    /// 1: something was written since the transport's last flush.
    pub written: AtomicU32,
    /// Locks taken on the way of puts.
    pub put_locks: AtomicU64,
    pub batch: Batch,
    pub record: Record,
    pub queue: Queue,
}

impl Lane {
    fn new(ctx: u32) -> Lane {
        Lane {
            flow: Flow::new(),
            written: AtomicU32::new(0),
            put_locks: AtomicU64::new(0),
            batch: Batch::new(ctx),
            record: Record::new(ctx),
            queue: Queue::new(ctx),
        }
    }

    /// An operation is under way from now on. Panics where another context is held.
    pub fn begin(&self, held: &mut CriGuard<'_>) -> Token {
        self.record.check(held);
        let token = self.flow.next();
        self.flow.count(token);
        token
    }

    /// A flush of the transport's is under way, behind all that was written.
    pub fn flushed(&self, held: &mut CriGuard<'_>) {
        self.written.store(0, Ordering::Release);
        self.record.flush(held, &self.flow);
    }

    /// A put took so many locks. Panics where another context is held.
    pub fn note_put(&self, held: &mut CriGuard<'_>, locks: u64) {
        self.record.check(held);
        self.put_locks.store(self.put_locks.load(Ordering::Relaxed) + locks, Ordering::Relaxed);
    }
}

impl Link {
    pub fn new(reach: Reach, cris: u32) -> Link {
        let attrs = reach.btl().attrs();
        let contexts = attrs.contexts.clamp(1, cris.max(1));
        let by_requests = reach.btl().emulated & cap::ATOMIC != 0;
        Link {
            reach,
            by_requests,
            lines: by_requests && reach.btl().can(cap::LIST) && attrs.flags & BtlAttrs::LISTS_ORDERED != 0,
            asks: by_requests && reach.btl().can(cap::LIST | cap::ASK),
            remote_done: attrs.flags & BtlAttrs::PUT_DONE_IS_REMOTE != 0,
            copies: false,
            fences: Fences::default(),
            lists: if reach.btl().can(cap::LIST) { attrs.list_limit } else { 0 },
            lanes: (0..contexts).map(Lane::new).collect(),
        }
    }

    pub fn contexts(&self) -> u32 {
        self.lanes.len() as u32
    }

    /// Notes writes that operations of other kinds may have to wait for, by address and length. `ends_there`: their end says that they are at the target; `settled`:
    /// they are, or will be, complete for the program without a wait for that.
    pub fn note_writes(
        &self,
        held: &mut CriGuard<'_>,
        kind: Kind,
        ends_there: bool,
        settled: bool,
        places: impl Iterator<Item = (u64, u64)>,
    ) {
        let lane = &self.lanes[held.ctx() as usize];
        for place in places {
            lane.record.add(held, &lane.flow, kind, ends_there, place);
        }
        if settled {
            self.fences.lane_wrote(held.ctx());
        }
    }

    /// The same to a rank of this node.
    pub fn of_node(self) -> Link {
        let emulated = self.reach.btl().emulated;
        let copies = emulated & cap::ATOMIC != 0 && emulated & (cap::GET | cap::PUT) == 0;
        let asks = self.asks && !copies;
        Link { copies, asks, ..self }
    }

    /// Whether the transport has this atomic, for an operand of this kind ([`operand`]).
    pub fn has_atomic(&self, op: u32, kind: u32) -> bool {
        let attrs = self.reach.btl().attrs();
        attrs.amo_ops >> op & 1 != 0 && attrs.amo_operands & kind != 0
    }
}

/// Whether a transport does what this component needs of one.
pub fn is_fit(btl: &BtlHandle) -> bool {
    let attrs = btl.attrs();
    let ops = 1 << amo::ADD | 1 << amo::COMPARE_SWAP;
    let operands = operand::U64 | operand::U32;
    btl.can(cap::GET | cap::PUT | cap::ATOMIC)
        && (btl.can(cap::FLUSH) || attrs.flags & BtlAttrs::PUT_DONE_IS_REMOTE != 0)
        && attrs.flags & BtlAttrs::AMO_COHERENT != 0
        && attrs.amo_ops & ops == ops
        && attrs.amo_operands & operands == operands
        && attrs.put_alignment <= 1
        && attrs.get_alignment <= 1
        && attrs.registration_handle_size as usize <= HANDLE
}

impl Peer {
    pub fn note_failure(&self, status: Status) {
        let _ = self.failure.compare_exchange(0, status.0, Ordering::AcqRel, Ordering::Relaxed);
    }

    pub fn take_failure(&self) -> Status {
        if self.failure.load(Ordering::Acquire) == 0 {
            return Status::OK;
        }
        Status(self.failure.swap(0, Ordering::AcqRel))
    }

    /// Another thread of this process may ask for the `ACCUMULATE` word.
    pub fn may_ask(&self) {
        // SYNC POINT with `Call::claim`.
        self.asks.store(0, Ordering::Release);
    }

    pub fn is_idle(&self) -> bool {
        self.link.as_ref().is_none_or(|link| link.lanes.iter().all(|lane| lane.flow.is_empty()))
    }

    /// Nothing is known yet but the number.
    pub fn new(rank: u32) -> Peer {
        Peer {
            rank,
            base: Address::NULL,
            bytes: 0,
            disp_unit: 1,
            remote: 0,
            data: RemoteRegistration::NONE,
            words: Address::NULL,
            remote_words: 0,
            state: RemoteRegistration::NONE,
            own: None,
            link: None,
            epoch: AtomicU32::new(0),
            failure: AtomicI32::new(0),
            refused: AtomicU64::new(0),
            locks: AtomicU32::new(0),
            ordered: Ordered::default(),
            asks: AtomicU32::new(0),
            regions: Mutex::default(),
        }
    }
}

/// A rank that a table keeps.
#[derive(Clone, Copy)]
pub struct Met<'a> {
    rdma: &'a Rdma,
    peer: &'a Peer,
}

impl<'a> Met<'a> {
    pub fn peer(self) -> &'a Peer {
        self.peer
    }

    /// The way to it by a transport; `None`: all of it is mapped.
    pub fn route(self) -> Option<Route<'a>> {
        self.peer.link.as_ref().map(|link| Route { met: self, link })
    }
}

impl Deref for Met<'_> {
    type Target = Peer;
    fn deref(&self) -> &Peer {
        self.peer
    }
}

/// The way to a rank that a table keeps: the transport that reaches it.
#[derive(Clone, Copy)]
pub struct Route<'a> {
    met: Met<'a>,
    link: &'a Link,
}

impl<'a> Route<'a> {
    pub fn met(self) -> Met<'a> {
        self.met
    }
    pub fn peer(self) -> &'a Peer {
        self.met.peer
    }
    pub fn link(self) -> &'a Link {
        self.link
    }
    /// The component's state, which is there as long as the rank.
    pub fn rdma(self) -> &'a Rdma {
        self.met.rdma
    }
    /// The lane of a context.
    pub fn lane(self, ctx: u32) -> &'a Lane {
        &self.link.lanes[ctx as usize]
    }
}

/// The ranks of a window that this process has met. It frees none that has something under way: what that ends in stays.
pub struct Peers {
    pub rdma: Arc<Rdma>,
    table: Table,
}

/// A place for each rank where there are few, by number where there are many.
enum Table {
    Few(Box<[AtomicPtr<Peer>]>),
    Many(Mutex<HashMap<u32, Box<Peer>>>),
}

/// So many have a place each.
const FEW: u32 = 256;

impl Peers {
    pub fn new(rdma: Arc<Rdma>, ranks: u32) -> Peers {
        let table = match ranks {
            0..=FEW => Table::Few((0..ranks).map(|_| AtomicPtr::default()).collect()),
            _ => Table::Many(Mutex::default()),
        };
        Peers { rdma, table }
    }

    /// A table for one rank.
    pub fn of_one(rdma: Arc<Rdma>) -> Peers {
        Peers { rdma, table: Table::Many(Mutex::default()) }
    }

    fn met<'a>(&'a self, peer: &'a Peer) -> Met<'a> {
        Met { rdma: &self.rdma, peer }
    }

    /// A rank that has a place of its own, and was met.
    #[inline(always)]
    pub fn near(&self, rank: u32) -> Option<&Peer> {
        match &self.table {
            // SAFETY: `keep` has put it there for as long as the table is. SYNC POINT with `keep`.
            Table::Few(all) => unsafe { all.get(rank as usize)?.load(Ordering::Acquire).as_ref() },
            Table::Many(_) => None,
        }
    }

    #[inline(always)]
    pub fn get(&self, rank: u32) -> Option<Met<'_>> {
        let peer = match &self.table {
            Table::Few(_) => self.near(rank),
            Table::Many(all) => held(all).get(&rank).map(|peer| self.kept(peer)),
        };
        peer.map(|peer| self.met(peer))
    }

    /// A rank in its box, which stays where it is until the table goes.
    fn kept<'a>(&'a self, peer: &Peer) -> &'a Peer {
        let peer: *const Peer = peer;
        // SAFETY: no box is taken out or replaced.
        unsafe { &*peer }
    }

    /// Keeps a peer, unless another thread has met it meanwhile; the one that is kept.
    pub fn keep(&self, peer: Peer) -> Result<Met<'_>, Status> {
        let (rank, peer) = (peer.rank, Box::new(peer));
        match &self.table {
            Table::Few(all) => {
                let place = all.get(rank as usize).ok_or(Status::BAD_PARAM)?;
                let made = Box::into_raw(peer);
                // SYNC POINT with `get`.
                let kept =
                    place.compare_exchange(core::ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire);
                if kept.is_err() {
                    // SAFETY: nobody has seen it.
                    drop(unsafe { Box::from_raw(made) });
                }
            }
            Table::Many(all) => {
                held(all).entry(rank).or_insert(peer);
            }
        }
        self.get(rank).ok_or(Status::INTERNAL)
    }

    /// All that were met.
    pub fn all(&self) -> Vec<Met<'_>> {
        match &self.table {
            Table::Few(all) => (0..all.len() as u32).filter_map(|rank| self.get(rank)).collect(),
            Table::Many(all) => held(all).values().map(|peer| self.met(self.kept(peer))).collect(),
        }
    }
}

impl Drop for Peers {
    /// A window that is given back without communication may have operations under way, which end some time.
    fn drop(&mut self) {
        let free = |peer: Box<Peer>| {
            if !peer.is_idle() {
                core::mem::forget(peer);
                core::mem::forget(self.rdma.clone());
            }
        };
        match &mut self.table {
            Table::Few(all) => {
                for place in all {
                    let peer = place.load(Ordering::Acquire);
                    if !peer.is_null() {
                        // SAFETY: from a box, in `keep`; nobody borrows from the table any more.
                        free(unsafe { Box::from_raw(peer) });
                    }
                }
            }
            Table::Many(all) => {
                let all = all.get_mut().unwrap_or_else(PoisonError::into_inner);
                all.drain().for_each(|(_, peer)| free(peer));
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn peers_are_met_once() {
        for ranks in [4, 1000] {
            let peers = Peers::new(Arc::new(crate::rdma::tests::without_host()), ranks);
            assert!(peers.get(3).is_none() && peers.get(5000).is_none());
            let first = peers.keep(Peer::new(3)).expect("kept").peer();
            assert!(core::ptr::eq(first, peers.keep(Peer::new(3)).expect("kept").peer()));
            assert_eq!(peers.all().len(), 1);
        }
    }

    #[test]
    fn the_first_failure_is_told_once() {
        let peer = Peer::new(0);
        peer.note_failure(Status::RMA_RANGE);
        peer.note_failure(Status::PEER_FAILED);
        assert_eq!((peer.take_failure(), peer.take_failure()), (Status::RMA_RANGE, Status::OK));
    }
}
