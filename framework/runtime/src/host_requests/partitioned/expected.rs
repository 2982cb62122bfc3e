//! Announcements that have come, and operations that wait for one.

use crate::host_requests::partitioned::announcement::{Announcement, WORDS};
use crate::locked::Locked;
use crate::request::Header;
use oxmpi_mca::sync::unmodelled::AtomicU32;
use oxmpi_mca::{Entry, Status};

/// Announcements of a communicator and who waits for them; see the module's head.
#[derive(Default)]
pub(crate) struct Meeting {
    pub(crate) inner: Locked<Inner>,
    pub(crate) channels: AtomicU32,
}

/// The part of a [`Meeting`] that its lock guards.
#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) expected: Vec<Expected>,
    pub(crate) come: Vec<(i32, Announcement)>,
    /// In order of Precv_init.
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) next: u64,
}

/// A posted receive for an announcement. Boxed words: the receive has their address.
pub(crate) struct Expected {
    pub(crate) source: i32,
    pub(crate) req: Header,
    pub(crate) words: Box<[u64; WORDS]>,
}

// SAFETY: a request belongs to no thread.
unsafe impl Send for Expected {}

/// A Precv_init that waits for the announcement of its source and tag.
pub(crate) struct Waiting {
    pub(crate) number: u64,
    pub(crate) source: i32,
    pub(crate) tag: i32,
    pub(crate) met: Option<Announcement>,
    /// Its request is gone.
    pub(crate) dead: bool,
}

impl Inner {
    /// Takes in the announcements whose receives are complete, in the order they were posted. Returns the last error of
    /// one that could not be received or made no sense.
    pub(crate) fn take_complete(&mut self) -> Option<Status> {
        let mut wrong = None;
        let come = &mut self.come;
        self.expected.retain(|e| {
            if !e.req.is_complete() {
                return true;
            }
            // SAFETY: complete, and ours until it is released; it leaves the list.
            let status = unsafe {
                let status = e.req.status();
                e.req.release(&mut Entry::among());
                status
            };
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
    pub(crate) fn pair(&mut self) {
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
