//! Locks: exclusion, sharing, flushes.

use crate::check;
use crate::rank::{Data, Rank, TargetElements, basic, rank_value};
use oxmpi_datatype::Base;
use oxmpi_mca::Status;
use oxmpi_osc::{assertion, lock_type};

check!(an_exclusive_lock_excludes, ranks: [1, 2, 4], |rank: &Rank| {
    // Get, add, put: lost updates without exclusion.
    const TURNS: usize = 40;
    let long = basic(Base::I64);
    let mut memory = vec![0i64; 2];
    let win = rank.over(&mut memory);
    let there = TargetElements { rank: 0, disp: 1, count: 1, dtype: &long };
    for _ in 0..TURNS {
        win.lock(lock_type::EXCLUSIVE, 0);
        let mut value = [0i64];
        win.get(Data::into(&mut value, &long), there);
        win.flush(0);
        value[0] += 1;
        win.put(Data::of(&value, &long), there);
        win.unlock(0);
    }
    rank.barrier();
    if rank.me() == 0 {
        win.lock(lock_type::SHARED, 0);
        assert_eq!(memory, [0, (TURNS * rank.size() as usize) as i64]);
        win.unlock(0);
    }
    win.free();
});

check!(shared_locks_are_held_together, ranks: [2, 4], |rank: &Rank| {
    let mut memory = [0i64; 2];
    let win = rank.over(&mut memory);
    win.lock(lock_type::SHARED, 0);
    // All have it now, or this never ends.
    rank.barrier();
    win.unlock(0);
    win.lock_all();
    rank.barrier();
    win.unlock_all();
    win.free();
});

check!(several_locks_at_once, ranks: [4], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = vec![0i64; rank.size() as usize];
    let win = rank.over(&mut memory);
    // In rising order, so that nobody waits in a circle.
    for to in rank.all() {
        win.lock(if to % 2 == 0 { lock_type::EXCLUSIVE } else { lock_type::SHARED }, to);
    }
    for to in rank.all() {
        let data = [rank_value(to, rank.me() as usize)];
        win.put(Data::of(&data, &long), TargetElements { rank: to, disp: rank.me().into(), count: 1, dtype: &long });
    }
    rank.all().into_iter().rev().for_each(|to| win.unlock(to));
    rank.barrier();
    win.sync();
    assert!(memory.iter().enumerate().all(|(from, v)| *v == rank_value(rank.me(), from)), "{memory:?}");
    win.free();
});

check!(flushes_complete, ranks: [2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = vec![0i64; 300];
    let win = rank.over(&mut memory);
    let there = |rank| TargetElements { rank, disp: 0, count: 300, dtype: &long };
    win.lock_all();
    for turn in 0..10usize {
        let mut data: Vec<i64> = (0..300).map(|i| rank_value(rank.me(), i + turn)).collect();
        win.put(Data::of(&data, &long), there(rank.right()));
        // The buffer is ours again, and what is in it now is nobody's business.
        win.flush_local(rank.right());
        data.fill(-1);
        win.flush(rank.right());
        let mut back = vec![0i64; 300];
        win.get(Data::into(&mut back, &long), there(rank.right()));
        win.flush_local(rank.right());
        assert!(back.iter().enumerate().all(|(i, v)| *v == rank_value(rank.me(), i + turn)), "turn {turn}");
        win.flush_all();
        assert!(!win.verbs().flush(&mut rank.entry(), None, true).is_err());
    }
    win.unlock_all();
    win.free();
});

check!(locks_without_a_check, ranks: [2], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = [0i64; 2];
    let win = rank.over(&mut memory);
    let v = win.verbs();
    for to in rank.all() {
        // Nobody has a conflicting lock: ranks take turns.
        rank.barrier();
        if rank.me() == to {
            assert_eq!(v.lock(&mut rank.entry(), lock_type::EXCLUSIVE, rank.right(), assertion::NOCHECK), Status::OK);
            win.put(Data::of(&[5i64], &long), TargetElements { rank: rank.right(), disp: 0, count: 1, dtype: &long });
            win.unlock(rank.right());
        }
    }
    rank.barrier();
    assert_eq!(v.lock_all(&mut rank.entry(), assertion::NOCHECK), Status::OK);
    win.put(Data::of(&[6i64], &long), TargetElements { rank: rank.right(), disp: 1, count: 1, dtype: &long });
    win.unlock_all();
    rank.barrier();
    win.sync();
    assert_eq!(memory, [5, 6]);
    win.free();
});
