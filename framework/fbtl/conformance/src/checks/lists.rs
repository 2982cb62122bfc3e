//! Lists of pieces against a model of bytes.

use crate::random::{self, Random};
use crate::{File, Rig};
use oxmpi_fbtl::{Piece, transfer};
use oxmpi_mca::Status;

/// All ways to submit a read or a write.
const WRITES: [u32; 2] = [0, transfer::NOW];
const READS: [u32; 4] = [0, transfer::NOW, transfer::SIEVE, transfer::SIEVE | transfer::NOW];

fn random_lists(rig: &Rig) {
    let file = File::new(rig, "lists");
    let mut random = Random::new(7);
    let mut content = Vec::new();
    for round in 0..60 {
        let count = 1 + random.below(40) as usize;
        let longest = if round % 5 == 0 { 3000 } else { 30 };
        let (places, len) = random::places(&mut random, count, longest, round % 2 == 1);
        let mut buffer = random.bytes(len);
        let expected = random::write(&places, &mut content, &buffer);
        let flags = WRITES[round % 2];
        let result = file.run(transfer::WRITE, flags, &random::pieces(&places, &mut buffer));
        assert_eq!(result, (Status::OK, expected), "write {round}");
        assert_eq!(file.content(), content, "content behind write {round}");
        let (places, len) = random::places(&mut random, count, longest, round % 2 == 0);
        let mut buffer = random.bytes(len);
        let mut model = buffer.clone();
        let expected = random::read(&places, &content, &mut model);
        let (flags, measure) = (READS[round % 4], [0, 64, 1 << 20][round % 3]);
        let pieces = random::pieces(&places, &mut buffer);
        let pending = file.submit_with(transfer::READ, flags, measure, &pieces).expect("it is taken");
        assert_eq!(file.wait(&pending), (Status::OK, expected), "read {round}");
        // Behind the first piece that is short the memory is nobody's business.
        if expected == places.iter().map(|place| place.len as u64).sum::<u64>() {
            assert_eq!(buffer, model, "memory behind read {round}");
        }
    }
}

crate::check!(lists_of_pieces, random_lists);

crate::check!(end_of_file, |rig| {
    let file = File::new(rig, "end");
    let content = Random::new(3).bytes(1000);
    assert_eq!(file.write(transfer::NOW, 0, &content), (Status::OK, 1000));
    // (offset, length) and the bytes that count.
    let lists: [(&[(u64, u64)], u64); 7] = [
        (&[(990, 10)], 10),
        (&[(990, 11)], 10),
        (&[(1000, 5)], 0),
        (&[(5000, 5)], 0),
        (&[(10, 5), (15, 5), (995, 10), (1010, 4)], 15),
        (&[(980, 10), (990, 10), (1000, 10)], 20),
        (&[(100, 4), (990, 2), (994, 3), (999, 9)], 10),
    ];
    for flags in READS {
        for (list, expected) in lists {
            let total: u64 = list.iter().map(|(_, len)| len).sum();
            let mut buffer = vec![0xaa; total as usize + 8];
            let mut at = 0;
            let pieces: Vec<Piece> = list
                .iter()
                .map(|&(offset, len)| {
                    let piece = Piece { offset, memory: buffer[at..].as_mut_ptr(), len };
                    at += len as usize;
                    piece
                })
                .collect();
            let result = file.run(transfer::READ, flags, &pieces);
            assert_eq!(result, (Status::OK, expected), "{list:?} with flags {flags}");
            let whole: Vec<u8> = list
                .iter()
                .flat_map(|&(offset, len)| offset..offset + len)
                .map_while(|at| content.get(at as usize).copied())
                .collect();
            assert_eq!(buffer[..expected as usize], whole[..expected as usize], "{list:?}");
            assert_eq!(buffer[total as usize..], [0xaa; 8], "behind the memory of {list:?}");
        }
    }
});

crate::check!(nothing_to_do, |rig| {
    let file = File::new(rig, "nothing");
    let empty = [5u64, 5, 9].map(|offset| Piece { offset, memory: core::ptr::null_mut(), len: 0 });
    for what in [transfer::READ, transfer::WRITE] {
        for flags in WRITES {
            assert_eq!(file.run(what, flags, &[]), (Status::OK, 0));
            assert_eq!(file.run(what, flags, &empty), (Status::OK, 0));
        }
    }
    assert_eq!(file.content(), b"");
});
