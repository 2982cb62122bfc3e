//! Progress as the dissertation has it: Algorithm 4 (`runtime_progress dedicated_then_all`) and round-robin progress (`runtime_progress
//! round_robin`).
//!
//! **Algorithm 4.** A thread tries the lock of the context that it was given for good, and progresses that. Where this brought nothing, also since the
//! lock was taken, it draws numbers of contexts from a counter that all threads share, as many as there are contexts, tries each and stops behind the
//! first that brings something (lines 8 to 16; GET-INSTANCE-ID-ROUND-ROBIN is that counter). So a context that is nobody's, or whose thread is gone, is
//! progressed all the same, and every thread that finds nothing touches the locks and lines of all.
//!
//! **Round robin.** The first number is from the counter, too (§5.3.4: instances are chosen as for a send). Behind it the loop is the same.
//!
//! Both try locks that have no owners ([`Kind::takes_from_owners`](super::kind::Kind::takes_from_owners)), as the paper's: an attempt fails only while another thread is inside. An instance
//! is the thread's own by its number, which is by what `runtime_cri_assignment dedicated` chooses the one for its sends.

use super::Policy;
use crate::contexts::{Contexts, number};
use crate::thread::Slot;
use core::sync::atomic::{AtomicU32, Ordering};
use oxmpi_mca::Entry;

/// The context that a turn begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The thread's own, or the next where the thread has none.
    Own,
    /// The next by the counter.
    Next,
}

/// A counter that all threads draw contexts from.
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicU32);

impl Counter {
    /// The next context of so many.
    #[inline(always)]
    fn next(&self, of: u32) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) % of
    }
}

/// One context first, then all in turn until one brings something.
pub struct Rotation {
    start: Start,
    counter: Counter,
}

impl Rotation {
    /// A policy that nobody follows yet.
    pub fn new(start: Start) -> Rotation {
        Rotation { start, counter: Counter::default() }
    }

    /// Makes a turn, of at most one context more than there are. Returns the number of events.
    #[inline(never)]
    fn turn(&self, contexts: &Contexts, entry: &mut Entry) -> i32 {
        let active = contexts.cris().active();
        let thread = number(entry);
        let first = match self.start {
            Start::Own if thread != u32::MAX => thread % active,
            _ => self.counter.next(active),
        };
        let events = contexts.try_turn(first, entry, true).0;
        if events > 0 {
            return events;
        }
        let mut others = (0..active).map(|_| contexts.try_turn(self.counter.next(active), entry, true).0);
        others.find(|events| *events > 0).unwrap_or(0)
    }
}

impl Policy for Rotation {
    fn first(&self, contexts: &Contexts, entry: &mut Entry) -> i32 {
        self.turn(contexts, entry)
    }

    fn several(&self, contexts: &Contexts, slot: &Slot, entry: &mut Entry) -> i32 {
        contexts.attention_of(slot);
        self.turn(contexts, entry)
    }
}
