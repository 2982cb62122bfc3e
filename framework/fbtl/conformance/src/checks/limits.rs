//! Lists that are longer, and offsets that are farther, than one call of the system or 32 bits take.

use crate::File;
use crate::random::{self, Place, Random};
use oxmpi_fbtl::{Piece, transfer};
use oxmpi_mca::Status;
use std::os::unix::fs::FileExt;

crate::check!(thousands_of_pieces, |rig| {
    // Touching ones, and ones with a hole in front of each.
    for step in [3u64, 5] {
        let file = File::new(rig, "thousands");
        let places: Vec<Place> =
            (0..5000).map(|i| Place { offset: 11 + i * step, at: (4999 - i as usize) * 3, len: 3 }).collect();
        let mut data = Random::new(step).bytes(15000);
        let mut content = Vec::new();
        random::write(&places, &mut content, &data);
        for flags in [0, transfer::NOW] {
            let result = file.run(transfer::WRITE, flags, &random::pieces(&places, &mut data));
            assert_eq!(result, (Status::OK, 15000));
            assert!(file.content() == content, "5000 pieces, {step} bytes apart");
        }
        for flags in [0, transfer::NOW, transfer::SIEVE] {
            let mut back = vec![0; 15000];
            let result = file.run(transfer::READ, flags, &random::pieces(&places, &mut back));
            assert_eq!(result, (Status::OK, 15000));
            assert!(back == data, "5000 pieces read back, {step} bytes apart");
        }
    }
});

crate::check!(far_offsets, |rig| {
    let file = File::new(rig, "far");
    let far = [3u64, 1 << 31, (1 << 32) - 2, 5 << 32, 1 << 41];
    let mut data: Vec<u8> = (1..=20).collect();
    let base = data.as_mut_ptr();
    let piece =
        |(i, offset): (usize, &u64)| Piece { offset: *offset, memory: base.wrapping_add(i * 4), len: 4 };
    let pieces: Vec<Piece> = far.iter().enumerate().map(piece).collect();
    for flags in [0, transfer::NOW] {
        match file.run(transfer::WRITE, flags, &pieces) {
            (Status::OK, 20) => {}
            // Some file systems have shorter files.
            (status, _) if status == oxmpi_fs::error::system(libc::EFBIG) => {
                return eprintln!("far_offsets: left out, the file system has no files of 2 TiB");
            }
            other => panic!("{other:?}"),
        }
    }
    for (i, offset) in far.iter().enumerate() {
        let mut back = [0; 4];
        file.std.read_exact_at(&mut back, *offset).expect("what was written");
        assert_eq!(back[..], data[i * 4..i * 4 + 4], "at {offset}");
    }
    let mut back = vec![0u8; 20];
    let base = back.as_mut_ptr();
    let piece =
        |(i, offset): (usize, &u64)| Piece { offset: *offset, memory: base.wrapping_add(i * 4), len: 4 };
    let pieces: Vec<Piece> = far.iter().enumerate().map(piece).collect();
    for flags in [0, transfer::NOW, transfer::SIEVE] {
        assert_eq!(file.run(transfer::READ, flags, &pieces), (Status::OK, 20));
        assert_eq!(back, data);
    }
});

crate::check!(megabytes, |rig| {
    let file = File::new(rig, "megabytes");
    let data: Vec<u8> = (0..6 << 20).map(|i: u32| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect();
    for flags in [0, transfer::NOW] {
        assert_eq!(file.write(flags, 12345, &data), (Status::OK, data.len() as u64));
        let mut back = vec![0; data.len()];
        let piece = Piece { offset: 12345, memory: back.as_mut_ptr(), len: back.len() as u64 };
        assert_eq!(file.run(transfer::READ, flags, &[piece]), (Status::OK, data.len() as u64));
        assert!(back == data);
    }
});
