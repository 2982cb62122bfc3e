//! Counts of a window's locks, and flushes that are begun.

use crate::check;
use crate::rank::{Data, Rank, TargetElements, basic, rank_value};
use oxmpi_datatype::Base;
use oxmpi_mca::Status;
use oxmpi_osc::{WinCounts, lock_type};

check!(attempts_at_locks_are_counted, ranks: [1, 2, 4], |rank: &Rank| {
    const TURNS: u64 = 25;
    let mut memory = [0i64; 1];
    let win = rank.over(&mut memory);
    for _ in 0..TURNS {
        win.lock(lock_type::EXCLUSIVE, 0);
        win.unlock(0);
    }
    rank.barrier();
    for _ in 0..TURNS {
        win.lock(lock_type::SHARED, rank.right());
        win.unlock(rank.right());
    }
    let counts = win.window.counts();
    // A component that counts has counted these.
    if rank.has("counts", if counts == WinCounts::default() { Status::NOT_SUPPORTED } else { Status::OK }) {
        let exclusive = counts.exclusive_attempts;
        assert!(exclusive >= TURNS && counts.shared_attempts >= TURNS, "{counts:?}");
        let attempts = exclusive + counts.shared_attempts;
        assert_eq!(attempts - counts.lock_retries, 2 * TURNS, "{counts:?}");
        win.lock_all();
        win.unlock_all();
        assert!(win.window.counts().shared_attempts > counts.shared_attempts);
    }
    rank.barrier();
    win.free();
});

check!(locks_of_puts_are_counted, ranks: [2], |rank: &Rank| {
    // Memory of the program's, which others reach by transports or messages: no put goes without a lock.
    const PUTS: u64 = 30;
    let long = basic(Base::I64);
    let mut memory = vec![0i64; 100];
    let win = rank.over(&mut memory);
    let data = vec![7i64; 100];
    let mut back = vec![0i64; 100];
    let there = TargetElements { rank: rank.right(), disp: 0, count: 100, dtype: &long };
    win.lock_all();
    for _ in 0..PUTS {
        win.put(Data::of(&data, &long), there);
    }
    win.flush_all();
    let after = win.window.counts();
    win.get(Data::into(&mut back, &long), there);
    win.unlock_all();
    if rank.has("counts", if after == WinCounts::default() { Status::NOT_SUPPORTED } else { Status::OK }) {
        assert!(after.put_locks >= PUTS, "{after:?}");
        assert_eq!(win.window.counts().put_locks, after.put_locks, "a get is no put");
    }
    rank.barrier();
    win.free();
});

check!(a_flush_may_be_begun, ranks: [1, 2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    const N: usize = 600;
    let mut memory = vec![0i64; N];
    let win = rank.over(&mut memory);
    let begin = |to| win.verbs().flush_begin(&mut rank.entry(), to);
    if !rank.has("flush_begin", begin(None)) {
        return win.free();
    }
    assert_eq!((begin(None), begin(Some(0))), (Status::RMA_SYNC, Status::RMA_SYNC), "no epoch");
    let there = TargetElements { rank: rank.right(), disp: 0, count: N as u64, dtype: &long };
    for turn in 0..20usize {
        win.lock_all();
        let data: Vec<i64> = (0..N).map(|i| rank_value(rank.me(), i + turn)).collect();
        win.put(Data::of(&data, &long), there);
        let to = (turn % 2 == 0).then(|| rank.right());
        assert_eq!((begin(to), begin(to)), (Status::OK, Status::OK), "begun twice is begun once");
        if turn % 3 == 0 {
            win.put(Data::of(&data[..1], &long), TargetElements { count: 1, ..there });
        }
        assert_eq!(win.verbs().flush(&mut rank.entry(), to, false), Status::OK);
        rank.barrier();
        win.sync();
        assert!(memory.iter().enumerate().all(|(i, v)| *v == rank_value(rank.left(), i + turn)), "turn {turn}");
        rank.barrier();
        win.unlock_all();
    }
    win.free();
});
