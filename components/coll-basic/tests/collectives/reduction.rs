//! reduce and allreduce against a fold in the order of ranks: predefined operations, a user's
//! commutative and a user's non-commutative one on types with and without holes; n = 1 to 17, all
//! roots, in place or not, small and split operands.

use crate::common::data::{Buffer, Random, predefined};
use crate::common::{Args, Params, Rank, job, two_groups};
use core::ffi::c_void;
use oxmpi_coll::{IN_PLACE, NO_ROOT, ROOT};
use oxmpi_datatype::build::{self, Part};
use oxmpi_datatype::kernel::{OpDesc, op};
use oxmpi_datatype::{Base, TypeDesc, TypeRef, pack, unpack};
use oxmpi_mca::Status;

/// `right = left op right`, on the packed bytes of one element.
type Model = fn(&[u8], &mut [u8]);

/// An operation on packed elements, and the type it is used with.
struct Case {
    op: OpDesc,
    dtype: TypeRef,
    model: Model,
}

// SAFETY: the operations have no context.
unsafe impl Sync for Case {}

fn predefined_op(code: u32) -> OpDesc {
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

fn cases() -> Vec<Case> {
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
fn operand(seed: u64, rank: u32, bytes: u64) -> Vec<u8> {
    Random::new(seed * 1000 + rank as u64).bytes(bytes)
}

fn expected(case: &Case, n: u32, seed: u64, count: u64) -> Vec<u8> {
    let size = case.dtype.packed as usize;
    let mut sum = operand(seed, n - 1, case.dtype.packed * count);
    for rank in (0..n - 1).rev() {
        let before = operand(seed, rank, case.dtype.packed * count);
        before.chunks(size).zip(sum.chunks_mut(size)).for_each(|(a, b)| (case.model)(a, b));
    }
    sum
}

/// One call in all ranks; `root` none: allreduce.
fn check(rank: &Rank, case: &Case, root: Option<u32>, count: u64, in_place: bool, seed: u64) {
    let mine = operand(seed, rank.rank, case.dtype.packed * count);
    let has_result = root.is_none_or(|root| root == rank.rank);
    let mut send = Buffer::holding(&case.dtype, count, &mine);
    let mut recv = Buffer::new(&case.dtype, count);
    let mut args = Args { op: Some(&case.op), root: root.unwrap_or(0), ..Args::default() };
    args.send = (send.address(), 99, None);
    if in_place && has_result {
        recv.put(0, &mine);
        args.send = (IN_PLACE, 99, None);
    }
    // At other ranks than the root only its count and type are significant.
    let into = if has_result { recv.address() } else { std::ptr::null_mut() };
    args.recv = (into, count, Some(&*case.dtype));
    let status = match root {
        Some(_) => rank.call(|t| t.reduce, args),
        None => rank.call(|t| t.allreduce, args),
    };
    assert_eq!(status, Status::OK);
    assert!(send.read() == mine, "the operand was changed");
    if has_result {
        let sum = expected(case, rank.n, seed, count);
        assert!(
            recv.read() == sum,
            "{count} of {:?}, operation {}, root {root:?}, in place {in_place}, rank {} of {}",
            case.dtype.base,
            case.op.code,
            rank.rank,
            rank.n
        );
    }
}

const SPLIT: Params = &[("reduce_small_msg", "0"), ("scratch_limit", "0")];

fn jobs(sizes: impl Iterator<Item = u32>, params: Params, test: impl Fn(&Rank, &mut Random) + Sync) {
    for n in sizes {
        for synchronous in [false, true] {
            job(n, synchronous, params, |rank| test(rank, &mut Random::new(n as u64)));
        }
    }
}

#[test]
fn reduce() {
    let cases = cases();
    for params in [&[][..], SPLIT] {
        jobs(1..=17, params, |rank, random| {
            for root in 0..rank.n {
                for case in &cases {
                    let count = [0, 1, 5, 16, 17, 40][random.below(6) as usize];
                    check(rank, case, Some(root), count, random.below(2) == 0, random.next());
                }
            }
        });
    }
}

#[test]
fn allreduce() {
    let cases = cases();
    for params in [&[][..], SPLIT] {
        jobs(1..=17, params, |rank, random| {
            for _ in 0..8 {
                for case in &cases {
                    let count = [0, 1, 3, 16, 17, 50][random.below(6) as usize];
                    check(rank, case, None, count, random.below(2) == 0, random.next());
                }
            }
        });
    }
}

/// Large enough for the default limits, and for the ring.
#[test]
fn large_operands() {
    let cases = cases();
    jobs([2, 3, 5, 8, 13, 16].into_iter(), &[], |rank, random| {
        for case in &cases {
            let count = 4096 * (rank.n as u64 + 1) / case.dtype.packed + random.below(100);
            for in_place in [false, true] {
                check(rank, case, None, count, in_place, random.next());
                let root = random.below(rank.n as u64) as u32;
                check(rank, case, Some(root), count, in_place, random.next());
            }
        }
    });
}

/// Everyone has the same bits, also where the operation is not associative.
#[test]
fn all_ranks_agree_on_floating_point() {
    let double = predefined(Base::F64);
    for n in 2..=17 {
        let results = std::sync::Mutex::new(vec![]);
        for count in [3, 5000] {
            job(n, false, &[], |rank| {
                let sum = predefined_op(op::SUM);
                let mut random = Random::new(rank.rank as u64 + 3);
                let input: Vec<f64> =
                    (0..count).map(|_| (random.next() as f64).powf(1.7) - random.next() as f64).collect();
                let mut output = vec![0f64; count];
                let args = Args {
                    send: (input.as_ptr().cast(), 0, None),
                    recv: (output.as_mut_ptr().cast(), count as u64, Some(&*double)),
                    op: Some(&sum),
                    ..Args::default()
                };
                assert_eq!(rank.call(|t| t.allreduce, args), Status::OK);
                let bits: Vec<u64> = output.iter().map(|f| f.to_bits()).collect();
                results.lock().unwrap().push((count, bits));
            });
        }
        let results = results.into_inner().unwrap();
        for size in [3, 5000] {
            let mut same = results.iter().filter(|(count, _)| *count == size).map(|(_, bits)| bits);
            let first = same.next().unwrap();
            assert!(same.all(|bits| bits == first), "{n} ranks, {size} numbers");
        }
    }
}

#[test]
fn what_is_not_defined_is_refused_before_anything_is_sent() {
    let double = predefined(Base::F64);
    for code in [op::BAND, op::MAXLOC, op::REPLACE, op::NO_OP, op::USER, 99] {
        job(3, true, &[], |rank| {
            let op = predefined_op(code);
            let (input, mut output) = ([1f64], [2f64]);
            let args = || Args {
                send: (input.as_ptr().cast(), 0, None),
                recv: (std::ptr::null_mut(), 1, Some(&*double)),
                op: Some(&op),
                ..Args::default()
            };
            let mut all = args();
            all.recv.0 = output.as_mut_ptr().cast();
            assert_eq!(rank.call(|t| t.allreduce, all), Status::BAD_PARAM);
            let mut one = args();
            one.recv.0 = output.as_mut_ptr().cast();
            assert_eq!(rank.call(|t| t.reduce, one), Status::BAD_PARAM);
            assert_eq!(output, [2f64]);
        });
    }
}

/// The sum of the operands of ranks 0 to `last`.
fn sum_to(case: &Case, last: u32, seed: u64, count: u64) -> Vec<u8> {
    expected(case, last + 1, seed, count)
}

#[test]
fn scan_and_exscan() {
    let cases = cases();
    jobs(1..=17, &[], |rank, random| {
        for exclusive in [false, true] {
            for case in &cases {
                let count = [0, 1, 5, 40][random.below(4) as usize];
                let (in_place, seed) = (random.below(2) == 0, random.next());
                let mine = operand(seed, rank.rank, case.dtype.packed * count);
                let mut send = Buffer::holding(&case.dtype, count, &mine);
                let mut recv = Buffer::new(&case.dtype, count);
                let mut args = Args { op: Some(&case.op), ..Args::default() };
                args.send = (send.address(), 99, None);
                if in_place {
                    recv.put(0, &mine);
                    args.send = (IN_PLACE, 99, None);
                }
                args.recv = (recv.address(), count, Some(&*case.dtype));
                let status = rank.call(|t| if exclusive { t.exscan } else { t.scan }, args);
                assert_eq!(status, Status::OK);
                assert!(send.read() == mine, "the operand was changed");
                // The exclusive one of rank 0 is not defined.
                match (exclusive, rank.rank) {
                    (false, me) => assert!(recv.read() == sum_to(case, me, seed, count), "scan"),
                    (true, 0) => {}
                    (true, me) => assert!(recv.read() == sum_to(case, me - 1, seed, count), "exscan"),
                }
            }
        }
    });
}

/// Counts of a reduce_scatter, some of them 0.
fn parts(n: u32, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed + 5);
    (0..n).map(|_| [0, 1, 3, 20][random.below(4) as usize]).collect()
}

/// One call of either; `counts`: elements per rank.
fn check_scatter(rank: &Rank, case: &Case, counts: &[u64], block: bool, in_place: bool, seed: u64) {
    let total = counts.iter().sum::<u64>();
    let own = counts[rank.rank as usize];
    let mine = operand(seed + 10 * rank.side as u64, rank.rank, case.dtype.packed * total);
    let mut send = Buffer::holding(&case.dtype, total, &mine);
    let mut recv = Buffer::new(&case.dtype, if in_place { total } else { own });
    let mut args = Args { op: Some(&case.op), ..Args::default() };
    args.send = (send.address(), 99, None);
    if in_place {
        recv.put(0, &mine);
        args.send = (IN_PLACE, 99, None);
    }
    args.recv = (recv.address(), own, Some(&*case.dtype));
    args.recv_blocks.counts = counts;
    let status = rank.call(|t| if block { t.reduce_scatter_block } else { t.reduce_scatter }, args);
    assert_eq!(status, Status::OK);
    assert!(send.read() == mine, "the operand was changed");
    // Between groups the sum is the other group's.
    let (from, n) = if rank.remote == 0 { (0, rank.n) } else { (1 - rank.side, rank.remote) };
    let sum = expected(case, n, seed + 10 * from as u64, total);
    let size = case.dtype.packed as usize;
    let before = counts[..rank.rank as usize].iter().sum::<u64>() as usize * size;
    let got = recv.read();
    assert!(got[..own as usize * size] == sum[before..][..own as usize * size], "a part of the sum");
    // In place, the rest of the buffer is the user's.
    assert!(!in_place || got[own as usize * size..] == mine[own as usize * size..]);
}

#[test]
fn reduce_scatter() {
    let cases = cases();
    for params in [&[][..], SPLIT] {
        jobs(1..=9, params, |rank, random| {
            for _ in 0..4 {
                for case in &cases {
                    let (seed, in_place) = (random.next(), random.below(2) == 0);
                    check_scatter(rank, case, &parts(rank.n, seed), false, in_place, seed);
                    let even = vec![random.below(20); rank.n as usize];
                    check_scatter(rank, case, &even, true, in_place, seed);
                }
            }
        });
    }
}

#[test]
fn reductions_between_groups() {
    let cases = cases();
    for sizes in [[1, 1], [1, 4], [3, 2], [4, 4], [9, 5]] {
        for synchronous in [false, true] {
            two_groups(sizes, synchronous, &[], |rank| {
                let mut random = Random::new(sizes[0] as u64 * 10 + sizes[1] as u64);
                for case in &cases {
                    let (seed, count) = (random.next(), random.below(30));
                    between_groups(rank, case, sizes, count, seed);
                    // Both sums have one length.
                    let common = sizes[0] as u64 * sizes[1] as u64 * random.below(3);
                    let even = vec![common / rank.n as u64; rank.n as usize];
                    check_scatter(rank, case, &even, true, false, seed);
                    let mut uneven = vec![0; rank.n as usize];
                    uneven[(seed % rank.n as u64) as usize] = common;
                    check_scatter(rank, case, &uneven, false, false, seed);
                }
            });
        }
    }
}

/// Reduce to a root of each group, and allreduce.
fn between_groups(rank: &Rank, case: &Case, sizes: [u32; 2], count: u64, seed: u64) {
    let mine = operand(seed + 10 * rank.side as u64, rank.rank, case.dtype.packed * count);
    let theirs = expected(case, rank.remote, seed + 10 * (1 - rank.side) as u64, count);
    let mut send = Buffer::holding(&case.dtype, count, &mine);
    for (side, size) in sizes.into_iter().enumerate() {
        let root = (seed % size as u64) as u32;
        let is_root = side == rank.side && root == rank.rank;
        let given = match side == rank.side {
            true if is_root => ROOT as u32,
            true => NO_ROOT as u32,
            false => root,
        };
        let mut recv = Buffer::new(&case.dtype, count);
        let mut args = Args { op: Some(&case.op), root: given, ..Args::default() };
        let into = if is_root { recv.address() } else { std::ptr::null_mut() };
        let from = if is_root { std::ptr::null() } else { send.address().cast_const() };
        args.send = (from, 99, None);
        args.recv = (into, count, Some(&*case.dtype));
        assert_eq!(rank.call(|t| t.reduce, args), Status::OK);
        assert!(!is_root || recv.read() == theirs, "reduce");
    }
    let mut recv = Buffer::new(&case.dtype, count);
    let mut args = Args { op: Some(&case.op), ..Args::default() };
    args.send = (send.address(), 99, None);
    args.recv = (recv.address(), count, Some(&*case.dtype));
    assert_eq!(rank.call(|t| t.allreduce, args), Status::OK);
    assert!(recv.read() == theirs, "allreduce");
    assert!(send.read() == mine, "the operand was changed");
}
