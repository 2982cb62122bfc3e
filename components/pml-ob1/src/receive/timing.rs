//! How long matching takes (`OMPI_SPC_MATCH_TIME`).
//!
//! Measured only while somebody asks: then every message is looked at closer (`Instance::is_watchful`) and handled by a copy
//! of the code that has watches in it. The code that handles messages otherwise has none, and no branch for them.
//!
//! A watch runs from before the lock of the shard (or of the source's numbers) until the message has its
//! receive, or is kept: searching, and waiting for other threads that search, but not the delivery of data.
//! A CRI's sum is a word that only the holder of its lock writes.

use crate::receive::receiver::Receiver;
use core::sync::atomic::Ordering;
use oxmpi_mca::CriGuard;
use std::time::Instant;

/// Runs, or is not there.
pub struct Watch<const TIMED: bool>(Option<Instant>);

impl<const TIMED: bool> Watch<TIMED> {
    /// Starts a watch, or does nothing where matching is not timed.
    #[inline(always)]
    pub fn start() -> Self {
        Watch(if TIMED { Some(Instant::now()) } else { None })
    }

    /// Ends the watch when the message has its receive or is kept, and adds the time to the CRI's sum, in nanoseconds.
    #[inline(always)]
    pub fn stop(self, receiver: &Receiver, held: &CriGuard<'_>) {
        if TIMED && let Some(began) = self.0 {
            let ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(0);
            receiver.instance().cri(held.ctx()).add_match_time(held, ns);
        }
    }
}

impl Receiver {
    /// Switches the timing of matching on or off, for messages that come from now on.
    pub fn measure_matching(&self, on: bool) {
        if self.timing.swap(on, Ordering::AcqRel) != on {
            match on {
                true => self.instance().watch_closer(),
                false => self.instance().watch_less(),
            };
        }
    }

    /// The measured time of matching on all CRIs, in nanoseconds.
    pub fn match_time(&self) -> u64 {
        (0..self.instance().host().num_cris()).map(|ctx| self.instance().cri(ctx).match_time()).sum()
    }
}
