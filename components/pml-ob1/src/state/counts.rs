//! A shard's counts of itself: plain words that its lock guards, so nothing is shared that was not
//! shared already, and nothing is counted on the way of a message that finds its receive.

/// Unexpected messages of one shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Kept so far.
    pub kept: u64,
    /// Still kept. A message may be given back to another shard than kept it, so it is the sum that counts.
    now: i64,
    /// Most at once.
    most: i64,
}

impl Waiting {
    #[inline(always)]
    pub fn keep(&mut self) {
        self.kept += 1;
        self.come();
    }
    #[inline(always)]
    pub fn give(&mut self) {
        self.now -= 1;
    }
    /// A message comes from another shard.
    #[inline(always)]
    pub fn come(&mut self) {
        self.now += 1;
        self.most = self.most.max(self.now);
    }
    /// A message goes to another shard.
    pub fn leave(&mut self) {
        self.now -= 1;
    }
    /// Takes over what another has.
    pub fn join(&mut self, other: &mut Waiting) {
        let other = core::mem::take(other);
        self.kept += other.kept;
        self.now += other.now;
        self.most = self.most.max(other.most).max(self.now);
    }
    /// Still kept, for the sum.
    pub fn now(&self) -> i64 {
        self.now
    }
    /// Most at once.
    pub fn most(&self) -> u64 {
        self.most as u64
    }
}

#[cfg(all(test, not(loom)))]
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
        assert_eq!((w.kept, w.now(), w.most()), (4, 2, 3));
        w.keep();
        w.keep();
        assert_eq!((w.now(), w.most()), (4, 4));
    }

    #[test]
    fn messages_move_from_shard_to_shard() {
        let (mut home, mut other) = (Waiting::default(), Waiting::default());
        (0..3).for_each(|_| home.keep());
        // One is taken out and not given back yet, two move.
        (0..2).for_each(|_| {
            home.leave();
            other.come();
        });
        other.keep();
        (0..4).for_each(|_| other.give());
        assert_eq!((other.now(), other.most()), (-1, 3), "it was given one that home had kept");
        home.join(&mut other);
        assert_eq!((home.kept, home.now(), home.most()), (4, 0, 3));
        assert_eq!(other, Waiting::default());
    }
}
