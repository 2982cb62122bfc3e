//! A type's layout becomes runs, runs become a type again, and two lists of runs are compared byte by byte without looking at bytes.

use oxmpi_datatype::{Run, TypeDesc, TypeRef, blocks, build};
use oxmpi_mca::Status;
use oxmpi_osc_support::runs::Runs;

/// The runs of the first `bytes` bytes of data of `count` elements at `offset`.
pub fn runs_of(desc: &TypeDesc, count: u64, bytes: u64, offset: i64) -> Vec<Run> {
    if let Some((disp, _)) = desc.one_block(count) {
        return vec![Run { disp: disp.wrapping_add(offset), len: bytes, count: 1, stride: 0 }];
    }
    let mut runs = Runs::default();
    blocks(desc, count, 0, bytes, |disp, n| {
        runs.push(disp.wrapping_add(offset), n);
        true
    });
    runs.into_vec()
}

/// The one block that runs are.
pub fn one_block(runs: &[Run]) -> Option<(i64, u64)> {
    match runs {
        [run] if run.count == 1 => Some((run.disp, run.len)),
        _ => None,
    }
}

/// Pairs of runs that are looked at one by one.
const MOST_PAIRS: usize = 4096;

/// Whether blocks of one list have bytes in common with those of another. Exact for runs of equal strides, of which most layouts are; others that lie among each
/// other, and lists of very many runs whose memory overlaps as a whole, are taken to have some.
pub fn meet(one: &[Run], other: &[Run]) -> bool {
    let overlap = |a: (i128, i128), b: (i128, i128)| a.0 < b.1 && b.0 < a.1;
    let whole = |runs: &[Run]| runs.iter().map(stretch).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let (Some(all), Some(others)) = (whole(one), whole(other)) else { return false };
    if !overlap(all, others) {
        return false;
    }
    if one.len().saturating_mul(other.len()) > MOST_PAIRS {
        return true;
    }
    let pair = |a: &Run, b: &Run| overlap(stretch(a), stretch(b)) && !lie_between(a, b);
    one.iter().any(|a| other.iter().any(|b| pair(a, b)))
}

/// From the first byte of a run's blocks to behind the last.
fn stretch(run: &Run) -> (i128, i128) {
    let steps = i128::from(run.stride) * (i128::from(run.count) - 1).max(0);
    let disp = i128::from(run.disp);
    (disp + steps.min(0), disp + steps.max(0) + i128::from(run.len))
}

/// Whether all blocks of one run lie in the gaps of another with the same stride, wherever either ends. A block alone has the stride of the other run.
fn lie_between(a: &Run, b: &Run) -> bool {
    let steps = |run: &Run| (run.count > 1).then_some(i128::from(run.stride).abs());
    let stride = match (steps(a), steps(b)) {
        (Some(one), Some(other)) if one == other => one,
        (Some(one), None) => one,
        (None, Some(other)) => other,
        _ => return false,
    };
    if stride == 0 {
        return false;
    }
    // Where a block of `b` begins behind one of `a`: it ends before the next one does.
    let behind = (i128::from(b.disp) - i128::from(a.disp)).rem_euclid(stride);
    behind >= i128::from(a.len) && behind + i128::from(b.len) <= stride
}

/// The runs as a type, of which one element at the base is the data.
pub fn type_of(runs: &[Run], byte: &TypeRef) -> Result<TypeRef, Status> {
    let blocks = runs.iter().map(|run| build::hvector(run.count, run.len, run.stride, byte));
    let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
    let part = |(run, old): (&Run, _)| build::Part { disp: run.disp, count: 1, old };
    build::structure(&runs.iter().zip(&blocks).map(part).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_datatype::Base;
    use oxmpi_osc_support::runs::{each, gather};

    fn run(disp: i64, len: u64, count: u64, stride: i64) -> Run {
        Run { disp, len, count, stride }
    }

    fn basic(base: Base) -> TypeRef {
        let desc = TypeDesc::basic(base).expect("a basic type");
        // SAFETY: predefined types are not counted; the descriptor is leaked.
        unsafe { TypeRef::adopt(Box::leak(Box::new(desc))) }
    }

    #[test]
    fn regular_types_become_one_run() {
        let int = basic(Base::I32);
        let vector = build::vector(100, 2, 5, &int).expect("a vector");
        assert_eq!(runs_of(&vector, 1, 800, 40), [run(40, 8, 100, 20)]);
        assert_eq!(runs_of(&vector, 1, 12, 0), [run(0, 8, 1, 0), run(20, 4, 1, 0)], "a part of it");
        assert_eq!(one_block(&runs_of(&int, 50, 200, 8)), Some((8, 200)));
    }

    #[test]
    fn a_type_of_runs_has_its_bytes_in_order() {
        let byte = basic(Base::BYTE);
        let runs = [run(20, 4, 2, -12), run(1, 2, 1, 0)];
        let made = type_of(&runs, &byte).expect("a type");
        assert_eq!(made.packed, 10);
        let memory: Vec<u8> = (0..32).collect();
        let (mut by_type, mut by_runs) = ([0; 10], [0; 10]);
        // SAFETY: inside the vector.
        unsafe {
            oxmpi_datatype::pack(&made, 1, memory.as_ptr(), 0, by_type.as_mut_ptr(), 10);
            gather(memory.as_ptr(), &runs, &mut by_runs);
        }
        assert_eq!((by_type, by_runs), ([20, 21, 22, 23, 8, 9, 10, 11, 1, 2], by_type));
    }

    /// Compared with the bytes themselves.
    #[test]
    fn runs_meet_where_they_share_a_byte() {
        let touched = |runs: &[Run]| {
            let mut all = std::collections::HashSet::new();
            each(runs, |disp, len| all.extend(disp..disp + len as i64));
            all
        };
        let mut state = 1u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let (mut apart, mut among) = (0, 0);
        for _ in 0..20_000 {
            let stride = [4, 6, 16][below(3) as usize];
            let mut one = |n| -> Vec<Run> {
                let turned = |down: bool, stride: i64| if down { -stride } else { stride };
                let mut next = || {
                    let (len, count) = (1 + below(5), 1 + below(6));
                    run(below(100) as i64, len, count, turned(below(4) == 0, stride))
                };
                (0..n).map(|_| next()).collect()
            };
            let (a, b) = (one(1), one(2));
            let due = !touched(&a).is_disjoint(&touched(&b));
            // A lone block that reaches beyond a whole gap is the only doubt.
            assert!(meet(&a, &b) || !due, "{a:?} {b:?}");
            assert_eq!(meet(&a, &b), meet(&b, &a), "{a:?} {b:?}");
            if !due {
                apart += 1;
                among += u32::from(!meet(&a, &b));
            }
        }
        assert!(among * 10 > apart * 9, "{among} of {apart} are known to be apart");
        let column = |disp| [run(disp, 8, 1000, 64)];
        assert!(!meet(&column(0), &column(8)) && !meet(&column(0), &column(56)));
        assert!(meet(&column(0), &column(60)) && meet(&column(0), &column(64 * 999 + 7)));
        assert!(!meet(&column(0), &[run(8, 56, 1, 0)]) && meet(&column(0), &[run(8, 57, 1, 0)]));
        assert!(!meet(&[], &column(0)));
        assert!(meet(&[run(0, 1, 9, 2)], &[run(1, 1, 9, 3)]), "of different strides");
        assert!(meet(&[run(i64::MIN, 1, u64::MAX, i64::MAX)], &column(0)), "more than numbers hold");
    }
}
