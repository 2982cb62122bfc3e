//! Partitioned messages (MPI 5.0 §4.2): one persistent message in parts that the sender marks ready one
//! by one, from any of its threads.
//!
//! ```text
//! Psend_init   announcement (tag, first channel, partitions, bytes each) ─────►  met by a Precv_init
//! Start                                                                          Start
//! Pready(i)    channel first+i  ──────────────────────────────────────────────►  Parrived(j)
//! ```
//!
//! **Set-up.** The sender never waits for the receiver: it numbers its *channels* (one per partition)
//! itself and sends one small announcement when the operation is made. A channel is a tag of the
//! library's own, negative and far below those of collectives, so no receive of the user, wildcard or
//! not, can ever match. Each partition is a persistent send on its channel, made once; the receiver
//! makes one persistent receive per *sender's* partition once it has met the announcement, at the place in
//! its buffer where those bytes belong. Start and Pready start persistent requests and allocate nothing.
//!
//! **Who meets whom.** All announcements of a communicator go by one tag, and carry the user's. Each
//! Precv_init posts one receive for an announcement of its source; what has come is paired with the
//! oldest Precv_init of that source and tag ([`Meeting`]). Announcements of a pair arrive in the order
//! of Psend_init, so operations pair in the order they were made, as the standard wants. A receive
//! request that is freed before it met anyone still takes its announcement off the line.
//!
//! **Partitions need not agree**: receiver's partition j has arrived when all sender's partitions that
//! overlap its bytes have. Where a sender's partition ends inside an element of a receive type with
//! gaps, the bytes are received aside and unpacked when they are there.
//!
//! **Who may touch what.** Cells and vectors belong to the holder of the request's lane lock (`made`),
//! and are not changed while the operation is active but for the cursor. The word of each part is what
//! threads share: `Pready` claims it (IDLE → CLAIMED → STARTED), arrival of a part that is received
//! aside likewise (IDLE → CLAIMED → DONE).

use super::{Begin, Body, Made};
use crate::communicator::Communicator;
use crate::instance::Instance;
use oxmpi_datatype::{TypeDesc, TypeRef};
use oxmpi_mca::{Lock, MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_pml::mode;
use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};

/// The tag of announcements; channels lie below it. Tags of collectives are above, those for making
/// communicators below (`construct`).
const ANNOUNCE: i32 = -(1 << 20);
const CHANNELS: u32 = 1 << 29;

fn channel_tag(first: u32, part: usize) -> i32 {
    ANNOUNCE - 1 - (first.wrapping_add(part as u32) % CHANNELS) as i32
}

const IDLE: u8 = 0;
const CLAIMED: u8 = 1;
const DONE: u8 = 2;

/// A persistent request of the point-to-point layer, and how far it is.
struct Part {
    req: *mut RequestHeader,
    word: AtomicU8,
}

impl Part {
    fn new(req: *mut RequestHeader) -> Part {
        Part { req, word: AtomicU8::new(IDLE) }
    }
    fn is_complete(&self) -> bool {
        // SAFETY: a live request of ours.
        unsafe { &*self.req }.completion.is_complete()
    }
    fn status(&self) -> MsgStatus {
        // SAFETY: complete, so nobody writes.
        unsafe { (*self.req).status }
    }
    fn start(&self) -> Status {
        // SAFETY: an inactive persistent request of ours.
        unsafe { ((*(*self.req).ops).start)(self.req) }
    }
    /// Takes the word from IDLE; false: somebody has.
    fn claim(&self, threaded: bool) -> bool {
        if threaded {
            return self.word.compare_exchange(IDLE, CLAIMED, Ordering::AcqRel, Ordering::Acquire).is_ok();
        }
        let idle = self.word.load(Ordering::Relaxed) == IDLE;
        if idle {
            self.word.store(CLAIMED, Ordering::Relaxed);
        }
        idle
    }
}

fn release_all(parts: &mut Vec<Part>) {
    for part in parts.drain(..) {
        // SAFETY: complete or inactive, and nobody else's.
        unsafe { ((*(*part.req).ops).release)(part.req) };
    }
}

/// What the user says of a partitioned message, the sender's or the receiver's.
pub struct Layout<'a> {
    pub buf: *mut u8,
    pub partitions: usize,
    /// Elements per partition.
    pub count: u64,
    pub dtype: &'a TypeDesc,
    /// Rank of the other side.
    pub peer: i32,
    pub tag: i32,
}

impl Layout<'_> {
    /// Packed bytes of a partition; `None`: more than there can be in all.
    fn bytes(&self) -> Option<u64> {
        let each = self.dtype.packed.checked_mul(self.count)?;
        each.checked_mul(self.partitions as u64).filter(|n| *n <= i64::MAX as u64)?;
        Some(each)
    }
}

/// What travels ahead: little-endian words.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
struct Announcement {
    tag: i32,
    first: u32,
    partitions: u64,
    bytes: u64,
}

const WORDS: usize = 3;

impl Announcement {
    fn encode(self) -> [u64; WORDS] {
        let head = self.tag as u32 as u64 | u64::from(self.first) << 32;
        [head.to_le(), self.partitions.to_le(), self.bytes.to_le()]
    }
    /// `None`: no sender says such a thing.
    fn decode(words: &[u64; WORDS]) -> Option<Announcement> {
        let [head, partitions, bytes] = words.map(u64::from_le);
        let whole = partitions.checked_mul(bytes).is_some_and(|n| n <= i64::MAX as u64);
        (whole && partitions <= u64::from(CHANNELS)).then_some(Announcement {
            tag: head as u32 as i32,
            first: (head >> 32) as u32,
            partitions,
            bytes,
        })
    }
}

// ---- sending ----

/// The sender's side.
#[derive(Default)]
pub struct Sending {
    comm: UnsafeCell<Option<Arc<Communicator>>>,
    words: UnsafeCell<[u64; WORDS]>,
    /// The announcement while it is under way.
    announcing: Cell<Option<Half>>,
    parts: UnsafeCell<Vec<Part>>,
    /// Parts before this one are over.
    cursor: Cell<usize>,
    error: Cell<Option<Status>>,
    /// Parts that are not ready yet.
    left: AtomicUsize,
}

#[derive(Clone, Copy)]
struct Half(*mut RequestHeader);

// SAFETY: see the module's head.
unsafe impl Sync for Sending {}
// SAFETY: as above.
unsafe impl Send for Sending {}

impl Sending {
    fn parts(&self) -> &[Part] {
        // SAFETY: changed only while nobody has an active operation.
        unsafe { &*self.parts.get() }
    }
    pub fn partitions(&self) -> usize {
        self.parts().len()
    }

    /// Marks a partition ready, from any thread. `BAD_PARAM`: it is already, or there is none such.
    pub fn ready(&self, instance: &Instance, thread: *mut ThreadCtx, partition: usize) -> Status {
        let threaded = instance.threaded();
        let Some(part) = self.parts().get(partition).filter(|p| p.claim(threaded)) else {
            return Status::BAD_PARAM;
        };
        // A failure completes the part with its error, which the completion of the whole tells.
        let _ = part.start();
        // SYNC POINT with `advance`: the part's completion word is that of this start.
        part.word.store(DONE, Ordering::Release);
        let left = if threaded {
            self.left.fetch_sub(1, Ordering::AcqRel) - 1
        } else {
            let left = self.left.load(Ordering::Relaxed) - 1;
            self.left.store(left, Ordering::Relaxed);
            left
        };
        if left == 0 {
            // All may be over already, with nobody in progress to see it.
            instance.poll_requests(thread);
        }
        Status::OK
    }
}

impl Body for Sending {
    fn advance(&self, _: &Instance, _: *mut ThreadCtx) -> Option<MsgStatus> {
        if let Some(Half(req)) = self.announcing.get() {
            // SAFETY: a live request of ours.
            unsafe {
                if !(*req).completion.is_complete() {
                    return None;
                }
                ((*(*req).ops).release)(req);
            }
            self.announcing.set(None);
        }
        let parts = self.parts();
        let mut at = self.cursor.get();
        // SYNC POINT with `ready`.
        while at < parts.len() && parts[at].word.load(Ordering::Acquire) == DONE && parts[at].is_complete() {
            let error = parts[at].status().error;
            if error.is_err() {
                self.error.set(self.error.get().or(Some(error)));
            }
            at += 1;
        }
        self.cursor.set(at);
        let status = MsgStatus { error: self.error.get().unwrap_or(Status::OK), ..MsgStatus::EMPTY };
        (at == parts.len()).then_some(status)
    }

    fn start(&self, _: &Instance) -> Status {
        for part in self.parts() {
            part.word.store(IDLE, Ordering::Relaxed);
        }
        self.left.store(self.parts().len(), Ordering::Relaxed);
        self.cursor.set(0);
        self.error.set(None);
        Status::PENDING
    }

    fn at_rest(&self) -> bool {
        self.announcing.get().is_none()
    }

    fn reset(&self) {
        // SAFETY: nobody else has the request any more.
        unsafe {
            release_all(&mut *self.parts.get());
            *self.comm.get() = None;
        }
    }
}

impl Communicator {
    /// MPI_Psend_init: an inactive persistent request.
    pub fn psend_init(
        self: &Arc<Self>,
        thread: *mut ThreadCtx,
        layout: &Layout<'_>,
    ) -> Result<*mut RequestHeader, Status> {
        let bytes = layout.bytes().ok_or(Status::BAD_PARAM)?;
        let first = self.meeting().take_channels(layout.partitions as u32);
        let mut parts = Vec::new();
        parts.try_reserve_exact(layout.partitions).map_err(|_| Status::OUT_OF_MEMORY)?;
        let stride = layout.dtype.extent.wrapping_mul(layout.count as i64) as isize;
        for i in 0..layout.partitions {
            let buf = layout.buf.wrapping_offset(stride.wrapping_mul(i as isize));
            let tag = channel_tag(first, i);
            let made =
                self.send_init(thread, buf, layout.count, layout.dtype, layout.peer, tag, mode::STANDARD);
            match made {
                Ok(req) => parts.push(Part::new(req)),
                Err(status) => {
                    release_all(&mut parts);
                    return Err(status);
                }
            }
        }
        let words = Announcement { tag: layout.tag, first, partitions: layout.partitions as u64, bytes };
        let instance = self.instance();
        let made = instance.make_request(thread, |sending: &Sending| {
            // SAFETY: nobody else has the body yet.
            unsafe {
                *sending.comm.get() = Some(self.clone());
                *sending.words.get() = words.encode();
                *sending.parts.get() = parts;
            }
            sending.announcing.set(None);
        })?;
        let sending = made.body::<Sending>().ok_or(Status::INTERNAL)?;
        let byte = instance.byte_type();
        let len = (WORDS * 8) as u64;
        let sent = self.quiet_isend(
            thread,
            sending.words.get().cast(),
            len,
            byte,
            layout.peer,
            ANNOUNCE,
            mode::STANDARD,
        );
        match sent {
            Ok(req) => sending.announcing.set(Some(Half(req))),
            Err(status) => {
                instance.drop_request(made);
                return Err(status);
            }
        }
        // Takes the announcement back at once if it is gone already.
        sending.cursor.set(0);
        let _ = sending.advance(instance, thread);
        instance.begin_request(made, Begin::Inactive);
        Ok(made.handle())
    }
}

// ---- meeting ----

/// Announcements of a communicator and who waits for them; see the module's head.
#[derive(Default)]
pub(crate) struct Meeting {
    lock: Lock,
    inner: UnsafeCell<Inner>,
    channels: AtomicU32,
}

// SAFETY: `inner` is the lock's holder's.
unsafe impl Sync for Meeting {}
// SAFETY: as above.
unsafe impl Send for Meeting {}

#[derive(Default)]
struct Inner {
    expected: Vec<Expected>,
    come: Vec<(i32, Announcement)>,
    /// In order of Precv_init.
    waiting: Vec<Waiting>,
    next: u64,
}

/// A posted receive for an announcement. Boxed words: the receive has their address.
struct Expected {
    source: i32,
    req: *mut RequestHeader,
    words: Box<[u64; WORDS]>,
}

struct Waiting {
    number: u64,
    source: i32,
    tag: i32,
    met: Option<Announcement>,
    /// Its request is gone.
    dead: bool,
}

impl Meeting {
    fn take_channels(&self, count: u32) -> u32 {
        self.channels.fetch_add(count, Ordering::Relaxed)
    }

    /// # Safety
    /// Not nested.
    #[allow(clippy::mut_from_ref, reason = "the lock's holder is alone")]
    unsafe fn inner(&self) -> &mut Inner {
        // SAFETY: callers hold the lock, or are the only thread.
        unsafe { &mut *self.inner.get() }
    }

    /// Gets in line; the number is for `met` and `leave`.
    fn join(
        &self,
        comm: &Communicator,
        thread: *mut ThreadCtx,
        source: i32,
        tag: i32,
    ) -> Result<u64, Status> {
        let _guard = self.lock.guard(comm.instance().threaded());
        // SAFETY: the lock is held.
        let inner = unsafe { self.inner() };
        let mut words = Box::new([0; WORDS]);
        let len = (WORDS * 8) as u64;
        let at = words.as_mut_ptr().cast();
        let req = comm.quiet_irecv(thread, at, len, comm.instance().byte_type(), source, ANNOUNCE)?;
        inner.expected.push(Expected { source, req, words });
        inner.next += 1;
        let number = inner.next;
        inner.waiting.push(Waiting { number, source, tag, met: None, dead: false });
        Ok(number)
    }

    /// Pairs what has come, and says whether this one was met; that ends its place in the line.
    fn met(&self, threaded: bool, number: u64) -> Option<Result<Announcement, Status>> {
        let _guard = self.lock.guard(threaded);
        // SAFETY: the lock is held.
        let inner = unsafe { self.inner() };
        let wrong = inner.take_what_came();
        inner.pair();
        let at = inner.waiting.iter().position(|w| w.number == number)?;
        match inner.waiting[at].met {
            Some(met) => {
                inner.waiting.remove(at);
                Some(Ok(met))
            }
            None => wrong.map(Err),
        }
    }

    fn leave(&self, threaded: bool, number: u64) {
        let _guard = self.lock.guard(threaded);
        // SAFETY: the lock is held.
        let inner = unsafe { self.inner() };
        if let Some(w) = inner.waiting.iter_mut().find(|w| w.number == number) {
            w.dead = true;
        }
        inner.waiting.retain(|w| !(w.dead && w.met.is_some()));
    }

    /// The communicator goes: nothing is received for it any more.
    pub(crate) fn close(&self) {
        // SAFETY: the last user of the communicator is here.
        for e in unsafe { self.inner() }.expected.drain(..) {
            // SAFETY: a live request of ours.
            unsafe {
                ((*(*e.req).ops).cancel)(e.req);
                if !(*e.req).completion.is_complete() {
                    // Being received this moment: the words stay.
                    Box::leak(e.words);
                }
                ((*(*e.req).ops).release)(e.req);
            }
        }
    }
}

impl Inner {
    /// Announcements whose receive is complete, in the order they were posted. The error of one that
    /// could not be received, or made no sense.
    fn take_what_came(&mut self) -> Option<Status> {
        let mut wrong = None;
        let come = &mut self.come;
        self.expected.retain(|e| {
            // SAFETY: a live request of ours.
            let header = unsafe { &*e.req };
            if !header.completion.is_complete() {
                return true;
            }
            let status = header.status;
            // SAFETY: complete and ours.
            unsafe { ((*header.ops).release)(e.req) };
            match Announcement::decode(&e.words) {
                Some(a) if !status.error.is_err() && status.bytes == (WORDS * 8) as u64 => {
                    come.push((e.source, a));
                }
                _ => wrong = Some(if status.error.is_err() { status.error } else { Status::PEER_FAILED }),
            }
            false
        });
        wrong
    }

    /// Each announcement goes to the oldest that waits for its source and tag.
    fn pair(&mut self) {
        let waiting = &mut self.waiting;
        self.come.retain(|(source, a)| {
            let fits = |w: &&mut Waiting| w.met.is_none() && w.source == *source && w.tag == a.tag;
            match waiting.iter_mut().find(fits) {
                Some(w) => {
                    w.met = Some(*a);
                    false
                }
                None => true,
            }
        });
        self.waiting.retain(|w| !(w.dead && w.met.is_some()));
    }
}

// ---- receiving ----

/// The receiver's side.
#[derive(Default)]
pub struct Receiving {
    what: UnsafeCell<Option<What>>,
    /// Place in the line, until somebody was met.
    number: Cell<Option<u64>>,
    sender: Cell<Announcement>,
    /// One for each of the sender's partitions.
    parts: UnsafeCell<Vec<Part>>,
    /// Where parts are received that do not end with an element.
    aside: UnsafeCell<Vec<u8>>,
    active: Cell<bool>,
    /// The parts of this start have been started.
    live: AtomicBool,
    cursor: Cell<usize>,
    outcome: Cell<Option<Status>>,
    bytes: Cell<u64>,
}

/// [`Layout`], kept.
struct What {
    comm: Arc<Communicator>,
    buf: *mut u8,
    partitions: usize,
    count: u64,
    dtype: TypeRef,
    source: i32,
    tag: i32,
    /// Of one partition.
    bytes: u64,
}

// SAFETY: see the module's head.
unsafe impl Sync for Receiving {}
// SAFETY: as above.
unsafe impl Send for Receiving {}

impl Receiving {
    fn what(&self) -> Option<&What> {
        // SAFETY: set before the request is handed out, cleared when nobody has it.
        unsafe { (*self.what.get()).as_ref() }
    }
    fn parts(&self) -> &[Part] {
        // SAFETY: filled before `live` is set for the first time, constant then.
        unsafe { &*self.parts.get() }
    }
    pub fn partitions(&self) -> usize {
        self.what().map_or(0, |w| w.partitions)
    }

    /// Whether a partition of an active operation is here, from any thread.
    pub fn arrived(&self, instance: &Instance, partition: usize) -> bool {
        // SYNC POINT with `start_parts`.
        let (true, Some(what)) = (self.live.load(Ordering::Acquire), self.what()) else { return false };
        let (parts, each) = (self.parts(), self.sender.get().bytes);
        let from = partition as u64 * what.bytes;
        let range = if each == 0 || what.bytes == 0 || (from + what.bytes).div_ceil(each) > parts.len() as u64
        {
            // Of no data, or of more than the sender has: with the last.
            0..parts.len()
        } else {
            (from / each) as usize..(from + what.bytes).div_ceil(each) as usize
        };
        range.into_iter().all(|i| self.is_here(what, i, instance.threaded()))
    }

    /// Whether a part is complete and where it belongs.
    fn is_here(&self, what: &What, i: usize, threaded: bool) -> bool {
        let part = &self.parts()[i];
        if !part.is_complete() {
            return false;
        }
        // SAFETY: made with the parts, constant then.
        let aside = unsafe { &*self.aside.get() };
        if aside.is_empty() || part.word.load(Ordering::Acquire) == DONE {
            return true;
        }
        if !part.claim(threaded) {
            // Another thread is unpacking it.
            return part.word.load(Ordering::Acquire) == DONE;
        }
        let (from, len) = self.place(what, i);
        let len = len.min(part.status().bytes);
        // SAFETY: `aside` has all bytes of the receiver, `place` stays inside, and so does the user's buffer.
        unsafe {
            let total = what.count * what.partitions as u64;
            oxmpi_datatype::unpack(
                &what.dtype,
                total,
                what.buf,
                from,
                aside.as_ptr().add(from as usize),
                len,
            );
        }
        // SYNC POINT with the loads above: the user's buffer is filled.
        part.word.store(DONE, Ordering::Release);
        true
    }

    /// Where in the receiver's bytes a part begins, and how many of them it may fill.
    fn place(&self, what: &What, i: usize) -> (u64, u64) {
        let (each, room) = (self.sender.get().bytes, what.bytes * what.partitions as u64);
        let from = (each * i as u64).min(room);
        (from, each.min(room - from))
    }

    /// Meets the sender, if it has come. An error ends the operation.
    fn meet(&self, instance: &Instance, thread: *mut ThreadCtx) -> Result<bool, Status> {
        let (Some(number), Some(what)) = (self.number.get(), self.what()) else { return Ok(true) };
        match what.comm.meeting().met(instance.threaded(), number) {
            None => Ok(false),
            Some(Err(status)) => Err(status),
            Some(Ok(sender)) => {
                self.number.set(None);
                self.sender.set(sender);
                self.make_parts(what, thread).map(|()| true)
            }
        }
    }

    fn make_parts(&self, what: &What, thread: *mut ThreadCtx) -> Result<(), Status> {
        let sender = self.sender.get();
        let packed = what.dtype.packed;
        let whole = what.dtype.is_contiguous() || packed == 0 || sender.bytes.is_multiple_of(packed);
        // SAFETY: `live` was never set, so nobody else looks at either.
        let (parts, aside) = unsafe { (&mut *self.parts.get(), &mut *self.aside.get()) };
        if !whole {
            let room = (what.bytes * what.partitions as u64) as usize;
            aside.try_reserve_exact(room).map_err(|_| Status::OUT_OF_MEMORY)?;
            aside.resize(room, 0);
        }
        parts.try_reserve_exact(sender.partitions as usize).map_err(|_| Status::OUT_OF_MEMORY)?;
        let byte = what.comm.instance().byte_type();
        for i in 0..sender.partitions as usize {
            let (from, len) = self.place(what, i);
            let (buf, count, dtype): (*mut u8, u64, &TypeDesc) = if !whole {
                (aside.as_mut_ptr().wrapping_add(from as usize), len, byte)
            } else if what.dtype.is_contiguous() {
                (what.buf.wrapping_add(from as usize), len, byte)
            } else {
                let elements = from.checked_div(packed).unwrap_or(0) as i64;
                let at = what.buf.wrapping_offset(what.dtype.extent.wrapping_mul(elements) as isize);
                (at, len.checked_div(packed).unwrap_or(0), &what.dtype)
            };
            let tag = channel_tag(sender.first, i);
            parts.push(Part::new(what.comm.recv_init(thread, buf, count, dtype, what.source, tag)?));
        }
        Ok(())
    }

    fn start_parts(&self) {
        for part in self.parts() {
            part.word.store(IDLE, Ordering::Relaxed);
            // A failure completes the part with its error.
            let _ = part.start();
        }
        // SYNC POINT with `arrived`.
        self.live.store(true, Ordering::Release);
    }
}

impl Body for Receiving {
    fn advance(&self, instance: &Instance, thread: *mut ThreadCtx) -> Option<MsgStatus> {
        let what = self.what().filter(|_| self.active.get())?;
        let over = |error| MsgStatus {
            source: what.source,
            tag: what.tag,
            error,
            cancelled: 0,
            bytes: self.bytes.get(),
        };
        if !self.live.load(Ordering::Relaxed) {
            match self.meet(instance, thread) {
                Ok(true) => self.start_parts(),
                Ok(false) => return None,
                Err(status) => {
                    self.active.set(false);
                    return Some(over(status));
                }
            }
        }
        let parts = self.parts();
        let mut at = self.cursor.get();
        while at < parts.len() && self.is_here(what, at, instance.threaded()) {
            let status = parts[at].status();
            self.bytes.set(self.bytes.get() + status.bytes);
            if status.error.is_err() {
                self.outcome.set(self.outcome.get().or(Some(status.error)));
            }
            at += 1;
        }
        self.cursor.set(at);
        if at < parts.len() {
            return None;
        }
        self.active.set(false);
        Some(over(self.outcome.get().unwrap_or(Status::OK)))
    }

    fn start(&self, _: &Instance) -> Status {
        self.cursor.set(0);
        self.bytes.set(0);
        self.outcome.set(None);
        self.active.set(true);
        self.live.store(false, Ordering::Relaxed);
        if self.number.get().is_none() {
            self.start_parts();
        }
        Status::PENDING
    }

    fn reset(&self) {
        if let (Some(number), Some(what)) = (self.number.take(), self.what()) {
            what.comm.meeting().leave(what.comm.instance().threaded(), number);
        }
        self.live.store(false, Ordering::Relaxed);
        self.active.set(false);
        // SAFETY: nobody else has the request any more.
        unsafe {
            release_all(&mut *self.parts.get());
            *self.aside.get() = Vec::new();
            *self.what.get() = None;
        }
    }
}

impl Communicator {
    /// MPI_Precv_init: an inactive persistent request.
    pub fn precv_init(
        self: &Arc<Self>,
        thread: *mut ThreadCtx,
        layout: &Layout<'_>,
    ) -> Result<*mut RequestHeader, Status> {
        let bytes = layout.bytes().ok_or(Status::BAD_PARAM)?;
        let what = What {
            comm: self.clone(),
            buf: layout.buf,
            partitions: layout.partitions,
            count: layout.count,
            // SAFETY: alive for the call.
            dtype: unsafe { TypeRef::retain(layout.dtype) },
            source: layout.peer,
            tag: layout.tag,
            bytes,
        };
        let number = self.meeting().join(self, thread, layout.peer, layout.tag)?;
        let instance = self.instance();
        let made = instance.make_request(thread, |receiving: &Receiving| {
            // SAFETY: nobody else has the body yet.
            unsafe { *receiving.what.get() = Some(what) };
            receiving.number.set(Some(number));
        });
        let made = made.inspect_err(|_| self.meeting().leave(instance.threaded(), number))?;
        instance.begin_request(made, Begin::Inactive);
        Ok(made.handle())
    }
}

/// The sender's side of a request, if it is one.
pub fn sending(made: &Made) -> Option<&Sending> {
    made.body()
}

/// The receiver's side of a request, if it is one.
pub fn receiving(made: &Made) -> Option<&Receiving> {
    made.body()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_survive_the_wire_and_nonsense_is_refused() {
        let a = Announcement { tag: i32::MAX, first: u32::MAX, partitions: 8192, bytes: 1 << 20 };
        assert_eq!(Announcement::decode(&a.encode()), Some(a));
        assert_eq!(Announcement::decode(&[0, u64::MAX, 1]), None);
        assert_eq!(Announcement::decode(&[0, 1 << 20, 1 << 50]), None);
    }

    #[test]
    fn channels_lie_between_collectives_and_the_making_of_communicators() {
        for (first, part) in [(0, 0), (u32::MAX, 1), (CHANNELS - 1, 0), (CHANNELS, 7)] {
            let tag = channel_tag(first, part);
            assert!(tag < ANNOUNCE && tag > i32::MIN + (1 << 30) + 2, "{tag}");
        }
    }

    fn come(tag: i32, first: u32) -> Announcement {
        Announcement { tag, first, partitions: 1, bytes: 1 }
    }

    #[test]
    fn operations_pair_in_the_order_they_were_made() {
        let wait = |number, source, tag| Waiting { number, source, tag, met: None, dead: false };
        let mut inner = Inner {
            waiting: vec![wait(1, 0, 5), wait(2, 0, 6), wait(3, 0, 5), wait(4, 1, 5)],
            come: vec![(0, come(6, 10)), (0, come(5, 11)), (0, come(7, 12)), (0, come(5, 13))],
            ..Inner::default()
        };
        inner.waiting[0].dead = true;
        inner.pair();
        let met: Vec<_> = inner.waiting.iter().map(|w| (w.number, w.met.map(|a| a.first))).collect();
        assert_eq!(met, [(2, Some(10)), (3, Some(13)), (4, None)], "the freed one took the first");
        assert_eq!(inner.come, [(0, come(7, 12))]);
    }
}
