//! Operations that are under way at once, from several threads and of several files.

use crate::{File, Pending, Rig};
use oxmpi_fbtl::{Piece, transfer};
use oxmpi_mca::Status;

/// Bytes of one operation.
const BLOCK: usize = 4096 + 7;

/// Writes blocks, each by an operation of its own, all under way at once as far as they are taken.
fn write_blocks(file: &File<'_>, blocks: core::ops::Range<usize>) -> usize {
    let data: Vec<Vec<u8>> = blocks.clone().map(|i| vec![i as u8 ^ 0x5a; BLOCK]).collect();
    let mut pending: Vec<Pending> = Vec::new();
    let mut refused = 0;
    for (block, i) in data.iter().zip(blocks) {
        let piece =
            Piece { offset: (i * BLOCK) as u64, memory: block.as_ptr().cast_mut(), len: BLOCK as u64 };
        loop {
            match file.submit(transfer::WRITE, 0, &[piece]) {
                Ok(one) => break pending.push(one),
                Err(Status::NO_RESOURCE) => {
                    refused += 1;
                    match pending.pop() {
                        Some(one) => assert_eq!(file.wait(&one), (Status::OK, BLOCK as u64)),
                        // Another thread's operations fill the queue.
                        None => std::thread::yield_now(),
                    }
                }
                Err(status) => panic!("submit: {status}"),
            }
        }
    }
    for one in &pending {
        assert_eq!(file.wait(one), (Status::OK, BLOCK as u64));
    }
    refused
}

fn assert_blocks(file: &File<'_>, blocks: usize) {
    let content = file.content();
    assert_eq!(content.len(), blocks * BLOCK);
    for (i, block) in content.chunks(BLOCK).enumerate() {
        assert!(block.iter().all(|byte| *byte == i as u8 ^ 0x5a), "block {i}");
    }
}

crate::check!(many_at_once, |rig| {
    let file = File::new(rig, "many");
    write_blocks(&file, 0..300);
    assert_blocks(&file, 300);
});

crate::check!(several_threads, |rig| {
    let file = File::new(rig, "threads");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let file = &file;
            scope.spawn(move || write_blocks(file, thread * 50..(thread + 1) * 50));
        }
    });
    assert_blocks(&file, 200);
});

/// A thread that ends takes nothing of its operations with it.
fn submit_and_leave(rig: &Rig) {
    let file = File::new(rig, "leave");
    let data = vec![7u8; 1 << 20];
    let pending: Vec<Pending> = std::thread::scope(|scope| {
        let submit = || {
            let piece = |i: usize| Piece {
                offset: (i << 20) as u64,
                memory: data.as_ptr().cast_mut(),
                len: data.len() as u64,
            };
            (0..8).filter_map(|i| file.submit(transfer::WRITE, 0, &[piece(i)]).ok()).collect()
        };
        scope.spawn(submit).join().expect("a thread")
    });
    assert!(!pending.is_empty());
    for one in &pending {
        assert_eq!(file.wait(one), (Status::OK, 1 << 20));
    }
    assert!(file.content().iter().all(|byte| *byte == 7));
}

crate::check!(threads_that_end, submit_and_leave);

crate::check!(several_files, |rig| {
    let files = ["a", "b", "c"].map(|name| File::new(rig, name));
    let data = [1u8, 2, 3].map(|byte| vec![byte; BLOCK]);
    for round in 0..20u64 {
        let submit = |(file, data): (&File<'_>, &Vec<u8>)| {
            let memory = data.as_ptr().cast_mut();
            let piece = Piece { offset: round * BLOCK as u64, memory, len: BLOCK as u64 };
            file.offer(transfer::WRITE, 0, &[piece])
        };
        let pending: Vec<Pending> = files.iter().zip(&data).map(submit).collect();
        for (file, one) in files.iter().zip(&pending).rev() {
            assert_eq!(file.wait(one), (Status::OK, BLOCK as u64));
        }
    }
    for (file, data) in files.iter().zip(&data) {
        assert!(file.content().chunks(BLOCK).all(|block| block == data));
    }
});

crate::check!(full_queue, |rig| {
    let Some(bounded) = rig.bounded(2) else {
        return eprintln!("full_queue: left out, no parameter bounds the operations under way");
    };
    let file = File::new(&bounded, "full");
    let data = vec![9u8; 1 << 20];
    let piece = |i: u64| Piece { offset: i << 20, memory: data.as_ptr().cast_mut(), len: 1 << 20 };
    let mut refused = 0;
    let mut pending: Vec<Pending> = Vec::new();
    for i in 0..64 {
        loop {
            match file.submit(transfer::WRITE, 0, &[piece(i % 4)]) {
                Ok(one) => break pending.push(one),
                Err(Status::NO_RESOURCE) => {
                    refused += 1;
                    let one = pending.pop().expect("with nothing under way the queue is not full");
                    assert_eq!(file.wait(&one), (Status::OK, 1 << 20));
                }
                Err(status) => panic!("submit: {status}"),
            }
        }
    }
    pending.iter().for_each(|one| assert_eq!(file.wait(one), (Status::OK, 1 << 20)));
    assert!(refused > 0, "64 operations of 1 MiB and none finds two before it");
    drop(file);
    bounded.finish();
});
