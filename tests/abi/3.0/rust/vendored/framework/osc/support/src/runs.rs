//! Lists of runs describe where the data of an operation lies at its target: they are made of a type, cut to the room of messages, and bytes are moved along them.

use crate::wire::RUN;
use oxmpi_datatype::{Run, TypeDesc, blocks};

/// A list of runs is built by this: blocks that continue the last run become part of it.
#[derive(Default)]
pub struct Runs(Vec<Run>);

impl Runs {
    /// Adds a block behind the others, as part of the last run where it continues that.
    pub fn push(&mut self, disp: i64, len: u64) {
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

    /// Tells how many runs the list has.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Gives the runs out.
    pub fn into_vec(self) -> Vec<Run> {
        self.0
    }
}

/// Limits of a message that has the runs of a part of an operation's data.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The message takes so many bytes of runs and data, at least those of one run and one unit.
    pub bytes: usize,
    /// The data travels in the same message as the runs; else in the answer, which has as much room.
    pub carried: bool,
    /// Parts are multiples of this, but for the last: elements that are combined do not come in pieces.
    pub unit: u64,
}

/// Makes runs of the packed bytes of `count` elements from `from` on, as many as fit and at most up to `end`; tells how many bytes that is.
pub fn cut(desc: &TypeDesc, count: u64, from: u64, end: u64, room: Room) -> (u64, Vec<Run>) {
    let (mut runs, mut len) = (Runs::default(), 0);
    blocks(desc, count, from, end - from, |disp, n| {
        let taken = (runs.count() + 1) * RUN;
        if taken > room.bytes {
            return false;
        }
        let limit = if room.carried { room.bytes - taken } else { room.bytes } as u64;
        let part = n.min(limit.saturating_sub(len));
        if part > 0 {
            runs.push(disp, part);
            len += part;
        }
        part == n
    });
    let whole = if from + len < end { len - len % room.unit } else { len };
    if whole < len {
        runs = Runs::default();
        blocks(desc, count, from, whole, |disp, n| {
            runs.push(disp, n);
            true
        });
    }
    (whole, runs.into_vec())
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

/// Counts the bytes of data. The result is `None` if they are more than a number holds, or if a run is empty, which no sender makes.
pub fn bytes(runs: &[Run]) -> Option<u64> {
    runs.iter().try_fold(0u64, |sum, run| {
        if run.len == 0 || run.count == 0 {
            return None;
        }
        sum.checked_add(run.len.checked_mul(run.count)?)
    })
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

    fn run(disp: i64, len: u64, count: u64, stride: i64) -> Run {
        Run { disp, len, count, stride }
    }

    #[test]
    fn blocks_become_runs() {
        let mut runs = Runs::default();
        for (disp, len) in [(0, 4), (4, 4), (16, 8), (32, 8), (48, 8), (50, 2), (60, 2), (0, 1)] {
            runs.push(disp, len);
        }
        assert_eq!(runs.count(), 3);
        let runs = runs.into_vec();
        assert_eq!(runs, [run(0, 8, 4, 16), run(50, 2, 2, 10), run(0, 1, 1, 0)]);
        assert_eq!(bytes(&runs), Some(37));
        assert_eq!(bytes(&[run(0, u64::MAX, 2, 0)]), None);
        assert_eq!(bytes(&[run(0, 0, u64::MAX, 0)]), None);
    }

    #[test]
    fn parts_fit_and_end_between_elements() {
        let int = TypeDesc::basic(oxmpi_datatype::Base::I32).expect("a basic type");
        for (carried, due) in [(true, 8), (false, 40)] {
            let room = Room { bytes: RUN + 10, carried, unit: 4 };
            let (mut from, mut parts) = (0, Vec::new());
            while from < 44 {
                let (len, runs) = cut(&int, 11, from, 44, room);
                assert_eq!(runs, [run(from as i64, len, 1, 0)]);
                parts.push(len);
                from += len;
            }
            assert_eq!((parts[0], parts.iter().sum::<u64>()), (due, 44), "carried: {carried}");
        }
    }

    #[test]
    fn bytes_go_out_and_come_back() {
        let mut memory: Vec<u8> = (0..64).collect();
        let runs = [run(8, 4, 3, 12), run(60, 3, 1, 0)];
        let mut data = [0; 15];
        // SAFETY: inside the vector.
        unsafe { gather(memory.as_ptr(), &runs, &mut data) };
        assert_eq!(data, [8, 9, 10, 11, 20, 21, 22, 23, 32, 33, 34, 35, 60, 61, 62]);
        let before = memory.clone();
        // SAFETY: all runs lie inside the vector.
        unsafe { scatter(memory.as_mut_ptr(), &runs, &data) };
        assert_eq!(memory, before);
        data.fill(0xff);
        // SAFETY: all runs lie inside the vector.
        unsafe { scatter(memory.as_mut_ptr(), &runs, &data) };
        assert_eq!(memory.iter().filter(|b| **b == 0xff).count(), 15);
    }
}
