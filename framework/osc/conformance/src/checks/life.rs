//! Windows come and go: many at once, in any order, empty, of some ranks, with hints.

use crate::check;
use crate::host::WantedMemory;
use crate::rank::{Data, Rank, TargetElements, Win, basic, rank_value};
use oxmpi_datatype::Base;
use oxmpi_osc::lock_type;

check!(many_windows_at_once, ranks: [2, 3], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory: Vec<Vec<i64>> = (0..12).map(|_| vec![0; 4]).collect();
    let mut windows: Vec<_> = memory.iter_mut().map(|m| rank.over(m)).collect();
    for (i, win) in windows.iter().enumerate() {
        win.lock(lock_type::SHARED, rank.right());
        let data = [rank_value(rank.me(), i)];
        win.put(Data::of(&data, &long), TargetElements { rank: rank.right(), disp: 1, count: 1, dtype: &long });
    }
    // The epochs end in another order, the windows in yet another.
    windows.iter().rev().for_each(|win| win.unlock(rank.right()));
    rank.barrier();
    for at in [3, 0, 5, 1, 2, 0, 0, 3, 3, 1, 0, 0] {
        windows.remove(at).free();
    }
    for (i, m) in memory.iter().enumerate() {
        assert_eq!(*m, [0, rank_value(rank.left(), i), 0, 0], "window {i}");
    }
});

check!(windows_again_and_again, ranks: [2], |rank: &Rank| {
    let long = basic(Base::I64);
    for turn in 0..60 {
        let mut memory = [0i64; 2];
        let win = rank.over(&mut memory);
        win.fence();
        let data = [rank_value(rank.me(), turn)];
        win.put(Data::of(&data, &long), TargetElements { rank: rank.right(), disp: 0, count: 1, dtype: &long });
        win.fence();
        win.free();
        assert_eq!(memory, [rank_value(rank.left(), turn), 0]);
    }
});

check!(empty_windows, ranks: [1, 2], |rank: &Rank| {
    let long = basic(Base::I64);
    for memory in [
        WantedMemory::Users { base: core::ptr::null_mut(), bytes: 0 },
        WantedMemory::Allocated { bytes: 0, align: 64 },
        WantedMemory::Shared { bytes: 0, apart: false },
        WantedMemory::Dynamic,
    ] {
        let win = rank.window(1, memory);
        win.fence();
        win.put(Data::of(&[0i64; 0], &long), TargetElements { rank: rank.right(), disp: 0, count: 0, dtype: &long });
        win.fence();
        win.free();
    }
});

check!(a_window_of_some_ranks, ranks: [4], |rank: &Rank| {
    // Two windows side by side, of the even and the odd ranks, numbered from the highest.
    let long = basic(Base::I64);
    let part = rank.host.split(rank.me() % 2, -(rank.me() as i32)).expect("a split");
    let mut memory = [0i64; 2];
    let wanted = WantedMemory::Users { base: memory.as_mut_ptr().cast(), bytes: 16 };
    let win = Win::new(part.window(8, wanted, &[]).expect("a window"), rank);
    let other = 1 - part.rank();
    win.lock(lock_type::EXCLUSIVE, other);
    let data = [rank_value(rank.me(), 3)];
    win.put(Data::of(&data, &long), TargetElements { rank: other, disp: 1, count: 1, dtype: &long });
    win.unlock(other);
    rank.barrier();
    assert_eq!(memory, [0, rank_value((rank.me() + 2) % 4, 3)]);
    win.free();
});

check!(hints_change_nothing_that_is_right, ranks: [2], |rank: &Rank| {
    let long = basic(Base::I64);
    let hints = [
        ("no_locks", "true"),
        ("same_size", "true"),
        ("same_disp_unit", "true"),
        ("accumulate_ordering", "none"),
        ("accumulate_ops", "same_op"),
    ];
    let mut memory = [0i64; 4];
    let wanted = WantedMemory::Users { base: memory.as_mut_ptr().cast(), bytes: 32 };
    let win = rank.window_with(8, wanted, &hints);
    for turn in 0..2 {
        win.fence();
        let data = [rank_value(rank.me(), turn)];
        win.put(Data::of(&data, &long), TargetElements { rank: rank.right(), disp: 2, count: 1, dtype: &long });
        win.fence();
        assert_eq!(memory, [0, 0, rank_value(rank.left(), turn), 0]);
        let changed = win.window.set_hints(rank.thread(), &[("accumulate_ordering", "rar,waw")]);
        changed.unwrap_or_else(|e| panic!("set_info: {e}"));
    }
    win.free();
});

check!(windows_that_nobody_frees, ranks: [2], |rank: &Rank| {
    // The host gives them back when the instance ends, without communication.
    let win = rank.window(8, WantedMemory::Allocated { bytes: 32, align: 64 });
    win.fence();
    // Not by its last owner: that would be before.
    core::mem::forget(win.window.clone());
});
