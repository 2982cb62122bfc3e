//! Words by which senders tell each other, and receivers, how far they are: which way is open now, and which
//! messages wait for room. Each rests on a pair of a release and an acquire, which `model.rs` looks at in all
//! interleavings together with the protocols of `fan.rs` and `ordered.rs`.

use oxmpi_mca::sync::{AtomicU32, AtomicU64, Ordering};

/// Something that happens once and stays so.
#[derive(Default)]
pub struct Passed(AtomicU32);

impl Passed {
    pub fn new() -> Passed {
        Passed(AtomicU32::new(0))
    }

    /// True: all that was done before [`Passed::pass`] is seen.
    #[inline(always)]
    pub fn is_passed(&self) -> bool {
        // SYNC POINT with `pass`.
        self.0.load(Ordering::Acquire) != 0
    }

    /// The same for a holder of the lock under which it happens.
    #[inline(always)]
    pub fn is_passed_under_lock(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    pub fn pass(&self) {
        // SYNC POINT with `is_passed`.
        self.0.store(1, Ordering::Release);
    }
}

/// How many FIFOs to a process have messages that wait for room.
#[derive(Default)]
pub struct Stuck(AtomicU32);

impl Stuck {
    pub fn new() -> Stuck {
        Stuck(AtomicU32::new(0))
    }

    #[inline(always)]
    pub fn any(&self) -> bool {
        // SYNC POINT with `Oldest::publish`. Who sent the older message has told us in the program's own way.
        self.0.load(Ordering::Acquire) != 0
    }
}

/// The stamp of the oldest message that waits for room in one FIFO, or [`Oldest::NOTHING`]. Written under its CRI's
/// lock, read by the holders of others.
pub struct Oldest(AtomicU64);

impl Oldest {
    pub const NOTHING: u64 = u64::MAX;

    pub fn new() -> Oldest {
        Oldest(AtomicU64::new(Oldest::NOTHING))
    }

    /// Another message is the oldest that waits here, or none. What waited before is in its FIFO.
    pub fn publish(&self, now: u64, stuck: &Stuck) {
        let before = self.0.load(Ordering::Relaxed);
        if before == Oldest::NOTHING && now != Oldest::NOTHING {
            stuck.0.fetch_add(1, Ordering::Relaxed);
        }
        // SYNC POINT with `is_before`: the message that waited is in its FIFO.
        self.0.store(now, Ordering::Release);
        if before != Oldest::NOTHING && now == Oldest::NOTHING {
            // SYNC POINT with `Stuck::any`.
            stuck.0.fetch_sub(1, Ordering::Release);
        }
    }

    /// An older message than that of stamp `order` waits here.
    pub fn is_before(&self, order: u64) -> bool {
        // SYNC POINT with `publish`.
        self.0.load(Ordering::Acquire) < order
    }
}
