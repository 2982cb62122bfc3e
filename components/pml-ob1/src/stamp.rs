//! Stamps: the order of one process's messages over several FIFOs.
//!
//! Of two sends that the program orders the second has the larger stamp, whatever threads make them. Stamps
//! of different processes are never compared in earnest. Where the system trusts the processor's time
//! stamp counter across cores (it is the kernel's clock source), that is the stamp: nothing is shared. The
//! fence in front keeps the reading behind whatever told this thread of the earlier send. Elsewhere a
//! counter of the process serves, which the threads contend for.

use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};

/// See the module's head.
#[repr(align(128))]
pub struct Clock {
    counter: AtomicU64,
    tsc: bool,
}

impl Clock {
    /// `several`: there may be several FIFOs, so that stamps are asked for at all.
    pub fn new(several: bool) -> Clock {
        Clock { counter: AtomicU64::new(1), tsc: several && tsc_is_trusted() }
    }

    /// The next stamp; neither 0 nor the largest number.
    #[inline(always)]
    pub fn stamp(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.tsc {
            use core::arch::x86_64::{_mm_lfence, _rdtsc};
            // SAFETY: every x86-64 has both instructions.
            return unsafe {
                _mm_lfence();
                _rdtsc()
            };
        }
        self.counter.fetch_add(1, Ordering::Relaxed)
    }
}

fn tsc_is_trusted() -> bool {
    let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    cfg!(target_arch = "x86_64") && source.is_ok_and(|s| s.trim() == "tsc")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn stamps_rise_along_a_lock() {
        for tsc in [false, tsc_is_trusted()] {
            let clock = Clock { counter: AtomicU64::new(1), tsc };
            let last = Mutex::new(0);
            std::thread::scope(|s| {
                for _ in 0..4 {
                    s.spawn(|| {
                        for _ in 0..5000 {
                            let mut last = last.lock().unwrap();
                            let stamp = clock.stamp();
                            assert!(stamp > *last && stamp < u64::MAX, "{stamp} behind {last}");
                            *last = stamp;
                        }
                    });
                }
            });
        }
    }
}
