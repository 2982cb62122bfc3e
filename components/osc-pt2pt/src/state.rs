//! One window's state behind one lock, and what is sent under it; and the state that all windows of an instance share.
//!
//! **One lock per window.** Everything that changes stands in [`State`] under a mutex: peers, messages, epochs.
//! Exposed memory is apart, since windows on the same memory share it ([`Core::exposed`]).
//! Verbs hold it while they issue an operation, progress while it carries operations out, which makes them atomic to each other. Under
//! it messages are begun and tested, never waited for; it is taken behind no other lock of ours but the list of windows, and
//! before those of the PML and the pool of requests. Progress takes it only if it is free, so a call of the PML that makes
//! progress by itself while we hold the lock finds it taken and goes on.
//!
//! **Waiting.** A thread that waits asks whether `changes` has moved before it takes the lock ([`Core::wait_until`]): those who wait
//! do not stand in the way of the one who does what they wait for. The state that is locked to send something ([`LockedState`]) has borrowed the call's entry,
//! which a wait borrows, too: so nobody waits with the window locked.
//!
//! **Buffers.** A message's buffer is its [`Transfer`]'s until the message has ended; memory of the program is used in place and
//! stays as it is by MPI's rules until the operation is over, which `Open::left` or `Peer::busy` count.

use crate::ear::Ear;
use crate::line::Ended;
use crate::link::{Link, Pending};
use crate::params::Settings;
use crate::peer::Peer;
use crate::sizes::Sizes;
use crate::wire::{HEAD, Head, kind, tag};
use core::ffi::c_void;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use oxmpi_datatype::{Run, TypeRef};
use oxmpi_mca::{Entry, Host, Status};
use oxmpi_osc::{WinCounts, WinDesc, flavor};
use oxmpi_osc_support::{
    Address, Elements, Epochs, Exposed, Locks, Registered, RemoteRegistration, RequestPool,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// State that all windows of an instance share.
pub struct Common {
    pub host: Host,
    pub settings: Settings,
    pub pool: RequestPool,
    /// Those that are served.
    pub windows: Mutex<Vec<Arc<Core>>>,
    /// How many there are: the word by which turns of progress serve them (`serve.rs`).
    pub known: AtomicU32,
}

/// A window of this process.
pub struct Core {
    pub common: Arc<Common>,
    pub link: Link,
    pub byte: TypeRef,
    pub dynamic: bool,
    /// Of this rank. Its lock is held while an operation changes or reads the memory, which makes operations through windows on the same memory atomic to
    /// each other; a leaf, taken behind the window's.
    pub exposed: Arc<Mutex<Exposed>>,
    pub sizes: Arc<Sizes>,
    pub asking: Asking,
    /// The host's word for the window, for requests.
    pub host_win: Address<c_void>,
    state: Mutex<State>,
    /// Moves with whatever a thread may wait for.
    changes: AtomicU64,
}

/// The state that windows on the same memory share.
pub struct MemoryShare {
    pub exposed: Arc<Mutex<Exposed>>,
    pub sizes: Arc<Sizes>,
}

/// The means by which this rank asks listeners, and its own listener.
pub struct Asking {
    /// Registrations at which this rank's listener is asked: they go before that.
    pub registered: Mutex<Vec<Registered>>,
    pub ear: Box<Ear>,
    /// Those of all ranks, `each` of them for one.
    pub registrations: Box<[RemoteRegistration]>,
    pub each: usize,
    /// The CRI on which questions are asked: that of the thread that made the window.
    pub cri: u32,
    /// Contexts on which some may be under way, by bit.
    pub contexts: AtomicU64,
    pub ended: Arc<Ended>,
}

/// See the module's head.
pub struct State {
    pub peers: Vec<Peer>,
    pub epochs: Epochs,
    /// Counters of this rank.
    pub notifications: Box<[u64]>,
    pub counts: WinCounts,
    /// Of [`oxmpi_osc::hint`].
    pub hints: u32,
    /// Of this rank's memory.
    pub locks: Locks,
    /// Receives of records, in the order in which they were posted.
    pub posted: VecDeque<Posted>,
    pub transfers: Vec<Transfer>,
    /// Where the next look at `transfers` begins.
    pub cursor: usize,
    /// Ranks for which answers wait in the batch.
    pub owed: Vec<u32>,
    /// Ranks for which anything may wait there, or is gathered.
    pub waiting: Vec<u32>,
    /// Ranks for which questions wait for room.
    pub stuck: Vec<u32>,
    /// Ranks whose messages wait for questions of theirs.
    pub early: Vec<u32>,
    /// Buffers of messages that have ended.
    spare: Vec<Vec<u8>>,
}

/// A receive of records.
pub struct Posted {
    pub pending: Pending,
    pub buffer: Vec<u8>,
}

/// A message that is no receive of records.
pub struct Transfer {
    pub pending: Pending,
    pub purpose: TransferPurpose,
}

/// The purpose of a message under way.
pub enum TransferPurpose {
    /// Records, or data of ours, on their way out.
    Out { rank: u32, buffer: Vec<u8> },
    /// A part of the operation of this number.
    Part { rank: u32, number: u64 },
    /// A record that is longer than a message.
    Whole { rank: u32, buffer: Vec<u8> },
    /// Data of the accumulate that this record's head and runs describe.
    Operand { rank: u32, head: Head, runs: Vec<Run>, buffer: Vec<u8> },
    /// Data into or out of the window's memory; or into a buffer, where it may not go there.
    /// `lands`: the blocks of memory that it changes.
    Memory { rank: u32, _refused: Vec<u8>, counter: Option<u32>, lands: Vec<Run> },
}

impl State {
    pub fn new(peers: Vec<Peer>, desc: &WinDesc) -> State {
        State {
            peers,
            epochs: Epochs::default(),
            notifications: vec![0; desc.num_notify as usize].into(),
            counts: WinCounts::default(),
            hints: desc.hints,
            locks: Locks::default(),
            posted: VecDeque::new(),
            transfers: Vec::new(),
            cursor: 0,
            owed: Vec::new(),
            waiting: Vec::new(),
            stuck: Vec::new(),
            early: Vec::new(),
            spare: Vec::new(),
        }
    }

    pub fn peer(&mut self, rank: u32) -> &mut Peer {
        &mut self.peers[rank as usize]
    }

    /// Looks at questions that have ended; how many.
    fn end_questions(&mut self, ended: &Ended) -> i32 {
        let ended = ended.take();
        let events = ended.len() as i32;
        ended.into_iter().for_each(|ask| self.peer(ask.rank).end_question(ask));
        events
    }
}

/// A window's state, locked by a call that sends and receives.
pub struct LockedState<'a> {
    pub core: &'a Core,
    /// The call's way in: messages are begun and tested by it.
    pub entry: &'a mut Entry,
    state: MutexGuard<'a, State>,
}

impl Deref for LockedState<'_> {
    type Target = State;
    fn deref(&self) -> &State {
        &self.state
    }
}
impl DerefMut for LockedState<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Core {
    pub fn new(
        common: Arc<Common>,
        link: Link,
        desc: &WinDesc,
        shared: MemoryShare,
        asking: Asking,
        peers: Vec<Peer>,
    ) -> Core {
        Core {
            common,
            byte: link.byte(),
            link,
            dynamic: desc.flavor == flavor::DYNAMIC,
            exposed: shared.exposed,
            sizes: shared.sizes,
            asking,
            // SAFETY: the host's name of the window, which only the host follows, in any thread.
            host_win: unsafe { Address::of(desc.host_win) },
            state: Mutex::new(State::new(peers, desc)),
            changes: AtomicU64::new(0),
        }
    }

    pub fn exposed(&self) -> MutexGuard<'_, Exposed> {
        self.exposed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, for who sends nothing.
    pub fn look(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn enter<'a>(&'a self, entry: &'a mut Entry) -> LockedState<'a> {
        LockedState { core: self, entry, state: self.look() }
    }

    /// If nobody is inside.
    pub fn try_enter<'a>(&'a self, entry: &'a mut Entry) -> Option<LockedState<'a>> {
        let state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(LockedState { core: self, entry, state })
    }

    /// Plain bytes, to be read.
    pub fn bytes<'a>(&'a self, data: &'a [u8]) -> Elements<'a> {
        Elements { at: data.as_ptr().cast_mut(), count: data.len() as u64, dtype: &self.byte }
    }

    /// Plain bytes, to be written.
    pub fn room<'a>(&'a self, data: &'a mut [u8]) -> Elements<'a> {
        Elements { at: data.as_mut_ptr(), count: data.len() as u64, dtype: &self.byte }
    }

    /// Makes progress until `wanted` says so. The caller holds nothing.
    pub fn wait_until(&self, entry: &mut Entry, mut wanted: impl FnMut(&mut State) -> bool) -> Status {
        // `changes` when the answer was no.
        let mut seen = None;
        let mut question = || {
            // A thread that waits for an answer need not wait for a turn of the window.
            if !self.asking.ended.is_empty() && self.look().end_questions(&self.asking.ended) > 0 {
                self.changes.fetch_add(1, Ordering::Release);
            }
            // SYNC POINT with `LockedState::changed`: what moved the number is under the lock.
            let now = self.changes.load(Ordering::Acquire);
            if seen.replace(now) == Some(now) {
                return false;
            }
            wanted(&mut self.look())
        };
        // Answers come on a context that may be another thread's.
        match self.asking.contexts.load(Ordering::Relaxed) {
            0 => self.link.comm.until(entry, question),
            contexts => self.link.comm.until_idle(entry, || if question() { 0 } else { contexts }),
        }
    }
}

impl LockedState<'_> {
    /// Takes it apart, so that each can be used by itself.
    pub fn parts(&mut self) -> (&Core, &mut Entry, &mut State) {
        (self.core, self.entry, &mut self.state)
    }

    /// Looks at questions that have ended; how many.
    pub fn end_questions(&mut self) -> i32 {
        let events = self.state.end_questions(&self.core.asking.ended);
        if events > 0 {
            self.changed();
        }
        events
    }

    /// Something happened that a thread may wait for.
    pub fn changed(&self) {
        self.core.changes.fetch_add(1, Ordering::Release);
    }

    /// No message reaches the rank any more.
    pub fn broke(&mut self, rank: u32, status: Status) {
        self.peer(rank).break_off(status);
        self.changed();
    }

    /// Keeps an eye on a message; a failure to begin it breaks the way to the rank.
    pub fn watch(&mut self, rank: u32, begun: Result<Pending, Status>, purpose: TransferPurpose) -> Status {
        match begun {
            Ok(pending) => {
                self.transfers.push(Transfer { pending, purpose });
                Status::OK
            }
            Err(status) => {
                self.broke(rank, status);
                status
            }
        }
    }

    /// Sends a buffer of ours, which goes back to the spare ones when the message has ended.
    pub fn send_out(&mut self, rank: u32, buffer: Vec<u8>, tag: i32) {
        let core = self.core;
        let data = core.bytes(&buffer);
        // SAFETY: the buffer's bytes stay where they are as long as that is kept: here until the message has ended, or with the transfer.
        match unsafe { core.link.send(self.entry, data, rank, tag) } {
            Ok(mut pending) => match core.link.ended(self.entry, &mut pending) {
                Some(status) => {
                    self.keep(buffer);
                    if status.error.is_err() {
                        self.broke(rank, status.error);
                    }
                }
                None => {
                    self.transfers.push(Transfer { pending, purpose: TransferPurpose::Out { rank, buffer } })
                }
            },
            Err(status) => self.broke(rank, status),
        }
    }

    /// A buffer is free.
    pub fn keep(&mut self, mut buffer: Vec<u8>) {
        const SPARE: usize = 16;
        if self.spare.len() < SPARE && buffer.capacity() <= 2 * self.core.common.settings.message {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Sends what waits for the rank, or is gathered.
    pub fn push(&mut self, rank: u32) {
        self.ask(rank);
        self.push_messages(rank);
    }

    /// Asks the rank's listener what is gathered.
    pub fn ask(&mut self, rank: u32) {
        let Some(line) = self.peer(rank).line.as_mut() else { return };
        line.ask(rank);
        self.ask_further(rank);
    }

    /// Asks what waits for room, as far as there is any.
    pub fn ask_further(&mut self, rank: u32) {
        let (core, entry, state) = self.parts();
        let Some(line) = state.peer(rank).line.as_mut() else { return };
        if line.unsent() == 0 {
            return;
        }
        let status = line.send(&core.common.host, entry);
        if line.unsent() > 0 && status.is_ok() && !state.stuck.contains(&rank) {
            state.stuck.push(rank);
        }
        if status.is_err() {
            self.broke(rank, status);
        }
    }

    /// Records that go by messages from now on come behind all that the rank was asked.
    pub fn come_behind_questions(&mut self, rank: u32) {
        self.ask(rank);
        let Some(line) = self.peer(rank).line.as_mut() else { return };
        let number = line.asked;
        if core::mem::replace(&mut line.told, number) < number {
            self.tell(rank, Head { kind: kind::AFTER, number, ..Head::default() });
        }
    }

    /// Sends the messages that wait for the rank.
    fn push_messages(&mut self, rank: u32) {
        let empty = self.spare.pop().unwrap_or_default();
        let peer = self.peer(rank);
        if peer.batch.is_empty() {
            return self.keep(empty);
        }
        peer.urgent = false;
        let batch = core::mem::replace(&mut peer.batch, empty);
        self.send_out(rank, batch, tag::RECORDS);
    }

    /// Puts a record behind the others to a rank, and sends them where they are enough. `layout` is what the head says, and `data` appends
    /// [`Head::inline`] bytes.
    pub fn append(&mut self, rank: u32, head: Head, layout: &[u8], data: impl FnOnce(&mut Vec<u8>)) {
        let room = self.peer(rank).room;
        let size = HEAD + layout.len() + head.inline().unwrap_or(0);
        let write = |out: &mut Vec<u8>| {
            head.write(out);
            out.extend_from_slice(layout);
            data(out);
        };
        if size <= room {
            return self.place(rank, size, write);
        }
        let mut whole = Vec::with_capacity(size);
        write(&mut whole);
        self.tell(rank, Head { kind: kind::WHOLE, len: whole.len() as u64, ..Head::default() });
        self.send_out(rank, whole, tag::WHOLE);
    }

    /// Sends a record without data.
    pub fn tell(&mut self, rank: u32, head: Head) {
        self.place(rank, HEAD, |out| head.write(out));
    }

    fn place(&mut self, rank: u32, size: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let settings = self.core.common.settings;
        let peer = self.peer(rank);
        if peer.broken.is_err() {
            return;
        }
        let limit = settings.batch(peer.room);
        if !peer.batch.is_empty() && peer.batch.len() + size > limit {
            self.push_messages(rank);
        }
        let peer = self.peer(rank);
        write(&mut peer.batch);
        if peer.batch.len() + HEAD > limit {
            return self.push_messages(rank);
        }
        self.list(rank);
    }

    /// Something waits for the rank, which a turn of progress is to look at.
    pub fn list(&mut self, rank: u32) {
        let peer = self.peer(rank);
        if !core::mem::replace(&mut peer.listed, true) {
            peer.seen = 0;
            self.waiting.push(rank);
        }
    }
}
