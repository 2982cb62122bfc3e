//! Lanes: a completion queue with the receive requests, send buffers and queue pairs that report to it.
//!
//! A lane serves one context of the module, and then the caller's serialisation of that context is all that guards it; or several, and then
//! it has a lock of its own, a leaf: nothing of the host is called while it is held. A completion for a context of another thread is
//! put into that context's queue ([`Context`]), and its sleeper is woken.

use crate::buffers::{Piece, Pool, Supply};
use crate::link::{Link, held};
use crate::objects::{Domain, OpenDevice, Pair, SharedReceives};
use crate::queue::{Queue, marked};
use crate::sys::Set;
use crate::wire::Frame;
use core::cell::{RefCell, RefMut};
use core::ffi::c_void;
use core::hash::{BuildHasherDefault, Hasher};
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use oxmpi_btl::Done;
use oxmpi_btl_support::{Bell, Timer};
use oxmpi_mca::Status;
use oxmpi_verbs_abi::{Sge, Wc};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// Numbers of queue pairs are their own hash.
#[derive(Default)]
pub struct ByNumber(u64);

impl Hasher for ByNumber {
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.0 = self.0 << 8 | u64::from(*b));
    }
    fn write_u32(&mut self, n: u32) {
        self.0 = n.into();
    }
}

/// Something to hand up on a context.
pub enum Event {
    /// In a receive buffer of the link's lane, behind its frame: so many bytes.
    Message {
        link: *const Link,
        frame: Frame,
        buffer: u64,
        len: u32,
    },
    /// In a slot of the link's ring, with its frame in front.
    Slot {
        link: *const Link,
        frame: Frame,
        at: *const u8,
        len: u32,
    },
    /// Of a lane that this context does not hold.
    Copied {
        proc: u32,
        tag: u8,
        bytes: Box<[u8]>,
    },
    Done {
        done: Option<Done>,
        ctx: *mut c_void,
        status: Status,
    },
}

/// A context of the module.
#[repr(align(128))]
pub struct Context {
    pub number: u32,
    pub lane: usize,
    own: RefCell<VecDeque<Event>>,
    /// From other threads, or from a lane with a lock.
    foreign: Mutex<VecDeque<Event>>,
    has_foreign: AtomicBool,
    asleep: AtomicBool,
    bell: Bell,
    timer: Option<Timer>,
    pub set: Set,
}

// SAFETY: the contract of BTLs: the caller serialises the verbs of one context, and with them `own`; all else is atomic or behind a
// lock. Pointers in events are callers' arguments and links, which outlive the contexts.
unsafe impl Sync for Context {}
// SAFETY: as above.
unsafe impl Send for Context {}

impl Context {
    /// `naps`: it may have to wake by itself.
    pub fn new(number: u32, lane: &Lane, naps: bool) -> io::Result<Context> {
        let (bell, set) = (Bell::new()?, Set::new()?);
        let timer = if naps { Some(Timer::new()?) } else { None };
        // SAFETY: bell and timer lie beside their set; lanes outlive contexts.
        unsafe {
            set.add(bell.fd())?;
            if let Some(timer) = &timer {
                set.add(timer.fd())?;
            }
            if let Some(channel) = &lane.queue.completions.channel {
                set.add(channel.fd())?;
            }
        }
        Ok(Context {
            number,
            lane: lane.number as usize,
            own: RefCell::default(),
            foreign: Mutex::default(),
            has_foreign: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            bell,
            timer,
            set,
        })
    }

    /// The context's own thread's.
    pub fn push_own(&self, event: Event) {
        self.own.borrow_mut().push_back(event);
    }
    /// SYNC POINT with `sleeps`: the word is written, then the sleeper is looked for.
    pub fn push_foreign(&self, event: Event) {
        held(&self.foreign).push_back(event);
        self.has_foreign.store(true, Ordering::SeqCst);
        self.wake();
    }
    pub fn next(&self) -> Option<Event> {
        let mut own = self.own.borrow_mut();
        if own.is_empty() && self.has_foreign.load(Ordering::Acquire) {
            self.has_foreign.store(false, Ordering::SeqCst);
            own.append(&mut held(&self.foreign));
        }
        own.pop_front()
    }
    pub fn is_empty(&self) -> bool {
        self.own.borrow().is_empty() && !self.has_foreign.load(Ordering::SeqCst)
    }

    /// SYNC POINT with whoever writes what the sleeper looks at: it says that it sleeps, then looks.
    pub fn sleeps(&self, yes: bool) {
        self.asleep.store(yes, Ordering::SeqCst);
    }
    pub fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst) {
            self.bell.ring();
        }
    }
    /// A sleeper wakes after this time at the latest.
    pub fn nap(&self, longest: Duration) {
        if let Some(timer) = &self.timer {
            timer.set(Some(longest));
        }
    }
    pub fn silence(&self) {
        self.bell.silence();
        if let Some(timer) = &self.timer {
            timer.set(None);
        }
    }
}

/// Bytes in front of each receive buffer, of which the first four are its key.
pub const PREFIX: usize = 64;

/// Receive buffers of a lane: whole chunks, one for a connection.
#[derive(Default)]
struct Chunks {
    all: Vec<Piece>,
    posted: u32,
}

/// Sizes of a lane.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// Largest message, frame included.
    pub message: usize,
    pub receives: u32,
}

/// A lane as its holder sees it.
pub struct Held {
    pub links: HashMap<u32, Arc<Link>, BuildHasherDefault<ByNumber>>,
    /// Free send buffers of its own.
    pub free: Vec<u32>,
    /// Requests that are posted and not known to be complete.
    pub under_way: u32,
    /// Links that owe credits; that have operations to post; with requests to send; with one-sided operations at all.
    pub owing: Vec<Arc<Link>>,
    pub listed: Vec<Arc<Link>>,
    pub waiting: Vec<Arc<Link>>,
    pub memory: Vec<Arc<Link>>,
    /// Links whose peers write to rings of ours.
    pub rings: Vec<Arc<Link>>,
    pub flushes: Vec<Flush>,
    pub entries: Box<[Wc]>,
}

/// A flush under way.
pub struct Flush {
    /// Links, and the number of the last operation that it waits for.
    pub waits: Vec<(*const Link, u64)>,
    pub status: Status,
    pub ctx: u16,
    pub done: Option<Done>,
    pub done_ctx: *mut c_void,
}

pub struct Lane {
    pub number: u16,
    pub domain: Arc<Domain>,
    /// The protection domain that memory is registered with, by number.
    pub protection: Arc<Domain>,
    pub queue: Arc<Queue>,
    pub receives: Arc<SharedReceives>,
    pub sizes: Sizes,
    lock: Option<Mutex<()>>,
    held: RefCell<Held>,
    /// Links that were made, for the holder to take; and whether there is something to look at.
    made: Mutex<Vec<Arc<Link>>>,
    pub news: AtomicBool,
    chunks: Mutex<Chunks>,
    pub pool: Arc<Pool>,
    supply: Arc<Supply>,
    _idle: Box<dyn Send + Sync>,
}

// SAFETY: `held` belongs to the holder of the lane's lock, or, where there is none, to that of its only context.
unsafe impl Sync for Lane {}
// SAFETY: as above.
unsafe impl Send for Lane {}

/// The lane's holder.
pub struct Guard<'a> {
    pub held: RefMut<'a, Held>,
    _lock: Option<MutexGuard<'a, ()>>,
}

/// Domains, queue and memory of a new lane.
pub struct Base {
    pub domain: Arc<Domain>,
    pub protection: Arc<Domain>,
    pub queue: Arc<Queue>,
    pub pool: Arc<Pool>,
    pub supply: Arc<Supply>,
    /// Objects that occupy doorbell registers, so that no other object uses them.
    pub idle: Box<dyn Send + Sync>,
}

impl Lane {
    pub fn new(number: u16, base: Base, sizes: Sizes, shared: bool) -> Result<Lane, String> {
        Ok(Lane {
            number,
            receives: SharedReceives::new(&base.protection, sizes.receives)?,
            domain: base.domain,
            protection: base.protection,
            queue: base.queue,
            sizes,
            lock: shared.then(Mutex::default),
            held: RefCell::new(Held {
                links: HashMap::default(),
                free: base.pool.join(),
                under_way: 0,
                owing: Vec::new(),
                listed: Vec::new(),
                waiting: Vec::new(),
                memory: Vec::new(),
                rings: Vec::new(),
                flushes: Vec::new(),
                entries: vec![Wc::default(); 32].into(),
            }),
            made: Mutex::default(),
            news: AtomicBool::new(false),
            chunks: Mutex::default(),
            pool: base.pool,
            supply: base.supply,
            _idle: base.idle,
        })
    }

    pub fn device(&self) -> &Arc<OpenDevice> {
        &self.domain.device
    }
    /// Several contexts share it.
    pub fn is_shared(&self) -> bool {
        self.lock.is_some()
    }
    /// Taken by a verb of one of its contexts, under that one's serialisation.
    #[inline(always)]
    pub fn enter(&self) -> Guard<'_> {
        let lock = self.lock.as_ref().map(held);
        Guard { held: self.held.borrow_mut(), _lock: lock }
    }

    /// The connecting thread's: a link for the holder to take.
    pub fn deliver(&self, link: Arc<Link>) {
        held(&self.made).push(link);
        self.news.store(true, Ordering::SeqCst);
    }
    /// Links that were made since.
    pub fn news(&self) -> Vec<Arc<Link>> {
        self.news.store(false, Ordering::SeqCst);
        std::mem::take(&mut *held(&self.made))
    }

    /// The identifier of a request of this lane, which the device reports.
    #[inline(always)]
    pub fn id(&self, id: u64) -> u64 {
        marked(self.number, id)
    }

    /// Destroys a pair, by the holder. From here on the device touches nothing of it.
    pub fn end(&self, pair: Pair) {
        for buffer in self.queue.end(self.number, pair) {
            self.post_receive(buffer);
        }
    }

    /// Takes a send buffer.
    #[inline(always)]
    pub fn buffer(&self, held: &mut Held) -> Option<u32> {
        self.pool.take(&mut held.free)
    }
    /// Gives it back.
    #[inline(always)]
    pub fn give_buffer(&self, held: &mut Held, number: Option<u32>) {
        if let Some(number) = number {
            self.pool.give(&mut held.free, number);
        }
    }
    /// Whether each further request should be reported: half of its own buffers or of its room in the queue is taken.
    #[inline(always)]
    pub fn is_scarce(&self, held: &Held) -> bool {
        held.free.len() * 2 < self.pool.own || self.queue.room.is_scarce(held.under_way)
    }

    /// Adds receive buffers, as far as there is room for more. Any thread.
    pub fn grow(&self, count: u32) -> Result<(), String> {
        let mut chunks = held(&self.chunks);
        let count = count.min(self.sizes.receives - chunks.posted);
        if count == 0 {
            return Ok(());
        }
        let stride = PREFIX + self.sizes.message.next_multiple_of(64);
        let piece = self.supply.take(stride * count as usize, 1)?;
        for n in 0..count as usize {
            let buffer = piece.base().wrapping_add(stride * n);
            // SAFETY: inside the new piece, aligned to 64.
            unsafe { buffer.cast::<u32>().write(piece.lkey()) };
            if !self.post_receive(buffer as u64) {
                return Err("a shared receive queue takes less than it says".into());
            }
        }
        chunks.posted += count;
        chunks.all.push(piece);
        Ok(())
    }

    /// Gives a receive buffer back to the device.
    #[inline(always)]
    pub fn post_receive(&self, buffer: u64) -> bool {
        // SAFETY: one of `grow`'s, which nobody else uses now.
        let lkey = unsafe { (buffer as *const u32).read() };
        let sge = Sge { addr: buffer + PREFIX as u64, length: self.sizes.message as u32, lkey };
        self.receives.post(self.id(buffer), sge)
    }
}
