//! Windows on the memory of another.

use crate::check;
use crate::host::WantedMemory;
use crate::rank::{Data, Rank, TargetElements, Win, basic, rank_value};
use oxmpi_datatype::kernel::op;
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::Status;
use oxmpi_osc::lock_type;

fn at<'a>(rank: u32, disp: i64, dtype: &'a TypeDesc) -> TargetElements<'a> {
    TargetElements { rank, disp, count: 1, dtype }
}

check!(a_duplicate_has_the_memory, ranks: [1, 2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = vec![0i64; 4];
    let win = rank.over(&mut memory);
    let Some(dup) = win.dup(&[]) else { return win.free() };
    assert_eq!(dup.window.own().base, memory.as_mut_ptr().cast());
    for (turn, (one, other)) in [(&win, &dup), (&dup, &win)].into_iter().enumerate() {
        let sent = [rank_value(rank.me(), turn)];
        one.lock(lock_type::EXCLUSIVE, rank.right());
        one.put(Data::of(&sent, &long), at(rank.right(), turn as i64, &long));
        one.unlock(rank.right());
        let mut back = [0i64];
        other.lock(lock_type::SHARED, rank.right());
        other.get(Data::into(&mut back, &long), at(rank.right(), turn as i64, &long));
        other.unlock(rank.right());
        assert_eq!(back, sent);
    }
    rank.barrier();
    win.sync();
    assert_eq!(memory[..2], [0, 1].map(|turn| rank_value(rank.left(), turn)));
    dup.free();
    win.free();
});

check!(a_duplicate_has_epochs_of_its_own, ranks: [2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = vec![0i64; 2];
    let win = rank.over(&mut memory);
    // An epoch that is open is not inherited.
    win.lock_all();
    let Some(dup) = win.dup(&[]) else {
        win.unlock_all();
        return win.free();
    };
    let sent = [1i64];
    let put = |win: &Win<'_>| win.try_put(Data::of(&sent, &long), at(rank.right(), 0, &long));
    assert_eq!((put(&dup), put(&win)), (Status::RMA_SYNC, Status::OK));
    assert_eq!(dup.verbs().flush(&mut rank.entry(), None, false), Status::RMA_SYNC);
    // Nor do locks of one keep the other's waiting: everybody has lock_all of the first window.
    dup.lock(lock_type::EXCLUSIVE, rank.right());
    assert_eq!(put(&dup), Status::OK);
    dup.unlock(rank.right());
    win.unlock_all();
    // Posts and completes of one are not those of the other.
    assert_eq!(dup.verbs().post(&mut rank.entry(), &[rank.left()], 0), Status::OK);
    assert_eq!(win.verbs().post(&mut rank.entry(), &[rank.left()], 0), Status::OK);
    for (disp, one) in [(0, &win), (1, &dup)] {
        assert_eq!(one.verbs().access(&mut rank.entry(), &[rank.right()], 0), Status::OK);
        let sent = [rank_value(rank.me(), disp as usize)];
        one.put(Data::of(&sent, &long), at(rank.right(), disp, &long));
        assert_eq!(one.verbs().complete(&mut rank.entry()), Status::OK);
        assert_eq!(one.verbs().wait(&mut rank.entry(), true), Status::OK);
        assert_eq!(memory[disp as usize], rank_value(rank.left(), disp as usize));
    }
    win.fence();
    dup.fence();
    win.fence();
    dup.free();
    win.free();
});

check!(the_first_window_goes_first, ranks: [1, 2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let win = rank.window(8, WantedMemory::Allocated { bytes: 64, align: 64 });
    let Some(dup) = win.dup(&[("mpi_num_notify", "3")]) else { return win.free() };
    let base: *mut i64 = win.window.own().base.cast();
    win.free();
    let Some(third) = dup.dup(&[]) else { panic!("a duplicate of a duplicate") };
    dup.lock_all();
    third.lock_all();
    for (disp, one) in [(0, &dup), (1, &third)] {
        one.put(Data::of(&[rank_value(rank.me(), 9)], &long), at(rank.right(), disp, &long));
        one.flush_all();
    }
    if dup.notifies() {
        // Counters are the window's own.
        dup.put_notify(Data::of(&[5i64], &long), at(rank.right(), 2, &long), 2);
        assert_eq!((dup.notified(2, 1), third.try_notifications(2, false)), (1, Ok(0)));
    }
    third.unlock_all();
    dup.unlock_all();
    rank.barrier();
    third.sync();
    // SAFETY: the memory is there as long as a window on it, and nobody writes it now.
    let seen = unsafe { core::slice::from_raw_parts(base, 2) };
    assert_eq!(seen, [rank_value(rank.left(), 9); 2]);
    dup.free();
    third.free();
});

check!(accumulates_through_both_are_atomic, ranks: [2, 4], |rank: &Rank| {
    // Elements that processors have atomics for, and such as they have none for.
    const TURNS: i64 = 40;
    let (long, short) = (basic(Base::I64), basic(Base::I16));
    let win = rank.window(8, WantedMemory::Allocated { bytes: 64, align: 64 });
    let Some(dup) = win.dup(&[("accumulate_ordering", "none")]) else { return win.free() };
    let base = win.window.own().base;
    win.lock_all();
    dup.lock_all();
    for turn in 0..TURNS {
        let one = if (turn + i64::from(rank.me())) % 2 == 0 { &win } else { &dup };
        one.accumulate(Data::of(&[1i64], &long), at(0, 0, &long), op::SUM);
        one.accumulate(Data::of(&[1i16], &short), at(0, 1, &short), op::SUM);
        one.flush(0);
    }
    win.unlock_all();
    dup.unlock_all();
    rank.barrier();
    if rank.me() == 0 {
        win.sync();
        // SAFETY: the window's memory, which nobody writes now.
        let seen = unsafe { (base.cast::<i64>().read(), base.add(8).cast::<i16>().read()) };
        let sum = TURNS * i64::from(rank.size());
        assert_eq!(seen, (sum, sum as i16));
    }
    rank.barrier();
    dup.free();
    win.free();
});

check!(what_is_attached_is_attached_to_both, ranks: [2], |rank: &Rank| {
    let long = basic(Base::I64);
    let win = rank.window(1, WantedMemory::Dynamic);
    let Some(dup) = win.dup(&[]) else { return win.free() };
    let (mut first, mut second, mut addresses) = ([0i64; 2], [0i64; 2], [0i64; 4]);
    let bases = [first.as_mut_ptr().cast::<u8>(), second.as_mut_ptr().cast()];
    // SAFETY: the memory outlives the windows, and the check looks at it behind fences.
    let attach = |win: &Win<'_>, base| unsafe { win.verbs().attach(&mut rank.entry(), base, 16) };
    assert_eq!(attach(&win, bases[0]), Status::OK);
    assert_eq!(attach(&dup, bases[1]), Status::OK);
    assert_eq!(attach(&win, bases[1]), Status::RMA_ATTACH, "it is attached already");
    let own = bases.map(|base| base.expose_provenance() as i64);
    let board = rank.window(8, WantedMemory::Users { base: addresses.as_mut_ptr().cast(), bytes: 32 });
    board.fence();
    for to in rank.all() {
        let there = TargetElements { rank: to, disp: 2 * i64::from(rank.me()), count: 2, dtype: &long };
        board.put(Data::of(&own, &long), there);
    }
    board.fence();
    let there = |piece: usize| addresses[2 * rank.right() as usize + piece];
    // Each through the window that it was not attached to.
    for (one, piece) in [(&win, 1), (&dup, 0)] {
        one.lock(lock_type::SHARED, rank.right());
        one.put(Data::of(&[40 + piece as i64], &long), at(rank.right(), there(piece), &long));
        one.unlock(rank.right());
    }
    rank.barrier();
    win.sync();
    assert_eq!((first[0], second[0]), (40, 41));
    rank.barrier();
    assert_eq!(dup.verbs().detach(&mut rank.entry(), bases[0].addr()), Status::OK);
    assert_eq!(win.verbs().detach(&mut rank.entry(), bases[1].addr()), Status::OK);
    board.free();
    win.free();
    dup.free();
});

check!(a_duplicate_under_threads, ranks: [2], threads, |rank: &Rank| {
    const TURNS: i64 = 100;
    let mut memory = vec![0i64; 4];
    let win = rank.over(&mut memory);
    let Some(dup) = win.dup(&[]) else { return win.free() };
    win.lock_all();
    dup.lock_all();
    std::thread::scope(|scope| {
        for thread in 0..4i64 {
            let one = if thread % 2 == 0 { &win } else { &dup };
            let rank = one.rank;
            scope.spawn(move || {
                let long = basic(Base::I64);
                let thread_ctx = rank.host.attach_thread();
                let one = one.on(thread_ctx);
                for turn in 1..=TURNS {
                    one.put(Data::of(&[turn], &long), at(rank.right(), thread, &long));
                    one.flush(rank.right());
                    let mut back = [0i64];
                    one.get(Data::into(&mut back, &long), at(rank.right(), thread, &long));
                    one.flush(rank.right());
                    assert_eq!(back, [turn]);
                }
                rank.host.detach_thread(thread_ctx);
            });
        }
    });
    win.unlock_all();
    dup.unlock_all();
    rank.barrier();
    assert_eq!(memory, [TURNS; 4]);
    dup.free();
    win.free();
});

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

check!(random_operations_through_duplicates, ranks: [1, 2, 4], |rank: &Rank| {
    // Each rank has some elements at every target to itself, and knows what must be there.
    const N: usize = 24;
    let long = basic(Base::I64);
    let (me, size) = (rank.me() as usize, rank.size() as usize);
    let mut memory = vec![0i64; N * size];
    let first = rank.over(&mut memory);
    let Some(second) = first.dup(&[("accumulate_ordering", "none")]) else { return first.free() };
    let Some(third) = second.dup(&[("mpi_num_notify", "2")]) else { panic!("a duplicate of a duplicate") };
    let notifies = third.notifies();
    let windows = [&first, &second, &third];
    windows.iter().for_each(|win| win.lock_all());
    let mut random = Random(0x9e37_79b9 + 977 * me as u64);
    let mut model = vec![vec![0i64; N]; size];
    let mut told = vec![0i64; size];
    for turn in 0..300i64 {
        let (win, to) = (windows[random.below(3) as usize], random.below(size as u64) as usize);
        let from = random.below(N as u64) as usize;
        let n = 1 + random.below((N - from) as u64) as usize;
        let disp = (me * N + from) as i64;
        let there = TargetElements { rank: to as u32, disp, count: n as u64, dtype: &long };
        let data: Vec<i64> = (0..n as i64).map(|i| turn * 1000 + i).collect();
        let part = &mut model[to][from..from + n];
        match random.below(4) {
            0 => {
                win.accumulate(Data::of(&data, &long), there, op::SUM);
                part.iter_mut().zip(&data).for_each(|(m, d)| *m += d);
            }
            1 if notifies => {
                third.flush(to as u32);
                third.put_notify(Data::of(&data, &long), there, 1);
                third.flush(to as u32);
                part.copy_from_slice(&data);
                told[to] += 1;
            }
            1 | 2 => {
                win.put(Data::of(&data, &long), there);
                part.copy_from_slice(&data);
            }
            _ => {
                let mut back = vec![-1i64; n];
                win.get(Data::into(&mut back, &long), there);
                win.flush(to as u32);
                assert_eq!(back, part, "turn {turn}, at {to}");
            }
        }
        // Windows know nothing of each other's operations.
        if random.below(2) == 0 {
            let _ = win.verbs().flush_begin(&mut rank.entry(), None);
        }
        win.flush_all();
    }
    windows.iter().for_each(|win| win.unlock_all());
    // How many notifications each gets.
    let mut due = vec![0i64; 1];
    let board = rank.over(&mut due);
    board.fence();
    for (to, n) in (0..).zip(&told) {
        board.accumulate(Data::of(&[*n], &long), at(to, 0, &long), op::SUM);
    }
    board.fence();
    board.free();
    if notifies {
        assert_eq!(third.try_notifications(1, false), Ok(due[0] as u64));
    }
    rank.barrier();
    first.lock_all();
    for (to, model) in (0..).zip(&model) {
        let mut back = vec![-1i64; N];
        let there = TargetElements { rank: to, disp: (me * N) as i64, count: N as u64, dtype: &long };
        first.get(Data::into(&mut back, &long), there);
        first.flush(to);
        assert_eq!(&back, model, "at {to}");
    }
    first.unlock_all();
    for win in [second, first, third] {
        win.free();
    }
});
