//! Tags of nonblocking and persistent collectives, by number.

use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};

/// Largest tag of nonblocking collectives: below those of partitioned messages.
const LATER: i32 = -(1 << 29) - (1 << 21);

/// How many tags nonblocking collectives have.
const LATERS: u32 = 1 << 28;

/// Largest tag of persistent collectives; all of theirs lie above the tags for making communicators.
const AGAIN: i32 = LATER - LATERS as i32;

/// How many tags persistent collectives have.
const AGAINS: u32 = 1 << 27;

/// How many operations of each kind a communicator has begun.
#[derive(Default)]
pub(crate) struct Numbers {
    later: AtomicU32,
    again: AtomicU32,
}

impl Numbers {
    /// Adds 1 to a counter and returns its old value, without a read-modify-write: calls on one communicator come one
    /// at a time.
    pub(crate) fn next(word: &AtomicU32) -> u32 {
        let number = word.load(Ordering::Relaxed);
        word.store(number.wrapping_add(1), Ordering::Relaxed);
        number
    }
    /// The tag of the next nonblocking collective of the communicator.
    pub(crate) fn later(&self) -> i32 {
        LATER - (Self::next(&self.later) % LATERS) as i32
    }
    /// The tag of the next persistent collective of the communicator.
    pub(crate) fn again(&self) -> i32 {
        AGAIN - (Self::next(&self.again) % AGAINS) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_round_and_tags_stay_between_their_neighbours() {
        let numbers = Numbers::default();
        assert_eq!((numbers.later(), numbers.later()), (LATER, LATER - 1));
        assert_eq!((numbers.again(), numbers.again()), (AGAIN, AGAIN - 1));
        numbers.later.store(u32::MAX, Ordering::Relaxed);
        assert_eq!((numbers.later(), numbers.later()), (AGAIN + 1, LATER));
        numbers.again.store(AGAINS - 1, Ordering::Relaxed);
        let last = numbers.again();
        assert_eq!((last, numbers.again()), (AGAIN - AGAINS as i32 + 1, AGAIN));
        // Partitioned messages end at -(2^20) - 2^29, what makes communicators begins at -2^30.
        const { assert!(LATER < -(1 << 20) - (1 << 29) && AGAIN - (AGAINS as i32) > -(1 << 30)) };
    }
}
