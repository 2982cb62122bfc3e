//! How long a thread sleeps on a descriptor of a provider that has no progress of its own: shortly behind work, then longer and longer, and never for ever.
//!
//! Such a provider works in calls alone, and may ask the kernel in its next one for what it needs to go on. libfabric 1.17's tcp has the set of its sockets watch for room in one
//! only when it begins to look for events, so an answer to a peer's get that finds no room while it handles one of these is forgotten by the set: the descriptor of a queue that fi_trywait gave free
//! for sleep stays unreadable though the socket has room. The next call mends that.

use core::time::Duration;

/// The sleep behind work.
const SHORTEST: Duration = Duration::from_millis(4);
/// The longest, to which it grows while there is none.
const LONGEST: Duration = Duration::from_secs(1);

/// The length of the next sleep.
pub struct Pause(Duration);

impl Default for Pause {
    fn default() -> Pause {
        Pause(SHORTEST)
    }
}

impl Pause {
    /// There was work.
    #[inline]
    pub fn begin_anew(&mut self) {
        self.0 = SHORTEST;
    }

    /// Gives the length of the next sleep; the one behind it is twice as long.
    pub fn lengthen(&mut self) -> Duration {
        let now = self.0;
        self.0 = LONGEST.min(now * 2);
        now
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn sleeps_grow_up_to_a_second() {
        let mut pause = Pause::default();
        let sum: Duration = (0..8).map(|_| pause.lengthen()).sum();
        assert_eq!(
            (sum, pause.lengthen(), pause.lengthen()),
            (Duration::from_millis(1020), LONGEST, LONGEST)
        );
        pause.begin_anew();
        assert_eq!(pause.lengthen(), SHORTEST);
    }
}
