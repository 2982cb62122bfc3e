//! Contexts, and who may touch what.
//!
//! | state | where | who |
//! |---|---|---|
//! | of a context: its own events, what it sleeps on | [`Context`] | whoever has entered it |
//! | what other threads leave for a context, and its bell | [`Inbox`] | all threads |
//! | of a lane: links' sides, free buffers, the right to take reports | [`Held`] | the lane's [`Holder`] |
//! | of a lane: queues, memory, links that were made | [`Lane`] | all threads |
//!
//! A lane of one context lies in it, so that entering the context is all that it takes to hold the lane. A lane of several contexts lies behind a lock, a
//! leaf: while it is held no other lane is taken, and nothing of the host is called that may come back: no receiver and no completion, but packing, the
//! log, and the word of a lost peer. A message or a completion for a context other than the holder's goes through that one's in-box, and its
//! sleeper is woken; so does each of a shared lane, to keep their order.

use crate::lane::{Buffer, Held, Lane};
use crate::link::held;
use crate::sys::Set;
use crate::wire::Frame;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use oxmpi_btl::Completion;
use oxmpi_btl_support::{Bell, Timer};
use oxmpi_mca::Status;
use std::collections::VecDeque;
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex};

/// Something to hand up on a context. Links are named by their numbers in its lane.
pub enum Event {
    /// Behind its frame in a receive buffer.
    Message { link: usize, proc: u32, frame: Frame, buffer: Buffer },
    /// In a slot of the link's ring, with its frame in front: where, and how long it is behind that.
    Slot { link: usize, proc: u32, frame: Frame, at: usize, len: u32 },
    /// Of a lane that this context does not hold.
    Copied { proc: u32, tag: u8, bytes: Box<[u8]> },
    /// The end of a one-sided operation.
    Done { done: Completion, status: Status },
}

/// The part of a context that other threads reach.
#[repr(align(128))]
pub struct Inbox {
    /// Number of its context's lane.
    pub lane: usize,
    events: Mutex<VecDeque<Event>>,
    has_events: AtomicBool,
    asleep: AtomicBool,
    bell: Bell,
}

impl Inbox {
    /// Makes the in-box of a context of that lane.
    pub fn new(lane: usize) -> io::Result<Arc<Inbox>> {
        Ok(Arc::new(Inbox {
            lane,
            events: Mutex::default(),
            has_events: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            bell: Bell::new()?,
        }))
    }

    /// Leaves an event. SYNC POINT with `sleeps`: the word is written, then the sleeper is looked for.
    pub fn push(&self, event: Event) {
        held(&self.events).push_back(event);
        self.has_events.store(true, Ordering::SeqCst);
        self.wake();
    }
    /// Rings if the context sleeps.
    pub fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst) {
            self.bell.ring();
        }
    }
}

/// The data of a lane, as a context of it has them.
pub enum Lent {
    /// The lane is the context's alone.
    Whole(Box<Held>),
    Shared(Arc<Mutex<Held>>),
}

/// A context of the module: what is its own.
#[repr(align(128))]
pub struct Context {
    own: VecDeque<Event>,
    lent: Lent,
    // The set goes before what is in it.
    set: Set,
    timer: Option<Timer>,
    inbox: Arc<Inbox>,
    pub lane: Arc<Lane>,
}

/// The holder of a lane. No call of the host that may come back is made by one.
pub struct Holder<'a> {
    pub lane: &'a Lane,
    pub held: &'a mut Held,
    /// Events for the context that holds it. Those of a shared lane go into in-boxes.
    pub own: &'a mut VecDeque<Event>,
}

impl Context {
    /// Makes the context of an in-box. `naps`: it may have to wake by itself.
    pub fn new(lane: &Arc<Lane>, lent: Lent, inbox: &Arc<Inbox>, naps: bool) -> io::Result<Context> {
        let timer = if naps { Some(Timer::new()?) } else { None };
        let set = Set::new()?;
        // SAFETY: the context has the owners of all these, and drops them behind the set.
        unsafe {
            set.add(inbox.bell.fd())?;
            if let Some(timer) = &timer {
                set.add(timer.fd())?;
            }
            if let Some(channel) = &lane.queue.completions.channel {
                set.add(channel.fd())?;
            }
        }
        let (inbox, lane) = (inbox.clone(), lane.clone());
        Ok(Context { own: VecDeque::new(), lent, set, timer, inbox, lane })
    }

    /// Runs something as the holder of the context's lane.
    #[inline(always)]
    pub fn hold<R>(&mut self, run: impl FnOnce(&mut Holder<'_>) -> R) -> R {
        let mut guard;
        let held = match &mut self.lent {
            Lent::Whole(held) => &mut **held,
            Lent::Shared(shared) => {
                guard = held(shared);
                &mut *guard
            }
        };
        run(&mut Holder { lane: &self.lane, held, own: &mut self.own })
    }

    /// Takes the next event to hand up.
    #[inline]
    pub fn next(&mut self) -> Option<Event> {
        let inbox = &self.inbox;
        if self.own.is_empty() && inbox.has_events.load(Ordering::Acquire) {
            inbox.has_events.store(false, Ordering::SeqCst);
            self.own.append(&mut held(&inbox.events));
        }
        self.own.pop_front()
    }
    /// Whether there is nothing to hand up.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && !self.inbox.has_events.load(Ordering::SeqCst)
    }

    /// Returns a descriptor that is readable when something has come.
    pub fn fd(&self) -> RawFd {
        self.set.fd()
    }
    /// SYNC POINT with whoever writes what the sleeper looks at: it says that it sleeps, then looks.
    pub fn sleeps(&self, yes: bool) {
        self.inbox.asleep.store(yes, Ordering::SeqCst);
    }
    /// A sleeper wakes after this time at the latest.
    pub fn nap(&self, longest: Duration) {
        if let Some(timer) = &self.timer {
            timer.set(Some(longest));
        }
    }
    /// Ends a nap, and makes what has woken the context silent.
    pub fn silence(&self) {
        self.inbox.bell.silence();
        if let Some(timer) = &self.timer {
            timer.set(None);
        }
    }
}

/// A request whose receiver is running: its link, and the requester's context.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    pub link: usize,
    pub ctx: u16,
}

impl Asked {
    /// Returns what its reply names it by: never 0.
    pub fn name(self) -> u64 {
        (self.link as u64 + 1) << 16 | u64::from(self.ctx)
    }
}

/// A context that has turns: an ordinary one, or the service context.
pub trait Turns {
    fn context(&mut self) -> &mut Context;
    /// The receiver of this request is about to run; `None`: it has run.
    fn serves(&mut self, _request: Option<Asked>) {}
}

impl Turns for Context {
    #[inline(always)]
    fn context(&mut self) -> &mut Context {
        self
    }
}
