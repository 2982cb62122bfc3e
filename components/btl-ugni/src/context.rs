//! Contexts: state beside a [`Lane`] that the lane's holder has to itself. A verb that has entered a context has it alone, so it is plain data.
//!
//! The service context has the same, and the request that it serves (`service.rs`). Code of both is written once, for a [`Holder`].

use crate::lane::Lane;
use crate::link::Link;
use crate::pending_operations::PendingOperations;
use crate::wire::Kind;
use oxmpi_btl::Completion;
use oxmpi_btl_support::Timer;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// How often a context sleeps for a moment alone behind a message that was refused for want of credits: where it has not been offered again
/// by then, nobody wants to send it any more.
pub const NAPS: u32 = 5_000;

/// The holder of a lane: an ordinary context, or the service context.
pub trait Holder: Send {
    /// It is the service context.
    const SERVES: bool;

    fn context(&mut self) -> &mut Context;

    /// A request has come by that link; its receiver runs next.
    fn begin_request(&mut self, _link: u32) {}

    /// The receiver has run. True: it has left the request without an answer.
    fn end_request(&mut self) -> bool {
        false
    }
}

/// State of a lane's holder. Each on cache lines of its own, because another thread works on the next.
#[repr(align(128))]
pub struct Context {
    pub pool: Pool,
    /// The lane's links as far as they were met here, by index.
    pub links: Vec<Tracked>,
    /// Links in whose mailboxes something is or may be.
    ready: VecDeque<u32>,
    pub unsent: VecDeque<Unsent>,
    /// A message was refused for want of credits, which come without an event: sleeps are short so many times.
    pub starved: u32,
    pub operations: PendingOperations<Completion>,
    /// Wakes a sleeper whose messages wait for credits.
    pub timer: Timer,
    /// A turn is running; a turn inside it does nothing.
    pub is_busy: bool,
}

impl Holder for Context {
    const SERVES: bool = false;

    #[inline]
    fn context(&mut self) -> &mut Context {
        self
    }
}

/// A link, with what the holder of its lane counts of it.
pub struct Tracked {
    pub link: Arc<Link>,
    /// Events that have come less messages that were taken: what an early event has announced.
    pub owed: i32,
    /// It is on the list of links to look at.
    is_ready: bool,
    /// Attempts to send that were refused in a row, and offers to refuse before the next one.
    pub refusals: u32,
    pub skips: u32,
    /// Requests sent, and replies that came.
    pub asked: u32,
    pub answered: u32,
}

/// A request or a reply that waits for its connection or for room.
pub struct Unsent {
    pub link: u32,
    pub kind: Kind,
    pub tag: u8,
    pub bytes: Box<[u8]>,
}

impl Context {
    pub fn new(pool: Pool) -> io::Result<Context> {
        Ok(Context {
            pool,
            links: Vec::new(),
            ready: VecDeque::new(),
            unsent: VecDeque::new(),
            starved: 0,
            operations: PendingOperations::default(),
            timer: Timer::new()?,
            is_busy: false,
        })
    }

    /// Meets all links that the lane has.
    pub fn meet(&mut self, lane: &Lane) {
        let track =
            |link| Tracked { link, owed: 0, is_ready: false, refusals: 0, skips: 0, asked: 0, answered: 0 };
        self.links.extend(lane.links_behind(self.links.len()).into_iter().map(track));
    }

    /// The link that events with this index are of. `None`: the lane has none of that index.
    #[inline]
    pub fn tracked(&mut self, lane: &Lane, index: u32) -> Option<&mut Tracked> {
        if index as usize >= self.links.len() {
            self.meet(lane);
        }
        self.links.get_mut(index as usize)
    }

    /// A link that was met.
    #[inline]
    pub fn link(&self, index: u32) -> &Link {
        &self.links[index as usize].link
    }

    /// Puts a link that was met on the list of those to look at, once.
    pub fn look_at(&mut self, index: u32) {
        if !core::mem::replace(&mut self.links[index as usize].is_ready, true) {
            self.ready.push_back(index);
        }
    }

    /// Links to look at.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    pub fn next_ready(&mut self) -> Option<u32> {
        let index = self.ready.pop_front()?;
        self.links[index as usize].is_ready = false;
        Some(index)
    }
}

/// Send buffers, by the number that their message's event carries.
pub struct Pool {
    buffers: Vec<Buffer>,
    free: Vec<u32>,
    size: usize,
    most: usize,
    step: usize,
    /// Turns since the queue of sent messages was read.
    pub turns: u32,
}

struct Buffer {
    bytes: Box<[u8]>,
    /// That its message is under way on.
    link: Option<u32>,
}

impl Pool {
    pub fn new(size: usize, first: usize, most: usize, step: usize) -> Pool {
        let mut pool =
            Pool { buffers: Vec::new(), free: Vec::new(), size, most: most.max(1), step, turns: 0 };
        pool.grow(first);
        pool
    }

    fn grow(&mut self, by: usize) {
        let from = self.buffers.len();
        let to = (from + by.max(1)).min(self.most);
        self.buffers.extend((from..to).map(|_| Buffer { bytes: vec![0; self.size].into(), link: None }));
        self.free.extend((from..to).rev().map(|n| n as u32));
    }

    /// The number of a free buffer.
    pub fn take(&mut self) -> Option<u32> {
        if self.free.is_empty() {
            self.grow(self.step);
        }
        self.free.pop()
    }

    /// Bytes of a buffer that was taken.
    pub fn bytes(&mut self, id: u32) -> &mut [u8] {
        &mut self.buffers[id as usize].bytes
    }

    /// Its message is under way on that link.
    pub fn is_under_way(&mut self, id: u32, link: u32) {
        self.buffers[id as usize].link = Some(link);
    }

    /// Takes a buffer back with the link that its message went by. `None`: nothing of that number is under way.
    pub fn give(&mut self, id: u32) -> Option<u32> {
        let link = self.buffers.get_mut(id as usize)?.link.take()?;
        self.free.push(id);
        Some(link)
    }

    /// Takes a buffer back whose message was not sent.
    pub fn put_back(&mut self, id: u32) {
        self.free.push(id);
    }

    /// Nothing can be sent before a message arrives.
    pub fn is_exhausted(&self) -> bool {
        self.free.is_empty() && self.buffers.len() >= self.most
    }

    pub fn under_way(&self) -> usize {
        self.buffers.len() - self.free.len()
    }
}
