//! Frames that wait for company, so that several go by one call of the system, and the lock between the thread that holds their context and the
//! courier, which sends them if that thread is elsewhere.
//!
//! A frame waits where others went to the peer a moment ago and are not acknowledged (`messages.rs`). It lies in its stream's ring like any other; what is here is
//! a note of it: the socket, and where the bytes lie. The context's next turn sends it with all that joined it, or the next message that does not wait.
//!
//! **The lock** costs the thread that holds the context (the *owner*; the context's lock says which thread that is) two stores and a load: `inside`, then `visited`. The courier
//! writes `visited`, runs `membarrier`, and then reads `inside`; it steps back if that is set, and comes again later. The barrier stands on the owner's core either before
//! the owner's load, which then finds `visited`, or behind it, so that the courier finds `inside`. An owner that finds the courier waits until that
//! has gone, which is after a few calls of the system that do not wait.
//!
//! **Memory.** A note points into its stream's ring. The owner takes the note back before it moves the ring's memory, writes to the socket or closes it.

use core::ffi::c_int;
use oxmpi_mca::sync::{AtomicU32, Cell, Ordering, compiler_fence, spin_hint, yield_now};

/// A note of bytes that wait.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Of which stream.
    pub slot: usize,
    /// Its socket.
    pub fd: c_int,
    /// The bytes.
    pub from: *const u8,
    pub len: usize,
    /// As many of them the courier has written.
    pub wrote: usize,
    /// A write of the courier's has failed.
    pub failed: bool,
}

/// The notes of one context.
pub struct Gathered {
    /// 1 while the owner is inside.
    inside: AtomicU32,
    /// 1 while the courier is inside, or looks whether it may be.
    visited: AtomicU32,
    /// Number of notes.
    count: AtomicU32,
    /// Counts the times that there was a first note.
    round: AtomicU32,
    notes: Cell<Vec<Waiting>>,
}

// SAFETY: the notes are touched by whoever is inside, which is one thread; what they point to stays by the module's rule on memory.
unsafe impl Send for Gathered {}
// SAFETY: as above.
unsafe impl Sync for Gathered {}

/// Turns of a wait for the courier before the core is given to it.
const SPINS: u32 = 64;

impl Gathered {
    /// No notes.
    pub fn new() -> Gathered {
        Gathered {
            inside: AtomicU32::new(0),
            visited: AtomicU32::new(0),
            count: AtomicU32::new(0),
            round: AtomicU32::new(0),
            notes: Cell::new(Vec::new()),
        }
    }

    /// The round in which notes are there; `None`: there are none. Any thread.
    pub fn round(&self) -> Option<u32> {
        (self.count.load(Ordering::Relaxed) > 0).then(|| self.round.load(Ordering::Relaxed))
    }

    /// Adds a note. By the owner.
    pub fn put(&self, note: Waiting) {
        self.owner(|notes| notes.push(note));
    }

    /// Takes the note of a stream back, with what became of it. By the owner.
    pub fn take(&self, slot: usize) -> Option<Waiting> {
        self.owner(|notes| {
            let at = notes.iter().position(|note| note.slot == slot)?;
            Some(notes.swap_remove(at))
        })
    }

    /// Runs something on the notes as the owner.
    fn owner<R>(&self, run: impl FnOnce(&mut Vec<Waiting>) -> R) -> R {
        self.enter();
        let mut notes = self.notes.replace(Vec::new());
        let result = run(&mut notes);
        let (before, now) = (self.count.load(Ordering::Relaxed), notes.len() as u32);
        if before == 0 && now > 0 {
            self.round.store(self.round.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
        self.count.store(now, Ordering::Relaxed);
        self.notes.set(notes);
        // SYNC POINT with `visit`.
        self.inside.store(0, Ordering::Release);
        result
    }

    fn enter(&self) {
        loop {
            self.inside.store(1, Ordering::Relaxed);
            // SYNC POINT with the courier's barrier in `visit`.
            compiler_fence(Ordering::SeqCst);
            if self.visited.load(Ordering::Acquire) == 0 {
                return;
            }
            self.inside.store(0, Ordering::Release);
            let mut turns = 0;
            while self.visited.load(Ordering::Relaxed) != 0 {
                turns += 1;
                if turns < SPINS { spin_hint() } else { yield_now() }
            }
        }
    }

    /// Runs something on the notes as the courier, unless the owner is inside or `barrier`, a barrier on all cores of the process, fails: whether it did. By one thread.
    pub fn visit(&self, barrier: impl FnOnce() -> bool, run: impl FnOnce(&mut [Waiting])) -> bool {
        self.visited.store(1, Ordering::Relaxed);
        // SYNC POINT with `enter`.
        let free = barrier() && self.inside.load(Ordering::Acquire) == 0;
        if free {
            let mut notes = self.notes.replace(Vec::new());
            run(&mut notes);
            self.notes.set(notes);
        }
        self.visited.store(0, Ordering::Release);
        free
    }
}

/// The code above under the model checker, with a fence on both sides in place of the barrier.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use oxmpi_mca::sync::fence;

    fn note(slot: usize) -> Waiting {
        Waiting { slot, fd: -1, from: core::ptr::null(), len: 8, wrote: 0, failed: false }
    }

    fn barrier() -> bool {
        fence(Ordering::SeqCst);
        true
    }

    /// Both change the notes, and neither sees a half of the other's change; what the courier wrote is in the note that comes back.
    #[test]
    fn model_owner_and_courier_are_never_inside_together() {
        loom::model(|| {
            let gathered = Arc::new(Gathered::new());
            gathered.put(note(3));
            let courier = {
                let gathered = gathered.clone();
                loom::thread::spawn(move || {
                    let mut wrote = false;
                    let visited = gathered.visit(barrier, |notes| {
                        if let Some(note) = notes.iter_mut().find(|note| note.slot == 3) {
                            note.wrote = 8;
                            wrote = true;
                        }
                    });
                    assert!(visited || !wrote);
                    wrote
                })
            };
            gathered.put(note(4));
            let taken = gathered.take(3).expect("the note is there");
            let wrote = courier.join().expect("the courier");
            assert_eq!(taken.wrote, if wrote { 8 } else { 0 });
            assert_eq!(gathered.take(4).map(|note| note.wrote), Some(0));
        });
    }

    /// Without the barrier both are inside.
    #[test]
    #[should_panic]
    fn model_finds_a_courier_without_a_barrier() {
        loom::model(|| {
            let gathered = Arc::new(Gathered::new());
            let courier = {
                let gathered = gathered.clone();
                loom::thread::spawn(move || {
                    gathered.visit(|| true, |notes| notes.iter_mut().for_each(|note| note.wrote = 8))
                })
            };
            gathered.put(note(1));
            let _ = gathered.take(1);
            courier.join().expect("the courier");
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn note(slot: usize) -> Waiting {
        Waiting { slot, fd: -1, from: core::ptr::null(), len: 8, wrote: 0, failed: false }
    }

    #[test]
    fn notes_come_back_as_the_courier_left_them() {
        let gathered = Gathered::new();
        assert_eq!(gathered.round(), None);
        gathered.put(note(1));
        gathered.put(note(2));
        assert_eq!(gathered.round(), Some(1));
        assert!(gathered.visit(|| true, |notes| notes[1].wrote = 5));
        assert!(!gathered.visit(|| false, |_| panic!("no barrier, no visit")));
        assert_eq!(gathered.take(2).map(|note| note.wrote), Some(5));
        assert_eq!(gathered.take(2).map(|note| note.wrote), None);
        assert_eq!(gathered.take(1).map(|note| note.wrote), Some(0));
        assert_eq!(gathered.round(), None);
        gathered.put(note(1));
        assert_eq!(gathered.round(), Some(2), "another round");
    }
}
