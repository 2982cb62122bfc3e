//! A limit on how many threads make turns of progress at once (`runtime_max_threads_in_progress`): a thread counts itself in, and out
//! again where that was one too many.
//!
//! The count excludes nobody from data, which locks do; so it orders nothing. A thread that is one too many may be counted for a moment, and keep out another
//! that would have found room: that one finds it with its next turn.

use oxmpi_mca::sync::{AtomicU32, Ordering};

/// A number of threads, and how many are inside.
pub(crate) struct Limit {
    /// 0: no limit, and nobody is counted.
    most: u32,
    inside: AtomicU32,
}

/// A thread's place inside, which it leaves when this is dropped.
pub(crate) struct Place<'a>(Option<&'a Limit>);

impl Limit {
    /// A limit of so many threads; 0: none.
    pub(crate) fn new(most: u32) -> Limit {
        Limit { most, inside: AtomicU32::new(0) }
    }

    /// Counts the calling thread in. `None`: as many as may are inside.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Option<Place<'_>> {
        if self.most == 0 { Some(Place(None)) } else { self.count_in() }
    }

    #[inline(never)]
    fn count_in(&self) -> Option<Place<'_>> {
        let place = Place(Some(self));
        (self.inside.fetch_add(1, Ordering::Relaxed) < self.most).then_some(place)
    }
}

impl Drop for Place<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(limit) = self.0 {
            limit.inside.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_may_enter() {
        let (none, two) = (Limit::new(0), Limit::new(2));
        let all: Vec<_> = (0..9).map(|_| none.enter().is_some()).collect();
        assert_eq!(all, [true; 9]);
        let (first, second) = (two.enter(), two.enter());
        assert!(first.is_some() && second.is_some());
        assert!(two.enter().is_none() && two.enter().is_none(), "who is refused leaves nothing behind");
        drop(first);
        let third = two.enter();
        assert!(third.is_some() && two.enter().is_none());
    }
}
