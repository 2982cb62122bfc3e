//! A descriptor that passes the cache by: all of the data goes, whatever of it is aligned.

use crate::random::Random;
use crate::{File, Rig};
use oxmpi_fbtl::{Piece, transfer};
use oxmpi_mca::Status;

const PAGE: usize = 4096;

fn direct(rig: &Rig) {
    let Some(file) = File::direct(rig, "direct") else {
        return eprintln!("past_the_cache: left out, the file system has no such descriptors");
    };
    let mut buffer = Random::new(5).bytes(12 * PAGE);
    // Where pages begin in the buffer.
    let page = buffer.as_ptr().align_offset(PAGE);
    let base = buffer[page..].as_mut_ptr();
    let piece = |offset: usize, at: usize, len: usize| Piece {
        offset: offset as u64,
        memory: base.wrapping_add(at),
        len: len as u64,
    };
    let lists: [&[Piece]; 4] = [
        &[piece(0, 0, 2 * PAGE)],
        &[piece(100, 100, 3 * PAGE), piece(100 + 3 * PAGE, 100 + 3 * PAGE, 5000)],
        &[piece(PAGE, 3, 2 * PAGE)],
        &[piece(0, PAGE, PAGE), piece(PAGE, 0, PAGE), piece(2 * PAGE + 8, 2 * PAGE + 8, PAGE)],
    ];
    for (number, list) in lists.iter().enumerate() {
        for flags in [0, transfer::NOW] {
            let total: u64 = list.iter().map(|piece| piece.len).sum();
            file.std.set_len(0).expect("an empty file");
            assert_eq!(file.run(transfer::WRITE, flags, list), (Status::OK, total), "list {number}");
            let content = file.content();
            let mut back = vec![0u8; 12 * PAGE];
            let other = back.as_ptr().align_offset(PAGE);
            let home = back[other..].as_mut_ptr();
            let shifted = |piece: &Piece| {
                let at = piece.memory.addr() - base.addr();
                Piece { memory: home.wrapping_add(at), ..*piece }
            };
            let pieces: Vec<Piece> = list.iter().map(shifted).collect();
            assert_eq!(file.run(transfer::READ, flags, &pieces), (Status::OK, total), "list {number}");
            for piece in *list {
                let at = piece.memory.addr() - base.addr();
                let (from, len) = (piece.offset as usize, piece.len as usize);
                assert!(
                    content[from..from + len] == buffer[page + at..page + at + len],
                    "written by list {number}"
                );
                assert!(
                    back[other + at..other + at + len] == content[from..from + len],
                    "read by list {number}"
                );
            }
            // Past the end.
            let mut short = list.to_vec();
            short.push(piece(content.len(), 6 * PAGE, PAGE));
            short.truncate(list.len() + 1);
            assert_eq!(file.run(transfer::READ, flags, &short[list.len()..]), (Status::OK, 0));
        }
    }
}

crate::check!(past_the_cache, direct);
