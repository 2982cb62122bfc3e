//! Lanes: a completion queue with the receive requests, send buffers and queue pairs that report to it.
//!
//! All threads may use a [`Lane`]; the part that is its holder's alone is [`Held`], which lies with the lane's only context, or behind a lock
//! where several share it (`context.rs`). Links that the connecting thread has made wait in the lane until the holder takes them.

use crate::buffers::{Piece, Pool, Supply};
use crate::link::{Link, Side, held};
use crate::objects::{Domain, OpenDevice, Pair, SharedReceives};
use crate::queue::{Queue, Reports, marked, unmarked};
use crate::wire::FRAME;
use core::hash::{BuildHasherDefault, Hasher};
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_btl::Completion;
use oxmpi_mca::Status;
use oxmpi_verbs_abi::numbers::wc_status;
use oxmpi_verbs_abi::{Sge, Wc};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

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

/// Bytes in front of each receive buffer, of which the first four are its key.
const PREFIX: usize = 64;

/// A receive buffer of a lane that the device has given back, with what came in it. It goes to the device again by [`Lane::post_receive`].
pub struct Buffer {
    at: u64,
    /// Bytes that came.
    len: u32,
}

impl Buffer {
    /// Takes the buffer that a report of a receive is about.
    ///
    /// # Safety
    /// The report is the device's, of a request of a lane, and this is asked once. The lane is there as long as the buffer.
    #[inline(always)]
    pub unsafe fn of(wc: &Wc) -> Buffer {
        let len = if wc.status == wc_status::SUCCESS { wc.byte_len } else { 0 };
        Buffer { at: unmarked(wc.wr_id), len }
    }

    /// All that came.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        let at = (self.at as usize + PREFIX) as *const u8;
        // SAFETY: so many bytes came behind the buffer's key, and nobody writes there before it is posted again (`of`).
        unsafe { core::slice::from_raw_parts(at, self.len as usize) }
    }
    /// The bytes behind the frame.
    #[inline(always)]
    pub fn body(&self) -> &[u8] {
        self.bytes().get(FRAME..).unwrap_or_default()
    }
}

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

/// A lane as its holder sees it. Links are numbers here, of their sides.
pub struct Held {
    /// By number.
    pub sides: Vec<Side>,
    /// Links that have a queue pair, by its number.
    pub links: HashMap<u32, usize, BuildHasherDefault<ByNumber>>,
    /// Free send buffers of its own.
    pub free: Vec<u32>,
    /// Requests that are posted and not known to be complete.
    pub under_way: u32,
    /// Links that owe credits; that have operations to post; with requests to send; with one-sided operations at all.
    pub owing: Vec<usize>,
    pub listed: Vec<usize>,
    pub waiting: Vec<usize>,
    pub memory: Vec<usize>,
    /// Links whose peers write to rings of ours.
    pub rings: Vec<usize>,
    pub flushes: Vec<Flush>,
    pub reports: Reports,
    pub entries: Box<[Wc]>,
}

impl Held {
    /// Makes the data of a new lane.
    pub fn new(lane: &Lane) -> Held {
        Held {
            sides: Vec::new(),
            links: HashMap::default(),
            free: lane.pool.join(),
            under_way: 0,
            owing: Vec::new(),
            listed: Vec::new(),
            waiting: Vec::new(),
            memory: Vec::new(),
            rings: Vec::new(),
            flushes: Vec::new(),
            reports: lane.queue.join(),
            entries: vec![Wc::default(); 32].into(),
        }
    }

    /// Returns the number of a link of this lane; one that is new here gets it now.
    #[inline(always)]
    pub fn number(&mut self, link: &Arc<Link>) -> usize {
        let sides = &mut self.sides;
        *link.number.get_or_init(|| {
            sides.push(Side::new(link.clone()));
            sides.len() - 1
        })
    }
}

/// A flush under way.
pub struct Flush {
    /// Links, and the number of the last operation that it waits for.
    pub waits: Vec<(usize, u64)>,
    pub status: Status,
    pub ctx: u16,
    pub done: Completion,
}

pub struct Lane {
    pub number: u16,
    pub domain: Arc<Domain>,
    /// The protection domain that memory is registered with, by number.
    pub protection: Arc<Domain>,
    pub queue: Arc<Queue>,
    pub receives: Arc<SharedReceives>,
    pub sizes: Sizes,
    /// Several contexts have it.
    pub is_shared: bool,
    /// Links that were made, for the holder to take; and whether there is something to look at.
    made: Mutex<Vec<Arc<Link>>>,
    pub news: AtomicBool,
    chunks: Mutex<Chunks>,
    pub pool: Arc<Pool>,
    supply: Arc<Supply>,
    _idle: Box<dyn Send + Sync>,
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
    pub fn new(number: u16, base: Base, sizes: Sizes, is_shared: bool) -> Result<Arc<Lane>, String> {
        Ok(Arc::new(Lane {
            number,
            receives: SharedReceives::new(&base.protection, sizes.receives)?,
            domain: base.domain,
            protection: base.protection,
            queue: base.queue,
            sizes,
            is_shared,
            made: Mutex::default(),
            news: AtomicBool::new(false),
            chunks: Mutex::default(),
            pool: base.pool,
            supply: base.supply,
            _idle: base.idle,
        }))
    }

    pub fn device(&self) -> &Arc<OpenDevice> {
        &self.domain.device
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
    pub fn end(&self, reports: &mut Reports, pair: Pair) {
        for id in self.queue.end(self.number, reports, pair) {
            self.post_receive(Buffer { at: id, len: 0 });
        }
    }

    /// Takes a send buffer. `free`: the lane's own ones.
    #[inline(always)]
    pub fn buffer(&self, free: &mut Vec<u32>) -> Option<u32> {
        self.pool.take(free)
    }
    /// Gives it back.
    #[inline(always)]
    pub fn give_buffer(&self, free: &mut Vec<u32>, number: Option<u32>) {
        if let Some(number) = number {
            self.pool.give(free, number);
        }
    }
    /// Whether each further request should be reported: half of its own buffers or of its room in the queue is taken.
    #[inline(always)]
    pub fn is_scarce(&self, free: usize, under_way: u32) -> bool {
        free * 2 < self.pool.own || self.queue.room.is_scarce(under_way)
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
            let at = piece.base().wrapping_add(stride * n);
            // SAFETY: inside the new piece, aligned to 64.
            unsafe { at.cast::<u32>().write(piece.lkey()) };
            if !self.post_receive(Buffer { at: at as u64, len: 0 }) {
                return Err("a shared receive queue takes less than it says".into());
            }
        }
        chunks.posted += count;
        chunks.all.push(piece);
        Ok(())
    }

    /// Gives a receive buffer back to the device.
    #[inline(always)]
    pub fn post_receive(&self, buffer: Buffer) -> bool {
        let at = buffer.at;
        // SAFETY: `grow` has written the key in front of each buffer.
        let lkey = unsafe { (at as *const u32).read() };
        let sge = Sge { addr: at + PREFIX as u64, length: self.sizes.message as u32, lkey };
        // SAFETY: whoever had the buffer has given it away here.
        unsafe { self.receives.post(self.id(at), sge) }
    }
}
