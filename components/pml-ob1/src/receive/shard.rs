//! A matching shard's content: the engine, and the records of messages that wait in it. `shards.rs` has its
//! lock, `spread.rs` what it does when there are several.
//!
//! **A record has at most 128 bytes**: source, tag and what a rendezvous
//! needs, and payload up to 64 bytes inline; more lies in a buffer of a size class. How much of that
//! there can be is bounded by the senders' credit (`credit.rs`), so records are what 10^6 unexpected
//! messages cost, and nothing is lost.
//!
//! The memory of records and buffers stays until the communicator goes. A record that was taken out
//! of the engine belongs to the thread that took it, until it gives it back under the lock of any of the
//! communicator's shards: those for its tag are the nearest.

use crate::matching::{Engine, Unexpected};
use crate::receive::counts::Waiting;
use crate::receive::incoming::Incoming;
use crate::receive::spread::Spreading;
use crate::wire::{self};
use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::{NonNull, null, null_mut};
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
pub struct Record {
    node: Unexpected,
    /// The communicator that it waits in, as `Comm::of` takes it.
    comm: *const c_void,
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
    /// The record that a node of an unexpected message is part of.
    ///
    /// # Safety
    /// `node` came out of the engine of a shard, which holds nothing but records.
    pub unsafe fn of(node: NonNull<Unexpected>) -> NonNull<Record> {
        node.cast()
    }

    /// Describes the kept message in the form that a message has on arrival. `payload` points into this record or its
    /// buffer, and is valid until the record is given back ([`ShardData::give`]).
    pub fn incoming(&self) -> Incoming {
        // SAFETY: `class` says which variant was written; a message without payload has `far`.
        let payload = unsafe {
            if self.class == 0 && self.len > 0 {
                self.body.inline.as_ptr()
            } else {
                self.body.far.cast_const()
            }
        };
        Incoming {
            key: self.node.key,
            order_key: self.node.order_key,
            payload,
            len: self.len as u64,
            msg_len: self.msg_len,
            src_req: self.src_req,
            proc: self.proc,
            kind: self.kind,
            ctx: self.ctx,
        }
    }

    /// Whether the payload, if any, lies in the record itself.
    #[inline(always)]
    pub fn is_small(&self) -> bool {
        self.class == 0
    }

    /// The communicator that the message waits in, as `Comm::of` takes it.
    pub fn comm(&self) -> *const c_void {
        self.comm
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
    pub(super) deferred: Vec<NonNull<Record>>,
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
    pub fn stamp_of(kept: &Incoming) -> u64 {
        kept.order_key & !Self::STAMPED
    }

    /// The messages that are deferred, as they came.
    pub fn deferred(&self) -> impl Iterator<Item = Incoming> {
        // SAFETY: what is deferred are records, and the lock is held.
        self.order.deferred.iter().map(|record| unsafe { record.as_ref() }.incoming())
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

    /// Keeps a message without stamp that no posted receive fits; `number`: of its arrival, or 0. False: no
    /// memory.
    pub fn keep(&mut self, comm: *const c_void, m: &Incoming, number: u64) -> bool {
        let Some(record) = self.record(comm, m, number) else { return false };
        // Messages without stamp are older than all others of their source: here order is that of arrival.
        // SAFETY: the record is ours until the engine has it, and stays until the engine gives it out.
        unsafe { self.engine.add_unexpected(record.cast()) };
        true
    }

    /// Appends a message with a stamp to the engine's unexpected messages. If its stamp is below the largest one there so far,
    /// the list is noted as unsorted, and [`ShardData::sort_waiting`] puts it in order before MPI_ANY_TAG is looked up.
    #[inline(always)]
    pub fn add_waiting(&mut self, record: NonNull<Record>) {
        // SAFETY: the record is ours until the engine has it, and stays until the engine gives it out.
        unsafe {
            let stamp = record.as_ref().node.order_key;
            if stamp < self.order.newest {
                self.order.unsorted = true;
            } else {
                self.order.newest = stamp;
            }
            self.engine.add_unexpected(record.cast());
        }
    }

    /// Puts waiting messages in the order of their stamps; those without come first. Messages of different
    /// sources have no order among themselves, so any will do.
    pub fn sort_waiting(&mut self) {
        if !core::mem::take(&mut self.order.unsorted) {
            return;
        }
        let mut all = Vec::new();
        while let Some(node) = self.engine.pop_unexpected() {
            all.push(node);
        }
        // SAFETY: nodes that the engine gave out are ours; the sort is stable.
        all.sort_by_key(|n| unsafe { n.as_ref() }.order_key);
        for node in all {
            // SAFETY: as above.
            unsafe { self.engine.add_unexpected(node) };
        }
    }

    /// A record of a message that just came. `None`: no memory.
    pub fn record(&mut self, comm: *const c_void, m: &Incoming, order_key: u64) -> Option<NonNull<Record>> {
        let record = self.take_record()?;
        let len = m.len as usize;
        let mut class = 0;
        // SAFETY: the record is ours until the engine has it; the payload is readable for `len`
        // bytes and lies in the transport's buffer, not here.
        unsafe {
            let r = record.as_ptr();
            if len > INLINE {
                class = Buffers::class_of(len);
                let Some(buf) = self.stock().buffers.take(class) else {
                    self.give_record(record);
                    return None;
                };
                core::ptr::copy_nonoverlapping(m.payload, buf.as_ptr(), len);
                (*r).body.far = buf.as_ptr();
            } else if len > 0 {
                core::ptr::copy_nonoverlapping(m.payload, (&raw mut (*r).body.inline).cast(), len);
            } else {
                (*r).body.far = null_mut();
            }
            (*r).node.key = m.key;
            (*r).node.order_key = order_key;
            (*r).comm = comm;
            (*r).proc = m.proc;
            (*r).kind = m.kind;
            (*r).ctx = m.ctx;
            (*r).class = class as u8;
            (*r).len = m.len as u32;
            (*r).src_req = m.src_req;
            (*r).msg_len = m.msg_len;
        }
        self.waiting.keep();
        Some(record)
    }

    /// Takes out a message that waits, wherever it stands. All others keep their order.
    pub fn withdraw(&mut self, fits: impl Fn(&Incoming) -> bool) -> Option<NonNull<Record>> {
        // SAFETY: what is deferred or in the engine are records, and the lock is held.
        let is_it = |record: NonNull<Record>| fits(&unsafe { record.as_ref() }.incoming());
        if let Some(at) = self.order.deferred.iter().position(|&record| is_it(record)) {
            return Some(self.order.deferred.remove(at));
        }
        let mut found = None;
        for node in self.engine.take_waiting() {
            // SAFETY: as above.
            let record = unsafe { Record::of(node) };
            if found.is_none() && is_it(record) {
                found = Some(record);
            } else {
                // SAFETY: the engine gave it out, so it is ours until it goes back.
                unsafe { self.engine.add_unexpected(node) };
            }
        }
        found
    }

    /// Takes one message that no receive has matched out of the shard: first those that are deferred, then the engine's
    /// unexpected messages, so not in the order of matching. Called in a loop where a communicator is freed or revoked.
    /// `None`: the shard has no more. The caller gives the record back ([`ShardData::give`]).
    pub fn pop_unmatched(&mut self) -> Option<NonNull<Record>> {
        if let Some(record) = self.order.deferred.pop() {
            return Some(record);
        }
        // SAFETY: the engine holds records only.
        self.engine.pop_unexpected().map(|node| unsafe { Record::of(node) })
    }

    /// Takes a record back whose message was consumed.
    pub fn give(&mut self, record: NonNull<Record>) {
        // SAFETY: the record is the caller's, who gives it up.
        let r = unsafe { record.as_ref() };
        if r.class != 0 {
            // SAFETY: a class other than 0 says that `far` was written.
            let payload = unsafe { r.body.far };
            self.stock().buffers.give(r.class as usize, payload);
        }
        self.waiting.give();
        self.give_record(record);
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
        // SAFETY: the record is ours again.
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
            comm: null(),
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
                // SAFETY: as in `Buffers::take`.
                *head = unsafe { buf.cast::<*mut u8>().read() };
                Buffers::free(i + 1, buf.as_ptr());
            }
        }
    }
}
