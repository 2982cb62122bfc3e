//! Lanes: what a context has to itself, so that its verbs need no lock but the device's. Each has a queue of arriving messages, one of
//! sent messages, mailboxes and send buffers; the last lane is the service context's.
//!
//! A lane's device is the first one, or its own (`btl_ugni_smsg_devices`). [`Held`] belongs to the holder of the context, as the contract
//! of transports has it; the rest may be used by any thread.

use crate::link::{Link, Mailbox, held};
use crate::nic::{Channel, Cq, Nic};
use crate::pending_operations::PendingOperations;
use crate::posts::Operation;
use crate::wire::Kind;
use core::cell::{Cell, RefCell};
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_btl_support::{Bell, Pages, Timer};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Send buffers, by the number that their message's event carries.
pub struct Pool {
    buffers: Vec<Buffer>,
    free: Vec<u32>,
    size: usize,
    most: usize,
    step: usize,
}

struct Buffer {
    bytes: Box<[u8]>,
    link: Option<Arc<Link>>,
}

impl Pool {
    pub fn new(size: usize, first: usize, most: usize, step: usize) -> Pool {
        let mut pool = Pool { buffers: Vec::new(), free: Vec::new(), size, most: most.max(1), step };
        pool.grow(first);
        pool
    }

    fn grow(&mut self, by: usize) {
        let from = self.buffers.len();
        let to = (from + by.max(1)).min(self.most);
        self.buffers.extend((from..to).map(|_| Buffer { bytes: vec![0; self.size].into(), link: None }));
        self.free.extend((from..to).rev().map(|n| n as u32));
    }

    /// A free buffer: its number and its bytes.
    pub fn take(&mut self) -> Option<(u32, *mut u8)> {
        if self.free.is_empty() {
            self.grow(self.step);
        }
        let id = self.free.pop()?;
        Some((id, self.buffers[id as usize].bytes.as_mut_ptr()))
    }

    /// Its message is under way on that link.
    pub fn is_under_way(&mut self, id: u32, link: &Arc<Link>) {
        self.buffers[id as usize].link = Some(link.clone());
    }

    /// Takes a buffer back with the link that its message went by. `None`: nothing of that number is under way.
    pub fn give(&mut self, id: u32) -> Option<Arc<Link>> {
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

/// A request or a reply that waits for its connection or for room.
pub struct Unsent {
    pub link: Arc<Link>,
    pub kind: Kind,
    pub tag: u8,
    pub bytes: Box<[u8]>,
}

/// Of the holder of the context.
pub struct Held {
    pub pool: Pool,
    /// The lane's links as far as they were met here, by index.
    known: Vec<Arc<Link>>,
    /// Links in whose mailboxes something is or may be.
    pub ready: VecDeque<Arc<Link>>,
    pub unsent: VecDeque<Unsent>,
    /// Turns since the queue of sent messages was read.
    pub turns: u32,
    /// A message was refused for want of credits, which come without an event: sleeps are short so many times.
    pub starved: u32,
    pub operations: PendingOperations,
}

/// How often a context sleeps for a moment alone behind a message that was refused for want of credits: where it has not been offered again
/// by then, nobody wants to send it any more.
pub const NAPS: u32 = 5_000;

pub struct Lane {
    pub number: u16,
    pub nic: Arc<Nic>,
    /// Wakes sleepers; `None`: the library cannot.
    pub channel: Option<Channel>,
    pub arrivals: Cq,
    pub sends: Cq,
    pub bell: Bell,
    /// Wakes a sleeper whose messages wait for credits.
    pub timer: Timer,
    pub held: RefCell<Held>,
    /// A turn is running; a turn inside it does nothing.
    pub is_busy: Cell<bool>,
    mailboxes: Mutex<Mailboxes>,
    links: Mutex<Vec<Arc<Link>>>,
    /// Links that were connected and have not been looked at since.
    news: Mutex<Vec<Arc<Link>>>,
    has_news: AtomicBool,
    /// Operations of the lane that are over, from whoever read the device's queue.
    finished: Mutex<Vec<Arc<Operation>>>,
    has_finished: AtomicBool,
}

// SAFETY: the contract of transports: the caller serialises the verbs of a context, and `held` and `is_busy` are touched by
// those alone; the rest is shared by atomics and locks.
unsafe impl Sync for Lane {}
// SAFETY: nothing here belongs to a thread.
unsafe impl Send for Lane {}

/// Memory for mailboxes, in chunks that are registered with the lane's queue of arrivals.
struct Mailboxes {
    size: usize,
    per_chunk: usize,
    chunks: Vec<Chunk>,
    free: Vec<Mailbox>,
}

struct Chunk {
    /// Unmapped with the lane.
    _pages: Pages,
    handle: crate::abi::MemHandle,
}

/// How a lane is made.
pub struct Wish {
    pub number: u16,
    pub remote_entries: u32,
    pub local_entries: u32,
    /// Bytes of a mailbox, and how many are made together.
    pub mailbox: usize,
    pub mailboxes: usize,
    pub pool: Pool,
    /// Sleepers are to be woken.
    pub sleeps: bool,
}

impl Lane {
    pub fn new(nic: &Arc<Nic>, wish: Wish) -> Result<Lane, String> {
        let text = |code| nic.api.code_text(code);
        let arrivals = Cq::new(nic, wish.remote_entries, wish.sleeps);
        let arrivals = arrivals.map_err(|c| format!("a queue of arriving messages: {}", text(c)))?;
        let sends = Cq::new(nic, wish.local_entries, wish.sleeps);
        let sends = sends.map_err(|c| format!("a queue of sent messages: {}", text(c)))?;
        let channel = if wish.sleeps { Channel::new(nic, &[&arrivals, &sends]) } else { Ok(None) };
        let channel = channel.map_err(|c| format!("a completion channel: {}", text(c)))?;
        let (size, per_chunk) = (wish.mailbox, wish.mailboxes);
        Ok(Lane {
            number: wish.number,
            nic: nic.clone(),
            channel,
            arrivals,
            sends,
            bell: Bell::new().map_err(|e| e.to_string())?,
            timer: Timer::new().map_err(|e| e.to_string())?,
            held: RefCell::new(Held {
                pool: wish.pool,
                known: Vec::new(),
                ready: VecDeque::new(),
                unsent: VecDeque::new(),
                turns: 0,
                starved: 0,
                operations: PendingOperations::default(),
            }),
            is_busy: Cell::new(false),
            mailboxes: Mutex::new(Mailboxes { size, per_chunk, chunks: Vec::new(), free: Vec::new() }),
            links: Mutex::default(),
            news: Mutex::default(),
            has_news: AtomicBool::new(false),
            finished: Mutex::default(),
            has_finished: AtomicBool::new(false),
        })
    }

    /// A zeroed mailbox.
    fn mailbox(&self) -> Result<Mailbox, String> {
        let mut all = held(&self.mailboxes);
        if let Some(mailbox) = all.free.pop() {
            return Ok(mailbox);
        }
        let len = all.size * all.per_chunk;
        let pages = Pages::new(len).map_err(|e| format!("memory for mailboxes: {e}"))?;
        let (base, bytes) = (pages.base(), pages.len() as u64);
        // SAFETY: the pages stay until the chunk is deregistered, by `close`.
        let handle = unsafe { self.nic.enter().register(base, bytes, Some(&self.arrivals), 0) };
        let handle = handle
            .map_err(|c| format!("registering {bytes} bytes of mailboxes: {}", self.nic.api.code_text(c)))?;
        all.chunks.push(Chunk { _pages: pages, handle });
        let size = all.size;
        for n in (0..all.per_chunk).rev() {
            all.free.push(Mailbox { base: base as u64, offset: (n * size) as u32, handle });
        }
        all.free.pop().ok_or_else(|| "no mailbox".to_owned())
    }

    /// Adds a link with a mailbox of its own.
    pub fn add(&self, make: impl FnOnce(u32, Mailbox) -> Link) -> Result<Arc<Link>, String> {
        let mailbox = self.mailbox()?;
        let mut links = held(&self.links);
        let link = Arc::new(make(links.len() as u32, mailbox));
        links.push(link.clone());
        Ok(link)
    }

    /// The link that events with this index are of.
    pub fn link(&self, known: &mut Held, index: u32) -> Option<Arc<Link>> {
        if index as usize >= known.known.len() {
            known.known = held(&self.links).clone();
        }
        known.known.get(index as usize).cloned()
    }

    pub fn links(&self) -> Vec<Arc<Link>> {
        held(&self.links).clone()
    }

    /// A link was connected, or has failed. Any thread.
    pub fn tell(&self, link: &Arc<Link>) {
        held(&self.news).push(link.clone());
        self.has_news.store(true, Ordering::SeqCst);
        self.bell.ring();
    }

    /// Has the holder look again. Any thread.
    pub fn wake(&self) {
        self.has_news.store(true, Ordering::SeqCst);
        self.bell.ring();
    }

    pub fn has_news(&self) -> bool {
        self.has_news.load(Ordering::SeqCst)
    }

    pub fn news(&self) -> Vec<Arc<Link>> {
        self.bell.silence();
        self.has_news.store(false, Ordering::SeqCst);
        std::mem::take(&mut *held(&self.news))
    }

    /// An operation of the lane is over. Any thread.
    pub fn finish(&self, op: Arc<Operation>) {
        held(&self.finished).push(op);
        if !self.has_finished.swap(true, Ordering::SeqCst) {
            self.bell.ring();
        }
    }

    pub fn has_finished(&self) -> bool {
        self.has_finished.load(Ordering::SeqCst)
    }

    pub fn take_finished(&self) -> Vec<Arc<Operation>> {
        if !self.has_finished() {
            return Vec::new();
        }
        self.bell.silence();
        self.has_finished.store(false, Ordering::SeqCst);
        std::mem::take(&mut *held(&self.finished))
    }

    /// Ends the endpoints of its links and the registrations of its mailboxes.
    pub fn close(&self) {
        for link in self.links() {
            if let Some(ep) = link.take_ep() {
                self.nic.enter().destroy(ep);
            }
        }
        for chunk in &held(&self.mailboxes).chunks {
            let _ = self.nic.enter().deregister(chunk.handle);
        }
    }
}

impl Held {
    /// Puts a link on the list of those to look at, once.
    pub fn look_at(&mut self, link: Arc<Link>) {
        if !link.is_ready.swap(true, Ordering::Relaxed) {
            self.ready.push_back(link);
        }
    }

    pub fn next_ready(&mut self) -> Option<Arc<Link>> {
        let link = self.ready.pop_front()?;
        link.is_ready.store(false, Ordering::Relaxed);
        Some(link)
    }
}
