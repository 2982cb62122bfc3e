//! The objects of the component and their fields. They refer to each other, so they stand together; what each does is in the file that is named
//! for it, beside this one.
//!
//! **Access.** A [`Cell`] or [`Guarded`] of a [`Peer`] or [`Cri`] belongs to the holder of that CRI's lock. The state of a [`Request`] says who owns
//! its fields (`request.rs`). A [`ThreadState`] is its thread's. Of a [`Comm`], shards have locks of their own (`receive/shards.rs`), and the rest is atomic
//! or written once.

use crate::matching::{Key, Posted};
use crate::order::fork::Users;
use crate::order::signals::{Passed, Pending, Switch};
use crate::order::stamp::Lease;
use crate::peers::choice::ProtocolChoice;
use crate::peers::stripes::{FragmentsAhead, Rails};
use crate::receive::incoming::Incoming;
use crate::receive::shard::ShardData;
use crate::receive::shards::{Shards, Spot};
use crate::requests::links::FreeList;
use crate::requests::memory::{Memory, Retired};
use crate::state::attention::{Attention, SharedFlag};
use crate::state::fifos::{Fifos, SHARDS};
use crate::state::guarded::Guarded;
use crate::state::inbound::Inbound;
use crate::state::members::Members;
use crate::state::note::Note;
use crate::state::orphan::Orphan;
use crate::state::paged::Paged;
use crate::wire::Header;
use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::ptr::NonNull;
use oxmpi_btl::{BtlHandle, Reach, SendDesc};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};
use oxmpi_mca::{Lock, RequestHeader, Status};
use std::collections::{BTreeSet, VecDeque};

/// States of a request; `request.rs` has the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    Free,
    Posted,
    Queued,
    WaitAck,
    WaitFin,
    WaitPut,
    Streaming,
    Asking,
    Receiving,
    Offering,
    Exposed,
    Pulling,
    Pushing,
    Flushing,
    Landing,
    Done,
}

/// How the pieces of a get or put went: the worst that happened to one of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Outcome {
    Fine,
    /// The transport would not take a piece; those before went well.
    Refused,
    /// The transport refused a piece that was under way.
    Lost,
    /// A piece failed.
    Broken,
    /// The communicator was revoked.
    Revoked,
}

/// A request; `request.rs` says who may touch what. The first two cache lines are all that an eager receive touches.
#[repr(C, align(64))]
pub struct Request {
    pub header: UnsafeCell<RequestHeader>,
    pub posted: UnsafeCell<Posted>,
    pub buf: Cell<*mut u8>,
    /// Bytes: of the message (send) or of the buffer (receive).
    pub total: Cell<u64>,
    // --- third line ---
    pub state: Cell<State>,
    /// Set by `release` below MULTIPLE while pending.
    pub released: Cell<bool>,
    /// How the pieces of a get or put went so far.
    pub outcome: Cell<Outcome>,
    /// A send that the receiver was asked to give back.
    pub asked_back: Cell<bool>,
    pub mode: Cell<u32>,
    /// The datatype, retained, where data is not contiguous; else null.
    pub dtype: Cell<*const TypeDesc>,
    /// The next free one, or of those that landed.
    pub next: Cell<*const Request>,
    /// Where it goes when it is free.
    pub thread_state: &'static ThreadState,
    pub count: Cell<u64>,
    pub comm: Cell<*const Comm>,
    pub route: Cell<*const Route>,
    pub tag: Cell<i32>,
    /// Pieces of a get or put under way.
    pub pulls: Cell<u32>,
    /// Bytes sent, or received in order.
    pub done: Cell<u64>,
    /// Bytes that will be moved in all.
    pub wanted: Cell<u64>,
    // --- fourth line: long messages ---
    pub id: Cell<u64>,
    pub remote_id: Cell<u64>,
    pub remote_addr: Cell<u64>,
    /// Process at the other end of a rendezvous.
    pub proc: Cell<u32>,
    /// The request is on a list of those that go on by themselves: its peer's streams, or what landed on its CRI.
    pub listed: Cell<bool>,
    /// The FIFO to the other end, once it is chosen.
    pub peer: Cell<*const Peer>,
    /// A send's stamp, or 0.
    pub order: Cell<u64>,
    /// Registered memory, or null (`registration.rs`).
    pub memory: Cell<*mut Memory>,
}

/// Slots behind the request ids that peers quote: slot and generation, never a pointer.
#[derive(Default)]
pub struct IdTable {
    pub slots: Vec<IdSlot>,
    pub free: Vec<u32>,
}

/// A slot of the table of request ids: its generation, and the request that has the id.
pub struct IdSlot {
    pub generation: u32,
    pub req: Option<&'static Request>,
}

/// A message whose request is known and whose end has not come yet.
#[derive(Clone, Copy)]
pub struct Streamed {
    pub req: &'static Request,
    /// Bytes of its header.
    pub header: u64,
    /// Where its payload goes in the request's buffer, and how much of that there is room for.
    pub at: u64,
    pub room: u64,
    pub part: StreamedPart,
}

/// The part of a message that is streamed: all of it, its first part, or a fragment.
#[derive(Clone, Copy)]
pub enum StreamedPart {
    /// Matched and complete: the request is over with it, but for an answer that the sender may wait for.
    Whole(Incoming),
    /// Matched, as the first part of a message whose fragments its sender has been asked for.
    First,
    /// A fragment of a message that was matched before.
    Fragment,
}

/// A process on one FIFO (`peer.rs`).
#[repr(C, align(64))]
pub struct Peer {
    // Fields that every send reads: one cache line.
    pub send: extern "C" fn(*mut c_void, *mut c_void, u32, *const SendDesc) -> Status,
    pub state: *mut c_void,
    pub endpoint: *mut c_void,
    /// Largest payload behind a plain MATCH header.
    pub eager_payload: u64,
    /// Bytes of eager payload (messages above [`FREE_BYTES`](crate::wire::FREE_BYTES)) we may still send.
    pub credit: Cell<u64>,
    /// Requests in `queue`; while there are any, later ones go behind them. [`Peer::SHUT`] once failed,
    /// so that the short way, which looks at nothing else, is closed.
    pub queued: Cell<u32>,
    pub proc: u32,
    /// The process broke the protocol or its transport failed.
    pub failed: Cell<bool>,
    /// The process cannot read our memory; do not offer RGET again.
    pub no_rget: Cell<bool>,
    /// We cannot read its memory.
    pub no_get: Cell<bool>,
    pub in_backlog: Cell<bool>,
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
    /// The CRI of the FIFO, which lives as long as the module: the host's, and ours.
    pub cri: NonNull<oxmpi_mca::Cri>,
    pub state_of_cri: NonNull<Cri>,
    /// Small messages of ours that found no room.
    pub control: Guarded<VecDeque<Header>>,
    /// Long sends and pulls that go on when there is room.
    pub streams: Guarded<VecDeque<&'static Request>>,
    /// The stamp that the receiver was told last (`queue_changed`).
    pub oldest: Cell<u64>,
    pub base: &'static Base,
    pub choice: ProtocolChoice,
    /// The message from it of which a part is here.
    pub streamed: Guarded<Option<Streamed>>,
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
    /// We send on several FIFOs (`switch.rs`).
    pub switch: Switch,
    /// The process sends on several FIFOs: its SWITCH was seen.
    pub peers_switch: Passed,
    /// The process broke the protocol or its transport failed.
    pub lost: AtomicBool,
    /// A leaf, taken where stamped messages wait for room.
    pub pending_lock: Lock,
    pub pending: UnsafeCell<Pending>,
    /// The peers by FIFO; made when first used.
    pub flows: Box<[AtomicPtr<Peer>]>,
    /// The FIFO of messages that go by their tags, by the shard of (communicator, tag), once one went there. `None`:
    /// there is only one FIFO.
    pub shard_fifos: Option<Box<[AtomicPtr<Peer>; SHARDS as usize]>>,
    pub our_credit: u64,
    pub their_credit: u64,
    /// The transports that reach it, best first: the host's list, which stays.
    pub reached: &'static [Reach],
}

/// The way to one rank of a communicator (`route.rs`).
#[derive(Default)]
pub struct Route {
    pub peer: AtomicPtr<Peer>,
    /// Word 0 of a MATCH header to it; has the prefix flag while its index is unknown.
    pub head: AtomicU64,
    /// The `salt` of the FIFOs of our messages to the rank ([`Fifos::salt_to`]). Written before the peer.
    pub salt: AtomicU32,
    /// We told it our index.
    pub answered: AtomicBool,
    /// Messages to it that have a number (`numbered.rs`).
    pub numbered: AtomicU64,
    /// Which FIFOs our messages to it take.
    pub fork: Switch,
    /// Its messages to us take the FIFOs of their tags: the SWITCH of these was seen.
    pub forked: Passed,
}

/// A communicator (`comm.rs`).
pub struct Comm {
    /// Endpoint and index, as [`wire::address_of`](crate::wire::address_of) gives them.
    pub address: u64,
    pub my_rank: i32,
    pub num_peers: u32,
    /// The program's promises ([`oxmpi_pml::assert_flag`]).
    pub assertions: AtomicU32,
    pub shards: Shards<ShardData>,
    pub routes: Paged<Route>,
    /// Messages of each source that wait for an earlier one, where they have numbers.
    pub inbound: Paged<Inbound>,
    /// The process sends by streams, and users' messages may not overtake each other.
    pub by_tag: AtomicBool,
    pub streams: bool,
    /// See [`Comm::epoch`].
    pub epoch: AtomicU64,
    /// See `revoke.rs`.
    pub revoked: AtomicBool,
    /// The threads that send on it.
    pub users: Users,
    /// Some source's messages take the FIFOs of their tags.
    pub forked: AtomicBool,
    pub members: Members,
    pub fixed_index: Option<u32>,
    pub gid: [u64; 2],
    /// Another rank of the same communicator in this process, under the same fixed index.
    pub sibling: Cell<*mut Comm>,
    /// The FIFOs of messages to this rank and from it.
    pub fifos: Fifos,
}

/// State of a thread, or of all calls without a context (`thread_state.rs`).
pub struct ThreadState {
    pub free: FreeList<Request>,
    /// The number of the thread, as the host counts them; the largest for the state of calls without one.
    pub index: u32,
    pub lock: Lock,
    /// How it stamps its messages (`stamp.rs`).
    pub lease: Lease,
    /// The thread's view when it last looked after others' CRIs (`cri_choice.rs`).
    pub attention: Attention,
    /// Where what it received last comes, and where what it sent last went (`state/note.rs`).
    pub received: Note<Received>,
    pub sent: Note<Sent>,
}

/// A thread's note of a send: the FIFO that messages with that tag take to that rank, and their head. Good until the
/// module is finalized.
#[derive(Clone, Copy)]
pub struct Sent {
    pub peer: &'static Peer,
    pub head: u64,
}

/// A thread's note of a receive. Good until the module is finalized.
#[derive(Clone, Copy)]
pub struct Received {
    /// The CRI on which the messages come.
    pub cri: &'static Cri,
    /// Where they are matched, once that was seen.
    pub spot: Option<Spot<ShardData>>,
}

/// A CRI's note of the last plain message: where those with its head and key go. Touched by the holder of its lock.
pub struct ArrivalCache {
    pub head: Cell<u64>,
    pub key: Cell<Key>,
    pub comm: Cell<*const Comm>,
    pub spot: Cell<Option<Spot<ShardData>>>,
}

/// Data of the holder of one CRI's lock.
#[repr(align(128))]
pub struct Cri {
    /// Its number.
    pub ctx: u32,
    /// The host's part, with the lock.
    pub base: NonNull<oxmpi_mca::Cri>,
    /// Peers with something waiting for room.
    pub backlog: Guarded<Vec<*const Peer>>,
    pub ids: Guarded<IdTable>,
    /// Messages for communicators to come.
    pub orphans: Guarded<Vec<Orphan>>,
    /// Messages that went with their communicator, by process and the sender's request (`cancel.rs`).
    pub discarded: Guarded<BTreeSet<(u32, u64)>>,
    /// Messages that came before their sender's SWITCH (`switch.rs`).
    pub early: Guarded<Vec<Orphan>>,
    /// Ids of requests that ended with their communicator.
    pub retired: Guarded<Retired>,
    /// Fragments that came ahead of their turn (`stripes.rs`).
    pub ahead: Guarded<FragmentsAhead>,
    /// How many of the lost peers were closed on this CRI.
    pub closed: Cell<u32>,
    pub turns: Cell<u32>,
    /// Messages that came and no receive fitted.
    pub kept: Cell<u32>,
    /// The answer of the transport's callback: `receive::STOP` where the receives that come next are to be posted
    /// first.
    pub stop: Cell<u32>,
    /// The receive that was posted last of those whose messages come here, as far as that is known. A hint: written
    /// without a lock.
    pub newest: AtomicPtr<Request>,
    /// Work that waits beside messages: [`Cri::BACKLOG`] … The holder of the lock writes it.
    pub waiting: AtomicU32,
    /// Requests of which pieces landed (`rdma.rs`), linked.
    pub landed: Cell<*const Request>,
    /// Pieces under way.
    pub flying: Cell<u32>,
    pub shared: SharedFlag,
    /// Messages without stamp that were numbered.
    pub numbered: Cell<u64>,
    /// Where the last plain message of a process with several threads went (`receive/arrive.rs`).
    pub last_arrival: ArrivalCache,
    /// Spent on matching what came here; the holder of the lock writes it.
    pub match_time: AtomicU64,
}
