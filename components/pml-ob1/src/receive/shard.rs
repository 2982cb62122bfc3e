//! A matching shard's content: the engine, and the records of messages that wait in it. `shards.rs` has its
//! lock, `spread.rs` what it does when there are several.
//!
//! **A record has at most 128 bytes**: source, tag and what a rendezvous
//! needs, and payload up to 64 bytes inline; more lies in a buffer of a size class. How much of that
//! there can be is bounded by the senders' credit (`credit.rs`), so records are what 10^6 unexpected
//! messages cost, and nothing is lost.
//!
//! The memory of records and buffers stays until the communicator goes. A record that was taken out
//! of the engine is a [`KeptMessage`], which belongs to the thread that took it, until it gives it back under the lock of any of the
//! communicator's shards: those for its tag are the nearest.

use crate::matching::{Engine, Pattern, Unexpected};
use crate::receive::counts::Waiting;
use crate::receive::incoming::{Envelope, Incoming};
use crate::receive::spread::Spreading;
use crate::wire::{self};
use core::alloc::Layout;
use core::ptr::{NonNull, null_mut};
use std::alloc::{alloc, dealloc};

/// Payload that lies in the record itself; equal to what costs no credit.
const INLINE: usize = wire::FREE_BYTES as usize;

#[repr(C)]
union Body {
    inline: [u8; INLINE],
    far: *mut u8,
}

/// A message that waits; see the module's head.
#[repr(C)]
struct Record {
    node: Unexpected,
    proc: u32,
    kind: u8,
    /// 0: payload inline.
    class: u8,
    ctx: u8,
    len: u32,
    src_req: u64,
    msg_len: u64,
    body: Body,
}

const _: () = assert!(size_of::<Record>() <= 128);

impl Record {
    /// Describes the kept message in the form that a message has on arrival.
    fn incoming(&self) -> Incoming<'_> {
        let len = self.len as usize;
        // SAFETY: `class` and `len` say which variant was written, and that so many bytes of it were: in the record, or in its buffer, which is the record's
        // until that is given back.
        let payload = unsafe {
            match (self.class, len) {
                (_, 0) => &[],
                (0, _) => core::slice::from_raw_parts(self.body.inline.as_ptr(), len),
                _ => core::slice::from_raw_parts(self.body.far, len),
            }
        };
        let about = Envelope {
            key: self.node.key,
            order_key: self.node.order_key,
            len: self.len as u64,
            msg_len: self.msg_len,
            src_req: self.src_req,
            proc: self.proc,
            kind: self.kind,
            ctx: self.ctx,
        };
        Incoming { about, payload }
    }
}

/// A kept message that is in no engine. It is its owner's, who puts it into a shard of its communicator, or gives it back to one ([`ShardData::give`]).
#[must_use = "its record is to be given back"]
pub struct KeptMessage(NonNull<Record>);

// SAFETY: the record is the owner's alone; its memory is the communicator's, and any thread may have it.
unsafe impl Send for KeptMessage {}
// SAFETY: through a reference the record is only read.
unsafe impl Sync for KeptMessage {}

impl KeptMessage {
    /// Takes the message of a node that an engine has given out.
    ///
    /// # Safety
    /// The node came out of the engine of a shard, which holds nothing but records, and nobody else has it.
    pub(super) unsafe fn of(node: NonNull<Unexpected>) -> KeptMessage {
        KeptMessage(node.cast())
    }

    /// Turns it into the node for an engine.
    pub(super) fn into_node(self) -> NonNull<Unexpected> {
        self.0.cast()
    }

    fn record(&self) -> &Record {
        // SAFETY: the record is the owner's, and stays as long as its communicator.
        unsafe { self.0.as_ref() }
    }

    /// Replaces its order key.
    pub(super) fn set_order_key(&mut self, order_key: u64) {
        // SAFETY: the record is the owner's, who has lent this mutably, and stays as long as its communicator.
        unsafe { self.0.as_mut() }.node.order_key = order_key;
    }

    /// Describes the message in the form that a message has on arrival.
    pub fn incoming(&self) -> Incoming<'_> {
        self.record().incoming()
    }

    /// Whether the payload, if any, lies in the record itself.
    #[inline(always)]
    pub fn is_small(&self) -> bool {
        self.record().class == 0
    }
}

/// Payload buffers by size class: class 1 has 128 bytes, each next twice as many; larger ones than
/// the last class are not pooled.
struct Buffers {
    free: [*mut u8; Buffers::CLASSES],
}

/// Memory of records and payload, which a shard has from its first waiting message on.
struct Stock {
    slabs: Vec<Box<[Record]>>,
    buffers: Buffers,
}

impl Default for Stock {
    fn default() -> Stock {
        Stock { slabs: Vec::new(), buffers: Buffers { free: [null_mut(); Buffers::CLASSES] } }
    }
}

impl Buffers {
    const CLASSES: usize = 12;

    const FIRST: usize = 128;

    /// The smallest size class whose buffers have `len` bytes.
    fn class_of(len: usize) -> usize {
        let class = len.max(Self::FIRST).next_power_of_two().trailing_zeros() as usize;
        class - Self::FIRST.trailing_zeros() as usize + 1
    }

    /// The size and alignment of a class's buffers. `None`: too large.
    fn layout(class: usize) -> Option<Layout> {
        Layout::from_size_align(Self::FIRST.checked_shl(class as u32 - 1)?, 64).ok()
    }

    /// Takes a payload buffer of a size class (1 or more) from the class's free list, or allocates one. `None`: no memory.
    fn take(&mut self, class: usize) -> Option<NonNull<u8>> {
        if let Some(head) = self.free.get_mut(class - 1)
            && let Some(buf) = NonNull::new(*head)
        {
            // SAFETY: a free buffer holds the address of the next in its first word.
            *head = unsafe { buf.cast::<*mut u8>().read() };
            return Some(buf);
        }
        // SAFETY: the layout is not empty.
        NonNull::new(unsafe { alloc(Self::layout(class)?) })
    }

    /// Puts a buffer on its class's free list, or frees one of a class that is not pooled.
    fn give(&mut self, class: usize, buf: *mut u8) {
        match self.free.get_mut(class - 1) {
            Some(head) => {
                // SAFETY: the buffer is ours and has at least 128 bytes, aligned to 64.
                unsafe { buf.cast::<*mut u8>().write(*head) };
                *head = buf;
            }
            None => Self::free(class, buf),
        }
    }

    /// Frees a buffer of that class.
    fn free(class: usize, buf: *mut u8) {
        if let Some(layout) = Self::layout(class) {
            // SAFETY: it was allocated with the layout of its class.
            unsafe { dealloc(buf, layout) }
        }
    }
}

/// Data that the lock guards.
pub struct ShardData {
    pub(super) engine: Engine,
    /// Twice the receives posted so far; the lowest bit of a receive's stamp is [`ShardData::COUNTED`].
    pub(super) stamp: u64,
    pub(super) waiting: Waiting,
    /// The record that keeps the order of stamped messages (`ordered.rs`).
    pub(super) order: Ordering,
    pub(super) spreading: Spreading,
    /// `stamp`, and how many peers were lost, when receives were swept last (`revoke.rs`).
    pub(super) swept: (u64, u32),
    free: *mut Record,
    stock: Option<Box<Stock>>,
}

// SAFETY: its pointers lead to records of the communicator and to nodes in requests, which are reached only through it, by whoever holds the shard's lock.
unsafe impl Send for ShardData {}

/// See `ordered.rs`.
#[derive(Default)]
pub struct Ordering {
    /// A stamped message has come.
    pub(super) stamped: bool,
    /// `wild` has all of them: those too that were posted before there were threads.
    pub(super) counted: bool,
    /// Waiting messages do not stand in the order of their stamps.
    pub(super) unsorted: bool,
    /// The largest stamp among waiting messages so far.
    newest: u64,
    /// MPI_ANY_TAG receives that are posted or being looked up, and who else needs messages deferred or the
    /// communicator in one shard.
    pub(super) wild: u32,
    /// Messages that are not matched before their turn is sure, as they came.
    pub(super) deferred: Vec<KeptMessage>,
}

impl Ordering {
    /// Whether stamped messages are matched as they come: some came before, and MPI_ANY_TAG asks for no order.
    #[inline(always)]
    pub fn matches_stamped_at_once(&self) -> bool {
        self.stamped && self.wild == 0 && self.deferred.is_empty()
    }

    /// No message waits any more.
    pub fn forget(&mut self) {
        (self.newest, self.unsorted) = (0, false);
    }
}

impl ShardData {
    /// In a posted receive's stamp: it is one of `wild`.
    pub const COUNTED: u64 = 1;

    /// In a kept message's order key: the rest is its sender's stamp. Without it the rest is the number of its
    /// arrival in mode many (`shards.rs`), and 0 in mode one.
    pub const STAMPED: u64 = 1 << 63;

    /// The sender's stamp of a kept message that has one.
    pub fn stamp_of(kept: &Envelope) -> u64 {
        kept.order_key & !Self::STAMPED
    }

    /// The messages that are deferred, as they came.
    pub fn deferred(&self) -> impl Iterator<Item = Incoming<'_>> {
        self.order.deferred.iter().map(KeptMessage::incoming)
    }

    /// A shard without receives and messages.
    pub fn new(engine: Engine, spreading: Spreading) -> ShardData {
        let (waiting, order) = (Waiting::default(), Ordering::default());
        ShardData {
            engine,
            stamp: 0,
            waiting,
            order,
            spreading,
            swept: (0, 0),
            free: null_mut(),
            stock: None,
        }
    }

    /// Gives the record of spreading.
    #[inline(always)]
    pub fn spreading(&mut self) -> &mut Spreading {
        &mut self.spreading
    }

    /// Whether receives are posted.
    pub fn has_posted(&self) -> bool {
        self.engine.has_posted()
    }

    /// The memory of records and buffers, made when first needed.
    #[inline(always)]
    fn stock(&mut self) -> &mut Stock {
        self.stock.get_or_insert_with(Box::default)
    }

    /// Counts a posted receive.
    #[inline(always)]
    pub fn next_stamp(&mut self) -> u64 {
        self.stamp += 2;
        self.stamp
    }

    /// Notes that a posted receive with this stamp left the engine: one fewer MPI_ANY_TAG receive, if it was counted as
    /// such.
    #[inline(always)]
    pub fn uncount(&mut self, stamp: u64) {
        if stamp & Self::COUNTED != 0 {
            self.order.wild -= 1;
        }
    }

    /// Finds the oldest waiting message that a receive fits, and leaves it there. `None`: none fits.
    pub fn find(&mut self, pattern: Pattern) -> Option<Incoming<'_>> {
        let node = self.engine.find_unexpected(pattern, false)?;
        // SAFETY: the engine holds records only, and has this one as long as the shard is borrowed.
        Some(unsafe { node.cast::<Record>().as_ref() }.incoming())
    }

    /// Takes out the oldest waiting message that a receive fits. `None`: none fits.
    #[inline(always)]
    pub fn take(&mut self, pattern: Pattern) -> Option<KeptMessage> {
        // SAFETY: the engine has given it out, to this call alone.
        self.engine.find_unexpected(pattern, true).map(|node| unsafe { KeptMessage::of(node) })
    }

    /// Keeps a message without stamp that no posted receive fits; `number`: of its arrival, or 0. False: no
    /// memory.
    pub fn keep(&mut self, m: &Incoming<'_>, number: u64) -> bool {
        let Some(message) = self.record(m, number) else { return false };
        // Messages without stamp are older than all others of their source: here order is that of arrival.
        self.put_back(message);
        true
    }

    /// Puts a message behind those that wait.
    pub fn put_back(&mut self, message: KeptMessage) {
        // SAFETY: the record is the caller's, who hands it over, and stays until the engine gives it out.
        unsafe { self.engine.add_unexpected(message.into_node()) };
    }

    /// Appends a message with a stamp to the engine's unexpected messages. If its stamp is below the largest one there so far,
    /// the list is noted as unsorted, and [`ShardData::sort_waiting`] puts it in order before MPI_ANY_TAG is looked up.
    #[inline(always)]
    pub fn add_waiting(&mut self, message: KeptMessage) {
        let stamp = message.record().node.order_key;
        if stamp < self.order.newest {
            self.order.unsorted = true;
        } else {
            self.order.newest = stamp;
        }
        self.put_back(message);
    }

    /// Puts waiting messages in the order of their stamps; those without come first. Messages of different
    /// sources have no order among themselves, so any will do.
    pub fn sort_waiting(&mut self) {
        if !core::mem::take(&mut self.order.unsorted) {
            return;
        }
        let mut all = self.take_waiting();
        // The sort is stable.
        all.sort_by_key(|message| message.record().node.order_key);
        all.into_iter().for_each(|message| self.put_back(message));
    }

    /// Takes out all messages of the engine, oldest first.
    pub fn take_waiting(&mut self) -> Vec<KeptMessage> {
        // SAFETY: the engine has given them out, to this call alone.
        self.engine.take_waiting().into_iter().map(|node| unsafe { KeptMessage::of(node) }).collect()
    }

    /// A record of a message that just came. `None`: no memory.
    pub fn record(&mut self, m: &Incoming<'_>, order_key: u64) -> Option<KeptMessage> {
        let record = self.take_record()?;
        let len = m.payload.len();
        let mut class = 0;
        // SAFETY: the record is ours until the engine has it; the payload lies in the transport's buffer, not here.
        unsafe {
            let r = record.as_ptr();
            if len > INLINE {
                class = Buffers::class_of(len);
                let Some(buf) = self.stock().buffers.take(class) else {
                    self.give_record(record);
                    return None;
                };
                core::ptr::copy_nonoverlapping(m.payload.as_ptr(), buf.as_ptr(), len);
                (*r).body.far = buf.as_ptr();
            } else if len > 0 {
                core::ptr::copy_nonoverlapping(m.payload.as_ptr(), (&raw mut (*r).body.inline).cast(), len);
            } else {
                (*r).body.far = null_mut();
            }
            (*r).node.key = m.key;
            (*r).node.order_key = order_key;
            (*r).proc = m.proc;
            (*r).kind = m.kind;
            (*r).ctx = m.ctx;
            (*r).class = class as u8;
            (*r).len = len as u32;
            (*r).src_req = m.src_req;
            (*r).msg_len = m.msg_len;
        }
        self.waiting.keep();
        Some(KeptMessage(record))
    }

    /// Takes out a message that waits, wherever it stands. All others keep their order.
    pub fn withdraw(&mut self, fits: impl Fn(&Incoming<'_>) -> bool) -> Option<KeptMessage> {
        if let Some(at) = self.order.deferred.iter().position(|message| fits(&message.incoming())) {
            return Some(self.order.deferred.remove(at));
        }
        let mut found = None;
        for message in self.take_waiting() {
            if found.is_none() && fits(&message.incoming()) {
                found = Some(message);
            } else {
                self.put_back(message);
            }
        }
        found
    }

    /// Takes one message that no receive has matched out of the shard: first those that are deferred, then the engine's
    /// unexpected messages, so not in the order of matching. Called in a loop where a communicator is freed or revoked.
    /// `None`: the shard has no more. The caller gives the record back ([`ShardData::give`]).
    pub fn pop_unmatched(&mut self) -> Option<KeptMessage> {
        if let Some(message) = self.order.deferred.pop() {
            return Some(message);
        }
        // SAFETY: the engine has given it out, to this call alone.
        self.engine.pop_unexpected().map(|node| unsafe { KeptMessage::of(node) })
    }

    /// Takes a record back whose message was consumed.
    pub fn give(&mut self, message: KeptMessage) {
        let r = message.record();
        if r.class != 0 {
            // SAFETY: a class other than 0 says that `far` was written.
            let (class, payload) = (r.class as usize, unsafe { r.body.far });
            self.stock().buffers.give(class, payload);
        }
        self.waiting.give();
        self.give_record(message.0);
    }

    /// Takes a free record, after making more if there is none. `None`: no memory.
    fn take_record(&mut self) -> Option<NonNull<Record>> {
        if self.free.is_null() {
            self.grow()?;
        }
        let record = NonNull::new(self.free)?;
        // SAFETY: free records are linked through their nodes.
        self.free = unsafe { record.as_ref() }.node.next.cast();
        Some(record)
    }

    /// Puts a record on the free list; its buffer was given back before.
    fn give_record(&mut self, mut record: NonNull<Record>) {
        // SAFETY: the record is the shard's again, and nobody else's.
        unsafe { record.as_mut() }.node.next = self.free.cast();
        self.free = record.as_ptr();
    }

    /// Makes more free records: 16 at first, each time twice as many, up to 4096. `None`: no memory.
    #[cold]
    fn grow(&mut self) -> Option<()> {
        let slabs = &mut self.stock().slabs;
        let count = 16usize << slabs.len().min(8);
        let mut slab = Vec::new();
        slab.try_reserve_exact(count).ok()?;
        slabs.try_reserve(1).ok()?;
        slab.extend((0..count).map(|_| Record {
            node: Unexpected { next: null_mut(), key: 0, order_key: 0 },
            proc: 0,
            kind: 0,
            class: 0,
            ctx: 0,
            len: 0,
            src_req: 0,
            msg_len: 0,
            body: Body { inline: [0; INLINE] },
        }));
        slabs.push(slab.into_boxed_slice());
        let slab: *mut Record = slabs.last_mut()?.as_mut_ptr();
        for i in (0..count).rev() {
            // SAFETY: `count` records stand there.
            self.give_record(unsafe { NonNull::new_unchecked(slab.add(i)) });
        }
        Some(())
    }
}

/// No record is in use any more: they may lie in another shard's stock, and were given back before
/// (`Content::clear`).
impl Drop for Stock {
    fn drop(&mut self) {
        for (i, head) in self.buffers.free.iter_mut().enumerate() {
            while let Some(buf) = NonNull::new(*head) {
                // SAFETY: a free buffer holds the address of the next in its first word.
                *head = unsafe { buf.cast::<*mut u8>().read() };
                Buffers::free(i + 1, buf.as_ptr());
            }
        }
    }
}
