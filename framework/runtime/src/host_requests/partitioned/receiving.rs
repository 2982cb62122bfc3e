//! The receiver's side of a partitioned message.

use super::announcement::{Announcement, channel_tag};
use super::part::{DONE, IDLE, Layout, Part, release_all};
use crate::host_requests::Begin;
use crate::message::{Envelope, RecvBuffer};
use crate::objects::{Body, Communicator, Instance};
use crate::request::Header;
use oxmpi_datatype::{TypeDesc, TypeRef};
use oxmpi_mca::sync::unmodelled::{AtomicBool, Ordering};
use oxmpi_mca::{Entry, MsgStatus, Status};
use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;

/// The receiver's side.
#[derive(Default)]
pub struct Receiving {
    layout: UnsafeCell<Option<KeptLayout>>,
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
struct KeptLayout {
    comm: Arc<Communicator>,
    buf: *mut u8,
    partitions: usize,
    count: u64,
    dtype: TypeRef,
    from: Envelope,
    /// Of one partition.
    bytes: u64,
}

// SAFETY: cells and vectors are used under the lock of the request's pool, but for those that are constant while the operation is active; parts are `Sync`
// by their words (the module's head).
unsafe impl Sync for Receiving {}
// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for Receiving {}

impl Receiving {
    /// The user's description of the message; `None`: the request is free.
    fn layout(&self) -> Option<&KeptLayout> {
        // SAFETY: set before the request is handed out, cleared when nobody has it.
        unsafe { (*self.layout.get()).as_ref() }
    }
    /// One part for each of the sender's partitions; empty until the sender's announcement has come.
    fn parts(&self) -> &[Part] {
        // SAFETY: filled before `live` is set for the first time, constant then.
        unsafe { &*self.parts.get() }
    }
    /// The receiver's number of partitions.
    pub fn partitions(&self) -> usize {
        self.layout().map_or(0, |w| w.partitions)
    }

    /// Whether a partition of an active operation is here, from any thread.
    pub fn arrived(&self, entry: &Entry, partition: usize) -> bool {
        // SYNC POINT with `start_parts`.
        let (true, Some(layout)) = (self.live.load(Ordering::Acquire), self.layout()) else { return false };
        let (parts, each) = (self.parts(), self.sender.get().bytes);
        let from = partition as u64 * layout.bytes;
        let range =
            if each == 0 || layout.bytes == 0 || (from + layout.bytes).div_ceil(each) > parts.len() as u64 {
                // Of no data, or of more than the sender has: with the last.
                0..parts.len()
            } else {
                (from / each) as usize..(from + layout.bytes).div_ceil(each) as usize
            };
        range.into_iter().all(|i| self.is_here(layout, i, entry))
    }

    /// Whether a part is complete and where it belongs.
    fn is_here(&self, layout: &KeptLayout, i: usize, entry: &Entry) -> bool {
        let part = &self.parts()[i];
        let Some(status) = part.status() else { return false };
        // SAFETY: made with the parts, constant then.
        let aside = unsafe { &*self.aside.get() };
        if aside.is_empty() || part.word.load(Ordering::Acquire) == DONE {
            return true;
        }
        if !part.claim(entry) {
            // Another thread is unpacking it.
            return part.word.load(Ordering::Acquire) == DONE;
        }
        let (from, len) = self.place(layout, i);
        let len = len.min(status.bytes);
        // SAFETY: `aside` has all bytes of the receiver, `place` stays inside, and so does the user's buffer.
        unsafe {
            let total = layout.count * layout.partitions as u64;
            oxmpi_datatype::unpack(
                &layout.dtype,
                total,
                layout.buf,
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
    fn place(&self, layout: &KeptLayout, i: usize) -> (u64, u64) {
        let (each, room) = (self.sender.get().bytes, layout.bytes * layout.partitions as u64);
        let from = (each * i as u64).min(room);
        (from, each.min(room - from))
    }

    /// Meets the sender, if it has come. An error ends the operation.
    fn meet(&self, entry: &mut Entry) -> Result<bool, Status> {
        let (Some(number), Some(layout)) = (self.number.get(), self.layout()) else { return Ok(true) };
        match layout.comm.meeting().met(entry, number) {
            None => Ok(false),
            Some(Err(status)) => Err(status),
            Some(Ok(sender)) => {
                self.number.set(None);
                self.sender.set(sender);
                self.make_parts(layout, entry).map(|()| true)
            }
        }
    }

    /// Makes a persistent receive for each of the sender's partitions, into the user's buffer or, where partitions end
    /// inside elements, into memory aside.
    fn make_parts(&self, layout: &KeptLayout, entry: &mut Entry) -> Result<(), Status> {
        let sender = self.sender.get();
        let packed = layout.dtype.packed;
        let whole = layout.dtype.is_contiguous() || packed == 0 || sender.bytes.is_multiple_of(packed);
        // SAFETY: `live` was never set, so nobody else looks at either.
        let (parts, aside) = unsafe { (&mut *self.parts.get(), &mut *self.aside.get()) };
        if !whole {
            let room = (layout.bytes * layout.partitions as u64) as usize;
            aside.try_reserve_exact(room).map_err(|_| Status::OUT_OF_MEMORY)?;
            aside.resize(room, 0);
        }
        parts.try_reserve_exact(sender.partitions as usize).map_err(|_| Status::OUT_OF_MEMORY)?;
        let byte = layout.comm.instance().byte_type();
        for i in 0..sender.partitions as usize {
            let (from, len) = self.place(layout, i);
            let (buf, count, dtype): (*mut u8, u64, &TypeDesc) = if !whole {
                (aside.as_mut_ptr().wrapping_add(from as usize), len, byte)
            } else if layout.dtype.is_contiguous() {
                (layout.buf.wrapping_add(from as usize), len, byte)
            } else {
                let elements = from.checked_div(packed).unwrap_or(0) as i64;
                let at = layout.buf.wrapping_offset(layout.dtype.extent.wrapping_mul(elements) as isize);
                (at, len.checked_div(packed).unwrap_or(0), &layout.dtype)
            };
            let from = Envelope::new(layout.from.rank, channel_tag(sender.first, i));
            // SAFETY: inside the user's buffer, whose elements are ours while the operation is active, or of `aside`, which stays as it is.
            let place = unsafe { RecvBuffer::new(buf, count, dtype) };
            parts.push(Part::new(layout.comm.recv_init(entry, place, from)?));
        }
        Ok(())
    }

    /// Starts the receives of all parts and lets `arrived` look at them.
    fn start_parts(&self, entry: &mut Entry) {
        for part in self.parts() {
            part.word.store(IDLE, Ordering::Relaxed);
            // A failure completes the part with its error.
            let _ = part.start(entry);
        }
        // SYNC POINT with `arrived`.
        self.live.store(true, Ordering::Release);
    }
}

impl Body for Receiving {
    fn advance(&self, _: &Instance, entry: &mut Entry) -> Option<MsgStatus> {
        let layout = self.layout().filter(|_| self.active.get())?;
        let over = |error| MsgStatus {
            source: layout.from.rank,
            tag: layout.from.tag,
            error,
            cancelled: 0,
            bytes: self.bytes.get(),
        };
        if !self.live.load(Ordering::Relaxed) {
            match self.meet(entry) {
                Ok(true) => self.start_parts(entry),
                Ok(false) => return None,
                Err(status) => {
                    self.active.set(false);
                    return Some(over(status));
                }
            }
        }
        let parts = self.parts();
        let mut at = self.cursor.get();
        while at < parts.len()
            && self.is_here(layout, at, entry)
            && let Some(status) = parts[at].status()
        {
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

    fn start(&self, _: &Instance, entry: &mut Entry) -> Status {
        self.cursor.set(0);
        self.bytes.set(0);
        self.outcome.set(None);
        self.active.set(true);
        self.live.store(false, Ordering::Relaxed);
        if self.number.get().is_none() {
            self.start_parts(entry);
        }
        Status::PENDING
    }

    fn reset(&self, entry: &mut Entry) {
        if let (Some(number), Some(layout)) = (self.number.take(), self.layout()) {
            layout.comm.meeting().leave(entry, number);
        }
        self.live.store(false, Ordering::Relaxed);
        self.active.set(false);
        // SAFETY: nobody else has the request any more.
        unsafe {
            release_all(&mut *self.parts.get());
            *self.aside.get() = Vec::new();
            *self.layout.get() = None;
        }
    }
}

impl Communicator {
    /// MPI_Precv_init: an inactive persistent request.
    pub fn precv_init(self: &Arc<Self>, entry: &mut Entry, layout: &Layout<'_>) -> Result<Header, Status> {
        let bytes = layout.bytes().ok_or(Status::BAD_PARAM)?;
        let kept = KeptLayout {
            comm: self.clone(),
            buf: layout.buf,
            partitions: layout.partitions,
            count: layout.count,
            // SAFETY: alive for the call.
            dtype: unsafe { TypeRef::retain(layout.dtype) },
            from: layout.with,
            bytes,
        };
        let number = self.meeting().join(self, entry, layout.with.rank, layout.with.tag)?;
        let instance = self.instance();
        let made = instance.make_request(entry, |receiving: &Receiving| {
            // SAFETY: nobody else has the body yet.
            unsafe { *receiving.layout.get() = Some(kept) };
            receiving.number.set(Some(number));
        });
        let made = made.inspect_err(|_| self.meeting().leave(entry, number))?;
        instance.begin_request(entry, made, Begin::Inactive { at_rest: true });
        Ok(made.handle())
    }
}
