//! Where announcements meet those who wait for them.

use super::{ANNOUNCE, Announcement, WORDS};
use crate::communicator::Communicator;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{Lock, RequestHeader, Status, ThreadCtx};
use std::cell::UnsafeCell;
use std::ptr::null_mut;

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
    pub(super) fn take_channels(&self, count: u32) -> u32 {
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

    /// Pairs what has come, and says whether this one was met; that ends its place in the line.
    pub(super) fn met(&self, threaded: bool, number: u64) -> Option<Result<Announcement, Status>> {
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

    pub(super) fn leave(&self, threaded: bool, number: u64) {
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
                ((*(*e.req).ops).release)(e.req, null_mut());
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
            unsafe { ((*header.ops).release)(e.req, null_mut()) };
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

#[cfg(test)]
mod tests {
    use super::*;

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
