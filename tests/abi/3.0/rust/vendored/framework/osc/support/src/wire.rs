//! Runs travel in messages as four little-endian words of eight bytes each: displacement, length, count, stride.

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
}
