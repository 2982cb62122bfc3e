//! The time between a rank's bad end and SIGTERM for the others, in which those that are ending by the same mistake finish
//! their reports (AddressSanitizer's take a while).
//!
//! It is over when no rank of this node has written to standard error for [`SILENCE`]; one that always writes there gets [`MOST`].
//!
//! **Time is the ranks' own.** A rank that waits for a core cannot write, and on a busy machine it waits for seconds. So the
//! longest time that any thread of the ranks has waited for a core since the last look is left out; the kernel counts it
//! (`/proc/PID/task/TID/schedstat`). Where it does not, time is the clock's.

use rustix::process::Pid;
use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

/// Without a word on standard error for so long no rank is taken to be reporting.
const SILENCE: Duration = Duration::from_secs(1);
/// From the bad end on, at most.
const MOST: Duration = Duration::from_secs(5);
/// Time between two looks. A look that comes twice as late was kept from a core itself, and counts no more than that.
const LOOK: Duration = Duration::from_millis(100);

/// How long threads have waited for a core since they began, by their numbers.
type Waits = HashMap<i32, Duration>;

/// How much time the ranks have had since one ended badly, and since the last word.
#[derive(Debug)]
pub(super) struct OwnEndings {
    /// Between SIGTERM and SIGKILL, afterwards.
    pub grace: Duration,
    looked: Instant,
    waits: Waits,
    silent: Duration,
    total: Duration,
}

impl OwnEndings {
    /// The time begins now, for these processes.
    pub fn new(grace: Duration, now: Instant, processes: &[Pid]) -> OwnEndings {
        OwnEndings {
            grace,
            looked: now,
            waits: waits(processes),
            silent: Duration::ZERO,
            total: Duration::ZERO,
        }
    }

    /// Notes that a rank has written something to standard error.
    pub fn note_words(&mut self) {
        self.silent = Duration::ZERO;
    }

    /// When to look again.
    pub fn deadline(&self) -> Instant {
        self.looked + LOOK
    }

    /// Looks at the processes. True: the time is over.
    pub fn look(&mut self, now: Instant, processes: &[Pid]) -> bool {
        self.count(now, waits(processes))
    }

    /// Counts the time since the last look, less the longest wait for a core in it.
    fn count(&mut self, now: Instant, waits: Waits) -> bool {
        let before = |thread| self.waits.get(thread).copied().unwrap_or_default();
        let longest = waits.iter().map(|(thread, wait)| wait.saturating_sub(before(thread))).max();
        let time = now.saturating_duration_since(self.looked).min(2 * LOOK);
        let own = time.saturating_sub(longest.unwrap_or_default());
        (self.looked, self.waits) = (now, waits);
        self.silent += own;
        self.total += own;
        self.silent >= SILENCE || self.total >= MOST
    }
}

/// How long all threads of these processes have waited for a core; none where the kernel does not say.
fn waits(processes: &[Pid]) -> Waits {
    let threads = |pid: &Pid| {
        let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).into_iter().flatten();
        tasks.flatten().filter_map(|task| {
            let number = task.file_name().to_str()?.parse().ok()?;
            let counts = fs::read_to_string(task.path().join("schedstat")).ok()?;
            Some((number, wait_in(&counts)?))
        })
    };
    processes.iter().flat_map(threads).collect()
}

/// The time waited for a core in a `schedstat`: the second number, in nanoseconds, behind the time on a core.
fn wait_in(counts: &str) -> Option<Duration> {
    counts.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        time: OwnEndings,
        now: Instant,
        waited: Duration,
    }

    impl World {
        fn new() -> World {
            let now = Instant::now();
            World { time: OwnEndings::new(Duration::ZERO, now, &[]), now, waited: Duration::ZERO }
        }
        /// Looks after so many milliseconds, of which a thread waited so many for a core.
        fn look(&mut self, after: u64, waited: u64) -> bool {
            self.now += Duration::from_millis(after);
            self.waited += Duration::from_millis(waited);
            self.time.count(self.now, Waits::from([(7, self.waited), (8, Duration::ZERO)]))
        }
        /// The number of looks until it is over.
        fn looks(&mut self, after: u64, waited: u64) -> usize {
            (1..10_000).find(|_| self.look(after, waited)).expect("an end")
        }
    }

    #[test]
    fn who_reports_has_more_time_but_not_for_ever() {
        assert_eq!(World::new().looks(100, 0), 10);
        let mut world = World::new();
        assert!((0..9).all(|_| !world.look(100, 0)));
        world.time.note_words();
        assert_eq!(world.looks(100, 0), 10, "a second from the word on");
        let mut world = World::new();
        let looks = (1..100).find(|_| {
            world.time.note_words();
            world.look(100, 0)
        });
        assert_eq!(looks, Some(50), "five seconds in all");
    }

    #[test]
    fn who_waits_for_a_core_loses_no_time() {
        assert_eq!(World::new().looks(100, 90), 100);
        let mut world = World::new();
        assert!((0..1000).all(|_| !world.look(100, 100)));
        assert_eq!(world.looks(100, 0), 10);
    }

    #[test]
    fn a_look_that_comes_late_counts_little() {
        assert!(!World::new().look(60_000, 0));
        assert_eq!(World::new().looks(60_000, 0), 5);
    }

    /// A thread that never gives its core away, and others beside it on the same one, wait for it.
    #[test]
    fn the_kernel_counts_waits() {
        assert_eq!(wait_in("729236 163706 4\n"), Some(Duration::from_nanos(163_706)));
        assert_eq!(wait_in(""), None);
        let me = rustix::process::getpid();
        let before = waits(&[me]);
        if before.is_empty() {
            return eprintln!("left out: this kernel does not count waits for a core");
        }
        assert!(before.contains_key(&me.as_raw_nonzero().get()), "{before:?}");
    }
}
