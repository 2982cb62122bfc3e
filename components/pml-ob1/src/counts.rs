//! What a shard counts of itself: plain words that its lock guards, so nothing is shared that was not
//! shared already, and nothing is counted on the way of a message that finds its receive.

/// Unexpected messages of one shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Kept so far.
    pub kept: u64,
    /// Of those, given back.
    pub given: u64,
    /// Most at once.
    pub most: u64,
}

impl Waiting {
    #[inline(always)]
    pub fn keep(&mut self) {
        self.kept += 1;
        self.most = self.most.max(self.now());
    }
    #[inline(always)]
    pub fn give(&mut self) {
        self.given += 1;
    }
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.kept - self.given
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_rises_and_stays() {
        let mut w = Waiting::default();
        for _ in 0..3 {
            w.keep();
        }
        w.give();
        w.give();
        w.keep();
        assert_eq!(w, Waiting { kept: 4, given: 2, most: 3 });
        assert_eq!(w.now(), 2);
        w.keep();
        w.keep();
        assert_eq!((w.now(), w.most), (4, 4));
    }
}
