//! The sender's side of a partitioned message.

use super::announcement::{ANNOUNCE, Announcement, WORDS, channel_tag};
use super::part::{DONE, IDLE, Layout, Part, release_all};
use crate::host_requests::Begin;
use crate::objects::{Body, Communicator, Instance};
use oxmpi_mca::sync::unmodelled::{AtomicUsize, Ordering};
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_pml::mode;
use std::cell::{Cell, UnsafeCell};
use std::sync::Arc;

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

/// The request of the announcement's send.
#[derive(Clone, Copy)]
struct Half(*mut RequestHeader);

// SAFETY: see the module's head.
unsafe impl Sync for Sending {}
// SAFETY: as above.
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
    fn advance(&self, _: &Instance, thread: *mut ThreadCtx) -> Option<MsgStatus> {
        if let Some(Half(req)) = self.announcing.get() {
            // SAFETY: a live request of ours.
            unsafe {
                if !(*req).completion.is_complete() {
                    return None;
                }
                ((*(*req).ops).release)(req, thread);
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
        let sent =
            self.isend(thread, sending.words.get().cast(), len, byte, layout.peer, ANNOUNCE, mode::STANDARD);
        match sent {
            Ok(req) => sending.announcing.set(Some(Half(req))),
            Err(status) => {
                sending.reset();
                instance.drop_request(made);
                return Err(status);
            }
        }
        // Takes the announcement back at once if it is gone already.
        sending.cursor.set(0);
        let _ = sending.advance(instance, thread);
        instance.begin_request(made, Begin::Inactive { at_rest: sending.at_rest() });
        Ok(made.handle())
    }
}
