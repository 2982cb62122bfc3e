//! Order of accumulates from one origin to one target (MPI 5.0 §12.7.2).

use crate::check;
use crate::rank::{Data, Rank, TargetElements, basic};
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::op;
use oxmpi_osc::lock_type;

check!(accumulates_of_one_origin_are_ordered, ranks: [2], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = vec![0i64; 400];
    let win = rank.over(&mut memory);
    let to = rank.right();
    let there = TargetElements { rank: to, disp: 0, count: 400, dtype: &long };
    win.lock(lock_type::SHARED, to);
    let mut seen = vec![[0i64; 400]; 30];
    // Replaced by the turn's number, read, replaced …: every read finds what stands before it in the program.
    for (turn, old) in seen.iter_mut().enumerate() {
        let data = [turn as i64 + 1; 400];
        win.accumulate(Data::of(&data, &long), there, op::REPLACE);
        win.get_accumulate(None, Data::into(old, &long), there, op::NO_OP);
    }
    win.unlock(to);
    for (turn, old) in seen.iter().enumerate() {
        assert!(old.iter().all(|v| *v == turn as i64 + 1), "turn {turn}: {:?}", &old[..4]);
    }
    rank.barrier();
    win.sync();
    assert!(memory.iter().all(|v| *v == 30), "the last one stays");
    win.free();
});

check!(sums_and_products_in_turn, ranks: [2], |rank: &Rank| {
    // (x + 1) · 2, sixteen times: any other order gives another number.
    let word = basic(Base::U32);
    let mut memory = [0u32];
    let win = rank.over(&mut memory);
    let to = rank.right();
    let there = TargetElements { rank: to, disp: 0, count: 1, dtype: &word };
    win.lock_all();
    for _ in 0..16 {
        win.accumulate(Data::of(&[1u32], &word), there, op::SUM);
        let mut old = [0u32];
        win.fetch_and_op(Data::of(&[2u32], &word), Data::into(&mut old, &word), there, op::PROD);
        win.flush_local(to);
    }
    win.unlock_all();
    rank.barrier();
    win.sync();
    assert_eq!(memory[0], (0..16).fold(0u32, |x, _| (x + 1) * 2));
    win.free();
});
