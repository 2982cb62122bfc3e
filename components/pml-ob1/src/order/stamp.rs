//! Stamps: the order of one process's messages over several FIFOs.
//!
//! Of two sends that the program orders the second has the larger stamp, whatever threads make them. Stamps
//! are only compared with those of the same process. Where the system trusts the processor's time
//! stamp counter across cores (it is the kernel's clock source), that is the clock: nothing is shared. It is read
//! behind whatever told this thread of the earlier send, since RDTSCP waits for all instructions before it. (A fence and RDTSC take about
//! as long: 37 and 44 ticks on a Zen 4.) Elsewhere a counter of the process serves, which the threads contend for.
//!
//! **Leases.** Reading the clock costs tens of nanoseconds on some machines. A thread that sends many messages while
//! no other does reads it once and counts on from there: its stamps stay below the clock, since a message takes
//! longer than a tick. It holds a *lease*: `holder` names it. It looks at that word for every message, and may count on
//! as long as the word names it. Any other thread that stamps a message ends the lease, before the message can be known
//! of anywhere:
//!
//! - A thread that takes a lease writes itself there by a swap, reads the clock, and looks whether it still stands there.
//!   If it does, all leases to come read the clock later than this one. If not, another thread may have read the clock
//!   before, so it does without a lease.
//! - A thread that does without reads the clock and then clears the word, unless it is clear.
//!
//! So let one thread stamp message A and then, as the program orders it, another thread message B. If B's stamp is a
//! reading, it is later than A's stamp, whether that was read or counted. If B's is counted, its lease was taken behind A:
//! A's thread left the word clear, or with its own name, before A could be known of, and this is seen by whoever knows of A.
//! A lease that is taken then begins with a later reading. Where A's thread found its own name, all later leases swap
//! after that look, so they read later, too.
//!
//! Threads that send in turns would take leases from each other for every message; one whose leases were short does without
//! for a while. The model below runs this very code.

use core::cell::Cell;
use oxmpi_mca::sync::{AtomicU64, AtomicUsize, Ordering};

/// Stamps from one reading of the clock to the next; so many ticks are between two readings of the counter.
const STEP: u64 = if cfg!(loom) { 4 } else { 1024 };
/// A lease of so few stamps was not worth its price.
const SHORT: u64 = 8;
/// Short ones in a row that a thread has enough of.
const SHORT_IN_A_ROW: u32 = 4;
/// Messages for which it does without then.
const PAUSE: u32 = 1024;

/// See the module's head.
#[repr(align(128))]
pub struct Clock {
    holder: AtomicUsize,
    counter: ClockCounter,
    source: ClockSource,
}

/// Where the time comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ClockSource {
    Counter,
    /// The time stamp counter, by RDTSCP.
    #[cfg_attr(loom, expect(dead_code, reason = "the models have no clock"))]
    Tsc,
}

/// On a line of its own: all threads write it where there is no other clock.
#[repr(align(128))]
struct ClockCounter(AtomicU64);

/// A thread's record of its lease.
#[derive(Default)]
pub struct Lease {
    last: Cell<u64>,
    used: Cell<u64>,
    short: Cell<u32>,
    pause: Cell<u32>,
}

impl Lease {
    /// The value of `holder` while this lease is held: an address, which no other lease has, and never 0.
    #[inline(always)]
    fn name(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// Whether the thread should take a lease now. `false` for the next [`PAUSE`] messages after several leases in a
    /// row were too short.
    fn is_worth_it(&self) -> bool {
        if self.pause.get() > 0 {
            self.pause.set(self.pause.get() - 1);
            return false;
        }
        self.short.set(if self.used.get() < SHORT { self.short.get() + 1 } else { 0 });
        self.used.set(0);
        if self.short.get() > SHORT_IN_A_ROW {
            self.short.set(0);
            self.pause.set(PAUSE);
            return false;
        }
        true
    }
}

impl Clock {
    /// `several`: there may be several FIFOs, so that stamps are asked for at all.
    pub fn new(several: bool) -> Clock {
        Clock::on(if several { ClockSource::best() } else { ClockSource::Counter })
    }

    /// Makes a clock on a given source of time.
    fn on(source: ClockSource) -> Clock {
        Clock { holder: AtomicUsize::new(0), counter: ClockCounter(AtomicU64::new(1)), source }
    }

    /// Gives the stamp of the next message; neither 0 nor the largest number. `lease`: the calling thread's, from which
    /// it counts on without a look at the clock. `None`: the clock is read.
    #[inline(always)]
    pub fn stamp(&self, lease: Option<&Lease>) -> u64 {
        if let Some(lease) = lease
            && self.holder.load(Ordering::Relaxed) == lease.name()
            && lease.used.get() < STEP - 1
        {
            lease.used.set(lease.used.get() + 1);
            lease.last.set(lease.last.get() + 1);
            return lease.last.get();
        }
        self.read(lease)
    }

    /// Reads the clock for a stamp, and takes the lease if that is worth it; else ends the lease of any other thread.
    #[inline(never)]
    fn read(&self, lease: Option<&Lease>) -> u64 {
        if let Some(lease) = lease.filter(|lease| lease.is_worth_it()) {
            // SYNC POINT: among all swaps of this word; the reading comes behind it.
            self.holder.swap(lease.name(), Ordering::AcqRel);
            let now = self.now();
            if weakened(SkippedStep::LookBack) || self.holder_after(now) == lease.name() {
                lease.last.set(now);
                return now;
            }
            self.holder.swap(0, Ordering::AcqRel);
            return now;
        }
        let now = self.now();
        if !weakened(SkippedStep::End) && self.holder_after(now) != 0 {
            self.holder.swap(0, Ordering::AcqRel);
        }
        now
    }

    /// Reads the clock once all earlier loads of this thread are done, so the result is larger than every reading that this
    /// thread has been told of. Later loads may be carried out before the reading ([`Clock::holder_after`]), later stores are
    /// not.
    #[inline(always)]
    fn now(&self) -> u64 {
        match self.source {
            ClockSource::Counter => self.counter.0.fetch_add(STEP, Ordering::SeqCst),
            ClockSource::Tsc => read_tsc(),
        }
    }

    /// The holder of the lease, looked at after the reading `now`.
    #[inline(always)]
    fn holder_after(&self, now: u64) -> usize {
        #[cfg(all(target_arch = "x86_64", not(loom)))]
        {
            let nothing: usize;
            // A load whose address comes from the reading cannot be made before it, which costs less than a fence.
            // SAFETY: leaves 0 in the register, whatever was there.
            unsafe {
                core::arch::asm!("and {0}, 0", inout(reg) now as usize => nothing, options(pure, nomem, nostack))
            };
            // SAFETY: the word itself.
            unsafe { (*(&raw const self.holder).byte_add(nothing)).load(Ordering::Acquire) }
        }
        #[cfg(not(all(target_arch = "x86_64", not(loom))))]
        {
            let _ = now;
            self.holder.load(Ordering::Acquire)
        }
    }
}

/// Steps that the models leave out, to see that they miss them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SkippedStep {
    /// A thread that takes a lease looks whether another took it meanwhile.
    LookBack,
    /// A thread that does without a lease ends that of another.
    End,
}

/// Whether a model leaves this step out, to prove that it would notice. Always `false` outside models.
#[cfg(not(all(test, loom)))]
#[inline(always)]
const fn weakened(_: SkippedStep) -> bool {
    false
}
#[cfg(all(test, loom))]
use model::weakened;

impl ClockSource {
    /// Chooses the source of time: the time stamp counter if the kernel uses it as its clock and the processor has
    /// RDTSCP, else the shared counter.
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    fn best() -> ClockSource {
        let source =
            std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        let trusted = source.is_ok_and(|s| s.trim() == "tsc");
        if trusted && ClockSource::has_rdtscp() { ClockSource::Tsc } else { ClockSource::Counter }
    }

    /// Whether the processor has the instruction RDTSCP, by CPUID.
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    fn has_rdtscp() -> bool {
        use core::arch::x86_64::__cpuid;
        const EXTENDED: u32 = 0x8000_0000;
        __cpuid(EXTENDED).eax > EXTENDED && __cpuid(EXTENDED + 1).edx >> 27 & 1 != 0
    }

    #[cfg(not(all(target_arch = "x86_64", not(loom))))]
    fn best() -> ClockSource {
        ClockSource::Counter
    }
}

/// Reads the processor's time stamp counter by RDTSCP: once all earlier loads of this thread are done. So the result is later
/// than every reading that this thread has been told of, without a comparison.
#[cfg(all(target_arch = "x86_64", not(loom)))]
#[inline(always)]
fn read_tsc() -> u64 {
    // SAFETY: `ClockSource::best` has looked for the instruction.
    unsafe { core::arch::x86_64::__rdtscp(&mut 0) }
}
#[cfg(not(all(target_arch = "x86_64", not(loom))))]
fn read_tsc() -> u64 {
    unreachable!("no clock but the counter is chosen here")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Threads that hand on a lock, some in runs, some at once.
    #[test]
    fn stamps_rise_along_a_lock() {
        let mut sources = vec![ClockSource::Counter];
        #[cfg(target_arch = "x86_64")]
        if ClockSource::best() != ClockSource::Counter {
            sources.push(ClockSource::Tsc);
        }
        for (source, runs) in sources.into_iter().flat_map(|s| [(s, 1), (s, 50)]) {
            let clock = Clock::on(source);
            let last = Mutex::new(0);
            std::thread::scope(|s| {
                for _ in 0..4 {
                    s.spawn(|| {
                        let lease = Lease::default();
                        for i in 0..5000 {
                            let mut last = last.lock().unwrap();
                            for _ in 0..1 + i % runs {
                                let stamp = clock.stamp((i % 7 != 0).then_some(&lease));
                                assert!(stamp > *last && stamp < u64::MAX, "{stamp} behind {last}");
                                *last = stamp;
                            }
                        }
                    });
                }
            });
        }
    }

    #[test]
    fn who_is_alone_counts_on() {
        let (clock, lease) = (Clock::on(ClockSource::Counter), Lease::default());
        let first = clock.stamp(Some(&lease));
        for i in 1..STEP {
            assert_eq!(clock.stamp(Some(&lease)), first + i);
        }
        assert_eq!(clock.stamp(Some(&lease)), first + STEP, "no stamp twice");
    }
}

/// All interleavings of threads that stamp, and of which one learns what another has sent.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// One model at a time.
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    static FORM: std::sync::RwLock<Option<SkippedStep>> = std::sync::RwLock::new(None);

    pub fn weakened(form: SkippedStep) -> bool {
        FORM.read().is_ok_and(|left_out| *left_out == Some(form))
    }

    struct World {
        clock: Clock,
        /// The stamp of a message that was sent, or 0.
        told: [AtomicU64; 2],
    }

    impl World {
        /// One send of thread `me`: larger than what it knew to have been sent before.
        fn send(&self, me: usize, lease: Option<&Lease>) {
            let known = self.told.iter().map(|t| t.load(Ordering::Acquire)).max().unwrap_or(0);
            let stamp = self.clock.stamp(lease);
            assert!(stamp > known, "{stamp} behind {known}");
            self.told[me].store(stamp, Ordering::Release);
        }
    }

    fn run(first: usize, second: usize, leases: [bool; 2]) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(4);
        model.check(move || {
            let world = Arc::new(World { clock: Clock::on(ClockSource::Counter), told: Default::default() });
            let other = world.clone();
            let thread = thread::spawn(move || {
                let lease = Lease::default();
                (0..second).for_each(|_| other.send(1, leases[1].then_some(&lease)));
            });
            let lease = Lease::default();
            (0..first).for_each(|_| world.send(0, leases[0].then_some(&lease)));
            thread.join().unwrap();
        });
    }

    #[test]
    fn model_stamps_of_two_with_leases() {
        let _alone = ALONE.lock();
        run(3, 2, [true, true]);
    }
    #[test]
    fn model_stamps_of_one_with_a_lease() {
        let _alone = ALONE.lock();
        run(3, 2, [true, false]);
    }

    /// Without either look a stamp falls behind one that is known, and the model says so.
    #[test]
    fn model_finds_what_stamps_leave_out() {
        let _alone = ALONE.lock();
        for (form, leases) in [(SkippedStep::LookBack, [true, true]), (SkippedStep::End, [true, false])] {
            *FORM.write().unwrap() = Some(form);
            let found = std::panic::catch_unwind(|| run(3, 2, leases)).is_err();
            *FORM.write().unwrap() = None;
            assert!(found, "{form:?} does no harm in the model");
        }
    }
}
