//! Atomic updates of the process's own memory, by the CPU (MPI 5.0 §12.3.4).
//!
//! All of them are one compare-and-swap loop, so integer, float and conditional forms are atomic with
//! respect to each other on every context.

use oxmpi_btl::{AtomicDesc, amo};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU32, AtomicU64, Ordering};

/// Everything of [`amo`], 32 and 64 bits wide, integer and float.
pub const ALL: u32 = (1 << (amo::COMPARE_SWAP + 1)) - 1;

/// Does `op` at `op.remote` and stores the old value to `op.result`.
///
/// # Safety
/// `op.remote` must be memory of this process, as wide as the operation; `op.result` writable or null.
pub unsafe fn apply(op: &AtomicDesc) -> Status {
    let narrow = op.flags & amo::WIDTH_32 != 0;
    let width = if narrow { 4 } else { 8 };
    let float_bits = op.flags & amo::FLOAT != 0 && matches!(op.op, amo::AND | amo::OR | amo::XOR);
    if op.remote == 0 || !op.remote.is_multiple_of(width) || op.op > amo::COMPARE_SWAP || float_bits {
        return Status::BAD_PARAM;
    }
    let old = if narrow {
        // SAFETY: aligned (checked), in this process (the caller's promise).
        let word = unsafe { AtomicU32::from_ptr(op.remote as usize as *mut u32) };
        update32(word, |old| next32(op, old)) as u64
    } else {
        // SAFETY: as above.
        let word = unsafe { AtomicU64::from_ptr(op.remote as usize as *mut u64) };
        update64(word, |old| next64(op, old))
    };
    if !op.result.is_null() {
        // SAFETY: the caller's promise: as wide as the operand.
        unsafe { if narrow { op.result.cast::<u32>().write(old as u32) } else { op.result.write(old) } }
    }
    Status::OK
}

fn update32(word: &AtomicU32, next: impl Fn(u32) -> u32) -> u32 {
    let mut old = word.load(Ordering::Relaxed);
    // SYNC POINT with every other atomic update of the word, here and by other transports.
    while let Err(now) = word.compare_exchange_weak(old, next(old), Ordering::AcqRel, Ordering::Relaxed) {
        old = now;
    }
    old
}

fn update64(word: &AtomicU64, next: impl Fn(u64) -> u64) -> u64 {
    let mut old = word.load(Ordering::Relaxed);
    // SYNC POINT as in `update32`.
    while let Err(now) = word.compare_exchange_weak(old, next(old), Ordering::AcqRel, Ordering::Relaxed) {
        old = now;
    }
    old
}

macro_rules! next {
    ($name:ident, $unsigned:ty, $signed:ty, $float:ty) => {
        fn $name(op: &AtomicDesc, old: $unsigned) -> $unsigned {
            let operand = op.operand as $unsigned;
            let float = op.flags & amo::FLOAT != 0;
            let signed = op.flags & amo::SIGNED != 0;
            let (fo, fn_) = (<$float>::from_bits(old), <$float>::from_bits(operand));
            let (so, sn) = (old as $signed, operand as $signed);
            match op.op {
                amo::ADD if float => (fo + fn_).to_bits(),
                amo::ADD => old.wrapping_add(operand),
                amo::AND => old & operand,
                amo::OR => old | operand,
                amo::XOR => old ^ operand,
                amo::SWAP => operand,
                amo::MIN if float => {
                    if fn_ < fo {
                        operand
                    } else {
                        old
                    }
                }
                amo::MAX if float => {
                    if fn_ > fo {
                        operand
                    } else {
                        old
                    }
                }
                amo::MIN if signed => so.min(sn) as $unsigned,
                amo::MAX if signed => so.max(sn) as $unsigned,
                amo::MIN => old.min(operand),
                amo::MAX => old.max(operand),
                amo::COMPARE_SWAP if old == op.compare as $unsigned => operand,
                _ => old,
            }
        }
    };
}
next!(next32, u32, i32, f32);
next!(next64, u64, i64, f64);
