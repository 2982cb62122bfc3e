//! Words by which senders tell each other, and receivers, how far they are: which FIFOs messages may take now, and which
//! messages wait for room. Each rests on a pair of a release and an acquire, which `models/fifos.rs` looks at in all
//! interleavings together with the protocols of `switch.rs` and `ordered.rs`.

use oxmpi_mca::sync::{AtomicU32, AtomicU64, Ordering};

/// Something that happens once and stays so.
#[derive(Default)]
pub struct Passed(AtomicU32);

impl Passed {
    /// An event that has not happened yet.
    pub fn new() -> Passed {
        Passed(AtomicU32::new(0))
    }

    /// Whether the event has happened. `true`: all that was done before [`Passed::pass`] is seen.
    #[inline(always)]
    pub fn is_passed(&self) -> bool {
        // SYNC POINT with `pass`.
        self.0.load(Ordering::Acquire) != 0
    }

    /// Notes that the event has happened. All that the caller did before is seen by the thread that finds
    /// [`Passed::is_passed`] true.
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
    /// Whether SWITCH is in the first FIFO, so that messages take several FIFOs.
    #[inline(always)]
    pub fn is_passed(&self) -> bool {
        // SYNC POINT with `begin`.
        self.0.load(Ordering::Acquire) != 0
    }

    /// Whether a message whose sender read `passed` from [`Switch::is_passed`] before may still go on FIFO `ctx`. Under
    /// the lock of that FIFO's CRI; `false`: the switch has changed, or the FIFO needs an OPEN.
    #[inline(always)]
    pub fn may_go(&self, passed: bool, ctx: u32) -> bool {
        let open = self.0.load(Ordering::Relaxed);
        if passed { open >> ctx & 1 != 0 } else { open == 0 }
    }

    /// Whether OPEN has to be sent on FIFO `ctx` before the next message. Under the lock of that FIFO's CRI.
    pub fn needs_open(&self, ctx: u32) -> bool {
        let open = self.0.load(Ordering::Relaxed);
        open != 0 && open >> ctx & 1 == 0
    }

    /// Notes that OPEN was sent on FIFO `ctx`. Under the lock of that FIFO's CRI.
    pub fn opened(&self, ctx: u32) {
        self.0.fetch_or(1 << ctx, Ordering::AcqRel);
    }

    /// Notes that SWITCH was sent on FIFO `first`: messages take several FIFOs from now on. Under the lock of that
    /// FIFO's CRI.
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
    /// Notes the oldest stamp of the messages that wait for room in FIFO `ctx`, or 0 if none waits. Calls `tell` with
    /// the oldest stamp of all FIFOs, or 0, where that changes.
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

/// Whether a message of this stamp is older than all messages that its sender announced as waiting for room (`told`:
/// the oldest of these, or 0 if there are none).
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
