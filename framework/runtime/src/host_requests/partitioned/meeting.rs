//! Where announcements meet those who wait for them.

use super::announcement::{ANNOUNCE, Announcement, WORDS};
use super::expected::{Expected, Meeting, Waiting};
use crate::message::{Envelope, RecvBuffer};
use crate::objects::Communicator;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{Entry, Status};

impl Meeting {
    /// Reserves `count` channel numbers of the communicator and returns the first.
    pub(super) fn take_channels(&self, count: u32) -> u32 {
        self.channels.fetch_add(count, Ordering::Relaxed)
    }

    /// Posts a receive for an announcement and enters the operation among those that wait for source and tag; returns
    /// its number, for `met` and `leave`.
    pub(super) fn join(
        &self,
        comm: &Communicator,
        entry: &mut Entry,
        source: i32,
        tag: i32,
    ) -> Result<u64, Status> {
        let mut inner = self.inner.enter(entry);
        let mut words = Box::new([0; WORDS]);
        let len = (WORDS * 8) as u64;
        // SAFETY: the words stay, boxed, until the receive is complete.
        let place = unsafe { RecvBuffer::new(words.as_mut_ptr().cast(), len, comm.instance().byte_type()) };
        // SAFETY: a receive neither waits nor runs the user's code, and knows nothing of this lock.
        let req = comm.irecv(unsafe { inner.entry() }, place, Envelope::new(source, ANNOUNCE))?;
        inner.expected.push(Expected { source, req, words });
        inner.next += 1;
        let number = inner.next;
        inner.waiting.push(Waiting { number, source, tag, met: None, dead: false });
        Ok(number)
    }

    /// Pairs announcements that have come and returns the one of operation `number`, whose waiting that ends. `None`:
    /// it has not come.
    pub(super) fn met(&self, entry: &mut Entry, number: u64) -> Option<Result<Announcement, Status>> {
        let mut inner = self.inner.enter(entry);
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
    pub(super) fn leave(&self, entry: &mut Entry, number: u64) {
        let mut inner = self.inner.enter(entry);
        if let Some(w) = inner.waiting.iter_mut().find(|w| w.number == number) {
            w.dead = true;
        }
        inner.waiting.retain(|w| !(w.dead && w.met.is_some()));
    }

    /// Cancels and releases the receives for announcements; called when the communicator is freed.
    pub(crate) fn close(&self) {
        let mut entry = Entry::among();
        let expected = std::mem::take(&mut self.inner.enter(&mut entry).expected);
        for e in expected {
            // SAFETY: started, and ours; released once, and not used any more.
            unsafe { e.req.cancel(&mut entry) };
            if !e.req.is_complete() {
                // Being received this moment: the words stay.
                Box::leak(e.words);
            }
            // SAFETY: ours, and given back here alone; it was cancelled, or is being received into words that stay.
            unsafe { e.req.release(&mut entry) };
        }
    }
}
