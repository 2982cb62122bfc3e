//! Post, start, complete, wait.

use crate::check;
use crate::rank::{Data, Rank, TargetElements, basic, rank_value};
use oxmpi_datatype::Base;
use oxmpi_mca::Status;
use oxmpi_osc::assertion;

check!(epochs_among_neighbours, ranks: [2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = vec![0i64; 100];
    let win = rank.over(&mut memory);
    let v = win.verbs();
    for turn in 0..10usize {
        assert_eq!(v.post(&mut rank.entry(), &[rank.left()], 0), Status::OK);
        assert_eq!(v.access(&mut rank.entry(), &[rank.right()], 0), Status::OK);
        let data: Vec<i64> = (0..100).map(|i| rank_value(rank.me(), i + turn)).collect();
        win.put(Data::of(&data, &long), TargetElements { rank: rank.right(), disp: 0, count: 100, dtype: &long });
        assert_eq!(v.complete(&mut rank.entry()), Status::OK);
        assert_eq!(v.wait(&mut rank.entry(), true), Status::OK);
        // SAFETY: the window's memory, which nobody writes before the next post.
        let seen = unsafe { core::slice::from_raw_parts(win.window.own().base.cast::<i64>(), 100) };
        assert!(seen.iter().enumerate().all(|(i, x)| *x == rank_value(rank.left(), i + turn)), "turn {turn}");
    }
    win.free();
});

check!(one_exposes_to_many, ranks: [1, 2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = vec![0i64; rank.size() as usize];
    let win = rank.over(&mut memory);
    let v = win.verbs();
    if rank.me() == 0 {
        assert_eq!(v.post(&mut rank.entry(), &rank.all(), 0), Status::OK);
    }
    assert_eq!(v.access(&mut rank.entry(), &[0], 0), Status::OK);
    let data = [rank_value(rank.me(), 9)];
    win.put(Data::of(&data, &long), TargetElements { rank: 0, disp: rank.me().into(), count: 1, dtype: &long });
    assert_eq!(v.complete(&mut rank.entry()), Status::OK);
    if rank.me() == 0 {
        assert_eq!(v.wait(&mut rank.entry(), true), Status::OK);
        assert!(memory.iter().enumerate().all(|(r, x)| *x == rank_value(r as u32, 9)), "{memory:?}");
    }
    win.free();
});

check!(an_exposure_that_has_not_ended, ranks: [2], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = [0i64; 2];
    let win = rank.over(&mut memory);
    let v = win.verbs();
    if rank.me() == 0 {
        assert_eq!(v.post(&mut rank.entry(), &[1], 0), Status::OK);
        assert_eq!(v.wait(&mut rank.entry(), false), Status::PENDING, "the other has not completed");
        rank.barrier();
        while v.wait(&mut rank.entry(), false) == Status::PENDING {}
        assert_eq!(v.wait(&mut rank.entry(), false), Status::RMA_SYNC, "it has ended");
        assert_eq!(memory, [0, 4]);
    } else {
        assert_eq!(v.access(&mut rank.entry(), &[0], 0), Status::OK);
        win.put(Data::of(&[4i64], &long), TargetElements { rank: 0, disp: 1, count: 1, dtype: &long });
        rank.barrier();
        assert_eq!(v.complete(&mut rank.entry()), Status::OK);
    }
    win.free();
});

check!(nobody_and_no_check, ranks: [2], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = [0i64; 2];
    let win = rank.over(&mut memory);
    let v = win.verbs();
    // Epochs to nobody end at once.
    assert_eq!((v.post(&mut rank.entry(), &[], 0), v.wait(&mut rank.entry(), true)), (Status::OK, Status::OK));
    assert_eq!((v.access(&mut rank.entry(), &[], 0), v.complete(&mut rank.entry())), (Status::OK, Status::OK));
    // The program knows that the other has posted.
    assert_eq!(v.post(&mut rank.entry(), &[rank.right()], assertion::NOCHECK), Status::OK);
    rank.barrier();
    assert_eq!(v.access(&mut rank.entry(), &[rank.right()], assertion::NOCHECK), Status::OK);
    win.put(Data::of(&[8i64], &long), TargetElements { rank: rank.right(), disp: 0, count: 1, dtype: &long });
    assert_eq!((v.complete(&mut rank.entry()), v.wait(&mut rank.entry(), true)), (Status::OK, Status::OK));
    assert_eq!(memory, [8, 0]);
    win.free();
});
