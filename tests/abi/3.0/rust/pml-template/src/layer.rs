//! State of a layer: its communicators, and the operations that are under way.
//!
//! **Locks.** One lock guards all of it, a leaf but for the pool's: under it requests are completed and transports' `send` is called, which call nobody back. A thread
//! that sends holds the CRI of context 0 first ([`FIFO`]); so frames go out in the order in which they were put into the outbox, whoever sends them. A layer for
//! many threads has a lock for each communicator, and a context for each thread.
//!
//! **Ends.** An operation is ended by completing its [`Open`], which its map or list owns: whoever takes it out ends it, so none is ended twice.

use crate::matching::{Matching, Waiting};
use crate::outbox::{Item, Outbox, Queue};
use crate::wire::Address;
use oxmpi_mca::{Host, MsgStatus, Status};
use oxmpi_pml::simple::{Links, Open, Pool, Turns};
use std::collections::btree_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The longest message that goes whole, in bytes: its receiver keeps it if no receive is there. Longer ones take as little room as they are many.
pub const WHOLE: u64 = 512;
/// The context that all messages take.
pub const FIFO: u32 = 0;

/// A communicator, as verbs get it. [`State`] has all of it that changes.
pub struct Comm {
    /// Ours: how others name this rank in it.
    pub own: Address,
    pub rank: i32,
    /// Process and address of each rank that sends may name.
    pub peers: Box<[(u32, Address)]>,
}

/// A send that was announced.
pub struct Sending {
    pub open: Open,
    pub proc: u32,
    pub comm: Address,
    /// Its receive has asked for the data: it cannot be cancelled any more.
    pub wanted: bool,
}

/// A receive that met its message, whose data is under way.
pub struct Receiving {
    pub open: Open,
    pub proc: u32,
    pub comm: Address,
    /// Bytes that were asked for, and that have come.
    pub wanted: u64,
    pub got: u64,
    /// How it ends when all is here.
    pub status: MsgStatus,
}

/// An inactive persistent operation.
#[derive(Clone, Copy)]
pub struct Resting {
    pub comm: Address,
    /// The peer's rank.
    pub rank: i32,
    pub tag: i32,
    /// Of a send; a receive has none.
    pub mode: Option<u32>,
}

/// Everything that changes.
#[derive(Default)]
pub struct State {
    pub comms: HashMap<Address, (Arc<Comm>, Matching)>,
    /// Announcements to communicators that this process has not made yet.
    pub early: Vec<Waiting>,
    /// By the number of the operation.
    pub sends: HashMap<u64, Sending>,
    pub receives: HashMap<u64, Receiving>,
    /// By the number of the request.
    pub resting: HashMap<usize, Resting>,
    pub outbox: Outbox,
    pub failed: HashSet<u32>,
    pub revoked: HashSet<Address>,
}

/// The layer.
pub struct Template {
    pub host: Host,
    pub pool: Pool,
    state: Mutex<State>,
    enabled: OnceLock<(Links, Turns)>,
}

impl Template {
    pub fn new(host: Host) -> Template {
        Template { host, pool: Pool::new(host), state: Mutex::default(), enabled: OnceLock::new() }
    }

    /// Takes what `enable` brings.
    pub fn start(&self, links: Links) -> Turns {
        self.enabled.get_or_init(|| (links, Turns::new(self.host.num_cris()))).1
    }

    pub fn turns(&self) -> Option<Turns> {
        self.enabled.get().map(|(_, turns)| *turns)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts something into the outbox. A process that no transport reaches has failed.
    pub fn put(&self, state: &mut State, proc: u32, item: Item) -> Result<(), Status> {
        if state.failed.contains(&proc) {
            return Err(Status::PEER_FAILED);
        }
        let queue = match state.outbox.entry(proc) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let (links, _) = self.enabled.get().ok_or(Status::INTERNAL)?;
                new.insert(Queue { link: links.to(proc)?, items: VecDeque::new() })
            }
        };
        queue.items.push_back(item);
        Ok(())
    }
}

impl State {
    /// The matching of a communicator that lives.
    pub fn matching(&mut self, comm: Address) -> Option<&mut Matching> {
        self.comms.get_mut(&comm).map(|(_, matching)| matching)
    }

    /// The process and address of a rank of a communicator.
    pub fn peer(&self, comm: Address, rank: i32) -> Result<(u32, Address), Status> {
        let (comm, _) = self.comms.get(&comm).ok_or(Status::BAD_PARAM)?;
        comm.peers.get(rank as usize).copied().ok_or(Status::BAD_PARAM)
    }

    /// Whether nothing can come from a rank of a communicator any more; of any rank: from all others.
    pub fn is_lost(&self, comm: Address, rank: i32, me: u32) -> bool {
        if self.revoked.contains(&comm) {
            return true;
        }
        let Some((comm, _)) = self.comms.get(&comm) else { return true };
        let lost = |(proc, _): &(u32, Address)| self.failed.contains(proc);
        match comm.peers.get(rank as usize) {
            Some(peer) if rank >= 0 => lost(peer),
            _ => {
                let mut others = comm.peers.iter().filter(|(proc, _)| *proc != me).peekable();
                others.peek().is_some() && others.all(lost)
            }
        }
    }

    /// Ends, with PEER_FAILED, operations that are under way and of which `is_it` says so by process and communicator.
    pub fn end_lost(&mut self, is_it: impl Fn(u32, Address) -> bool) {
        for (_, send) in self.sends.extract_if(|_, send| is_it(send.proc, send.comm)) {
            send.open.complete(failure(Status::PEER_FAILED));
        }
        for (_, receive) in self.receives.extract_if(|_, receive| is_it(receive.proc, receive.comm)) {
            receive.open.complete(failure(Status::PEER_FAILED));
        }
        for (_, matching) in self.comms.values_mut() {
            matching.waiting.retain(|w| !is_it(w.proc, w.announce.to));
        }
        self.early.retain(|w| !is_it(w.proc, w.announce.to));
    }

    /// Ends, with PEER_FAILED, receives that were posted and that nothing can come for any more.
    pub fn end_hopeless(&mut self, me: u32) {
        let all: Vec<Address> = self.comms.keys().copied().collect();
        for comm in all {
            let Some((_, matching)) = self.comms.get(&comm) else { continue };
            let named = matching.posted.iter().map(|posted| posted.pattern.source);
            let lost: HashSet<i32> = named.filter(|rank| self.is_lost(comm, *rank, me)).collect();
            let Some(matching) = self.matching(comm) else { continue };
            for open in matching.drain_posted(|posted| lost.contains(&posted.pattern.source)) {
                open.complete(failure(Status::PEER_FAILED));
            }
        }
    }
}

/// The status of an operation that failed.
pub fn failure(error: Status) -> MsgStatus {
    MsgStatus { error, ..MsgStatus::EMPTY }
}

/// The status of an operation that was cancelled.
pub const CANCELLED: MsgStatus = MsgStatus { cancelled: 1, ..MsgStatus::EMPTY };
