//! Words by which senders tell each other, and receivers, how far they are: which FIFOs messages may take now, and which
//! messages wait for room. Each rests on a pair of a release and an acquire, which `model_fifos.rs` looks at in all
//! interleavings together with the protocols of `switch.rs` and `ordered.rs`.

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

    pub fn pass(&self) {
        // SYNC POINT with `is_passed`.
        self.0.store(1, Ordering::Release);
    }
}

/// The sender's side of one switch from a first FIFO to several (`switch.rs`): FIFOs on which messages may go, a bit each; 0: all take
/// the first. The bit of a FIFO is written under the lock of its CRI, the first one under that of the first FIFO.
#[derive(Default)]
pub struct Switch(AtomicU64);

impl Switch {
    /// SWITCH is in the first FIFO, and messages take several.
    #[inline(always)]
    pub fn is_passed(&self) -> bool {
        // SYNC POINT with `begin`.
        self.0.load(Ordering::Acquire) != 0
    }

    /// Under the lock of FIFO `ctx`: whether a message may go there whose sender found `passed`.
    #[inline(always)]
    pub fn may_go(&self, passed: bool, ctx: u32) -> bool {
        let open = self.0.load(Ordering::Relaxed);
        if passed { open >> ctx & 1 != 0 } else { open == 0 }
    }

    /// Under the lock of FIFO `ctx`: it needs an OPEN before the next message.
    pub fn needs_open(&self, ctx: u32) -> bool {
        let open = self.0.load(Ordering::Relaxed);
        open != 0 && open >> ctx & 1 == 0
    }

    /// Under the lock of FIFO `ctx`, which has the OPEN.
    pub fn opened(&self, ctx: u32) {
        self.0.fetch_or(1 << ctx, Ordering::AcqRel);
    }

    /// Under the lock of FIFO `first`, which has the SWITCH.
    pub fn begin(&self, first: u32) {
        // SYNC POINT with `is_passed`.
        self.0.store(1 << first, Ordering::Release);
    }
}

/// Messages that wait for room in the FIFOs to one process: the oldest stamp in each, and the oldest of all, which its receiver
/// is told. The caller holds the leaf lock that guards it.
#[derive(Default)]
pub struct Pending {
    oldest: Vec<u64>,
    told: u64,
}

impl Pending {
    /// In FIFO `ctx` the oldest message that waits has this stamp, or none does (0). `tell` is called with the oldest
    /// of all, or 0, where that changes.
    pub fn changed(&mut self, ctx: usize, oldest: u64, tell: impl FnOnce(u64)) {
        if self.oldest.len() <= ctx {
            self.oldest.resize(ctx + 1, 0);
        }
        self.oldest[ctx] = oldest;
        let first = self.oldest.iter().copied().filter(|&stamp| stamp != 0).min().unwrap_or(0);
        if first != self.told {
            self.told = first;
            tell(first);
        }
    }
}

/// Whether a message of this stamp is older than all that its sender said (`told`, 0: nothing) to be waiting.
pub fn is_sure(stamp: u64, told: u64) -> bool {
    told == 0 || stamp < told
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_fifo_is_opened_once() {
        let switch = Switch::default();
        let passed = switch.is_passed();
        assert!(!passed && switch.may_go(false, 5) && !switch.may_go(true, 5) && !switch.needs_open(5));
        switch.begin(63);
        assert!(switch.is_passed() && switch.may_go(true, 63) && !switch.may_go(false, 63));
        assert!(switch.needs_open(5) && !switch.needs_open(63) && !switch.may_go(true, 5));
        switch.opened(5);
        assert!(!switch.needs_open(5) && switch.may_go(true, 5) && switch.needs_open(6));
    }
}
