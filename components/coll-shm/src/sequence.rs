//! Values of words: how many steps are done, or that the rank is gone.
//!
//! A word counts up modulo 2^31 and is compared by distance, so it is never set back. The highest bit says that its rank has left the communicator's
//! collectives for good, with the error in the lower bits: whoever waits for the rank then waits no longer.

use oxmpi_mca::Status;

const GONE: u32 = 1 << 31;
const MASK: u32 = GONE - 1;

/// A number of steps, modulo 2^31.
#[inline(always)]
pub fn steps(number: u32) -> u32 {
    number & MASK
}

/// Whether a word with this value is at `wanted` steps or beyond.
#[inline(always)]
pub fn reached(value: u32, wanted: u32) -> bool {
    value & GONE == 0 && value.wrapping_sub(wanted) & MASK < 1 << 30
}

/// The value of a word whose rank has left because of an error.
pub fn gone(why: Status) -> u32 {
    GONE | (why.0.unsigned_abs() & MASK)
}

/// The error because of which a word's rank has left. `None`: it has not.
pub fn why_gone(value: u32) -> Option<Status> {
    let why = Status(-((value & MASK) as i32));
    // Another process may have written anything there.
    (value & GONE != 0).then_some(if why.is_err() { why } else { Status::PEER_FAILED })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_round() {
        assert!(reached(5, 5) && reached(6, 5) && !reached(4, 5));
        assert!(reached(0, MASK) && reached(3, MASK - 2) && !reached(MASK, 1));
        // No step is before the first ones.
        assert!(reached(0, steps(3u32.wrapping_sub(7))));
        assert_eq!(steps(MASK.wrapping_add(1)), 0);
    }

    #[test]
    fn who_is_gone_has_reached_nothing() {
        let value = gone(Status::PEER_FAILED);
        assert!(!reached(value, 0) && !reached(value, 5));
        assert_eq!((why_gone(value), why_gone(7)), (Some(Status::PEER_FAILED), None));
        assert_eq!(why_gone(GONE), Some(Status::PEER_FAILED));
    }
}
