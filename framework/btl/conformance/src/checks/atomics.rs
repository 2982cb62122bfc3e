//! Atomic updates of another rank's memory, where they are offered: each operation on each kind of operand.

use crate::harness::Harness;
use crate::message::step;
use crate::rma::{Memory, flush, update};
use crate::setup::Setup;
use oxmpi_btl::{AtomicDesc, amo, cap};
use oxmpi_mca::Status;

/// Kinds of operands with their flags.
const KINDS: [(u32, u32); 6] = [
    (amo::operand::U64, 0),
    (amo::operand::I64, amo::SIGNED),
    (amo::operand::F64, amo::FLOAT),
    (amo::operand::U32, amo::WIDTH_32),
    (amo::operand::I32, amo::WIDTH_32 | amo::SIGNED),
    (amo::operand::F32, amo::WIDTH_32 | amo::FLOAT),
];

/// Operations that look at the operand's type; the others take bits, announced by the unsigned kind of their width.
fn is_typed(op: u32) -> bool {
    matches!(op, amo::ADD | amo::MIN | amo::MAX)
}

/// The plain meaning of an operation on integers or bits.
fn integer(op: u32, flags: u32, old: u64, operand: u64, compare: u64) -> u64 {
    let narrow = flags & amo::WIDTH_32 != 0;
    let cut = |x: u64| if narrow { x as u32 as u64 } else { x };
    let signed = |x: u64| if narrow { x as u32 as i32 as i64 } else { x as i64 };
    let (old, operand, compare) = (cut(old), cut(operand), cut(compare));
    let pick = |smaller: bool| {
        let less = if flags & amo::SIGNED != 0 { signed(operand) < signed(old) } else { operand < old };
        if less == smaller { operand } else { old }
    };
    cut(match op {
        amo::ADD => old.wrapping_add(operand),
        amo::AND => old & operand,
        amo::OR => old | operand,
        amo::XOR => old ^ operand,
        amo::SWAP => operand,
        amo::MIN => pick(true),
        amo::MAX => pick(false),
        _ if old == compare => operand,
        _ => old,
    })
}

fn float(op: u32, flags: u32, old: u64, operand: u64) -> u64 {
    macro_rules! of {
        ($float:ty, $bits:ty) => {{
            let (a, b) = (<$float>::from_bits(old as $bits), <$float>::from_bits(operand as $bits));
            (match op {
                amo::ADD => a + b,
                amo::MIN => a.min(b),
                _ => a.max(b),
            })
            .to_bits() as u64
        }};
    }
    if flags & amo::WIDTH_32 != 0 { of!(f32, u32) } else { of!(f64, u64) }
}

/// A value of the kind: floats are ordinary numbers, because several bit patterns are no number.
fn value(flags: u32, x: u64) -> u64 {
    let number = (x % 2001) as f64 / 8.0 - 125.0;
    match (flags & amo::FLOAT != 0, flags & amo::WIDTH_32 != 0) {
        (false, _) => x,
        (true, true) => (number as f32).to_bits().into(),
        (true, false) => number.to_bits(),
    }
}

/// One update of the middle one of three words, checked with its neighbours and its result's.
fn one(h: &Harness, op: u32, flags: u32, x: u64) {
    for link in h.links() {
        let narrow = flags & amo::WIDTH_32 != 0;
        let bits = !is_typed(op);
        let seen = if bits { flags & amo::WIDTH_32 } else { flags };
        let (old, operand) = (value(seen, step(x ^ 1)), value(seen, step(x ^ 2)));
        let (old, operand) =
            if narrow { (old | 0xabcd_ef01 << 32, operand as u32 as u64) } else { (old, operand) };
        let compare = if x & 2 == 0 { old } else { step(x ^ 3) };
        let mut words = [!0, old, !0];
        let mut result = [!0u64; 2];
        let base = words.as_mut_ptr();
        // SAFETY: the arrays' bytes; seen through the pointers only until the memory is released.
        let (far, near) = unsafe {
            let near = core::slice::from_raw_parts_mut(result.as_mut_ptr().cast::<u8>(), 16);
            (core::slice::from_raw_parts_mut(base.cast::<u8>(), 24), near)
        };
        let (remote, local) = (Memory::of(h, link.to, far), Memory::of(h, link.from, near));
        let fetch = x & 4 == 0;
        let desc = AtomicDesc {
            result: if fetch { local.addr.cast() } else { core::ptr::null_mut() },
            local_handle: if fetch { local.handle() } else { core::ptr::null() },
            remote: base.wrapping_add(1) as u64,
            remote_handle: core::ptr::null(),
            op,
            flags: seen,
            operand,
            compare: if narrow { compare as u32 as u64 } else { compare },
            done: None,
            done_ctx: core::ptr::null_mut(),
        };
        let status = update(h, link, &remote, desc);
        assert_eq!(status, Status::OK, "{}: operation {op}, flags {seen}", h.name);
        if h.ranks[link.from].can(cap::FLUSH) {
            assert_eq!(flush(h, link), Status::OK, "{}: flush behind operation {op}", h.name);
        }
        remote.release(h);
        local.release(h);
        let new = if seen & amo::FLOAT != 0 {
            float(op, seen, old, operand)
        } else {
            integer(op, seen, old, operand, compare)
        };
        let expected = if narrow { old & !0xffff_ffff | new } else { new };
        let case = format!("operation {op}, flags {seen}: {old:#x} with {operand:#x}, {compare:#x}");
        // SAFETY: alive, and nothing is under way.
        let (now, got) =
            unsafe { (base.cast::<[u64; 3]>().read_volatile(), (&raw const result).read_volatile()) };
        assert_eq!(now[1], expected, "{}: {case}", h.name);
        assert_eq!((now[0], now[2]), (!0, !0), "{}: {case}: wrote beside its target", h.name);
        let was = match (fetch, narrow) {
            (false, _) => !0,
            (true, true) => old as u32 as u64 | !0 << 32,
            (true, false) => old,
        };
        assert_eq!(got, [was, !0], "{}: {case}: fetched", h.name);
    }
}

/// Every operation the module announces, on every kind of operand it announces, fetching and not.
pub fn atomics_update(setup: &Setup) {
    let h = Harness::new(setup);
    if !h.ranks[0].can(cap::ATOMIC) {
        return;
    }
    let a = h.ranks[0].btl.attrs();
    let mut x = 42u64;
    for _ in 0..16 {
        for op in (0..=amo::COMPARE_SWAP).filter(|op| a.amo_ops & (1 << op) != 0) {
            for (_, flags) in KINDS.iter().filter(|k| a.amo_operands & k.0 != 0) {
                x = step(x);
                one(&h, op, *flags, x);
            }
        }
    }
}
