//! MPI_THREAD_MULTIPLE: threads of two ranks send and receive at once, each pair by its own tag, and all by one.

use crate::Caller;
use crate::data::pattern;
use oxmpi_mca::Status;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, mode};

const THREADS: u32 = 3;
const MESSAGES: u64 = 60;
const LENGTHS: [usize; 4] = [8, 3000, 0, 20_000];

crate::check!(threads, ranks: 2, threads, |job| {
    let world = job.world();
    let c = &world[..];
    // Each thread of a rank exchanges with its like, and the order within a tag holds.
    let both = |rank: u32, index: u32, tag: i32| {
        let me = job.thread(rank, index);
        let (c, peer) = (c[rank as usize], 1 - rank.cast_signed());
        for n in 0..MESSAGES {
            let len = LENGTHS[n as usize % LENGTHS.len()];
            let (data, mut buf) = (pattern(len, n + u64::from(1 - rank)), vec![0; len]);
            let mine = pattern(len, n + u64::from(rank));
            let r = me.irecv(c, &mut buf, peer, tag);
            let s = me.isend(c, &mine, peer, tag, mode::STANDARD);
            assert_eq!((me.wait(r).error, me.wait(s).error), (Status::OK, Status::OK));
            assert!(buf == data, "message {n} of thread {index}");
        }
    };
    std::thread::scope(|scope| {
        for rank in 0..2 {
            for index in 1..=THREADS {
                scope.spawn(move || both(rank, index, index.cast_signed()));
            }
        }
    });
    // All threads of one rank send, those of the other receive what comes: everything comes once.
    let many = |me: &Caller, tag: i32| -> u64 {
        let mut sum = 0;
        for _ in 0..MESSAGES {
            let mut buf = [0; 8];
            let req = me.irecv(c[1], &mut buf, ANY_SOURCE, tag);
            assert_eq!(me.wait(req).bytes, 8);
            sum += u64::from_le_bytes(buf);
        }
        sum
    };
    for tag in [5, ANY_TAG] {
        let sum: u64 = std::thread::scope(|scope| {
            for index in 1..=THREADS {
                let me = job.thread(0, index);
                scope.spawn(move || {
                    for n in 0..MESSAGES {
                        let data = (n << 8 | u64::from(index)).to_le_bytes();
                        let s = me.isend(c[0], &data, 1, 5, mode::STANDARD);
                        me.wait(s);
                    }
                });
            }
            let receivers: Vec<_> = (1..=THREADS)
                .map(|index| {
                    let me = job.thread(1, index);
                    scope.spawn(move || many(&me, tag))
                })
                .collect();
            receivers.into_iter().map(|r| r.join().expect("a receiver")).sum()
        });
        let sent: u64 = (1..=u64::from(THREADS)).flat_map(|t| (0..MESSAGES).map(move |n| n << 8 | t)).sum();
        assert_eq!(sum, sent, "a message came twice, or not");
    }
});
