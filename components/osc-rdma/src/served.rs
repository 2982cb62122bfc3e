//! Memory of this rank that origins reach by asking (`serve.rs`), and its `ACCUMULATE` word, which the listener has alone or not at all: it never waits.

use crate::layout::Block;
use crate::wire::ALONE;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use oxmpi_osc_support::Address;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many looks at the word before an origin is told to come again.
const LOOKS: u32 = 64;

/// Memory of this rank that origins reach by asking.
pub struct Served {
    /// `ACCUMULATE` of this rank.
    word: Address<AtomicU64>,
    /// From where to where it goes, each piece.
    memory: Mutex<Vec<(u64, u64)>>,
    /// Every accumulate goes under the lock, whatever its elements.
    pub under_lock: bool,
    /// Somebody asked for atomic updates of more than an element.
    pub coarse: bool,
}

/// The word is had alone until this goes.
pub struct Alone<'a>(&'a AtomicU64);

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        // Others may have added to it and will take that back. SYNC POINT with `Claim::attempt`.
        self.0.fetch_sub(ALONE, Ordering::SeqCst);
    }
}

impl Served {
    /// Without memory.
    ///
    /// # Safety
    /// The word stays as long as the result.
    pub unsafe fn new(word: *const AtomicU64, under_lock: bool, coarse: bool) -> Served {
        // SAFETY: the caller's promise; any thread may use it.
        let word = unsafe { Address::of(word) };
        Served { word, memory: Mutex::default(), under_lock, coarse }
    }

    /// Origins may reach this memory from now on.
    ///
    /// # Safety
    /// It is there until it is taken back, or until nobody calls the listener with this any more.
    pub unsafe fn add(&self, base: u64, bytes: u64) {
        self.memory().push((base, base.saturating_add(bytes)));
    }

    /// They may not any more. An operation that is under way meanwhile ends before the service lock is next to be had.
    pub fn take_back(&self, base: u64) {
        self.memory().retain(|(first, _)| *first != base);
    }

    /// Whether all blocks are memory that may be reached.
    pub fn has(&self, blocks: &[Block]) -> bool {
        let memory = self.memory();
        blocks.iter().all(|block| Served::has_block(&memory, block))
    }

    fn memory(&self) -> MutexGuard<'_, Vec<(u64, u64)>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Regions that touch count as one.
    fn has_block(memory: &[(u64, u64)], block: &Block) -> bool {
        let Some(end) = block.at.checked_add(block.len) else { return false };
        let mut at = block.at;
        while at < end {
            match memory.iter().find(|(first, end)| *first <= at && at < *end) {
                Some((_, behind)) => at = *behind,
                None => return false,
            }
        }
        true
    }

    /// Has the word alone, or NOT_AVAILABLE.
    pub fn alone(&self) -> Result<Alone<'_>, Status> {
        // SAFETY: it stays as long as this (`new`).
        let word = unsafe { &*self.word.get() };
        for _ in 0..LOOKS {
            // SYNC POINT with `Claim::attempt`.
            if word.compare_exchange(0, ALONE, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
                return Ok(Alone(word));
            }
            core::hint::spin_loop();
        }
        Err(Status::NOT_AVAILABLE)
    }
}
