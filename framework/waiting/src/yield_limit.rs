//! Giving the core away, to those who give it back.
//!
//! `sched_yield` is the cheapest way to let another rank run: some hundred nanoseconds where nobody wants the core, some
//! microseconds among ranks that do the same. But a program that computes keeps the core for the rest of its time slice, which is
//! milliseconds, and a message that comes meanwhile waits that long. A thread that *sleeps* is woken by the
//! message, and as one that has used so little of its core gets it at once.
//!
//! So every yield is timed. Where several take longer than a limit, each within a short time of the one before, what counts is who had the cores
//! meanwhile. If it was the ranks of this job, or nobody, all is well: they send many messages, say, or copy a long one, and a sleeper would be
//! woken for each of these. If a quarter of the time or more went elsewhere, the next [`FIRST`] yields are not made: the thread sleeps in
//! their place. Then it yields again, until some take as long; and if that was again for others, four times as many are left
//! out, up to [`MOST`].
//!
//! **Holders of the cores** are found by asking the kernel, which keeps a clock of each process: those of the ranks are read, found as the
//! children of the node's daemon, or of all daemons that one mpirun has on this machine. A rank that is not among these (a script stands between, or
//! there is no daemon), or that may not use all cores, does not know, and yields as ever. Idle cores are told by the kernel in steps of
//! [`TICK`], so time that may have been idle is given to nobody, and where the answer hangs on it, the time grows until it does not. (Three ranks on
//! two cores that send each other a megabyte over a device in software took a yield of a copy's length for one to others, slept, left cores idle, took
//! that, too, for others, and had a third of their rate.)
//!
//! On two cores, ranks that go in step (all send to the first, which answers all), rounds per second with every yield made and
//! with what stands here: 8 ranks beside two programs that compute 450 and 5,400 to 6,300, beside four 170 and 2,900 to 5,700; 4 ranks
//! beside four 190 and 2,300 to 24,000. 4 ranks beside two do 400 to 500 or 80,000 to 156,000 without it, by which of them the kernel has
//! put on one core, and 23,000 to 153,000 with it. In the first 400 rounds, in which all that is found out, ours are 9 to 22
//! times those of the best of Open MPI, Intel MPI and MPICH. Alone the rates are as before, those of streams of messages, too.
//! Streams beside two programs that compute pay for it: 2.7 and 1.6 million messages per second with 2 and 4 pairs, 1.3 and 1.0 with 8. (To
//! count what comes between two yields does not tell them: the other program may have had the core both times.)

use core::time::Duration;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_system::clock::{cpu_clock, monotonic_now, read_clock};
use oxmpi_system::locks::Mutex;
use std::fs;

/// Yields that are left out after the first that took too long.
const FIRST: u32 = 64;
/// The most that are ever left out: a try costs some milliseconds, so many sleeps at least some tens.
const MOST: u32 = 4096;
/// Two yields that took too long say something of each other if no more than this lies between them.
const SHORT_TIME: Duration = Duration::from_millis(50);
/// The steps in which the kernel tells of idle time, of all cores together.
const TICK: Duration = Duration::from_millis(10);

/// How long a yield may take, and how many of the next yields are left out because they took longer. Used by a process
/// with one thread in MPI; others may change the limit. On a line of its own, since it is written while others
/// compute.
#[repr(align(128))]
pub struct YieldLimit {
    /// Microseconds; 0: any time is good.
    limit: AtomicU32,
    /// Yields still to be left out.
    left_out: AtomicU32,
    /// Looked at where a yield took too long.
    history: Mutex<YieldHistory>,
}

/// The knowledge about yields that took too long, by which the next ones are left out or made.
struct YieldHistory {
    /// How many are left out next time.
    next: u32,
    /// The yields that took too long, each a short time after the one before, since any were left out: the first and the last of them.
    row: Option<[Look; 2]>,
    ranks: Ranks,
}

/// Begin and end of a yield that took too long, and the processor time that the ranks had used and nobody by its end.
#[derive(Clone, Copy)]
struct Look {
    /// Of the yield.
    begin: Duration,
    /// Its end.
    at: Duration,
    used: Duration,
    idle: Duration,
}

/// The clocks of the ranks on this node, once they are looked for.
struct Ranks {
    keeper: u32,
    /// Of the node; 0: it cannot be known who has them.
    cores: u32,
    clocks: Option<Vec<libc::clockid_t>>,
}

impl YieldLimit {
    /// A limit of `limit` microseconds for a yield; 0: it may take as long as it likes. `keeper`: the process whose
    /// children are the ranks of this node; `cores`: those that the ranks share; 0: it cannot be known who has them.
    pub fn new(limit: u32, keeper: u32, cores: u32) -> YieldLimit {
        let ranks = Ranks { keeper, cores, clocks: None };
        YieldLimit {
            limit: AtomicU32::new(limit),
            left_out: AtomicU32::new(0),
            history: Mutex::new(YieldHistory { next: FIRST, row: None, ranks }),
        }
    }

    /// Changes the limit, in microseconds; takes effect with the next yield.
    pub fn set(&self, limit: u32) {
        self.limit.store(limit, Ordering::Relaxed);
        self.left_out.store(0, Ordering::Relaxed);
    }

    /// Whether the next yield is in vain, because yields have taken too long for others than ranks: the thread had better sleep. Counts it as
    /// left out then.
    pub fn is_in_vain(&self) -> bool {
        let left_out = self.left_out.load(Ordering::Relaxed);
        if left_out > 0 {
            self.left_out.store(left_out - 1, Ordering::Relaxed);
        }
        left_out > 0
    }

    /// Gives the core away by `sched_yield`, and takes the time that this takes.
    pub fn yield_core(&self) {
        let limit = self.limit.load(Ordering::Relaxed);
        let begin = monotonic_now();
        std::thread::yield_now();
        let end = monotonic_now();
        if limit > 0 && end.saturating_sub(begin) > Duration::from_micros(limit.into()) {
            self.took_long(begin, end);
        }
    }

    /// Decides, after a yield that took too long, how many of the next are left out.
    #[cold]
    fn took_long(&self, begin: Duration, at: Duration) {
        let mut history = self.history.lock();
        if history.row.is_none() {
            // Ranks may have come and gone.
            history.ranks.clocks = None;
        }
        if let Some(used) = history.ranks.used() {
            let cores = history.ranks.cores;
            let look = Look { begin, at, used, idle: idle_time(cores) };
            self.left_out.store(history.judge(look, cores), Ordering::Relaxed);
        }
    }
}

impl YieldHistory {
    /// How many of the next yields are left out, after one (`now`) that took too long: none unless the one before was
    /// a short time ago and a quarter or more of the time of the node's `cores` in a row of these went to others than
    /// ranks.
    fn judge(&mut self, now: Look, cores: u32) -> u32 {
        // From one yield to the next: with many others each takes longer than that itself.
        let soon = |[_, last]: &[Look; 2]| now.begin.saturating_sub(last.at) <= SHORT_TIME;
        let Some([first, _]) = self.row.filter(soon) else {
            if self.row.replace([now, now]).is_some() {
                self.next = FIRST;
            }
            return 0;
        };
        self.row = Some([first, now]);
        let time = now.at.saturating_sub(first.at) * cores;
        let known = now.used.saturating_sub(first.used) + now.idle.saturating_sub(first.idle);
        let others = time.saturating_sub(known);
        if others * 4 < time {
            self.next = FIRST;
            self.row = Some([now, now]);
            return 0;
        }
        if others.saturating_sub(TICK) * 4 < time {
            return 0;
        }
        self.row = None;
        let left_out = self.next;
        self.next = (4 * left_out).min(MOST);
        left_out
    }
}

impl Ranks {
    /// Processor time that all ranks of the job on this node have used; `None`: that is not known.
    fn used(&mut self) -> Option<Duration> {
        if self.cores == 0 {
            return None;
        }
        let clocks = self.clocks.get_or_insert_with(|| clocks_of_ranks(self.keeper));
        if clocks.is_empty() {
            self.cores = 0;
            return None;
        }
        // One that has ended uses nothing.
        Some(clocks.iter().filter_map(|&clock| read_clock(clock)).sum())
    }
}

/// The time that the `cores` have been idle, all together; 0 where the kernel does not tell, or they are not all that the machine has.
fn idle_time(cores: u32) -> Duration {
    // SAFETY: asks for a number.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    if online != i64::from(cores) {
        return Duration::ZERO;
    }
    let told = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = told.split_whitespace().nth(1).and_then(|word| word.parse::<f64>().ok());
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or_default()
}

/// The processor clocks of the job's ranks on this machine, which are children of process `keeper` or of the other daemons of its mpirun;
/// none if this process is not a child of `keeper`.
fn clocks_of_ranks(keeper: u32) -> Vec<libc::clockid_t> {
    let mut ranks = children(keeper);
    if !ranks.contains(&std::process::id()) {
        return Vec::new();
    }
    // Daemons of one job on one machine, for nodes that are made up there, are children of its mpirun; on others they have none beside them.
    let is_daemon = |pid: &u32| *pid != keeper && name(*pid) == name(keeper);
    let daemons = parent(keeper).map(children).unwrap_or_default().into_iter().filter(is_daemon);
    ranks.extend(daemons.flat_map(children));
    ranks.into_iter().filter_map(cpu_clock).collect()
}

/// The children of a process.
fn children(of: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let texts = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    texts
        .flat_map(|text| text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// The name of a process's program, as the kernel has it.
fn name(of: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{of}/comm")).ok()
}

/// The parent of a process.
fn parent(of: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{of}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        history: YieldHistory,
        now: Look,
    }

    impl World {
        fn new() -> World {
            let ranks = Ranks { keeper: 0, cores: 2, clocks: None };
            let at = Duration::from_secs(1);
            let now = Look { begin: at, at, used: Duration::from_secs(5), idle: Duration::from_secs(7) };
            World { history: YieldHistory { next: FIRST, row: None, ranks }, now }
        }
        /// After so many milliseconds, of which the ranks had so much of the two cores.
        fn late(&mut self, after: u64, used: u64) -> u32 {
            self.yielded(after, 0, used, 0)
        }
        /// A yield that began after so many milliseconds and took so many; ranks had so much of the cores, and nobody so much.
        fn yielded(&mut self, after: u64, took: u64, used: u64, idle: u64) -> u32 {
            self.now.begin = self.now.at + Duration::from_millis(after);
            self.now.at = self.now.begin + Duration::from_millis(took);
            self.now.used += Duration::from_millis(used);
            self.now.idle += Duration::from_millis(idle);
            self.history.judge(self.now, self.history.ranks.cores)
        }
    }

    #[test]
    fn yields_to_others_are_left_out_more_and_more() {
        let mut world = World::new();
        let mut expected = FIRST;
        for _ in 0..12 {
            assert_eq!(world.late(1000, 0), 0, "nothing to compare it with");
            assert_eq!(world.late(8, 1), expected, "two cores of others");
            expected = (4 * expected).min(MOST);
        }
        assert_eq!(expected, MOST);
    }

    #[test]
    fn a_quarter_of_others_is_known_after_a_while() {
        let mut world = World::new();
        assert_eq!(world.late(1000, 0), 0);
        let first = (1..100).find(|_| world.late(4, 5) == FIRST);
        assert_eq!(first, Some(10), "30 of 80 milliseconds, one step of which may have been idle");
    }

    #[test]
    fn yields_to_other_ranks_may_take_long() {
        let mut world = World::new();
        assert_eq!((world.late(8, 0), world.late(8, 0)), (0, FIRST));
        assert_eq!(world.late(8, 0), 0, "what the sleepers left is nobody's");
        for _ in 0..100 {
            assert_eq!(world.late(4, 7), 0);
        }
        assert_eq!(world.late(8, 0), FIRST, "as in the beginning");
    }

    #[test]
    fn idle_cores_are_nobody_s() {
        let mut world = World::new();
        // The kernel tells of 10 milliseconds once in 4 rounds, of which each had 3.
        for round in 0..400 {
            assert_eq!(world.yielded(2, 0, 1, if round % 4 == 3 { 10 } else { 0 }), 0, "round {round}");
        }
    }

    #[test]
    fn among_many_each_takes_long_itself() {
        let mut world = World::new();
        for expected in [FIRST, 4 * FIRST] {
            assert_eq!((world.yielded(1000, 80, 0, 0), world.yielded(1, 80, 1, 0)), (0, expected));
        }
    }

    #[test]
    fn one_in_a_while_says_nothing() {
        let mut world = World::new();
        for _ in 0..100 {
            assert_eq!(world.late(60, 0), 0);
        }
    }

    #[test]
    fn one_in_a_while_means_that_others_are_gone() {
        let mut world = World::new();
        for expected in [FIRST, 4 * FIRST] {
            assert_eq!((world.late(8, 0), world.late(8, 0)), (0, expected));
        }
        assert_eq!((world.late(8, 0), world.late(60, 0)), (0, 0));
        assert_eq!(world.late(8, 0), FIRST, "as in the beginning");
    }

    #[test]
    fn children_are_known_to_each_other() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let me = std::process::id();
        assert!(clocks_of_ranks(me).is_empty(), "no process is its own child");
        assert!(children(me).contains(&child.id()) && parent(child.id()) == Some(me));
        let clocks = [me, child.id()].map(|pid| cpu_clock(pid).unwrap());
        let before = clocks.map(|clock| read_clock(clock).unwrap());
        let begin = monotonic_now();
        while monotonic_now() - begin < Duration::from_millis(20) {}
        let [mine, its] = clocks.map(|clock| read_clock(clock).unwrap());
        assert!(
            mine > before[0] && its - before[1] < Duration::from_millis(20),
            "{mine:?} {its:?} {before:?}"
        );
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
