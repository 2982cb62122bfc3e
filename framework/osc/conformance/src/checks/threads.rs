//! Several threads of each rank (MPI_THREAD_MULTIPLE), on one window and on several.

use crate::check;
use crate::rank::{Data, Rank, TargetElements, basic, rank_value};
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::op;
use oxmpi_osc::lock_type;

const THREADS: u32 = 3;

check!(threads_share_a_window, ranks: [1, 2], threads, |rank: &Rank| {
    let turns = 60usize;
    let n = (THREADS * rank.size()) as usize;
    let mut memory = vec![0i64; n + 1];
    let win = rank.over(&mut memory);
    win.lock_all();
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let win = &win;
            scope.spawn(move || {
                let long = basic(Base::I64);
                let thread = win.rank.host.attach_thread();
                let at = i64::from(win.rank.me() * THREADS + number);
                for turn in 0..turns {
                    for to in win.rank.all() {
                        let there = |disp| TargetElements { rank: to, disp, count: 1, dtype: &long };
                        win.on(thread).accumulate(Data::of(&[1i64], &long), there(n as i64), op::SUM);
                        let value = [rank_value(number, turn)];
                        win.on(thread).put(Data::of(&value, &long), there(at));
                        win.on(thread).flush(to);
                        let mut back = [0i64];
                        win.on(thread).get(Data::into(&mut back, &long), there(at));
                        win.on(thread).flush_local(to);
                        assert_eq!(back, value, "thread {number}, turn {turn}");
                    }
                }
                win.rank.host.detach_thread(thread);
            });
        }
    });
    win.unlock_all();
    rank.barrier();
    win.sync();
    let each = turns as i64;
    assert_eq!(memory[n], each * i64::from(THREADS * rank.size()));
    win.free();
});

check!(threads_have_windows_of_their_own, ranks: [2], threads, |rank: &Rank| {
    let mut memory = vec![[0i64; 2]; THREADS as usize];
    let windows: Vec<_> = memory.iter_mut().map(|m| rank.over(m)).collect();
    std::thread::scope(|scope| {
        for win in &windows {
            scope.spawn(move || {
                let long = basic(Base::I64);
                let thread = win.rank.host.attach_thread();
                let there = TargetElements { rank: 0, disp: 0, count: 1, dtype: &long };
                for _ in 0..40 {
                    let win = win.on(thread);
                    win.lock(lock_type::EXCLUSIVE, 0);
                    let mut value = [0i64];
                    win.get(Data::into(&mut value, &long), there);
                    win.flush(0);
                    value[0] += 1;
                    win.put(Data::of(&value, &long), there);
                    win.unlock(0);
                }
                win.rank.host.detach_thread(thread);
            });
        }
    });
    rank.barrier();
    windows.into_iter().for_each(|win| win.free());
    if rank.me() == 0 {
        assert!(memory.iter().all(|m| m[0] == 80), "{memory:?}");
    }
});
