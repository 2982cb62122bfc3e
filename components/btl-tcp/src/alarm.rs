//! The announcement of a courier that sleeps, so that owners wake it and need neither a fence nor a call of the system while it is awake.
//!
//! The courier announces, runs `membarrier`, and looks for notes once more; an owner puts down its note first and then looks at the announcement. The barrier stands on the owner's
//! core before that look, which finds the announcement, or behind it, so that the courier finds the note.

use oxmpi_mca::sync::{AtomicU32, Ordering, compiler_fence};

/// See the module's head.
pub struct Alarm {
    asleep: AtomicU32,
}

impl Alarm {
    /// Nobody sleeps.
    pub fn new() -> Alarm {
        Alarm { asleep: AtomicU32::new(0) }
    }

    /// Whether the courier sleeps; asked by an owner behind its note.
    pub fn is_set(&self) -> bool {
        // SYNC POINT with the barrier in `set`.
        compiler_fence(Ordering::SeqCst);
        self.stands()
    }

    /// Whether the announcement stands, in no order with anything.
    pub fn stands(&self) -> bool {
        self.asleep.load(Ordering::Relaxed) != 0
    }

    /// Takes the announcement back.
    pub fn clear(&self) {
        self.asleep.store(0, Ordering::Relaxed);
    }

    /// Announces the courier's sleep. True: `is_quiet` said behind a barrier on all cores that there is nothing, and whoever puts something down from now on finds the
    /// announcement. Otherwise, and where the barrier fails, it is taken back.
    pub fn set(&self, barrier: impl FnOnce() -> bool, is_quiet: impl FnOnce() -> bool) -> bool {
        self.asleep.store(1, Ordering::Relaxed);
        // SYNC POINT with `is_set`.
        let quiet = barrier() && is_quiet();
        if !quiet {
            self.clear();
        }
        quiet
    }
}

/// The code above under the model checker, with a fence on both sides in place of the barrier.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use oxmpi_mca::sync::fence;

    /// A note, and a courier that goes to sleep: whether it is seen by one of the two.
    fn is_seen(barrier: fn() -> bool) -> bool {
        let (alarm, note) = (Arc::new(Alarm::new()), Arc::new(AtomicU32::new(0)));
        let courier = {
            let (alarm, note) = (alarm.clone(), note.clone());
            loom::thread::spawn(move || alarm.set(barrier, || note.load(Ordering::Relaxed) == 0))
        };
        note.store(1, Ordering::Relaxed);
        let wakes = alarm.is_set();
        let sleeps = courier.join().expect("the courier");
        wakes || !sleeps
    }

    fn barrier() -> bool {
        fence(Ordering::SeqCst);
        true
    }

    #[test]
    fn model_no_note_is_slept_over() {
        loom::model(|| assert!(is_seen(barrier)));
    }

    /// Without the barrier one is.
    #[test]
    #[should_panic]
    fn model_finds_a_sleep_without_a_barrier() {
        loom::model(|| assert!(is_seen(|| true)));
    }
}
