//! Atomic updates of registered memory by the CPU, so that they are atomic with the target's own.

use oxmpi_btl::amo;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU32, AtomicU64, Ordering};

macro_rules! update {
    ($name:ident, $atomic:ty, $bits:ty, $signed:ty, $float:ty) => {
        /// # Safety
        /// `addr` is aligned and mapped.
        unsafe fn $name(addr: u64, op: u32, flags: u32, operand: $bits, compare: $bits) -> $bits {
            // SAFETY: the caller's promise.
            let word = unsafe { <$atomic>::from_ptr(addr as *mut $bits) };
            let next = |old: $bits| -> $bits {
                let (float, signed) = (flags & amo::FLOAT != 0, flags & amo::SIGNED != 0);
                let (a, b) = (<$float>::from_bits(old), <$float>::from_bits(operand));
                let less = match (float, signed) {
                    (true, _) => b < a,
                    (_, true) => (operand as $signed) < (old as $signed),
                    _ => operand < old,
                };
                let more = if float { b > a } else { !less };
                match op {
                    amo::ADD if float => (a + b).to_bits(),
                    amo::ADD => old.wrapping_add(operand),
                    amo::AND => old & operand,
                    amo::OR => old | operand,
                    amo::XOR => old ^ operand,
                    amo::SWAP => operand,
                    amo::MIN if less => operand,
                    amo::MAX if more => operand,
                    amo::COMPARE_SWAP if old == compare => operand,
                    _ => old,
                }
            };
            // SYNC POINT with every other atomic update of the word.
            let mut old = word.load(Ordering::Relaxed);
            while let Err(now) =
                word.compare_exchange_weak(old, next(old), Ordering::AcqRel, Ordering::Relaxed)
            {
                old = now;
            }
            old
        }
    };
}
update!(narrow, AtomicU32, u32, i32, f32);
update!(wide, AtomicU64, u64, i64, f64);

pub fn width(flags: u32) -> u64 {
    if flags & amo::WIDTH_32 != 0 { 4 } else { 8 }
}

/// Whether there is such an operation on such operands.
pub fn is_known(op: u32, flags: u32) -> bool {
    let typed = matches!(op, amo::ADD | amo::MIN | amo::MAX);
    op <= amo::COMPARE_SWAP && flags & !7 == 0 && (typed || flags & amo::FLOAT == 0)
}

/// The old value.
///
/// # Safety
/// `addr` is mapped and writable for the operation's width.
pub unsafe fn apply(addr: u64, op: u32, flags: u32, operand: u64, compare: u64) -> Result<u64, Status> {
    if !addr.is_multiple_of(width(flags)) || !is_known(op, flags) {
        return Err(Status::BAD_PARAM);
    }
    // SAFETY: aligned, and mapped by the caller's promise.
    Ok(unsafe {
        match width(flags) {
            4 => narrow(addr, op, flags, operand as u32, compare as u32).into(),
            _ => wide(addr, op, flags, operand, compare),
        }
    })
}
