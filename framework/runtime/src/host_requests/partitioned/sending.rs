//! The sender's side of a partitioned message.

use super::announcement::{ANNOUNCE, Announcement, WORDS, channel_tag};
use super::part::{DONE, IDLE, Layout, Part, release_all};
use crate::host_requests::Begin;
use crate::message::{Envelope, SendBuffer};
use crate::objects::{Body, Communicator, Instance};
use crate::request::Header;
use oxmpi_mca::sync::unmodelled::{AtomicUsize, Ordering};
use oxmpi_mca::{Entry, MsgStatus, Status};
use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;

/// The sender's side.
#[derive(Default)]
pub struct Sending {
    comm: UnsafeCell<Option<Arc<Communicator>>>,
    words: UnsafeCell<[u64; WORDS]>,
    /// The request of the announcement's send while it is under way.
    announcing: Cell<Option<Header>>,
    parts: UnsafeCell<Vec<Part>>,
    /// Parts before this one are over.
    cursor: Cell<usize>,
    error: Cell<Option<Status>>,
    /// Parts that are not ready yet.
    left: AtomicUsize,
}

// SAFETY: cells and vectors are used under the lock of the request's pool, but for those that are constant while the operation is active; parts and `left`
// are `Sync` by their words (the module's head).
unsafe impl Sync for Sending {}
// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for Sending {}

impl Sending {
    /// The parts of the message, one persistent send for each partition.
    fn parts(&self) -> &[Part] {
        // SAFETY: changed only while nobody has an active operation.
        unsafe { &*self.parts.get() }
    }
    /// The sender's number of partitions.
    pub fn partitions(&self) -> usize {
        self.parts().len()
    }

    /// Marks a partition ready, from any thread. `BAD_PARAM`: it is already, or there is none such.
    pub fn ready(&self, instance: &Instance, entry: &mut Entry, partition: usize) -> Status {
        let Some(part) = self.parts().get(partition).filter(|p| p.claim(entry)) else {
            return Status::BAD_PARAM;
        };
        // A failure completes the part with its error, which the completion of the whole tells.
        let _ = part.start(entry);
        // SYNC POINT with `advance`: the part's completion word is that of this start.
        part.word.store(DONE, Ordering::Release);
        let left = if entry.is_among() {
            self.left.fetch_sub(1, Ordering::AcqRel) - 1
        } else {
            let left = self.left.load(Ordering::Relaxed) - 1;
            self.left.store(left, Ordering::Relaxed);
            left
        };
        if left == 0 {
            // All may be over already, with nobody in progress to see it.
            instance.poll_requests(entry);
        }
        Status::OK
    }
}

impl Body for Sending {
    fn advance(&self, _: &Instance, entry: &mut Entry) -> Option<MsgStatus> {
        if let Some(req) = self.announcing.get() {
            if !req.is_complete() {
                return None;
            }
            self.announcing.set(None);
            // SAFETY: complete, ours, and not used any more.
            unsafe { req.release(entry) };
        }
        let parts = self.parts();
        let mut at = self.cursor.get();
        // SYNC POINT with `ready`.
        while at < parts.len()
            && parts[at].word.load(Ordering::Acquire) == DONE
            && let Some(MsgStatus { error, .. }) = parts[at].status()
        {
            if error.is_err() {
                self.error.set(self.error.get().or(Some(error)));
            }
            at += 1;
        }
        self.cursor.set(at);
        let status = MsgStatus { error: self.error.get().unwrap_or(Status::OK), ..MsgStatus::EMPTY };
        (at == parts.len()).then_some(status)
    }

    fn start(&self, _: &Instance, _: &mut Entry) -> Status {
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

    fn reset(&self, _: &mut Entry) {
        // SAFETY: nobody else has the request any more.
        unsafe {
            release_all(&mut *self.parts.get());
            *self.comm.get() = None;
        }
    }
}

impl Communicator {
    /// MPI_Psend_init: an inactive persistent request.
    pub fn psend_init(self: &Arc<Self>, entry: &mut Entry, layout: &Layout<'_>) -> Result<Header, Status> {
        let bytes = layout.bytes().ok_or(Status::BAD_PARAM)?;
        let first = self.meeting().take_channels(layout.partitions as u32);
        let mut parts = Vec::new();
        parts.try_reserve_exact(layout.partitions).map_err(|_| Status::OUT_OF_MEMORY)?;
        let stride = layout.dtype.extent.wrapping_mul(layout.count as i64) as isize;
        for i in 0..layout.partitions {
            let buf = layout.buf.wrapping_offset(stride.wrapping_mul(i as isize));
            // SAFETY: one of the partitions that the layout vouches for.
            let data = unsafe { SendBuffer::new(buf, layout.count, layout.dtype) };
            let to = Envelope::new(layout.with.rank, channel_tag(first, i));
            match self.send_init(entry, data, to) {
                Ok(req) => parts.push(Part::new(req)),
                Err(status) => {
                    release_all(&mut parts);
                    return Err(status);
                }
            }
        }
        let words = Announcement { tag: layout.with.tag, first, partitions: layout.partitions as u64, bytes };
        let instance = self.instance();
        let made = instance.make_request(entry, |sending: &Sending| {
            // SAFETY: nobody else has the body yet.
            unsafe {
                *sending.comm.get() = Some(self.clone());
                *sending.words.get() = words.encode();
                *sending.parts.get() = parts;
            }
            sending.announcing.set(None);
        })?;
        let sending = made.body::<Sending>().ok_or(Status::INTERNAL)?;
        let len = (WORDS * 8) as u64;
        // SAFETY: the words of the request, which is not given back before the announcement is complete.
        let words = unsafe { SendBuffer::new(sending.words.get().cast(), len, instance.byte_type()) };
        match self.isend(entry, words, Envelope::new(layout.with.rank, ANNOUNCE)) {
            Ok(req) => sending.announcing.set(Some(req)),
            Err(status) => {
                sending.reset(entry);
                instance.drop_request(entry, made);
                return Err(status);
            }
        }
        // Takes the announcement back at once if it is gone already.
        sending.cursor.set(0);
        let _ = sending.advance(instance, entry);
        instance.begin_request(entry, made, Begin::Inactive { at_rest: sending.at_rest() });
        Ok(made.handle())
    }
}
