//! Data at the target: a type's layout as runs that travel in records, and bytes moved along them.

use oxmpi_datatype::{Run, TypeDesc, TypeRef, blocks, build};
use oxmpi_mca::Status;

/// A list of runs under construction.
#[derive(Default)]
struct Runs(Vec<Run>);

impl Runs {
    /// Adds a block behind the others, as part of the last run where it continues that.
    fn push(&mut self, disp: i64, len: u64) {
        if let Some(last) = self.0.last_mut() {
            let next = last.disp.wrapping_add(last.count.cast_signed().wrapping_mul(last.stride));
            match last.count {
                1 if last.disp.wrapping_add(last.len.cast_signed()) == disp => {
                    last.len += len;
                    return;
                }
                1 if last.len == len => {
                    (last.stride, last.count) = (disp.wrapping_sub(last.disp), 2);
                    return;
                }
                2.. if last.len == len && next == disp => {
                    last.count += 1;
                    return;
                }
                _ => {}
            }
        }
        self.0.push(Run { disp, len, count: 1, stride: 0 });
    }
}

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
    runs.0
}

/// The one block that runs are.
pub fn one_block(runs: &[Run]) -> Option<(i64, u64)> {
    match runs {
        [run] if run.count == 1 => Some((run.disp, run.len)),
        _ => None,
    }
}

/// Calls `take` with displacement and length of each block.
pub fn each(runs: &[Run], mut take: impl FnMut(i64, u64)) {
    for run in runs {
        let mut disp = run.disp;
        for _ in 0..run.count {
            take(disp, run.len);
            disp = disp.wrapping_add(run.stride);
        }
    }
}

/// Bytes of data; `None`: more than a number holds, or empty blocks, which no sender makes.
pub fn bytes(runs: &[Run]) -> Option<u64> {
    runs.iter().try_fold(0u64, |sum, run| {
        if run.len == 0 || run.count == 0 {
            return None;
        }
        sum.checked_add(run.len.checked_mul(run.count)?)
    })
}

/// The runs as a type, of which one element at the base is the data.
pub fn type_of(runs: &[Run], byte: &TypeRef) -> Result<TypeRef, Status> {
    let blocks = runs.iter().map(|run| build::hvector(run.count, run.len, run.stride, byte));
    let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
    let part = |(run, old): (&Run, _)| build::Part { disp: run.disp, count: 1, old };
    build::structure(&runs.iter().zip(&blocks).map(part).collect::<Vec<_>>())
}

/// Copies the blocks at `base` into `out`, which is as long.
///
/// # Safety
/// All blocks must be readable.
pub unsafe fn gather(base: *const u8, runs: &[Run], out: &mut [u8]) {
    let mut at = 0;
    each(runs, |disp, len| {
        let part = &mut out[at..at + len as usize];
        // SAFETY: the caller's promise; the slice is checked.
        unsafe { core::ptr::copy(base.wrapping_offset(disp as isize), part.as_mut_ptr(), part.len()) };
        at += len as usize;
    });
}

/// Copies `data` to the blocks at `base`, which are as long.
///
/// # Safety
/// All blocks must be writable.
pub unsafe fn scatter(base: *mut u8, runs: &[Run], data: &[u8]) {
    let mut at = 0;
    each(runs, |disp, len| {
        let part = &data[at..at + len as usize];
        // SAFETY: the caller's promise; the slice is checked.
        unsafe { core::ptr::copy(part.as_ptr(), base.wrapping_offset(disp as isize), part.len()) };
        at += len as usize;
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_datatype::Base;

    fn run(disp: i64, len: u64, count: u64, stride: i64) -> Run {
        Run { disp, len, count, stride }
    }

    fn basic(base: Base) -> TypeRef {
        let desc = TypeDesc::basic(base).expect("a basic type");
        // SAFETY: predefined types are not counted; the descriptor is leaked.
        unsafe { TypeRef::adopt(Box::leak(Box::new(desc))) }
    }

    #[test]
    fn blocks_become_runs() {
        let mut runs = Runs::default();
        for (disp, len) in [(0, 4), (4, 4), (16, 8), (32, 8), (48, 8), (50, 2), (60, 2), (0, 1)] {
            runs.push(disp, len);
        }
        assert_eq!(runs.0, [run(0, 8, 4, 16), run(50, 2, 2, 10), run(0, 1, 1, 0)]);
        assert_eq!(bytes(&runs.0), Some(37));
        assert_eq!(bytes(&[run(0, u64::MAX, 2, 0)]), None);
        assert_eq!(bytes(&[run(0, 0, u64::MAX, 0)]), None);
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

    #[test]
    fn bytes_go_out_and_come_back() {
        let mut memory: Vec<u8> = (0..64).collect();
        let runs = [run(8, 4, 3, 12), run(60, 3, 1, 0)];
        let mut data = [0; 15];
        // SAFETY: inside the vector.
        unsafe { gather(memory.as_ptr(), &runs, &mut data) };
        assert_eq!(data, [8, 9, 10, 11, 20, 21, 22, 23, 32, 33, 34, 35, 60, 61, 62]);
        data.fill(0xff);
        // SAFETY: as above.
        unsafe { scatter(memory.as_mut_ptr(), &runs, &data) };
        assert_eq!(memory.iter().filter(|b| **b == 0xff).count(), 15);
    }
}
