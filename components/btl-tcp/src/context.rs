//! A context: its streams, and the epoll set that says which of them has something.
//!
//! Everything here belongs to the holder of the context's lock, but for the door: connections that a lobby has checked are put
//! there by whichever thread did it, which then rings the bell (`door.rs`). Lobby, bell and timer are in the set, too, so that one
//! descriptor, the set's own, wakes whoever sleeps for this context.

use crate::door::Door;
use crate::params::Settings;
use crate::peer::Core;
use crate::stream::{Link, Stream};
use crate::sys::{Interest, Poller};
use core::cell::{Cell, RefCell};
use oxmpi_btl::{WaitFd, WaitSet};
use oxmpi_btl_support::Timer;
use oxmpi_mca::Status;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Tokens of what is no stream; those of streams follow.
pub const LOBBY: u64 = 0;
pub const BELL: u64 = 1;
pub const TIMER: u64 = 2;
pub const STREAMS: u64 = 3;

/// A message that has no acknowledgement for so long is asked for.
pub const PATIENCE: Duration = Duration::from_secs(1);
/// Turns without anything after which the set is not asked in each.
const IDLE_TURNS: u32 = 64;
/// ... but this often.
const IDLE_PAUSE: Duration = Duration::from_micros(1);

#[repr(align(128))]
pub struct Context {
    pub number: u16,
    pub poller: Poller,
    pub door: Arc<Door>,
    pub timer: Timer,
    by_peer: RefCell<HashMap<(u32, u16), Arc<Stream>>>,
    streams: RefCell<Vec<Arc<Stream>>>,
    /// Slots of streams to look at in the next turn, whatever the set says.
    ready: RefCell<VecDeque<usize>>,
    /// Slots of streams on which something waits for the end of the turn.
    late: RefCell<Vec<usize>>,
    /// The stream that brought something last.
    pub hot: Cell<usize>,
    due: Cell<Option<Instant>>,
    idle: Cell<u32>,
    looked: Cell<Instant>,
    turns: Cell<u32>,
    /// The process ends: what comes is not handed up.
    pub closing: Cell<bool>,
    pub inside: Cell<bool>,
    /// The stream whose request is being served.
    pub serving: Cell<Option<usize>>,
}

// SAFETY: the contract of BTLs: the caller serialises all verbs of one context; the door has a lock of its own, and
// poller and timer are descriptors.
unsafe impl Sync for Context {}

impl Context {
    pub fn new(number: u16, lobby: impl AsFd, door: Arc<Door>) -> io::Result<Context> {
        let (poller, timer) = (Poller::new()?, Timer::new()?);
        poller.add(lobby, LOBBY, Interest::Read)?;
        poller.add(&door.bell, BELL, Interest::Read)?;
        poller.add(&timer, TIMER, Interest::Read)?;
        Ok(Context {
            number,
            poller,
            door,
            timer,
            by_peer: RefCell::default(),
            streams: RefCell::default(),
            ready: RefCell::default(),
            late: RefCell::default(),
            hot: Cell::new(usize::MAX),
            due: Cell::new(None),
            idle: Cell::new(0),
            looked: Cell::new(Instant::now()),
            turns: Cell::new(0),
            closing: Cell::new(false),
            inside: Cell::new(false),
            serving: Cell::new(None),
        })
    }

    /// The stream between this context and one of a process's; made if it is new.
    pub fn stream(&self, core: &Arc<Core>, theirs: u16, settings: &Settings) -> Arc<Stream> {
        let mut by_peer = self.by_peer.borrow_mut();
        let known = by_peer.entry((core.proc, theirs)).or_insert_with(|| {
            let mut streams = self.streams.borrow_mut();
            let stream = Arc::new(Stream::new(core.clone(), self.number, theirs, streams.len(), settings));
            streams.push(stream.clone());
            stream
        });
        self.wake_at(Instant::now() + PATIENCE);
        known.clone()
    }

    pub fn at_slot(&self, slot: usize) -> Option<Arc<Stream>> {
        self.streams.borrow().get(slot).cloned()
    }
    pub fn all(&self) -> Vec<Arc<Stream>> {
        self.streams.borrow().clone()
    }

    /// Has a stream looked at in the next turn.
    pub fn list(&self, stream: &Stream) {
        if !stream.listed.replace(true) {
            self.ready.borrow_mut().push_back(stream.slot);
        }
    }
    pub fn next_listed(&self) -> Option<Arc<Stream>> {
        let slot = self.ready.borrow_mut().pop_front()?;
        let stream = self.at_slot(slot)?;
        stream.listed.set(false);
        Some(stream)
    }
    pub fn listed(&self) -> usize {
        self.ready.borrow().len()
    }

    /// Has what waits on a stream sent at the end of the turn, together with what is added until then.
    pub fn send_late(&self, stream: &Stream) {
        if !stream.late.replace(true) {
            self.late.borrow_mut().push(stream.slot);
        }
    }
    pub fn next_late(&self) -> Option<Arc<Stream>> {
        let slot = self.late.borrow_mut().pop()?;
        let stream = self.at_slot(slot)?;
        stream.late.set(false);
        Some(stream)
    }

    /// Something has to be done at that time, or before.
    pub fn wake_at(&self, at: Instant) {
        if self.due.get().is_none_or(|due| at < due) {
            self.due.set(Some(at));
        }
    }
    /// Whether the time has come; it is not asked again before [`Context::wake_at`].
    pub fn is_due(&self, now: Instant) -> bool {
        let due = self.due.get().is_some_and(|due| due <= now);
        if due {
            self.due.set(None);
        }
        due
    }

    /// Whether to ask the system in this turn: always while things happen, and then every microsecond.
    pub fn may_look(&self) -> bool {
        if self.idle.get() < IDLE_TURNS {
            self.idle.set(self.idle.get() + 1);
            return true;
        }
        let now = Instant::now();
        let over = now.duration_since(self.looked.get()) >= IDLE_PAUSE;
        if over {
            self.looked.set(now);
        }
        over
    }
    pub fn note_event(&self) {
        self.idle.set(0);
    }
    /// Every few turns all streams are asked for, so that a busy one does not keep others out.
    pub fn is_turn_of_all(&self) -> bool {
        self.turns.set(self.turns.get().wrapping_add(1));
        self.turns.get().is_multiple_of(8)
    }

    /// Announces a sleeper: PENDING if something is there, else the set's descriptor, and a timer for what has to be done without
    /// the peer's doing.
    pub fn arm(&self, set: &mut WaitSet) -> Status {
        if self.listed() > 0 {
            return Status::PENDING;
        }
        self.timer.set(self.pause(Instant::now()));
        if self.poller.is_ready() {
            return Status::PENDING;
        }
        const READABLE: u32 = 1;
        set.add_fd(WaitFd { fd: self.poller.fd(), events: READABLE })
    }

    /// How long nothing has to be done; `None`: for ever.
    fn pause(&self, now: Instant) -> Option<Duration> {
        let of = |s: &Arc<Stream>| match &*s.link.borrow() {
            Link::Resting(until) => Some(until.saturating_duration_since(now)),
            Link::Calling(call) => Some(call.deadline.saturating_duration_since(now)),
            Link::Up(_) if !s.out.borrow().is_settled() => Some(PATIENCE),
            _ => None,
        };
        let soonest = self.streams.borrow().iter().filter_map(of).min()?;
        // A stream that is due is looked at by `due`, which may lie a little later.
        self.wake_at(now + soonest);
        Some(soonest)
    }
}
