//! Operations of all sizes, and floods of them.

use crate::check;
use crate::rank::{Data, Rank, TargetElements, basic};
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::op;

const SIZES: [usize; 11] = [0, 1, 7, 8, 100, 1023, 4096, 17_000, 65_537, 300_000, 2_000_000];

check!(sizes_from_nothing_to_megabytes, ranks: [1, 2], |rank: &Rank| {
    let byte = basic(Base::BYTE);
    let most = SIZES[SIZES.len() - 1] + 5;
    let mut memory = vec![0u8; most];
    let win = rank.over(&mut memory);
    let value = |i: usize, who: u32| (i * 31 + i / 251 + who as usize) as u8;
    win.fence();
    for size in SIZES {
        let data: Vec<u8> = (0..size).map(|i| value(i, rank.me())).collect();
        let there = TargetElements { rank: rank.right(), disp: 5, count: size as u64, dtype: &byte };
        win.put(Data::of(&data, &byte), there);
        win.fence();
        // SAFETY: the window's memory, written by nobody now.
        let seen = unsafe { core::slice::from_raw_parts(win.window.own().base, most) };
        assert!(seen[5..5 + size].iter().enumerate().all(|(i, b)| *b == value(i, rank.left())), "put {size}");
        assert_eq!(seen[..5], [0; 5], "in front of it");
        let mut back = vec![0u8; size];
        win.get(Data::into(&mut back, &byte), there);
        win.fence();
        assert!(back == data, "get {size}");
    }
    win.free();
});

check!(large_accumulates, ranks: [2], |rank: &Rank| {
    let double = basic(Base::F64);
    let n = 150_000;
    let mut memory = vec![1.0f64; n];
    let win = rank.over(&mut memory);
    win.fence();
    let (data, mut old) = (vec![0.5f64; n], vec![0.0f64; n]);
    let there = TargetElements { rank: rank.right(), disp: 0, count: n as u64, dtype: &double };
    win.accumulate(Data::of(&data, &double), there, op::SUM);
    win.get_accumulate(Some(Data::of(&data, &double)), Data::into(&mut old, &double), there, op::SUM);
    win.fence();
    assert!(old.iter().all(|v| *v == 1.5) && memory.iter().all(|v| *v == 2.0));
    win.free();
});

check!(floods_lose_nothing, ranks: [2, 4], |rank: &Rank| {
    // Without a synchronisation in between, all into one target that does the same.
    let word = basic(Base::U32);
    let turns = 3000u32;
    let mut memory = vec![0u32; rank.size() as usize + 1];
    let win = rank.over(&mut memory);
    win.fence();
    for turn in 0..turns {
        let there = |disp| TargetElements { rank: turn % rank.size(), disp, count: 1, dtype: &word };
        win.accumulate(Data::of(&[1u32], &word), there(rank.size().into()), op::SUM);
        win.put(Data::of(&[turn + 1], &word), there(rank.me().into()));
    }
    win.fence();
    let mine = (0..turns).filter(|t| t % rank.size() == rank.me());
    assert_eq!(memory[rank.size() as usize], mine.clone().count() as u32 * rank.size());
    let written = memory[..rank.size() as usize].iter().all(|v| mine.clone().any(|t| *v == t + 1));
    assert!(written, "{memory:?}");
    win.free();
});

check!(a_place_may_be_larger_than_its_data, ranks: [2], |rank: &Rank| {
    let word = basic(Base::U64);
    for n in [1, 100, 3000] {
        let mut memory = vec![7u64; 2 * n + 1];
        let win = rank.over(&mut memory);
        let seen = |what: &str, value: u64| {
            // SAFETY: the window's memory, written by nobody now.
            let seen = unsafe { core::slice::from_raw_parts(win.window.own().base.cast::<u64>(), 2 * n + 1) };
            let due = |i: usize| if i < n { value } else { 7 };
            assert!(seen.iter().enumerate().all(|(i, v)| *v == due(i)), "{what} of {n}: {seen:?}");
        };
        let there = TargetElements { rank: rank.right(), disp: 0, count: 2 * n as u64, dtype: &word };
        let data = vec![5u64; n];
        win.fence();
        win.put(Data::of(&data, &word), there);
        win.fence();
        seen("put", 5);
        win.fence();
        win.accumulate(Data::of(&data, &word), there, op::SUM);
        win.fence();
        seen("accumulate", 10);
        win.free();
    }
});
