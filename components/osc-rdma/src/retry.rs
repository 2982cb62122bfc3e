//! Attempts at a lock until one succeeds, with pauses and progress between them.
//!
//! The next attempt comes after a number of turns that grows with the attempts, up to
//! a bound, and differs between ranks and threads, so that two who refuse each other do not go on in step. These are turns of somebody who does
//! not wait, since a wait sleeps where nothing comes, and nothing comes when a lock gets free. Where the lock is near, whoever has it is done with it in a few
//! microseconds, unless another has its core: so the pauses stay short, and after some tens of microseconds the core is given away. Not before, for beside programs that compute it
//! comes back after a time slice of theirs.

use crate::call::Call;
use crate::peer::{Met, Peer};
use crate::wire::word;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::Ordering;
use std::time::{Duration, Instant};

/// Most turns of progress between two attempts at a lock.
const MOST_TURNS: u32 = 256;
/// The same where the lock is near: see `NEAR`.
const MOST_NEAR: u32 = 32;
/// An attempt that takes less goes to a word that is mapped here, which whoever has the lock gives back at once, or when it has a core again.
const NEAR: Duration = Duration::from_micros(2);
/// No pause is longer than as many attempts.
const MOST_TIMES: u32 = 8;
/// An attempt is not taken to be slower than this, whatever it waited for.
const LONGEST_TRIP: Duration = Duration::from_micros(500);
/// A longer pause is spent asleep, since sleeping takes that long by itself.
const SHORT: Duration = Duration::from_micros(40);
/// For so long a lock that is near is left to those who are far; one that is far for some round trips, of which those who wait take a few
/// between their attempts.
const PASS: Duration = Duration::from_micros(400);
const PASS_TIMES: u32 = 2 * MOST_TIMES;
const LONGEST_PASS: Duration = Duration::from_millis(10);
/// A lock that is far is looked at before one in so many.
const LOOKS_EVERY: u32 = 4;
/// The half of `REFUSED` that counts attempts from far.
const FAR: u64 = u32::MAX as u64;
/// Between two turns of progress.
const NAP: Duration = Duration::from_micros(200);
/// See [`Call::leave_processor`]: some tens of microseconds of a loop.
const LEAVES: u64 = 128;
/// The holder of a lock may be a thread of the program's own scheduler, which runs when another waits: after so many attempts the caller does.
const GIVES_WAY: u32 = 8;

/// Most turns between two attempts, the fastest of which took that long.
fn most_turns(trip: Duration) -> u32 {
    if trip < NEAR { MOST_NEAR } else { MOST_TURNS }
}

impl<'a> Call<'a> {
    /// Tries until the attempt succeeds, or fails.
    pub fn insist(
        &mut self,
        mut attempt: impl FnMut(&mut Call<'a>) -> Result<bool, Status>,
    ) -> Result<(), Status> {
        let (win, mut most, mut tries, mut trip) = (self.win, 1, 0u32, LONGEST_TRIP);
        loop {
            let begun = Instant::now();
            if attempt(self)? {
                return Ok(());
            }
            // The fastest was not held up by anything else.
            trip = trip.min(begun.elapsed());
            // Unequal for ranks and for threads of one.
            let seed = win.waits.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9);
            let turns = (seed ^ win.comm.rank().wrapping_mul(0x85eb_ca6b)) % most;
            // An attempt by a transport takes as long as each step of whoever has the lock: pauses are as many of those.
            self.pause(turns, trip * turns.min(MOST_TIMES));
            tries += 1;
            if tries.is_multiple_of(GIVES_WAY) {
                self.let_others_run()?;
            }
            most = (most * 2).min(most_turns(trip));
        }
    }

    /// Makes progress for so many turns, or for that long where turns take less. The holder of the lock may need the processor:
    /// a long pause leaves it.
    fn pause(&mut self, turns: u32, pause: Duration) {
        let begun = Instant::now();
        for turn in 0.. {
            self.progress();
            let left = pause.saturating_sub(begun.elapsed());
            if left > SHORT {
                std::thread::sleep(left.min(NAP));
            } else if left.is_zero() && (turn >= turns || pause > SHORT) {
                return;
            }
        }
    }

    /// Lets others run whose turn it may be. A wait may sleep, and nothing that comes says that a lock is free: so this is one look long.
    fn let_others_run(&mut self) -> Result<(), Status> {
        let mut looks = 3;
        let waited = self.until(|| {
            looks -= 1;
            looks == 0
        });
        waited.ok().map(|_| ())
    }

    /// A program may look for something by a loop of locks, which never waits where they are near. The thread that produces it may need the
    /// processor: one attempt in so many leaves it.
    pub fn leave_processor(&self) {
        if self.win.tally.locks().is_multiple_of(LEAVES) {
            std::thread::yield_now();
        }
    }

    /// Leaves a lock for a while to others who have been refused since it was looked at last. One that is near could be taken over and over between
    /// the attempts of those who are far. One that is far is given back and asked for again by two requests side by side, so whoever looks
    /// at another time finds it taken: a look costs a round trip there, so it is one for a few locks.
    pub fn yield_lock(&mut self, peer: Met<'_>) -> Result<(), Status> {
        let is_new = |now: u64| peer.refused.swap(now, Ordering::Relaxed) != now;
        if let Some(word) = peer.mapped_word(word::REFUSED) {
            if is_new(word.load(Ordering::Relaxed) & FAR) {
                self.pause(0, PASS);
            }
        } else if peer.locks.fetch_add(1, Ordering::Relaxed) % LOOKS_EVERY == LOOKS_EVERY - 1 {
            let begun = Instant::now();
            let now = self.add_at(peer, word::REFUSED, 0)?;
            if is_new(now) {
                self.pause(0, (begun.elapsed() * PASS_TIMES).clamp(PASS, LONGEST_PASS));
            }
        }
        Ok(())
    }
}

/// The number that a refused attempt at a rank's lock adds to its `REFUSED`.
pub fn refused(peer: &Peer) -> u64 {
    if peer.mapped_word(word::LOCAL).is_some() { FAR + 1 } else { 1 }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_short_where_the_lock_is_near() {
        let of = |trip| most_turns(Duration::from_nanos(trip));
        assert_eq!((of(200), of(50_000)), (MOST_NEAR, MOST_TURNS));
    }
}
