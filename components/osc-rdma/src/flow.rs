//! What is under way on one context to one rank, in two halves, so that a flush waits for what was issued before it.
//!
//! Operations begin in the current half and end in the one they began in. A flush makes the other half the current one, once that has
//! nothing under way, and waits until the former one has ended; what is issued later is in the other and does not keep it.
//! Operations end in any order: a half counts only how many have begun and how many have ended, and nothing begins in a half that
//! somebody waits for.
//!
//! **Who touches what.** The holder of the context's CRI writes; anybody reads.

use oxmpi_mca::sync::unmodelled::{AtomicU32, AtomicU64, Ordering};

#[derive(Default)]
pub struct Half {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Half {
    /// By the holder of the CRI.
    pub fn begin(&self) {
        self.begun.store(self.begun.load(Ordering::Relaxed) + 1, Ordering::Release);
    }
    /// By the holder of the CRI. All that the operation did is before it.
    pub fn end(&self) {
        // SYNC POINT with `is_idle`.
        self.ended.store(self.ended.load(Ordering::Relaxed) + 1, Ordering::Release);
    }
    /// Nothing is under way. Any thread.
    pub fn is_idle(&self) -> bool {
        let ended = self.ended.load(Ordering::Acquire);
        self.begun.load(Ordering::Acquire) == ended
    }
}

#[derive(Default)]
pub struct Flow {
    halves: [Half; 2],
    current: AtomicU32,
    /// Something was put since the last flush of the transport.
    pub put: AtomicU32,
}

impl Flow {
    /// Where operations begin. By the holder of the CRI.
    pub fn current(&self) -> &Half {
        &self.halves[self.current.load(Ordering::Relaxed) as usize]
    }
    pub fn is_idle(&self) -> bool {
        self.halves.iter().all(Half::is_idle)
    }
    /// An earlier flush has ended. Any thread.
    pub fn other_is_idle(&self) -> bool {
        self.halves[1 - self.current.load(Ordering::Relaxed) as usize].is_idle()
    }
    /// The half to wait for so that all ends that has begun; `None`: an earlier flush has to end first. By the holder of the CRI.
    pub fn turn(&self) -> Option<&Half> {
        let current = self.current.load(Ordering::Relaxed);
        if !self.halves[1 - current as usize].is_idle() {
            return None;
        }
        self.current.store(1 - current, Ordering::Relaxed);
        Some(&self.halves[current as usize])
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_flush_waits_for_what_was_before_it() {
        let flow = Flow::default();
        let first = flow.current();
        first.begin();
        let waits = flow.turn().expect("nothing else is under way");
        flow.current().begin();
        assert!(!waits.is_idle());
        assert!(flow.turn().is_none(), "two halves are all there are");
        first.end();
        assert!(waits.is_idle() && !flow.is_idle(), "what came later does not keep it");
        let second = flow.turn().expect("the first has ended");
        assert!(!second.is_idle());
        second.end();
        assert!(flow.is_idle());
    }
}
