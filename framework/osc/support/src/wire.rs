//! Runs travel in messages as four little-endian words of eight bytes each: displacement, length, count, stride; or as short runs.
//!
//! **A short run** is the same as numbers of as many bytes as they need, seven bits a byte and the least first: how far it
//! begins behind the end of the one before (from 0 on, with its sign in the lowest bit), length, count and, if there is more than one block, stride. So most blocks
//! of an irregular layout take three or four bytes.

use oxmpi_datatype::Run;

/// A run takes this many bytes.
pub const RUN: usize = 32;

/// Appends runs to a message.
pub fn write_runs(runs: &[Run], out: &mut Vec<u8>) {
    for run in runs {
        for word in [run.disp.cast_unsigned(), run.len, run.count, run.stride.cast_unsigned()] {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
}

/// Reads runs as they stand in a message. Nothing of them is checked.
pub fn read_runs(bytes: &[[u8; RUN]]) -> Vec<Run> {
    let run = |bytes: &[u8; RUN]| {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |i: usize| u64::from_le_bytes(words[i]);
        Run { disp: word(0).cast_signed(), len: word(1), count: word(2), stride: word(3).cast_signed() }
    };
    bytes.iter().map(run).collect()
}

/// Appends runs to a message as short ones.
pub fn write_short_runs(runs: &[Run], out: &mut Vec<u8>) {
    let mut behind = 0i64;
    for run in runs {
        number(zigzag(run.disp.wrapping_sub(behind)), out);
        number(run.len, out);
        number(run.count, out);
        if run.count > 1 {
            number(zigzag(run.stride), out);
        }
        behind = end_of(run);
    }
}

/// Takes so many short runs off the bytes that begin with them; `None`: they do not end there, or have numbers of more than 64 bits. Nothing else of them is checked.
pub fn take_short_runs(bytes: &mut &[u8], count: u32) -> Option<Vec<Run>> {
    let (mut runs, mut behind) = (Vec::new(), 0i64);
    for _ in 0..count {
        let disp = behind.wrapping_add(unzigzag(take(bytes)?));
        let (len, count) = (take(bytes)?, take(bytes)?);
        let stride = if count > 1 { unzigzag(take(bytes)?) } else { 0 };
        let run = Run { disp, len, count, stride };
        behind = end_of(&run);
        runs.push(run);
    }
    Some(runs)
}

/// Where the last block of a run ends.
fn end_of(run: &Run) -> i64 {
    let steps = run.count.wrapping_sub(1).cast_signed().wrapping_mul(run.stride);
    run.disp.wrapping_add(steps).wrapping_add(run.len.cast_signed())
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

fn number(mut value: u64, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The number that the bytes begin with, which it takes off them; `None`: it does not end there, or is none of 64 bits.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (mut value, mut shift) = (0u64, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if shift > 63 || (shift == 63 && bits > 1) {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_survive_the_wire() {
        let runs = [
            Run { disp: -8, len: 4, count: 2, stride: -16 },
            Run { disp: i64::MAX, len: u64::MAX, count: 1, stride: 0 },
        ];
        let mut message = Vec::new();
        write_runs(&runs, &mut message);
        assert_eq!((message.len(), message[8]), (2 * RUN, 4));
        assert_eq!(read_runs(message.as_chunks().0), runs);
    }

    #[test]
    fn short_runs_survive_the_wire_or_are_none() {
        let runs = [
            Run { disp: -8, len: 4, count: 2, stride: -16 },
            Run { disp: i64::MAX, len: u64::MAX, count: 1, stride: 0 },
            Run { disp: 3, len: 1, count: 1 << 40, stride: i64::MIN },
        ];
        let mut message = Vec::new();
        write_short_runs(&runs, &mut message);
        let with_more = [&message[..], b"behind"].concat();
        let mut rest = &with_more[..];
        assert_eq!((take_short_runs(&mut rest, 3).as_deref(), rest), (Some(&runs[..]), &b"behind"[..]));
        for len in 0..message.len() {
            assert!(take_short_runs(&mut &message[..len], 3).is_none(), "{len}");
        }
        assert!(take_short_runs(&mut &message[..], u32::MAX).is_none());
        let mut short = Vec::new();
        write_short_runs(&runs[..1], &mut short);
        assert_eq!(short.len(), 4);
    }
}
