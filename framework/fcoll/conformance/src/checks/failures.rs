//! Transfers that fail, and ranks that do not reach each other.

use super::{circumstances, data};
use crate::{Case, File, Random, interleaved, play};
use oxmpi_fbtl::transfer::{READ, WRITE};
use oxmpi_mca::Status;

crate::check!(a_failed_transfer_is_everybodys, |setup| {
    let failure = oxmpi_fs::error::system(28);
    let mut failed = 0;
    for seed in setup.seeds() {
        let mut random = Random::new(seed);
        let n = 2 + random.below(6) as u32;
        let what = if random.one_in(2) { READ } else { WRITE };
        let parts = interleaved(&mut random, n, false);
        let before = data(2000);
        let mut case = Case::new(seed, what, File::new(before.clone()), parts);
        circumstances(&mut case, &mut random);
        let at = random.below(4);
        case.file.fails = Some((at, failure));
        let ended = play(setup, case);
        assert!(ended.complaints.is_empty(), "seed {seed}: {}", ended.complaints.join("; "));
        let has_failed = ended.file.transfers > at;
        failed += has_failed as u32;
        for (rank, (_, status)) in ended.moved.iter().enumerate() {
            let expected = if has_failed { failure } else { Status::OK };
            assert_eq!(*status, expected, "seed {seed}: the outcome in rank {rank}");
        }
        // Every byte is as it was, or as somebody wrote it.
        let named: std::collections::HashMap<u64, u8> = ended
            .parts
            .iter()
            .flat_map(|part| {
                part.offsets().into_iter().zip(part.in_memory()).map(|(o, p)| (o, part.memory[p]))
            })
            .collect();
        for (offset, byte) in ended.file.bytes.iter().enumerate() {
            let before = before.get(offset).copied().unwrap_or(0);
            let fine = *byte == before || what == WRITE && named.get(&(offset as u64)) == Some(byte);
            assert!(fine, "seed {seed}: byte {offset} is nobody's");
        }
    }
    assert!(failed > 0 || !setup.is_whole(), "no case had as many transfers as it takes to fail");
});

crate::check!(nobody_waits_for_unreachable_ranks, |setup| {
    let mut failed = 0;
    for seed in setup.seeds() {
        let mut random = Random::new(seed);
        let n = 2 + random.below(6) as u32;
        let what = if random.one_in(2) { READ } else { WRITE };
        let parts = interleaved(&mut random, n, false);
        let mut case = Case::new(seed, what, File::new(data(2000)), parts);
        circumstances(&mut case, &mut random);
        let a = random.below(n as u64 - 1) as u32;
        case.cut = Some((a, a + 1 + random.below((n - a - 1) as u64) as u32));
        let case_cut = case.cut;
        let ended = play(setup, case);
        // A rank that has lost a message says so in place of all that it sends, so nobody waits for ever, and nothing lies about.
        assert!(ended.complaints.is_empty(), "seed {seed}: {}", ended.complaints.join("; "));
        let both = case_cut.map_or([None; 2], |(a, b)| [ended.errors[a as usize], ended.errors[b as usize]]);
        let errors = ended.errors.iter().filter(|error| error.is_some()).count();
        failed += (errors > 0) as u32;
        assert!(errors == 0 || both.iter().all(Option::is_some), "seed {seed}: {:?}", ended.errors);
    }
    assert!(
        failed > 0 || !setup.is_whole(),
        "no case had a message between ranks that do not reach each other"
    );
});
