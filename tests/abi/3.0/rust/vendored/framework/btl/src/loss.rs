//! The loss of a process: the thread that finds out first tells the host, and sends are refused behind that.
//!
//! Layers above report less of a process to which a send has answered PEER_FAILED than the host does that was told why, so the
//! order matters: tell, then refuse. Until the host has heard, sends are answered as if the process were there.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Once;

/// A process's loss, as all its links share it. Any thread.
#[derive(Debug)]
pub struct Loss {
    told: Once,
    lost: AtomicBool,
}

impl Default for Loss {
    fn default() -> Loss {
        Loss { told: Once::new(), lost: AtomicBool::new(false) }
    }
}

impl Loss {
    /// Runs `tell` in the first thread that comes, then counts the process as lost. `true` to that thread alone; others wait until it has
    /// told. `tell` may run under locks of the caller and takes none that another caller may hold.
    pub fn declare(&self, tell: impl FnOnce()) -> bool {
        let mut first = false;
        self.told.call_once(|| {
            tell();
            self.lost.store(true, Ordering::SeqCst);
            first = true;
        });
        first
    }

    /// True once it is lost. A thread that adds a link and then asks, and one that declares the loss and then goes through all links: one
    /// of the two sees the other.
    pub fn is_declared(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn the_host_is_told_once_and_before() {
        let (loss, told, firsts) = (Loss::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        let begin = Barrier::new(4);
        let tell = || {
            assert!(!loss.is_declared(), "not before the host has heard");
            std::thread::sleep(std::time::Duration::from_millis(20));
            told.fetch_add(1, Ordering::SeqCst);
        };
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    begin.wait();
                    firsts.fetch_add(usize::from(loss.declare(tell)), Ordering::SeqCst);
                    assert!(loss.is_declared() && told.load(Ordering::SeqCst) == 1);
                });
            }
        });
        assert_eq!(firsts.into_inner(), 1);
    }
}
