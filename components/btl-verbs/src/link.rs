//! Peers, and links to them: a link is a queue pair between a lane here and a lane there, for one purpose.
//!
//! **Life of a link.** *Idle* → *calling*, when something is first to be sent and the thread of `connect.rs` has been asked → *made*, when
//! that thread has a connected queue pair, by our call or by the peer's → *taken*, when the lane's holder has it. The holder keeps the state of a link in
//! its [`Side`], which lies in the lane's data under the link's number there. The caller's side may send at once, and begins with a message
//! of no bytes; the called one may when that has come. A link of messages that breaks is the end of its peer; a link of one-sided operations goes
//! back to *calling*, with the operations that were behind the failed one.

use crate::objects::Pair;
use crate::ring::{RingIn, RingOut};
use crate::wire::{Place, Purpose};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use oxmpi_btl::{Completion, Loss};
use oxmpi_mca::ProcName;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Locks a mutex; a panic elsewhere does not matter to what is inside.
pub fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// State that all links to a process share.
pub struct Core {
    pub proc: u32,
    pub name: ProcName,
    /// Our name is the lower one: where both sides call at once, our call is kept.
    pub first: bool,
    /// Its port; not known before `add_proc` or its first call.
    pub place: OnceLock<Place>,
    pub loss: Loss,
    /// It has said good-bye.
    pub gone: AtomicBool,
}

impl Core {
    /// Whether nothing can be sent to it any more.
    pub fn is_out(&self) -> bool {
        self.loss.is_declared() || self.gone.load(Ordering::Acquire)
    }
}

/// Purpose, our lane, their lane.
pub type LinkKey = (Purpose, u16, u16);

/// A process with our links to it.
pub struct Peer {
    pub core: Arc<Core>,
    links: Mutex<HashMap<LinkKey, Arc<Link>>>,
    /// By our lane, those that we use; made when first used.
    pub messages: Box<[OnceLock<Arc<Link>>]>,
    pub memory: Box<[OnceLock<Arc<Link>>]>,
    pub service: Box<[OnceLock<Arc<Link>>]>,
}

impl Peer {
    pub fn new(core: Core, lanes: usize) -> Peer {
        let links = || (0..lanes).map(|_| OnceLock::new()).collect();
        Peer {
            core: Arc::new(core),
            links: Mutex::default(),
            messages: links(),
            memory: links(),
            service: links(),
        }
    }

    pub fn link(&self, key: LinkKey) -> Arc<Link> {
        held(&self.links).entry(key).or_insert_with(|| Arc::new(Link::new(self.core.clone(), key))).clone()
    }

    pub fn all(&self) -> Vec<Arc<Link>> {
        held(&self.links).values().cloned().collect()
    }
}

/// The endpoint that verbs of the contract get. Several may be of one process.
pub struct VerbsEndpoint {
    /// The number of the port that it leads to.
    pub partner: u32,
    pub peer: Arc<Peer>,
}

/// Requests of a service link without a reply at most.
pub const SERVICE_ROOM: u32 = 16;

const IDLE: u8 = 0;
const CALLING: u8 = 1;
const MADE: u8 = 2;
const TAKEN: u8 = 3;

/// A connected queue pair, as the connecting thread hands it over.
pub struct Made {
    pub pair: Pair,
    /// We have called, so we may send at once.
    pub called: bool,
    /// Messages that the peer has room for, and that we have given it room for.
    pub credits: u32,
    pub granted: u32,
}

pub struct Link {
    pub peer: Arc<Core>,
    pub purpose: Purpose,
    pub ours: u16,
    pub theirs: u16,
    state: AtomicU8,
    /// Number of the call, by which a later one is told from an earlier one.
    pub attempt: AtomicU32,
    made: Mutex<Option<Made>>,
    /// Number of its side in the data of our lane, once the lane's holder has met it.
    pub number: OnceLock<usize>,
}

impl Link {
    fn new(peer: Arc<Core>, key: LinkKey) -> Link {
        Link {
            peer,
            purpose: key.0,
            ours: key.1,
            theirs: key.2,
            state: AtomicU8::new(IDLE),
            attempt: AtomicU32::new(0),
            made: Mutex::default(),
            number: OnceLock::new(),
        }
    }

    /// Idle → calling. False: it was not idle.
    pub fn call(&self) -> bool {
        let was = self.state.compare_exchange(IDLE, CALLING, Ordering::AcqRel, Ordering::Acquire);
        if was.is_ok() {
            self.attempt.fetch_add(1, Ordering::AcqRel);
        }
        was.is_ok()
    }
    pub fn is_calling(&self) -> bool {
        self.state.load(Ordering::Acquire) == CALLING
    }
    /// Whether the peer may make it: nobody has yet.
    pub fn is_open(&self) -> bool {
        self.state.load(Ordering::Acquire) <= CALLING
    }
    /// Idle or calling → made.
    pub fn hand_over(&self, made: Made) {
        *held(&self.made) = Some(made);
        self.state.store(MADE, Ordering::Release);
    }
    /// Made → taken, by the lane's holder.
    pub fn take(&self) -> Option<Made> {
        if self.state.load(Ordering::Acquire) != MADE {
            return None;
        }
        let made = held(&self.made).take();
        self.state.store(TAKEN, Ordering::Release);
        made
    }
    /// Whether its pair may go: the peer is lost. Messages of one that has said good-bye, perhaps by another link, may lie here still.
    pub fn is_over(&self) -> bool {
        let expected = self.purpose != Purpose::Memory && self.peer.gone.load(Ordering::Acquire);
        self.peer.loss.is_declared() && !expected
    }
    /// Taken → idle, by the lane's holder: its pair is gone.
    pub fn reopen(&self) {
        self.state.store(IDLE, Ordering::Release);
    }
}

/// A one-sided operation under way, with all that is needed to issue it again.
pub struct Op {
    pub number: u64,
    pub opcode: u32,
    pub local: u64,
    pub lkey: u32,
    pub len: u32,
    pub remote: u64,
    pub rkey: u32,
    pub operands: [u64; 2],
    pub ctx: u16,
    pub done: Completion,
}

/// A link as the holder of its lane sees it.
pub struct Side {
    pub link: Arc<Link>,
    pub pair: Option<Pair>,
    /// It may send.
    pub up: bool,
    /// Messages that may still be sent; that the peer may have sent to us; that we have taken and not told.
    pub credits: u32,
    pub granted: u32,
    pub owed: u32,
    /// It is on the list of those that owe credits.
    pub owing: bool,
    /// Numbers of the last request posted, and of the last complete one.
    pub posted: u64,
    pub complete: u64,
    /// Requests since the last that reports its completion.
    pub quiet: u32,
    /// Send buffers under way, by request.
    pub buffers: VecDeque<(u64, u32)>,
    /// One-sided operations under way; the last `unposted` of them are not with the device.
    pub ops: VecDeque<Op>,
    pub unposted: usize,
    pub listed: bool,
    /// Requests on a service link without a reply; and those of them that wait for the connection or for room: context, tag, bytes.
    pub asked: u32,
    pub waiting: VecDeque<(u16, u8, Box<[u8]>)>,
    /// Numbers of the next message that goes out and that comes in.
    pub said: u32,
    pub heard: u32,
    /// The peer's ring and ours; see `polling.rs`.
    pub ring_out: Option<RingOut>,
    pub ring_in: Option<RingIn>,
    /// Messages by the queue since the ring was left, or from the start.
    pub hot: u32,
    /// Slots that we have emptied and not told.
    pub emptied: u32,
    /// The peer is to hear that we write no more.
    pub leaves_ring: bool,
}

impl Side {
    pub fn new(link: Arc<Link>) -> Side {
        Side {
            link,
            pair: None,
            up: false,
            credits: 0,
            granted: 0,
            owed: 0,
            owing: false,
            posted: 0,
            complete: 0,
            quiet: 0,
            buffers: VecDeque::new(),
            ops: VecDeque::new(),
            unposted: 0,
            listed: false,
            asked: 0,
            waiting: VecDeque::new(),
            said: 0,
            heard: 0,
            ring_out: None,
            ring_in: None,
            hot: 0,
            emptied: 0,
            leaves_ring: false,
        }
    }

    /// Whether the peer should hear by a frame of its own what we have taken. `slots`: of a ring.
    pub fn owes(&self, slots: u32) -> bool {
        let credits = self.owed > 0 && self.owed * 2 >= self.granted;
        credits || self.emptied > 0 && self.emptied * 2 >= slots || self.leaves_ring
    }
}
