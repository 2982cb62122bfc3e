//! Memory through which peers reach a process: one memfd each, which peers open under /proc and map.
//!
//! | offset | content | written by |
//! |---|---|---|
//! | 0 | [`Head`]: who it is, bells | the owner; bells by all |
//! | then | a [`Hello`] per sender | the sender |
//! | then | a [`Lane`] per sender: packets of its device to ours | head by the sender's device, tail by ours |
//! | then | a [`Ring`] per sender and context: messages | head by the sender, tail by the receiver, each under its context |
//!
//! **SYNC POINTS.** A producer writes content and then its head (release); the consumer reads the head (acquire), takes the
//! content, and then writes its tail (release), which the producer reads (acquire) before it writes there again. A ringer
//! writes content, fences, and reads whether somebody sleeps; a sleeper says that it sleeps, fences, and looks at content.
//!
//! Peers are not trusted with what they write: lengths are checked by whoever reads, and content is copied before it is looked at.

use crate::wire::{Address, Header, PACKET, VERSION};
use core::mem::offset_of;
use core::ptr::{copy_nonoverlapping, null_mut};
use core::sync::atomic::fence;
use oxmpi_mca::sync::unmodelled::{AtomicU32, AtomicU64, Ordering};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{MemfdFlags, Mode, OFlags, ftruncate, memfd_create, open};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::futex;

pub const MAX_CONTEXTS: usize = 16;
/// Packets in a lane.
const PACKETS: u64 = 32;
const MAGIC: u64 = u64::from_le_bytes(*b"FABRIC\0\x01");

/// Bell of one context: where its sleeper sleeps by word.
#[repr(C, align(64))]
pub struct Bell {
    pub asleep: AtomicU32,
    pub word: AtomicU32,
}

#[repr(C)]
pub struct Head {
    magic: u64,
    version: u32,
    senders: u32,
    contexts: u32,
    ring: u32,
    process: u64,
    /// 1: its device is gone.
    pub gone: AtomicU32,
    /// Rung for the device itself.
    pub device: AtomicU32,
    pub device_sleeps: AtomicU32,
    /// Contexts whose sleepers sleep on a descriptor and are to be woken, by bit.
    pub interrupts: AtomicU32,
    /// Its sleepers sleep on descriptors, which only its device can write to.
    pub by_descriptor: AtomicU32,
    pub bells: [Bell; MAX_CONTEXTS],
}

/// How a receiver finds its sender.
#[repr(C, align(64))]
pub struct Hello {
    there: AtomicU32,
    address: Address,
}

/// Head and tail of a queue, on lines of their own.
#[repr(C, align(64))]
struct Ends {
    head: AtomicU64,
    /// 1: the producer waits for room.
    blocked: AtomicU32,
    _apart: [u64; 6],
    tail: AtomicU64,
    _line: [u64; 7],
}

#[derive(Clone, Copy)]
struct Layout {
    senders: usize,
    contexts: usize,
    ring: usize,
}

impl Layout {
    fn hello(&self, sender: usize) -> usize {
        size_of::<Head>().next_multiple_of(4096) + sender * size_of::<Hello>()
    }
    fn lane(&self, sender: usize) -> usize {
        let first = self.hello(self.senders).next_multiple_of(4096);
        first + sender * (size_of::<Ends>() + PACKETS as usize * PACKET)
    }
    fn ring(&self, sender: usize, ctx: usize) -> usize {
        let first = self.lane(self.senders).next_multiple_of(64);
        first + (sender * self.contexts + ctx) * (size_of::<Ends>() + self.ring)
    }
    fn bytes(&self) -> usize {
        self.ring(self.senders, 0).next_multiple_of(4096)
    }
}

/// A mapped area, ours or a peer's.
pub struct Area {
    base: *mut u8,
    layout: Layout,
    /// Of our own; peers open it.
    fd: Option<OwnedFd>,
}

// SAFETY: memory shared with other processes anyway; every queue has one producer and one consumer.
unsafe impl Send for Area {}
// SAFETY: as above.
unsafe impl Sync for Area {}

impl Area {
    /// Makes our own.
    pub fn make(
        senders: u32,
        contexts: u32,
        ring: usize,
        process: u64,
        by_descriptor: bool,
    ) -> Result<Area, Errno> {
        let layout = Layout { senders: senders as usize, contexts: contexts as usize, ring };
        let fd = memfd_create("oxmpi-fabric", MemfdFlags::CLOEXEC)?;
        ftruncate(&fd, layout.bytes() as u64)?;
        let base = map(&fd, layout.bytes())?;
        // SAFETY: fresh memory of that size, nobody knows it yet.
        unsafe {
            let head = base.cast::<Head>();
            (*head).senders = senders;
            (*head).contexts = contexts;
            (*head).ring = ring as u32;
            (*head).process = process;
            (*head).version = VERSION;
            (*head).by_descriptor.store(by_descriptor.into(), Ordering::Relaxed);
            (*head).magic = MAGIC;
        }
        Ok(Area { base, layout, fd: Some(fd) })
    }

    /// Maps a peer's.
    pub fn open(a: &Address) -> Result<Area, String> {
        let layout =
            Layout { senders: a.senders as usize, contexts: a.contexts as usize, ring: a.ring as usize };
        let fits = a.senders <= 4096 && layout.contexts <= MAX_CONTEXTS && a.ring <= 1 << 24;
        if a.version != VERSION || !fits {
            return Err(format!("it speaks wire version {}, we speak {VERSION}", a.version));
        }
        let path = format!("/proc/{}/fd/{}", a.pid, a.fd);
        let fd =
            open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(|e| format!("{path}: {e}"))?;
        let size = rustix::fs::fstat(&fd).map_err(|e| e.to_string())?.st_size;
        if size != layout.bytes() as i64 {
            return Err(format!("{path} has {size} bytes, not {}", layout.bytes()));
        }
        let base = map(&fd, layout.bytes()).map_err(|e| e.to_string())?;
        let area = Area { base, layout, fd: None };
        let head = area.head();
        let same = (head.magic, head.process, head.senders, head.contexts, head.ring)
            == (MAGIC, a.process, a.senders, a.contexts, a.ring);
        if same { Ok(area) } else { Err(format!("{path} is not the memory that was published")) }
    }

    pub fn fd(&self) -> i32 {
        self.fd.as_ref().map_or(-1, |fd| fd.as_raw_fd())
    }

    pub fn head(&self) -> &Head {
        // SAFETY: the first page; what changes in it is atomic.
        unsafe { &*self.base.cast() }
    }

    pub fn contexts(&self) -> u32 {
        self.layout.contexts as u32
    }
    pub fn senders(&self) -> usize {
        self.layout.senders
    }

    fn hello(&self, sender: usize) -> *mut Hello {
        self.base.wrapping_add(self.layout.hello(sender)).cast()
    }

    /// The sender of that number says how it is reached.
    pub fn say_hello(&self, sender: usize, address: Address) {
        let hello = self.hello(sender);
        // SAFETY: inside; written by that sender alone, before it says that it is there.
        unsafe {
            if (*hello).there.load(Ordering::Relaxed) == 0 {
                (&raw mut (*hello).address).write(address);
                // SYNC POINT with `sender`.
                (*hello).there.store(1, Ordering::Release);
            }
        }
    }

    /// Whether a process has said how it is reached, if there is one of that number.
    pub fn knows(&self, sender: usize) -> bool {
        sender < self.senders() && self.sender(sender).is_some()
    }

    /// How a sender is reached, once it has said so.
    pub fn sender(&self, sender: usize) -> Option<Address> {
        let hello = self.hello(sender);
        // SAFETY: inside. SYNC POINT with `say_hello`.
        unsafe { ((*hello).there.load(Ordering::Acquire) != 0).then(|| (&raw const (*hello).address).read()) }
    }

    pub fn lane(&self, sender: usize) -> Lane {
        Lane(self.base.wrapping_add(self.layout.lane(sender)))
    }
    pub fn ring(&self, sender: usize, ctx: u32) -> Ring {
        Ring {
            at: self.base.wrapping_add(self.layout.ring(sender, ctx as usize)),
            size: self.layout.ring as u64,
        }
    }

    /// Rings the device of this area's owner.
    pub fn ring_device(&self) {
        let head = self.head();
        head.device.fetch_add(1, Ordering::SeqCst);
        // SYNC POINT with the device's loop: it says that it sleeps and then compares the word.
        if head.device_sleeps.load(Ordering::SeqCst) != 0 {
            let _ = futex::wake(&head.device, futex::Flags::empty(), i32::MAX as u32);
        }
    }

    /// Wakes the owner of a context, if it sleeps. Content has been written before.
    pub fn ring_context(&self, ctx: u32) {
        let (head, bell) = (self.head(), &self.head().bells[ctx as usize]);
        fence(Ordering::SeqCst);
        if bell.asleep.load(Ordering::SeqCst) == 0 {
            return;
        }
        if head.by_descriptor.load(Ordering::Relaxed) != 0 {
            head.interrupts.fetch_or(1 << ctx, Ordering::SeqCst);
            return self.ring_device();
        }
        bell.word.fetch_add(1, Ordering::SeqCst);
        let _ = futex::wake(&bell.word, futex::Flags::empty(), i32::MAX as u32);
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: mapped by us, and whoever used it is gone.
        unsafe {
            let _ = munmap(self.base.cast(), self.layout.bytes());
        }
    }
}

fn map(fd: impl AsFd, bytes: usize) -> Result<*mut u8, Errno> {
    // SAFETY: a new mapping at an address of the kernel's choice.
    unsafe {
        mmap(null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, fd, 0).map(|p| p.cast())
    }
}

/// Packets of one device to another.
pub struct Lane(*mut u8);

impl Lane {
    fn ends(&self) -> &Ends {
        // SAFETY: inside the area, aligned to a line.
        unsafe { &*self.0.cast() }
    }
    fn packet(&self, number: u64) -> *mut u8 {
        self.0.wrapping_add(size_of::<Ends>() + (number % PACKETS) as usize * PACKET)
    }

    /// Writes a packet whose data `fill` writes. False: no room, and the consumer will ring when there is.
    pub fn push(&self, header: &Header, fill: impl FnOnce(*mut u8)) -> bool {
        let ends = self.ends();
        let head = ends.head.load(Ordering::Relaxed);
        if head.wrapping_sub(ends.tail.load(Ordering::Acquire)) >= PACKETS {
            ends.blocked.store(1, Ordering::SeqCst);
            if head.wrapping_sub(ends.tail.load(Ordering::SeqCst)) >= PACKETS {
                return false;
            }
        }
        let at = self.packet(head);
        // SAFETY: a free packet; only this device writes to the lane.
        unsafe { at.cast::<Header>().write(*header) };
        fill(at.wrapping_add(size_of::<Header>()));
        ends.head.store(head + 1, Ordering::Release);
        true
    }

    /// Takes a packet with `take`. None: there is none; else whether the producer waits for room.
    pub fn pop(&self, take: impl FnOnce(&Header, *const u8)) -> Option<bool> {
        let ends = self.ends();
        let tail = ends.tail.load(Ordering::Relaxed);
        if tail == ends.head.load(Ordering::Acquire) {
            return None;
        }
        let at = self.packet(tail);
        // SAFETY: a packet that was written; a copy, because the peer may change it.
        let header = unsafe { at.cast::<Header>().read_volatile() };
        take(&header, at.wrapping_add(size_of::<Header>()));
        ends.tail.store(tail + 1, Ordering::SeqCst);
        Some(ends.blocked.swap(0, Ordering::SeqCst) != 0)
    }
}

/// Messages of one process to another on one context: length and tag, then the bytes, in words of 8.
pub struct Ring {
    at: *mut u8,
    size: u64,
}

/// A message in a ring.
pub struct RingMessage {
    pub tag: u8,
    pub len: usize,
    from: u64,
}

impl Ring {
    fn ends(&self) -> &Ends {
        // SAFETY: inside the area, aligned to a line.
        unsafe { &*self.at.cast() }
    }

    fn slot(len: u64) -> u64 {
        8 + len.next_multiple_of(8)
    }

    /// Copies in a message that lies in one piece. False: no room.
    pub fn push(&self, tag: u8, bytes: &[u8]) -> bool {
        let (ends, slot) = (self.ends(), Ring::slot(bytes.len() as u64));
        let head = ends.head.load(Ordering::Relaxed);
        if head + slot - ends.tail.load(Ordering::Acquire) > self.size {
            return false;
        }
        let first = bytes.len() as u64 | (tag as u64) << 32;
        self.copy_in(head, &first.to_le_bytes());
        self.copy_in(head + 8, bytes);
        ends.head.store(head + slot, Ordering::Release);
        true
    }

    /// The next message. Err: its sender broke the rules.
    pub fn look(&self, most: usize) -> Result<Option<RingMessage>, String> {
        let ends = self.ends();
        let tail = ends.tail.load(Ordering::Relaxed);
        let there = ends.head.load(Ordering::Acquire).wrapping_sub(tail);
        if there == 0 {
            return Ok(None);
        }
        let mut first = [0; 8];
        self.copy_out(tail, &mut first);
        let first = u64::from_le_bytes(first);
        let (len, tag) = (first as u32 as usize, (first >> 32) as u8);
        if there > self.size || len > most || Ring::slot(len as u64) > there {
            return Err(format!("a message of {len} bytes where {there} are there"));
        }
        Ok(Some(RingMessage { tag, len, from: tail }))
    }

    /// Copies a message out and gives its room back.
    pub fn take(&self, message: &RingMessage, into: &mut [u8]) {
        self.copy_out(message.from + 8, &mut into[..message.len]);
        let end = message.from + Ring::slot(message.len as u64);
        self.ends().tail.store(end, Ordering::Release);
    }

    pub fn is_empty(&self) -> bool {
        self.ends().tail.load(Ordering::Relaxed) == self.ends().head.load(Ordering::SeqCst)
    }

    /// Calls `copy` with the pieces of a stretch of the ring: at most two.
    fn pieces(&self, from: u64, len: usize, mut copy: impl FnMut(*mut u8, usize, usize)) {
        let at = (from % self.size) as usize;
        let base = self.at.wrapping_add(size_of::<Ends>());
        let first = len.min(self.size as usize - at);
        copy(base.wrapping_add(at), 0, first);
        if first < len {
            copy(base, first, len - first);
        }
    }
    fn copy_in(&self, to: u64, bytes: &[u8]) {
        // SAFETY: inside the ring, where only the producer writes; `bytes` has `at + n` bytes.
        self.pieces(to, bytes.len(), |ring, at, n| unsafe {
            copy_nonoverlapping(bytes[at..].as_ptr(), ring, n)
        });
    }
    fn copy_out(&self, from: u64, bytes: &mut [u8]) {
        // SAFETY: as above, where only the consumer reads.
        self.pieces(from, bytes.len(), |ring, at, n| unsafe {
            copy_nonoverlapping(ring, bytes[at..].as_mut_ptr(), n)
        });
    }
}

const _: () = {
    assert!(size_of::<Ends>() == 128 && offset_of!(Ends, tail) == 64);
    assert!(size_of::<Hello>() == 64);
    assert!(size_of::<Head>() <= 4096);
};
