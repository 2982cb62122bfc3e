//! States of registrations, by atomic transitions that any thread may make (the essay is in `mod.rs`).
//!
//! | From | By | To |
//! |---|---|---|
//! | empty | `publish`, by the thread that has taken it from the free list | live, one user |
//! | live | `acquire` | live, one user more |
//! | live | `mark`: its memory is gone, or it is not wanted any more | stale |
//! | live without users | `evict` | empty, the caller's |
//! | live or stale | `release` | one user less; stale without users: empty, the caller's |
//! | stale without users | `claim` | empty, the caller's |
//!
//! Becoming empty starts the next life. A slot that is empty belongs to the thread that made it so, until it has put it on
//! the free list.

use oxmpi_mca::sync::{AtomicU64, Ordering};

/// Users: the lowest bits.
const USERS: u64 = (1 << 20) - 1;
const LIVE: u64 = 1 << 20;
const STALE: u64 = 1 << 21;
/// One life: the bits above.
const LIFE: u64 = 1 << 22;

/// A registration's state and range. A line, which whoever uses it writes anyway.
#[repr(align(64))]
pub struct Slot {
    word: AtomicU64,
    base: AtomicU64,
    end: AtomicU64,
    /// A value of the owner's choice: set while the slot is empty, read by its users.
    content: AtomicU64,
    /// The cache's clock when it was used last.
    pub used: AtomicU64,
    /// How often it was found in this life.
    pub hits: AtomicU64,
}

/// A life of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life(u64);

/// Result of `mark`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marked {
    /// Another life, or not live any more.
    Not,
    /// Its last user takes it back.
    InUse,
    /// To be claimed.
    Idle,
}

impl Slot {
    /// Makes an empty slot.
    pub fn new() -> Slot {
        Slot {
            word: AtomicU64::new(0),
            base: AtomicU64::new(0),
            end: AtomicU64::new(0),
            content: AtomicU64::new(0),
            used: AtomicU64::new(0),
            hits: AtomicU64::new(0),
        }
    }

    /// Fills an empty slot of the caller's and makes it live, with the caller as its one user; returns its life.
    pub fn publish(&self, base: u64, end: u64, content: u64) -> Life {
        let life = self.word.load(Ordering::Relaxed) & !(LIFE - 1);
        self.base.store(base, Ordering::Relaxed);
        self.end.store(end, Ordering::Relaxed);
        self.content.store(content, Ordering::Relaxed);
        self.hits.store(0, Ordering::Relaxed);
        // SYNC POINT with `acquire`, `overlaps`: range and content are those of this life.
        self.word.store(life | LIVE | 1, Ordering::Release);
        Life(life)
    }

    /// Adds a user if the slot is live and in this life; `alone`: only where it has none. False: not added.
    pub fn acquire(&self, life: Life, alone: bool) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let users = word & USERS;
            if word & !USERS != life.0 | LIVE || users == USERS || (alone && users != 0) {
                return false;
            }
            // SYNC POINT with `publish`.
            match self.word.compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
    }

    /// Takes a user away. True: it was the last of a stale one, and the slot is empty and the caller's.
    pub fn release(&self) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let last = word & (USERS | STALE) == STALE | 1;
            let next = if last { next_life(word) } else { word - 1 };
            // SYNC POINT with itself and `claim`, `evict`: what users did comes before it is taken back.
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return last,
                Err(now) => word = now,
            }
        }
    }

    /// Turns a live slot stale if it is in this life, so that nobody acquires it any more.
    pub fn mark(&self, life: Life) -> Marked {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & !USERS != life.0 | LIVE {
                return Marked::Not;
            }
            let next = word & !LIVE | STALE;
            match self.word.compare_exchange_weak(word, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return if word & USERS == 0 { Marked::Idle } else { Marked::InUse },
                Err(now) => word = now,
            }
        }
    }

    /// The slot's life, if it is live and overlaps a range. Where the slot is filled again meanwhile, the answer may be
    /// wrong about the life that it names, which has ended then.
    pub fn overlaps(&self, start: u64, end: u64) -> Option<Life> {
        // SYNC POINT with `publish`.
        let word = self.word.load(Ordering::Acquire);
        let overlap = self.base.load(Ordering::Relaxed) < end && start < self.end.load(Ordering::Relaxed);
        (word & LIVE != 0 && overlap).then_some(Life(word & !(LIFE - 1)))
    }

    /// Empties a stale slot without users. True: the slot is the caller's.
    pub fn claim(&self) -> bool {
        self.take(STALE)
    }

    /// Empties a live slot without users. True: the slot is the caller's.
    pub fn evict(&self) -> bool {
        self.take(LIVE)
    }

    /// Empties a slot without users that is in state `from`, by one compare-exchange, and starts its next life. True:
    /// the slot is the caller's.
    fn take(&self, from: u64) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        if word & (LIFE - 1) != from {
            return false;
        }
        // SYNC POINT with `release`.
        self.word.compare_exchange(word, next_life(word), Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Whether the slot is live and has no user.
    pub fn is_idle(&self) -> bool {
        self.word.load(Ordering::Relaxed) & (LIFE - 1) == LIVE
    }

    /// Whether the slot is live and in this life.
    pub fn is_live(&self, life: Life) -> bool {
        self.word.load(Ordering::Relaxed) & !USERS == life.0 | LIVE
    }

    /// The life that the slot is in, whatever its state.
    pub fn life(&self) -> Life {
        Life(self.word.load(Ordering::Relaxed) & !(LIFE - 1))
    }

    /// The value that `publish` has stored; for the slot's users, and for the thread that has emptied it.
    pub fn content(&self) -> u64 {
        self.content.load(Ordering::Relaxed)
    }

    /// The length of the slot's range.
    pub fn bytes(&self) -> u64 {
        self.end.load(Ordering::Relaxed).saturating_sub(self.base.load(Ordering::Relaxed))
    }
}

/// The word of an empty slot in the life after that of `word`.
fn next_life(word: u64) -> u64 {
    (word & !(LIFE - 1)).wrapping_add(LIFE)
}
