//! Atomic operations on the state words of ranks, as locks use them; `words.rs` carries them out.

use oxmpi_mca::Status;

/// Atomic operations on the state words of ranks.
pub trait Words {
    /// Adds, and answers the word before.
    fn add(&mut self, rank: u32, word: u64, value: u64) -> Result<u64, Status>;
    fn read(&mut self, rank: u32, word: u64) -> Result<u64, Status> {
        self.add(rank, word, 0)
    }
    /// Replaces `from`, and answers the word before.
    fn swap_if(&mut self, rank: u32, word: u64, from: u64, to: u64) -> Result<u64, Status>;
    /// Adds some time soon: of whoever makes progress until it is done.
    fn add_later(&mut self, rank: u32, word: u64, value: u64) -> Result<(), Status> {
        self.add(rank, word, value).map(|_| ())
    }
    /// Two steps on different words, in any order; the words before.
    fn both(&mut self, steps: [Step; 2]) -> Result<[u64; 2], Status> {
        let mut one = |Step { rank, word, change }: Step| match change {
            Change::Add(value) => self.add(rank, word, value),
            Change::SwapIf { from, to } => self.swap_if(rank, word, from, to),
        };
        Ok([one(steps[0])?, one(steps[1])?])
    }
}

/// A change of one word of a rank.
#[derive(Clone, Copy)]
pub struct Step {
    pub rank: u32,
    pub word: u64,
    pub change: Change,
}

#[derive(Clone, Copy)]
pub enum Change {
    Add(u64),
    SwapIf { from: u64, to: u64 },
}
