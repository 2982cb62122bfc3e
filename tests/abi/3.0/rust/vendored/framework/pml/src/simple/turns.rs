//! The words by which the host's engine calls a layer behind turns of contexts.

use crate::polling::{ContextWords, Words, work};
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{CriGuard, SliceRef};

/// The words of a layer, one pair for each context. They stay for good.
#[derive(Clone, Copy)]
pub struct Turns(&'static [Context]);

/// The words of a context that the engine reads.
#[derive(Default)]
struct Context {
    work: AtomicU32,
    unmatched: AtomicU32,
}

impl Turns {
    /// Words for that many contexts, none of which has work.
    pub fn new(contexts: u32) -> Turns {
        Turns(Vec::leak((0..contexts).map(|_| Context::default()).collect()))
    }

    /// The answer to `enable`.
    pub fn words(self) -> Words {
        let of = |context: &'static Context| ContextWords {
            work: &raw const context.work,
            unmatched: &raw const context.unmatched,
        };
        let all = Vec::leak(self.0.iter().map(of).collect());
        Words { contexts: SliceRef { ptr: all.as_ptr(), len: all.len() }, ..Words::NONE }
    }

    /// Something waits for room on the context that is held, or nothing does any more: while it does, `after_turn` is called, and nobody sleeps.
    pub fn set_waiting(self, held: &CriGuard<'_>, waits: bool) {
        let bits = if waits { work::URGENT } else { 0 };
        self.0[held.ctx() as usize].work.store(bits, Ordering::Relaxed);
    }

    /// True where something waits there.
    pub fn is_waiting(self, ctx: u32) -> bool {
        self.0[ctx as usize].work.load(Ordering::Relaxed) != 0
    }

    /// Counts a message that came on the context that is held and met no receive.
    pub fn count_unmatched(self, held: &CriGuard<'_>) {
        let count = &self.0[held.ctx() as usize].unmatched;
        count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}
