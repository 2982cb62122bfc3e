//! Operations of reductions, each with a model on packed elements: predefined ones, a user's commutative one and one that is not, on
//! types with and without holes.

use crate::data::{Random, predefined};
use core::ffi::c_void;
use oxmpi_datatype::build::{self, Part};
use oxmpi_datatype::kernel::{OpDesc, op};
use oxmpi_datatype::{Base, TypeDesc, TypeRef, pack, unpack};

/// `right = left op right`, on the packed bytes of one element.
pub type Model = fn(&[u8], &mut [u8]);

/// An operation on packed elements, and the type it is used with.
pub struct Case {
    pub op: OpDesc,
    pub dtype: TypeRef,
    pub model: Model,
}

// SAFETY: the operations have no context.
unsafe impl Sync for Case {}

pub fn predefined_op(code: u32) -> OpDesc {
    OpDesc {
        size: size_of::<OpDesc>() as u32,
        code,
        commutative: 1,
        reserved: 0,
        user: None,
        ctx: std::ptr::null_mut(),
    }
}

fn words(bytes: &[u8]) -> [u32; 2] {
    let word = |i: usize| u32::from_ne_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap());
    [word(0), word(1)]
}

fn put_words(bytes: &mut [u8], words: [u32; 2]) {
    for (word, place) in words.into_iter().zip(bytes.chunks_mut(4)) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
}

/// x -> a x + b, then another such: associative, and the order matters.
fn compose(left: &[u8], right: &mut [u8]) {
    let ([a, b], [c, d]) = (words(left), words(right));
    put_words(right, [a.wrapping_mul(c), a.wrapping_mul(d).wrapping_add(b)])
}

fn lower_and_mixed(left: &[u8], right: &mut [u8]) {
    let ([a, b], [c, d]) = (words(left), words(right));
    put_words(right, [a.min(c), b ^ d])
}

/// A user's function: the model on each element, wherever its bytes are.
fn user(model: Model, left: *const u8, right: *mut u8, count: u64, dtype: &TypeDesc) {
    for i in 0..count as isize {
        let at = i * dtype.extent as isize;
        let (mut a, mut b) = ([0; 8], [0; 8]);
        // SAFETY: the component passes `count` elements of eight bytes of data each.
        unsafe {
            pack(dtype, 1, left.offset(at), 0, a.as_mut_ptr(), 8);
            pack(dtype, 1, right.offset(at), 0, b.as_mut_ptr(), 8);
            model(&a, &mut b);
            unpack(dtype, 1, right.offset(at), 0, b.as_ptr(), 8);
        }
    }
}

extern "C" fn user_compose(_: *mut c_void, a: *const u8, b: *mut u8, n: u64, dtype: *const TypeDesc) {
    // SAFETY: as the component got it.
    user(compose, a, b, n, unsafe { &*dtype })
}

extern "C" fn user_lower(_: *mut c_void, a: *const u8, b: *mut u8, n: u64, dtype: *const TypeDesc) {
    // SAFETY: as the component got it.
    user(lower_and_mixed, a, b, n, unsafe { &*dtype })
}

pub fn cases() -> Vec<Case> {
    let word = predefined(Base::U32);
    let dense = build::contiguous(2, &word).unwrap();
    let holes =
        build::structure(&[Part { disp: 12, count: 1, old: &word }, Part { disp: -8, count: 1, old: &word }])
            .unwrap();
    let holes = build::resized(-12, 40, &holes).unwrap();
    let backwards = build::resized(0, -12, &dense).unwrap();
    let mut all = vec![
        Case {
            op: predefined_op(op::SUM),
            dtype: predefined(Base::U64),
            model: |a, b| {
                let number = |x: &[u8]| u64::from_ne_bytes(x.try_into().unwrap());
                let sum = number(a).wrapping_add(number(b));
                b.copy_from_slice(&sum.to_ne_bytes())
            },
        },
        Case { op: predefined_op(op::BXOR), dtype: predefined(Base::BYTE), model: |a, b| b[0] ^= a[0] },
        Case {
            op: predefined_op(op::MAXLOC),
            dtype: predefined(Base::SHORT_INT),
            model: |a, b| {
                let value = |x: &[u8]| i16::from_ne_bytes(x[..2].try_into().unwrap());
                let index = |x: &[u8]| i32::from_ne_bytes(x[2..].try_into().unwrap());
                let first = (value(a), -(index(a) as i64)) >= (value(b), -(index(b) as i64));
                if first {
                    b.copy_from_slice(a)
                }
            },
        },
    ];
    for dtype in [&dense, &holes, &backwards] {
        for (commutative, user, model) in [
            (0, user_compose as extern "C" fn(_, _, _, _, _), compose as Model),
            (1, user_lower, lower_and_mixed),
        ] {
            let op = OpDesc { commutative, user: Some(user), ..predefined_op(op::USER) };
            all.push(Case { op, dtype: dtype.clone(), model });
        }
    }
    all
}

/// The operand of a rank.
pub fn operand(seed: u64, rank: u32, bytes: u64) -> Vec<u8> {
    Random::new(seed * 1000 + rank as u64).bytes(bytes)
}

pub fn expected(case: &Case, n: u32, seed: u64, count: u64) -> Vec<u8> {
    let size = case.dtype.packed as usize;
    let mut sum = operand(seed, n - 1, case.dtype.packed * count);
    for rank in (0..n - 1).rev() {
        let before = operand(seed, rank, case.dtype.packed * count);
        before.chunks(size).zip(sum.chunks_mut(size)).for_each(|(a, b)| (case.model)(a, b));
    }
    sum
}
