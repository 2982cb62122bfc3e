//! Where announcements meet those who wait for them.

use super::announcement::{ANNOUNCE, Announcement, WORDS};
use super::expected::{Expected, Inner, Meeting, Waiting};
use crate::objects::Communicator;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{Status, ThreadCtx};
use std::ptr::null_mut;

impl Meeting {
    /// Reserves `count` channel numbers of the communicator and returns the first.
    pub(super) fn take_channels(&self, count: u32) -> u32 {
        self.channels.fetch_add(count, Ordering::Relaxed)
    }

    /// The guarded part of the meeting; the caller holds the lock or is the only thread.
    ///
    /// # Safety
    /// Not nested.
    #[allow(clippy::mut_from_ref, reason = "the lock's holder is alone")]
    unsafe fn inner(&self) -> &mut Inner {
        // SAFETY: callers hold the lock, or are the only thread.
        unsafe { &mut *self.inner.get() }
    }

    /// Posts a receive for an announcement and enters the operation among those that wait for source and tag; returns
    /// its number, for `met` and `leave`.
    pub(super) fn join(
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
        let req = comm.irecv(thread, at, len, comm.instance().byte_type(), source, ANNOUNCE)?;
        inner.expected.push(Expected { source, req, words });
        inner.next += 1;
        let number = inner.next;
        inner.waiting.push(Waiting { number, source, tag, met: None, dead: false });
        Ok(number)
    }

    /// Pairs announcements that have come and returns the one of operation `number`, whose waiting that ends. `None`:
    /// it has not come.
    pub(super) fn met(&self, threaded: bool, number: u64) -> Option<Result<Announcement, Status>> {
        let _guard = self.lock.guard(threaded);
        // SAFETY: the lock is held.
        let inner = unsafe { self.inner() };
        let wrong = inner.take_complete();
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

    /// Marks operation `number` as freed; it still takes the announcement that is meant for it.
    pub(super) fn leave(&self, threaded: bool, number: u64) {
        let _guard = self.lock.guard(threaded);
        // SAFETY: the lock is held.
        let inner = unsafe { self.inner() };
        if let Some(w) = inner.waiting.iter_mut().find(|w| w.number == number) {
            w.dead = true;
        }
        inner.waiting.retain(|w| !(w.dead && w.met.is_some()));
    }

    /// Cancels and releases the receives for announcements; called when the communicator is freed.
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
                ((*(*e.req).ops).release)(e.req, null_mut());
            }
        }
    }
}
