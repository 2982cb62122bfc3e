//! A context: its streams, and the epoll set that says which of them has something.
//!
//! All of it is the context's own, but for the door: connections that a lobby has checked are put
//! there by whichever thread did it, which then rings the bell (`door.rs`). Lobby, bell and timer are in the set, too, so that one
//! descriptor, the set's own, wakes whoever sleeps for this context. Streams go by their slots (`streams.rs`).

use crate::door::Door;
use crate::gathered::Gathered;
use crate::params::Settings;
use crate::peer::Core;
use crate::stream::{Link, Stream};
use crate::streams::{StreamName, Streams};
use crate::sys::{Interest, Poller};
use core::mem::replace;
use oxmpi_btl::{Completion, WaitFd, WaitSet};
use oxmpi_btl_support::Timer;
use oxmpi_mca::Status;
use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Tokens of what is no stream; those of streams follow.
pub const LOBBY: u64 = 0;
pub const BELL: u64 = 1;
pub const TIMER: u64 = 2;
const _: () = assert!(TIMER < StreamName::FIRST_TOKEN);

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
    pub streams: Streams,
    /// Streams to look at in the next turn, whatever the set says.
    ready: VecDeque<usize>,
    /// Streams on which something waits for the end of the turn.
    late: Vec<usize>,
    /// Notes of what waits for company, and the slots of their streams.
    pub gathered: Arc<Gathered>,
    pub gathering: Vec<usize>,
    /// Messages whose payload is needed no more, and how they ended, which is told in the next turn.
    pub released: Vec<(Completion, Status)>,
    /// The stream that brought something last.
    pub hot: usize,
    due: Option<Instant>,
    idle: u32,
    looked: Instant,
    turns: u32,
    /// A turn is under way.
    pub inside: bool,
}

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
            streams: Streams::default(),
            ready: VecDeque::new(),
            late: Vec::new(),
            gathered: Arc::new(Gathered::new()),
            gathering: Vec::new(),
            released: Vec::new(),
            hot: usize::MAX,
            due: None,
            idle: 0,
            looked: Instant::now(),
            turns: 0,
            inside: false,
        })
    }

    /// The stream between this context and one of a process's; made if it is new.
    pub fn stream(&mut self, core: &Arc<Core>, theirs: u16, settings: &Settings) -> usize {
        let slot = self.streams.find(core.number, theirs).unwrap_or_else(|| {
            self.clear(self.streams.next_slot());
            self.streams.add(Stream::new(core.clone(), self.number, theirs, settings))
        });
        self.wake_at(Instant::now() + PATIENCE);
        slot
    }

    /// Forgets what was to be done for the stream that a slot had.
    fn clear(&mut self, slot: usize) {
        self.ready.retain(|&other| other != slot);
        self.late.retain(|&other| other != slot);
        if self.hot == slot {
            self.hot = usize::MAX;
        }
        debug_assert!(!self.gathering.contains(&slot), "the note of a stream is taken back when it is shut");
    }

    /// Has a stream looked at in the next turn.
    pub fn list(&mut self, slot: usize) {
        if !replace(&mut self.streams[slot].listed, true) {
            self.ready.push_back(slot);
        }
    }
    pub fn next_listed(&mut self) -> Option<usize> {
        let slot = self.ready.pop_front()?;
        self.streams[slot].listed = false;
        Some(slot)
    }
    pub fn listed(&self) -> usize {
        self.ready.len()
    }

    /// Has what waits on a stream sent at the end of the turn, together with what is added until then.
    pub fn send_late(&mut self, slot: usize) {
        if !replace(&mut self.streams[slot].late, true) {
            self.late.push(slot);
        }
    }
    pub fn next_late(&mut self) -> Option<usize> {
        let slot = self.late.pop()?;
        self.streams[slot].late = false;
        Some(slot)
    }

    /// Takes the note of a stream back, before anything else is done with what waits on it.
    pub fn take_back(&mut self, slot: usize) {
        let s = &mut self.streams[slot];
        if !replace(&mut s.gathered, false) {
            return;
        }
        self.gathering.retain(|&other| other != slot);
        let Some(note) = self.gathered.take(slot) else { return };
        s.out.went(note.wrote);
        if note.failed {
            s.broken = true;
            self.list(slot);
        }
    }

    /// Takes over which messages of a stream were acknowledged whose payload was kept.
    pub fn take_released(&mut self, slot: usize) {
        let released = self.streams[slot].out.released();
        self.released.extend(released.map(|done| (done, Status::OK)));
    }

    /// Something has to be done at that time, or before.
    pub fn wake_at(&mut self, at: Instant) {
        if self.due.is_none_or(|due| at < due) {
            self.due = Some(at);
        }
    }
    /// Whether the time has come; it is not asked again before [`Context::wake_at`].
    pub fn is_due(&mut self, now: Instant) -> bool {
        let due = self.due.is_some_and(|due| due <= now);
        if due {
            self.due = None;
        }
        due
    }

    /// Whether to ask the system in this turn: always while things happen, and then every microsecond.
    pub fn may_look(&mut self) -> bool {
        if self.idle < IDLE_TURNS {
            self.idle += 1;
            return true;
        }
        let now = Instant::now();
        let over = now.duration_since(self.looked) >= IDLE_PAUSE;
        if over {
            self.looked = now;
        }
        over
    }
    pub fn note_event(&mut self) {
        self.idle = 0;
    }
    /// Every few turns all streams are asked for, so that a busy one does not keep others out.
    pub fn is_turn_of_all(&mut self) -> bool {
        self.turns = self.turns.wrapping_add(1);
        self.turns.is_multiple_of(8)
    }

    /// Announces a sleeper: PENDING if something is there, else the set's descriptor, and a timer for what has to be done without
    /// the peer's doing.
    pub fn arm(&mut self, set: &mut WaitSet) -> Status {
        if self.listed() > 0 || !self.released.is_empty() {
            return Status::PENDING;
        }
        let pause = self.pause(Instant::now());
        self.timer.set(pause);
        if self.poller.is_ready() {
            return Status::PENDING;
        }
        const READABLE: u32 = 1;
        set.add_fd(WaitFd { fd: self.poller.fd(), events: READABLE })
    }

    /// How long nothing has to be done; `None`: for ever.
    fn pause(&mut self, now: Instant) -> Option<Duration> {
        let of = |s: &Stream| match &s.link {
            Link::Resting(until) => Some(until.saturating_duration_since(now)),
            Link::Calling(call) => Some(call.deadline.saturating_duration_since(now)),
            Link::Up(_) if !s.out.is_settled() => Some(PATIENCE),
            _ => None,
        };
        let soonest = self.streams.iter().filter_map(of).min()?;
        // A stream that is due is looked at by `due`, which may lie a little later.
        self.wake_at(now + soonest);
        Some(soonest)
    }
}
