//! An endpoint as its holder and the attendant share it, and the word between them by which only one of the two disturbs what wakes a sleeper.
//!
//! The provider is asked whether one may sleep, and forgets then what it has signalled. A holder that announces its sleep and the attendant that announces its
//! work look at each other's word behind a fence each, so one of the two sees the other, and stays awake or away.

use oxmpi_mca::sync::{AtomicU32, Ordering, fence};

#[derive(Default)]
pub struct Ward {
    /// Beats with every look of the holder's.
    pulse: AtomicU32,
    /// Something was sent.
    has_sent: AtomicU32,
    /// The holder sleeps on the queue's descriptor, or is about to: the provider wakes it when there is work.
    sleeps: AtomicU32,
    /// The attendant is at work for it.
    is_served: AtomicU32,
}

impl Ward {
    /// The holder looks.
    #[inline]
    pub fn beat(&self) {
        // The holder alone writes.
        self.pulse.store(self.pulse.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// The pulse: it stands still while nobody looks.
    pub fn pulse(&self) -> u32 {
        self.pulse.load(Ordering::Relaxed)
    }

    /// Whether something was sent.
    #[inline]
    pub fn has_sent(&self) -> bool {
        self.has_sent.load(Ordering::Relaxed) != 0
    }

    /// Something was sent.
    pub fn sends(&self) {
        self.has_sent.store(1, Ordering::Relaxed);
    }

    /// The holder is about to sleep, until [`Ward::wakes`]. False: the attendant is at work, and might take what would wake it.
    pub fn may_sleep(&self) -> bool {
        self.sleeps.store(1, Ordering::Relaxed);
        // SYNC POINT with `serve`.
        fence(Ordering::SeqCst);
        self.is_served.load(Ordering::Acquire) == 0
    }

    /// The holder does not sleep any more, or does not want to.
    pub fn wakes(&self) {
        self.sleeps.store(0, Ordering::Release);
    }

    /// The attendant runs `work` unless the holder sleeps.
    pub fn serve(&self, work: impl FnOnce()) {
        self.is_served.store(1, Ordering::Relaxed);
        // SYNC POINT with `may_sleep`.
        fence(Ordering::SeqCst);
        if self.sleeps.load(Ordering::Acquire) == 0 {
            work();
        }
        self.is_served.store(0, Ordering::Release);
    }
}

/// The code above under the model checker. The signal of the provider is a cell that loom watches: whoever asks whether one may sleep writes to it.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;

    /// A holder that goes to sleep twice and an attendant that works twice. `may_sleep` is the holder's question.
    fn meet(may_sleep: fn(&Ward) -> bool) {
        let shared = Arc::new((Ward::default(), UnsafeCell::new(0)));
        let attendant = {
            let shared = shared.clone();
            loom::thread::spawn(move || {
                let (ward, signal) = &*shared;
                for _ in 0..2 {
                    // SAFETY: loom says if somebody else is there.
                    ward.serve(|| signal.with_mut(|signal| unsafe { *signal += 1 }));
                }
            })
        };
        let (ward, signal) = &*shared;
        for _ in 0..2 {
            if may_sleep(ward) {
                // SAFETY: as above.
                signal.with_mut(|signal| unsafe { *signal += 1 });
            }
            ward.wakes();
        }
        attendant.join().expect("the attendant");
    }

    #[test]
    fn model_nobody_takes_the_signal_of_a_sleeper() {
        loom::model(|| meet(Ward::may_sleep));
    }

    /// A holder that does not look at the attendant's word loses it.
    #[test]
    #[should_panic]
    fn model_finds_a_sleeper_that_does_not_look() {
        loom::model(|| {
            meet(|ward| {
                ward.may_sleep();
                true
            });
        });
    }

    /// One that looks without a fence does, too.
    #[test]
    #[should_panic]
    fn model_finds_a_look_without_a_fence() {
        loom::model(|| {
            meet(|ward| {
                ward.sleeps.store(1, Ordering::Relaxed);
                ward.is_served.load(Ordering::Acquire) == 0
            });
        });
    }
}
