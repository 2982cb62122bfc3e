//! Reduction kernels against a plain model: values are decoded one by one, combined in wide
//! arithmetic, and encoded again.

use oxmpi_datatype::build::{self, Part};
use oxmpi_datatype::kernel::{OpDesc, defined, op, reduce};
use oxmpi_datatype::{Base, TypeDesc, TypeRef};
use oxmpi_mca::Status;
use proptest::prelude::*;

/// The standard's class of a type (MPI 5.0 §6.9.2), with what the model needs to know of it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Class {
    Integer {
        signed: bool,
    },
    Address,
    Float,
    Complex,
    Logical,
    /// Truth values whose bits are the compiler's.
    FortranLogical,
    Byte,
    Pair {
        value: Scalar,
        index: Scalar,
        at: usize,
    },
    None,
}

/// One number in memory.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Scalar {
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
    F128,
    Long,
}

const LONG_DOUBLE: bool = cfg!(target_arch = "x86_64");

fn class(base: Base) -> Class {
    let pair = |value, index, at| Class::Pair { value, index, at };
    match base {
        Base::I8 | Base::I16 | Base::I32 | Base::I64 | Base::I128 => Class::Integer { signed: true },
        Base::U8 | Base::U16 | Base::U32 | Base::U64 => Class::Integer { signed: false },
        Base::AINT => Class::Address,
        Base::F16 | Base::F32 | Base::F64 | Base::F128 => Class::Float,
        Base::LONG_DOUBLE if LONG_DOUBLE => Class::Float,
        Base::C16 | Base::C32 | Base::C64 | Base::C128 => Class::Complex,
        Base::C_LONG_DOUBLE if LONG_DOUBLE => Class::Complex,
        Base::BOOL => Class::Logical,
        Base::LOGICAL1 | Base::LOGICAL2 | Base::LOGICAL4 | Base::LOGICAL8 | Base::LOGICAL16 => {
            Class::FortranLogical
        }
        Base::BYTE => Class::Byte,
        Base::FLOAT_INT => pair(Scalar::F32, Scalar::I32, 4),
        Base::DOUBLE_INT => pair(Scalar::F64, Scalar::I32, 8),
        Base::LONG_INT => pair(Scalar::I64, Scalar::I32, 8),
        Base::TWO_INT => pair(Scalar::I32, Scalar::I32, 4),
        Base::SHORT_INT => pair(Scalar::I16, Scalar::I32, 4),
        Base::LONG_DOUBLE_INT if LONG_DOUBLE => pair(Scalar::Long, Scalar::I32, 16),
        Base::TWO_REAL => pair(Scalar::F32, Scalar::F32, 4),
        Base::TWO_DOUBLE => pair(Scalar::F64, Scalar::F64, 8),
        _ => Class::None,
    }
}

/// The standard's table (MPI 5.0 §6.9.2), and what is outside it: the logical operations on MPI_AINT, MPI_COUNT and
/// MPI_OFFSET, which programs know from other libraries.
fn allowed(code: u32, base: Base) -> bool {
    match code {
        op::USER | op::REPLACE | op::NO_OP => true,
        op::MIN | op::MAX => matches!(class(base), Class::Integer { .. } | Class::Address | Class::Float),
        op::SUM | op::PROD => {
            matches!(class(base), Class::Integer { .. } | Class::Address | Class::Float | Class::Complex)
        }
        op::BAND | op::BOR | op::BXOR => {
            matches!(class(base), Class::Integer { .. } | Class::Address | Class::Byte)
        }
        op::LAND | op::LOR | op::LXOR => {
            matches!(
                class(base),
                Class::Integer { .. } | Class::Address | Class::Logical | Class::FortranLogical
            )
        }
        op::MINLOC | op::MAXLOC => matches!(class(base), Class::Pair { .. }),
        _ => false,
    }
}

/// Small whole numbers, which every format holds; products of few stay whole and small too.
fn put(s: Scalar, out: &mut [u8], v: i64) {
    match s {
        Scalar::I16 => out[..2].copy_from_slice(&(v as i16).to_ne_bytes()),
        Scalar::I32 => out[..4].copy_from_slice(&(v as i32).to_ne_bytes()),
        Scalar::I64 => out[..8].copy_from_slice(&v.to_ne_bytes()),
        Scalar::F32 => out[..4].copy_from_slice(&(v as f32).to_ne_bytes()),
        Scalar::F64 => out[..8].copy_from_slice(&(v as f64).to_ne_bytes()),
        Scalar::F16 => {
            let bits = if v == 0 {
                0
            } else {
                let high = v.unsigned_abs().ilog2();
                let fraction = (v.unsigned_abs() << 10 >> high) as u16 & 0x3ff;
                ((v < 0) as u16) << 15 | (high as u16 + 15) << 10 | fraction
            };
            out[..2].copy_from_slice(&bits.to_ne_bytes());
        }
        Scalar::Long => out[..10].copy_from_slice(&x87(v)),
        Scalar::F128 => out[..16].copy_from_slice(&quad(v).to_le_bytes()),
    }
}

/// A whole number as x87 has it: 64 bits of mantissa with the leading one, 15 of exponent, sign.
fn x87(v: i64) -> [u8; 10] {
    let mut bytes = [0u8; 10];
    if v != 0 {
        let high = v.unsigned_abs().ilog2();
        bytes[..8].copy_from_slice(&(v.unsigned_abs() << (63 - high)).to_le_bytes());
        let exponent = (high as u16 + 16383) | ((v < 0) as u16) << 15;
        bytes[8..].copy_from_slice(&exponent.to_le_bytes());
    }
    bytes
}

/// The same as binary128 has it: 112 bits behind the leading one, 15 of exponent, sign.
fn quad(v: i64) -> u128 {
    if v == 0 {
        return 0;
    }
    let high = v.unsigned_abs().ilog2();
    let fraction = u128::from(v.unsigned_abs()) << (112 - high) & ((1 << 112) - 1);
    u128::from(v < 0) << 127 | u128::from(high + 16383) << 112 | fraction
}

fn float_of(base: Base, size: u64) -> Scalar {
    match size {
        _ if matches!(base, Base::F128 | Base::C128) => Scalar::F128,
        2 => Scalar::F16,
        4 => Scalar::F32,
        8 => Scalar::F64,
        _ => Scalar::Long,
    }
}

fn width(s: Scalar) -> usize {
    match s {
        Scalar::I16 | Scalar::F16 => 2,
        Scalar::I32 | Scalar::F32 => 4,
        Scalar::I64 | Scalar::F64 => 8,
        Scalar::Long => 10,
        Scalar::F128 => 16,
    }
}

fn fold(code: u32, a: i128, b: i128) -> i128 {
    match code {
        op::SUM => a.wrapping_add(b),
        op::PROD => a.wrapping_mul(b),
        op::MIN => a.min(b),
        op::MAX => a.max(b),
        op::BAND => a & b,
        op::BOR => a | b,
        op::BXOR => a ^ b,
        op::LAND => (a != 0 && b != 0) as i128,
        op::LOR => (a != 0 || b != 0) as i128,
        op::LXOR => ((a != 0) != (b != 0)) as i128,
        other => panic!("no model of {other}"),
    }
}

/// The same of Fortran's truth values: one of the two as it is, or 0.
fn fold_of_fortran(code: u32, a: i128, b: i128) -> i128 {
    match (code, a != 0, b != 0) {
        (op::LAND, true, true) | (op::LOR | op::LXOR, false, _) => b,
        (op::LOR, true, _) | (op::LXOR, true, false) => a,
        _ => 0,
    }
}

/// Integers: any bits at all.
fn integer(bytes: &[u8], signed: bool) -> i128 {
    let mut wide = [0u8; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let value = i128::from_le_bytes(wide);
    let bits = bytes.len() * 8;
    if signed && bits < 128 && value >> (bits - 1) != 0 { value - (1 << bits) } else { value }
}

/// One element of each side and the expected result, as bytes of one extent. Holes are 0xee, and stay
/// what they were.
fn element(code: u32, base: Base, seeds: [i64; 4]) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let size = base.layout().unwrap().extent as usize;
    let (mut left, mut right) = (vec![0xee; size], vec![0xee; size]);
    // Not zero, whose sign is nothing whole numbers know; complex products still fit a half.
    let small = |v: i64| if v % 32 == 0 { 7 } else { v % 32 };
    match class(base) {
        Class::Integer { .. } | Class::Address | Class::Byte | Class::Logical | Class::FortranLogical => {
            let signed = class(base) != Class::Integer { signed: false };
            let wide = |v: i64| if v % 5 == 0 { 0 } else { v };
            left.copy_from_slice(&i128::from(wide(seeds[0])).to_le_bytes()[..size]);
            right.copy_from_slice(&i128::from(wide(seeds[1])).to_le_bytes()[..size]);
            let fold = if class(base) == Class::FortranLogical { fold_of_fortran } else { fold };
            let result = fold(code, integer(&left, signed), integer(&right, signed));
            (left, right, result.to_le_bytes()[..size].to_vec())
        }
        Class::Float => {
            let s = float_of(base, size as u64);
            let mut expected = right.clone();
            let (a, b) = (small(seeds[0]), small(seeds[1]));
            put(s, &mut left, a);
            put(s, &mut right, b);
            put(s, &mut expected, fold(code, a as i128, b as i128) as i64);
            (left, right, expected)
        }
        Class::Complex => {
            let (half, s) = (size / 2, float_of(base, size as u64 / 2));
            let [a, b, c, d] = seeds.map(small);
            let mut expected = right.clone();
            let (re, im) = match code {
                op::SUM => (a + c, b + d),
                _ => (a * c - b * d, a * d + b * c),
            };
            for (out, re, im) in [(&mut left, a, b), (&mut right, c, d), (&mut expected, re, im)] {
                put(s, out, re);
                put(s, &mut out[half..], im);
            }
            (left, right, expected)
        }
        Class::Pair { value, index, at } => {
            // Few values, so that ties are frequent.
            let [a, b] = [seeds[0] % 3, seeds[1] % 3];
            let [i, j] = [small(seeds[2]), small(seeds[3])];
            let mut expected = right.clone();
            let win = if code == op::MINLOC { a < b } else { a > b };
            let (v, k) = match (win, a == b) {
                (true, _) => (a, i),
                (_, true) => (a, i.min(j)),
                _ => (b, j),
            };
            for (out, v, k) in [(&mut left, a, i), (&mut right, b, j), (&mut expected, v, k)] {
                put(value, out, v);
                put(index, &mut out[at..], k);
            }
            (left, right, expected)
        }
        Class::None => panic!("no model of {base:?}"),
    }
}

/// Which bytes of an element are data.
fn data_bytes(base: Base) -> Vec<usize> {
    let size = base.layout().unwrap().extent as usize;
    match class(base) {
        Class::Pair { value, index, at } => (0..width(value)).chain(at..at + width(index)).collect(),
        Class::Float => (0..width(float_of(base, size as u64))).collect(),
        Class::Complex => {
            let (half, n) = (size / 2, width(float_of(base, size as u64 / 2)));
            (0..n).chain(half..half + n).collect()
        }
        _ => (0..size).collect(),
    }
}

fn desc(code: u32) -> OpDesc {
    OpDesc {
        size: size_of::<OpDesc>() as u32,
        code,
        commutative: 1,
        reserved: 0,
        user: None,
        ctx: core::ptr::null_mut(),
    }
}

fn all_bases() -> impl Iterator<Item = Base> {
    (1..64).map(Base).filter(|b| b.layout().is_some())
}

fn predefined(base: Base) -> TypeRef {
    let desc: &'static TypeDesc = Box::leak(Box::new(TypeDesc::basic(base).unwrap()));
    // SAFETY: leaked, so it lives.
    unsafe { TypeRef::retain(desc) }
}

#[test]
fn defined_is_the_standards_table() {
    for base in all_bases() {
        for code in 0..20 {
            assert_eq!(defined(code, base), allowed(code, base), "operation {code} on {base:?}");
            if !allowed(code, base) {
                let mut byte = [7u8; 64];
                // SAFETY: no type has more than 64 bytes.
                let s = unsafe {
                    reduce(&desc(code), [9u8; 64].as_ptr(), byte.as_mut_ptr(), 1, &predefined(base))
                };
                assert_eq!((s, byte), (Status::BAD_PARAM, [7u8; 64]));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// All operations on all types, from unaligned addresses.
    #[test]
    fn predefined_types(
        seeds in prop::collection::vec(any::<[i64; 4]>(), 0..70),
        shift in 0usize..16,
    ) {
        for base in all_bases() {
            let (dtype, size) = (predefined(base), base.layout().unwrap().extent as usize);
            for code in (1..=12).filter(|c| allowed(*c, base)) {
                let (mut left, mut right, mut expected) = (vec![0; shift], vec![0; shift], vec![]);
                for s in &seeds {
                    let (a, b, e) = element(code, base, *s);
                    left.extend(a);
                    right.extend(b);
                    expected.push(e);
                }
                // SAFETY: both hold as many elements as there are seeds.
                let status = unsafe {
                    let (from, to) = (left.as_ptr().add(shift), right.as_mut_ptr().add(shift));
                    reduce(&desc(code), from, to, seeds.len() as u64, &dtype)
                };
                prop_assert_eq!(status, Status::OK);
                for (got, expected) in right[shift..].chunks(size).zip(&expected) {
                    for byte in data_bytes(base) {
                        prop_assert_eq!(got[byte], expected[byte], "{} on {:?}", code, base);
                    }
                    if let Class::Pair { value, at, .. } = class(base) {
                        // Between value and index nothing is written.
                        prop_assert!(value == Scalar::Long || got[width(value)..at].iter().all(|b| *b == 0xee));
                    }
                }
            }
        }
    }

    /// The same elements apart from each other, and packed: what one-sided accumulates may name.
    #[test]
    fn derived_types(seeds in prop::collection::vec(any::<[i64; 4]>(), 1..40), gap in 0usize..40, big in any::<bool>()) {
        let repeat = if big { 40 } else { 1 };
        for base in all_bases() {
            let (basic, size) = (predefined(base), base.layout().unwrap().extent as usize);
            let step = size + gap;
            let n = seeds.len() * repeat;
            let spread = build::hvector(n as u64, 1, step as i64, &basic).unwrap();
            for code in (1..=12).filter(|c| allowed(*c, base)) {
                let (mut left, mut right, mut expected) = (vec![], vec![], vec![]);
                for s in seeds.iter().cycle().take(n) {
                    let (a, b, e) = element(code, base, *s);
                    left.extend(a.into_iter().chain(vec![0x11; gap]));
                    right.extend(b.into_iter().chain(vec![0x22; gap]));
                    expected.push(e);
                }
                // SAFETY: the buffers span the type.
                let status = unsafe { reduce(&desc(code), left.as_ptr(), right.as_mut_ptr(), 1, &spread) };
                prop_assert_eq!(status, Status::OK);
                for (got, expected) in right.chunks(step).zip(&expected) {
                    for byte in data_bytes(base) {
                        prop_assert_eq!(got[byte], expected[byte], "{} on {:?}", code, base);
                    }
                    prop_assert!(got[size..].iter().all(|b| *b == 0x22));
                }
            }
        }
    }

    /// REPLACE copies the data and nothing else; NO_OP nothing at all.
    #[test]
    fn replace_and_no_op(n in 0usize..300, gap in 4i64..30) {
        let (int, double) = (predefined(Base::I32), predefined(Base::F64));
        let record = build::structure(&[
            Part { disp: 0, count: 1, old: &int },
            Part { disp: 4 + gap, count: 1, old: &double },
        ]).unwrap();
        let size = record.extent as usize;
        let left: Vec<u8> = (0..n * size).map(|i| i as u8).collect();
        let mut right = vec![0xee; n * size];
        // SAFETY: both hold `n` records.
        unsafe {
            let (from, to) = (left.as_ptr(), right.as_mut_ptr());
            prop_assert_eq!(reduce(&desc(op::NO_OP), from, to, n as u64, &record), Status::OK);
            prop_assert!(right.iter().all(|b| *b == 0xee));
            let to = right.as_mut_ptr();
            prop_assert_eq!(reduce(&desc(op::REPLACE), from, to, n as u64, &record), Status::OK);
            let to = right.as_mut_ptr();
            prop_assert_eq!(reduce(&desc(op::SUM), from, to, n as u64, &record), Status::BAD_PARAM);
        }
        for (i, b) in right.iter().enumerate() {
            let data = i % size < 4 || (4 + gap as usize..12 + gap as usize).contains(&(i % size));
            prop_assert_eq!(*b, if data { left[i] } else { 0xee });
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn long_double_has_64_bits_of_mantissa() {
    // 2^63 - 1 needs them all; double would round it.
    let cases = [
        (op::SUM, i64::MAX - 1, 1, i64::MAX),
        (op::PROD, 3037000499, 3037000499, 3037000499 * 3037000499),
        (op::MAX, i64::MAX, i64::MAX - 1, i64::MAX),
        (op::MAX, i64::MAX - 1, i64::MAX, i64::MAX),
        (op::MIN, -i64::MAX, -i64::MAX + 1, -i64::MAX),
    ];
    let dtype = predefined(Base::LONG_DOUBLE);
    for (code, a, b, expected) in cases {
        let (mut left, mut right) = ([0u8; 16], [0u8; 16]);
        left[..10].copy_from_slice(&x87(a));
        right[..10].copy_from_slice(&x87(b));
        // SAFETY: one long double each.
        let s = unsafe { reduce(&desc(code), left.as_ptr(), right.as_mut_ptr(), 1, &dtype) };
        assert_eq!(s, Status::OK);
        assert_eq!(right[..10], x87(expected), "{code}: {a}, {b}");
    }
}

#[test]
fn not_a_number_is_neither_smaller_nor_larger() {
    let dtype = predefined(Base::F64);
    for code in [op::MIN, op::MAX] {
        let (left, mut right) = ([f64::NAN, 1.0], [2.0, f64::NAN]);
        // SAFETY: two doubles each.
        let s = unsafe { reduce(&desc(code), left.as_ptr().cast(), right.as_mut_ptr().cast(), 2, &dtype) };
        assert_eq!(s, Status::OK);
        assert!(right[0] == 2.0 && right[1].is_nan());
    }
}

#[test]
fn a_users_function_gets_what_it_was_given() {
    use core::ffi::c_void;
    extern "C" fn subtract(ctx: *mut c_void, a: *const u8, b: *mut u8, n: u64, dtype: *const TypeDesc) {
        // SAFETY: the test passes two ints, a counter and MPI_INT's descriptor.
        unsafe {
            assert_eq!((*dtype).base, Base::I32);
            *ctx.cast::<u64>() += n;
            for i in 0..n as usize {
                *b.cast::<i32>().add(i) = *a.cast::<i32>().add(i) - *b.cast::<i32>().add(i);
            }
        }
    }
    let (left, mut right, mut called) = ([10i32, 20], [1i32, 2], 0u64);
    let op = OpDesc { user: Some(subtract), ctx: (&raw mut called).cast(), ..desc(op::USER) };
    let int = predefined(Base::I32);
    // SAFETY: two ints each.
    unsafe {
        assert_eq!(reduce(&op, left.as_ptr().cast(), right.as_mut_ptr().cast(), 2, &int), Status::OK);
        let none = desc(op::USER);
        let s = reduce(&none, left.as_ptr().cast(), right.as_mut_ptr().cast(), 2, &int);
        assert_eq!(s, Status::BAD_PARAM);
    }
    assert_eq!((right, called), ([9, 18], 2));
}
