//! The checks, and what a case must come to.

mod ends;
mod failures;
mod rounds;
mod shapes;

use crate::{Access, Case, Ended, File, Random, Setup, play};
use oxmpi_fbtl::transfer::{READ, WRITE};
use oxmpi_fcoll::want;
use oxmpi_mca::Status;

/// Bytes that look like no rank's.
fn data(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 13 % 251) as u8 | 0x80).collect()
}

/// Numbers of ranks that random cases have.
fn ranks(random: &mut Random) -> u32 {
    1 + random.below(8) as u32
}

/// Draws aggregators, unit, buffer and the user's wish.
fn circumstances(case: &mut Case, random: &mut Random) {
    let n = case.parts.len() as u64;
    let mut all: Vec<u32> = (0..n as u32).collect();
    for i in 0..all.len() {
        all.swap(i, i + random.below(n - i as u64) as usize);
    }
    all.truncate(1 + random.below(n) as usize);
    case.aggregators = all;
    case.unit = 1 + random.below(90);
    case.buffer = case.unit + random.below(300);
    case.want = [want::AUTOMATIC, want::ALWAYS, want::ALWAYS, want::NEVER][random.below(4) as usize];
}

/// Plays a case that must go well.
fn well(setup: &Setup, case: Case) -> Ended {
    let (seed, cut) = (case.seed, case.cut);
    let ended = play(setup, case);
    assert!(ended.complaints.is_empty(), "seed {seed}: {}", ended.complaints.join("; "));
    if cut.is_none() {
        assert!(ended.errors.iter().all(Option::is_none), "seed {seed}: errors {:?}", ended.errors);
    }
    ended
}

/// Plays a write, and compares the file byte by byte: what ranks named has their data, everything else is as it was and untouched.
fn check_write(setup: &Setup, case: Case) -> Ended {
    let (before, seed) = (case.file.bytes.clone(), case.seed);
    let ended = well(setup, case);
    let mut expected = before;
    let mut named = vec![0u32; 0];
    for part in &ended.parts {
        for (offset, place) in part.offsets().into_iter().zip(part.in_memory()) {
            let offset = offset as usize;
            expected.resize(expected.len().max(offset + 1), 0);
            named.resize(named.len().max(offset + 1), 0);
            expected[offset] = part.memory[place];
            named[offset] += 1;
        }
    }
    let differs = expected.iter().zip(&ended.file.bytes).position(|(a, b)| a != b);
    assert_eq!(differs, None, "seed {seed}: that byte of the file is not what was written there");
    assert_eq!(ended.file.bytes.len(), expected.len(), "seed {seed}: length of the file");
    for (offset, writes) in ended.file.writes.iter().enumerate() {
        let named = named.get(offset).copied().unwrap_or(0);
        assert!(
            *writes <= named,
            "seed {seed}: byte {offset} was written {writes} times, and named {named} times"
        );
    }
    for (rank, part) in ended.parts.iter().enumerate() {
        assert_eq!(
            ended.moved[rank],
            (part.num_bytes(), Status::OK),
            "seed {seed}: what rank {rank} has moved"
        );
    }
    ended
}

/// Plays a read, and compares memory byte by byte up to the count that the end of the file makes; what no type names is untouched.
fn check_read(setup: &Setup, case: Case) -> Ended {
    let seed = case.seed;
    let before: Vec<Vec<u8>> = case.parts.iter().map(|part| part.memory.clone()).collect();
    let ended = well(setup, case);
    for (rank, part) in ended.parts.iter().enumerate() {
        let (offsets, places) = (part.offsets(), part.in_memory());
        let length = ended.file.bytes.len() as u64;
        let count = offsets.iter().position(|offset| *offset >= length).unwrap_or(offsets.len());
        assert_eq!(ended.moved[rank], (count as u64, Status::OK), "seed {seed}: what rank {rank} has moved");
        let mut free = vec![true; part.memory.len()];
        for (i, (offset, place)) in offsets.iter().zip(&places).enumerate() {
            free[*place] = false;
            if i < count {
                let (found, there) = (part.memory[*place], ended.file.bytes[*offset as usize]);
                assert_eq!(found, there, "seed {seed}: byte {i} of rank {rank}, offset {offset}");
            }
        }
        for (place, _) in free.iter().enumerate().filter(|(_, free)| **free) {
            assert_eq!(
                part.memory[place], before[rank][place],
                "seed {seed}: byte {place} between data of rank {rank}"
            );
        }
    }
    ended
}

/// A case of that direction on a file of that length.
fn case(seed: u64, what: u32, len: usize, parts: Vec<Access>) -> Case {
    Case::new(seed, what, File::new(data(len)), parts)
}

/// Checks a case by its direction.
fn check(setup: &Setup, case: Case) -> Ended {
    match case.what {
        READ => check_read(setup, case),
        _ => check_write(setup, case),
    }
}

/// Both directions.
const BOTH: [u32; 2] = [READ, WRITE];
