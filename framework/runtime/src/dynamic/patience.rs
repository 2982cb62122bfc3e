//! Waiting for something that comes by a descriptor, with progress between.

use crate::objects::Instance;
use oxmpi_mca::Entry;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::BorrowedFd;
use std::time::Instant;

/// Looks without a nap: what is answered at once is heard at once.
const EAGER: u32 = 200;
/// Longest nap: what comes by messages waits so long.
const NAP_NANOS: i64 = 2_000_000;

/// How long somebody has waited in vain.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    looks: u32,
}

impl Patience {
    /// Another look was in vain: sleeps until a descriptor has something, for a moment.
    pub(crate) fn nap(&mut self, fds: &[BorrowedFd<'_>]) {
        self.looks = self.looks.saturating_add(1);
        if self.looks < EAGER {
            return;
        }
        let mut fds: Vec<PollFd<'_>> =
            fds.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        let most = Timespec { tv_sec: 0, tv_nsec: NAP_NANOS };
        // The next look follows in any case.
        let _ = poll(&mut fds, Some(&most));
    }
}

impl Instance {
    /// Makes progress until `look` has an outcome; `None` where `deadline` has passed before.
    pub(crate) fn wait_for<T>(
        &self,
        entry: &mut Entry,
        deadline: Option<Instant>,
        mut look: impl FnMut(&mut Patience) -> Option<T>,
    ) -> Option<T> {
        let (mut outcome, mut patience) = (None, Patience::default());
        self.wait_until(entry, |_| {
            outcome = look(&mut patience);
            outcome.is_some() || deadline.is_some_and(|deadline| Instant::now() >= deadline)
        });
        outcome
    }
}
