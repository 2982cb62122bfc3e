//! Notified operations and the counters of their targets.

use crate::check;
use crate::host::WantedMemory;
use crate::rank::{Data, Rank, TargetElements, basic, rank_value};
use oxmpi_datatype::{Base, build};
use oxmpi_mca::Status;
use oxmpi_osc::lock_type;

const COUNTERS: u32 = 9;
const NINE: &[(&str, &str)] = &[("mpi_num_notify", "9")];

/// Values that tell turns apart.
fn values(rank: u32, turn: usize, n: usize) -> Vec<i64> {
    (0..n).map(|i| rank_value(rank, i) * 7 + turn as i64).collect()
}

check!(whoever_is_notified_sees_the_data, ranks: [1, 2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    for n in [1usize, 40, 5000] {
        let mut memory = vec![0i64; n];
        let wanted = WantedMemory::Users { base: memory.as_mut_ptr().cast(), bytes: 8 * n as u64 };
        let win = rank.window_with(8, wanted, NINE);
        if !win.notifies() {
            return win.free();
        }
        win.lock_all();
        let mut told = [0; COUNTERS as usize];
        for turn in 0..30usize {
            let counter = turn as u32 % COUNTERS;
            let data = values(rank.me(), turn, n);
            let there = TargetElements { rank: rank.right(), disp: 0, count: n as u64, dtype: &long };
            win.put_notify(Data::of(&data, &long), there, counter);
            told[counter as usize] += 1;
            assert_eq!(win.notified(counter, told[counter as usize]), told[counter as usize]);
            assert_eq!(memory, values(rank.left(), turn, n), "turn {turn}");
            // The data that was sent is our own again, too, before the next turn.
            win.flush(rank.right());
            rank.barrier();
        }
        assert_eq!(win.try_notifications(COUNTERS - 1, false), Ok(told[COUNTERS as usize - 1]));
        win.unlock_all();
        win.free();
    }
});

check!(memory_that_was_read_may_change, ranks: [2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    const N: usize = 700;
    let win = rank.window_with(8, WantedMemory::Allocated { bytes: 8 * N as u64, align: 64 }, &[]);
    if !win.notifies() {
        return win.free();
    }
    let base: *mut i64 = win.window.own().base.cast();
    // SAFETY: the window's memory, which others only read, and only when this rank says so.
    let memory = unsafe { core::slice::from_raw_parts_mut(base, N) };
    for turn in 0..20usize {
        memory.copy_from_slice(&values(rank.me(), turn, N));
        win.sync();
        rank.barrier();
        win.lock(lock_type::SHARED, rank.right());
        let mut got = vec![-1i64; N];
        let there = TargetElements { rank: rank.right(), disp: 0, count: N as u64, dtype: &long };
        win.get_notify(Data::into(&mut got, &long), there, 0);
        win.notified(0, turn as u64 + 1);
        memory.fill(-5);
        win.unlock(rank.right());
        assert_eq!(got, values(rank.right(), turn, N), "turn {turn}");
        rank.barrier();
    }
    win.free();
});

check!(notifications_add_up_and_are_reset, ranks: [1, 2, 4], |rank: &Rank| {
    const TURNS: u64 = 50;
    let long = basic(Base::I64);
    let vector = build::vector(3, 1, 2, &long).expect("a vector");
    let mut memory = vec![0i64; 5];
    let win = rank.over(&mut memory);
    if !win.notifies() {
        return win.free();
    }
    win.lock_all();
    for turn in 0..TURNS {
        let data = [1i64, 2, 3];
        let there = TargetElements { rank: 0, disp: 0, count: 1, dtype: &vector };
        win.put_notify(Data::of(&data, &long), there, 0);
        // No data is also told.
        let there = TargetElements { rank: 0, disp: 0, count: 0, dtype: &long };
        win.put_notify(Data::of(&data[..0], &long), there, 0);
        if turn % 10 == 0 {
            win.flush(0);
        }
    }
    let all = 2 * TURNS * u64::from(rank.size());
    if rank.me() == 0 {
        let mut seen = 0;
        while seen < all {
            seen += win.try_notifications(0, true).unwrap_or_else(|e| panic!("reset: {e}"));
        }
        assert_eq!((seen, memory.as_slice()), (all, &[1, 0, 2, 0, 3][..]));
    }
    win.unlock_all();
    rank.barrier();
    assert_eq!(win.try_notifications(0, false), Ok(0));
    win.free();
});

check!(notifications_from_threads, ranks: [2, 4], threads, |rank: &Rank| {
    const TURNS: u64 = 60;
    const THREADS: u64 = 4;
    let mut memory = vec![0i64; 8 * THREADS as usize];
    let bytes = 8 * memory.len() as u64;
    let wanted = WantedMemory::Users { base: memory.as_mut_ptr().cast(), bytes };
    let win = rank.window_with(8, wanted, &[("mpi_num_notify", "4")]);
    if !win.notifies() {
        return win.free();
    }
    win.lock_all();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let win = &win;
            scope.spawn(move || {
                let rank = win.rank;
                let long = basic(Base::I64);
                let thread_ctx = rank.host.attach_thread();
                let win = win.on(thread_ctx);
                let data = vec![thread as i64 + 1; 8];
                for turn in 0..TURNS {
                    let there = TargetElements { rank: rank.right(), disp: 8 * thread as i64, count: 8, dtype: &long };
                    win.put_notify(Data::of(&data, &long), there, thread as u32);
                    assert!(win.notified(thread as u32, turn + 1) > turn);
                }
                win.flush(rank.right());
                rank.host.detach_thread(thread_ctx);
            });
        }
    });
    for thread in 0..THREADS {
        assert_eq!(win.notified(thread as u32, TURNS), TURNS);
    }
    assert!(memory.iter().enumerate().all(|(i, v)| *v == i as i64 / 8 + 1), "{memory:?}");
    win.unlock_all();
    win.free();
});

check!(notifications_in_dynamic_windows, ranks: [2], |rank: &Rank| {
    let long = basic(Base::I64);
    let win = rank.window(1, WantedMemory::Dynamic);
    if !win.notifies() {
        return win.free();
    }
    let mut memory = [0i64; 16];
    let base: *mut u8 = memory.as_mut_ptr().cast();
    // SAFETY: the memory outlives the window.
    assert_eq!(unsafe { win.verbs().attach(&mut rank.entry(), base, 128) }, Status::OK);
    let mut addresses = [0i64; 2];
    let own = [base.expose_provenance() as i64];
    let board = rank.window(8, WantedMemory::Users { base: addresses.as_mut_ptr().cast(), bytes: 16 });
    board.fence();
    for to in rank.all() {
        board.put(Data::of(&own, &long), TargetElements { rank: to, disp: rank.me().into(), count: 1, dtype: &long });
    }
    board.fence();
    win.lock(lock_type::EXCLUSIVE, rank.right());
    let data = values(rank.me(), 3, 16);
    let disp = addresses[rank.right() as usize];
    win.put_notify(Data::of(&data, &long), TargetElements { rank: rank.right(), disp, count: 16, dtype: &long }, 0);
    win.notified(0, 1);
    assert_eq!(memory.as_slice(), values(rank.left(), 3, 16));
    win.unlock(rank.right());
    rank.barrier();
    assert_eq!(win.verbs().detach(&mut rank.entry(), base.addr()), Status::OK);
    board.free();
    win.free();
});

check!(mistakes_with_notifications, ranks: [2], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = [0i64; 4];
    let win = rank.over(&mut memory);
    if !win.notifies() {
        return win.free();
    }
    let data = [5i64];
    let there = |disp| TargetElements { rank: rank.right(), disp, count: 1, dtype: &long };
    let put = |disp, counter| win.try_put_notify(Data::of(&data, &long), there(disp), counter);
    assert_eq!(put(0, 0), Status::RMA_SYNC, "no epoch");
    win.fence();
    assert_eq!(put(0, 0), Status::RMA_SYNC, "in a fence's");
    win.fence();
    win.lock_all();
    let mut got = [0i64];
    for status in [put(0, 1), win.try_get_notify(Data::into(&mut got, &long), there(0), 77)] {
        assert_eq!(status, Status::BAD_PARAM, "no such counter");
    }
    assert_eq!(win.try_notifications(1, false), Err(Status::BAD_PARAM));
    assert_eq!(put(4, 0), Status::RMA_RANGE);
    win.unlock_all();
    rank.barrier();
    assert_eq!((win.try_notifications(0, false), memory), (Ok(0), [0; 4]), "nothing was told or written");
    win.free();
});

check!(the_number_of_counters_is_the_most_that_a_rank_wants, ranks: [2, 4], |rank: &Rank| {
    let wanted = (rank.me() * 3).to_string();
    let most = 3 * (rank.size() - 1);
    let mut memory = [0i64; 1];
    let wanted_memory = WantedMemory::Users { base: memory.as_mut_ptr().cast(), bytes: 8 };
    let win = rank.window_with(8, wanted_memory, &[("mpi_num_notify", &wanted)]);
    if win.notifies() {
        assert_eq!(win.window.num_notify(), most);
        assert_eq!(win.try_notifications(most - 1, false), Ok(0));
        assert_eq!(win.try_notifications(most, false), Err(Status::BAD_PARAM));
    }
    win.free();
});
