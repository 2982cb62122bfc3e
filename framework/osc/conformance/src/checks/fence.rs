//! Epochs between fences.

use crate::check;
use crate::rank::{Data, Rank, TargetElements, basic, rank_value};
use oxmpi_datatype::Base;

check!(puts_between_fences, ranks: [1, 2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let n = 300;
    let mut memory = vec![-1i64; n * rank.size() as usize];
    let win = rank.over(&mut memory);
    win.fence();
    for turn in 0..3 {
        // To everyone, itself too, each at the place of the sender.
        let data: Vec<i64> = (0..n).map(|i| rank_value(rank.me(), i + turn)).collect();
        for to in rank.all() {
            let disp = i64::from(rank.me()) * n as i64;
            win.put(Data::of(&data, &long), TargetElements { rank: to, disp, count: n as u64, dtype: &long });
        }
        win.fence();
        for from in rank.all() {
            for i in 0..n {
                // SAFETY: the window's memory; nobody writes between fences without operations.
                let seen = unsafe { win.window.own().base.cast::<i64>().add(from as usize * n + i).read_volatile() };
                assert_eq!(seen, rank_value(from, i + turn), "rank {from}, place {i}, turn {turn}");
            }
        }
        win.fence();
    }
    win.free();
});

check!(gets_between_fences, ranks: [1, 2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory: Vec<i64> = (0..1000).map(|i| rank_value(rank.me(), i)).collect();
    let win = rank.over(&mut memory);
    win.fence();
    let mut got = vec![0i64; 1000];
    win.get(Data::into(&mut got, &long), TargetElements { rank: rank.right(), disp: 0, count: 1000, dtype: &long });
    win.fence();
    assert!(got.iter().enumerate().all(|(i, v)| *v == rank_value(rank.right(), i)));
    win.free();
});
