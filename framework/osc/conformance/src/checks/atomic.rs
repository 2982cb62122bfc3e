//! Operations on one element.

use crate::check;
use crate::rank::{Data, Rank, TargetElements, basic};
use oxmpi_datatype::kernel::op;
use oxmpi_datatype::{Base, TypeDesc};

fn place(rank: u32, disp: i64, dtype: &TypeDesc) -> TargetElements<'_> {
    TargetElements { rank, disp, count: 1, dtype }
}

check!(tickets_are_unique, ranks: [1, 2, 4], |rank: &Rank| {
    const TURNS: u64 = 50;
    let word = basic(Base::U64);
    let total = (TURNS * u64::from(rank.size())) as usize;
    // Rank 0: the counter, then a mark for each ticket.
    let mut memory = vec![0u64; total + 1];
    let win = rank.over(&mut memory);
    win.lock_all();
    for _ in 0..TURNS {
        let (one, mut ticket) = ([1u64], [u64::MAX]);
        win.fetch_and_op(Data::of(&one, &word), Data::into(&mut ticket, &word), place(0, 0, &word), op::SUM);
        win.flush(0);
        assert!(ticket[0] < total as u64, "ticket {}", ticket[0]);
        win.accumulate(Data::of(&one, &word), place(0, 1 + ticket[0] as i64, &word), op::SUM);
    }
    win.unlock_all();
    rank.barrier();
    if rank.me() == 0 {
        win.sync();
        assert_eq!(memory[0], total as u64);
        assert!(memory[1..].iter().all(|n| *n == 1), "each ticket once: {memory:?}");
    }
    win.free();
});

check!(values_are_read_and_exchanged, ranks: [2], |rank: &Rank| {
    let float = basic(Base::F32);
    let mut memory = [1.5f32, 2.5];
    let win = rank.over(&mut memory);
    win.lock_all();
    let (new, mut old) = ([9.0f32], [0.0f32]);
    let there = place(rank.right(), 1, &float);
    win.fetch_and_op(Data::of(&new, &float), Data::into(&mut old, &float), there, op::NO_OP);
    win.flush(rank.right());
    assert_eq!(old, [2.5]);
    win.fetch_and_op(Data::of(&new, &float), Data::into(&mut old, &float), there, op::REPLACE);
    win.flush(rank.right());
    assert_eq!(old, [2.5]);
    win.unlock_all();
    rank.barrier();
    win.sync();
    assert_eq!(memory, [1.5, 9.0]);
    win.free();
});

check!(one_of_all_swaps, ranks: [1, 2, 4], |rank: &Rank| {
    // In each turn one rank, and one alone, changes the word from the turn's number to the next.
    const TURNS: i32 = 30;
    let int = basic(Base::I32);
    let mut memory = vec![0i32; 2];
    let win = rank.over(&mut memory);
    win.lock_all();
    let mut won = 0;
    for turn in 0..TURNS {
        let (new, compare, mut old) = ([turn + 1], [turn], [-1]);
        win.compare_and_swap(
            Data::of(&new, &int),
            Data::of(&compare, &int),
            Data::into(&mut old, &int),
            place(0, 0, &int),
        );
        win.flush(0);
        assert!(old[0] == turn || old[0] == turn + 1, "turn {turn}: {}", old[0]);
        won += i32::from(old[0] == turn);
        rank.barrier();
    }
    let count = [won];
    win.accumulate(Data::of(&count, &int), place(0, 1, &int), op::SUM);
    win.unlock_all();
    rank.barrier();
    if rank.me() == 0 {
        win.sync();
        assert_eq!(memory, [TURNS, TURNS]);
    }
    win.free();
});

check!(words_of_every_width_are_swapped, ranks: [2], |rank: &Rank| {
    macro_rules! of {
        ($($t:ty, $base:expr;)*) => { $(
            let dtype = basic($base);
            let mut memory = [<$t>::MAX, 3];
            let win = rank.over(&mut memory);
            win.lock(oxmpi_osc::lock_type::EXCLUSIVE, rank.right());
            let (new, right, wrong, mut old) = ([7 as $t], [<$t>::MAX], [1 as $t], [0 as $t; 2]);
            let (first, second) = old.split_at_mut(1);
            let there = place(rank.right(), 0, &dtype);
            win.compare_and_swap(Data::of(&new, &dtype), Data::of(&wrong, &dtype), Data::into(first, &dtype), there);
            win.flush(rank.right());
            win.compare_and_swap(Data::of(&new, &dtype), Data::of(&right, &dtype), Data::into(second, &dtype), there);
            win.unlock(rank.right());
            rank.barrier();
            win.sync();
            assert_eq!((old, memory), ([<$t>::MAX; 2], [7, 3]), "{}", stringify!($t));
            win.free();
        )* };
    }
    of! {
        i8, Base::I8;
        u16, Base::U16;
        i32, Base::I32;
        u64, Base::U64;
        i64, Base::AINT;
        u8, Base::BYTE;
    }
});
