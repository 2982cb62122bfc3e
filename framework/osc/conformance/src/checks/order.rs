//! Order of operations from one origin to one target: of accumulates (MPI 5.0 §12.7.2), and of unlike operations that overlap, each complete at the origin before
//! the next, which the standard leaves open and `oxmpi_osc::hint::UNORDERED` waives.

use super::dynamic::{addresses, attach, detach};
use crate::check;
use crate::host::WantedMemory;
use crate::rank::{Data, Rank, TargetElements, Win, basic, rank_value};
use oxmpi_datatype::kernel::op;
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::Status;
use oxmpi_osc::Operation;
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

/// Puts, accumulates and gets of one place in turn, each complete at the origin before the next; `by_request`: by its request, else by a local flush. `step`: of
/// displacements from element to element.
fn take_turns(win: &Win<'_>, there: TargetElements<'_>, step: i64, by_request: bool) {
    let (rank, count) = (there.rank, there.count as usize);
    let carry_out = |which, values: &mut [i64], code| {
        let data = Data::into(values, there.dtype);
        match which {
            _ if by_request => {
                let pending = win.request(which, data, there, code);
                assert_eq!(win.wait(pending), Status::OK, "{which:?}");
                return;
            }
            // Many small ones, which a component may gather.
            Operation::Put if there.count == 40 => {
                for (i, value) in values.iter().enumerate() {
                    let there = TargetElements { disp: there.disp + i as i64 * step, count: 1, ..there };
                    win.put(Data::of(core::slice::from_ref(value), there.dtype), there);
                }
            }
            Operation::Put => win.put(data, there),
            Operation::Get => win.get(data, there),
            Operation::Accumulate => win.accumulate(data, there, code),
            _ => win.get_accumulate(None, data, there, code),
        }
        win.flush_local(rank);
    };
    for turn in 0..6 {
        let mut values: Vec<i64> = (0..count).map(|i| rank_value(rank, i) * 8 + turn).collect();
        carry_out(Operation::Put, &mut values, op::NO_OP);
        // Others add to the values that were put, and find the sums.
        let mut ones = vec![1i64; count];
        carry_out(Operation::Accumulate, &mut ones, op::SUM);
        let (mut found, mut read) = (vec![0i64; count], vec![0i64; count]);
        carry_out(Operation::Get, &mut found, op::NO_OP);
        assert!(
            found.iter().zip(&values).all(|(found, put)| *found == put + 1),
            "turn {turn}: {found:?}, {values:?} and 1"
        );
        // An accumulate is not overtaken by a put, nor a put by a put or by a read among accumulates.
        carry_out(Operation::Accumulate, &mut ones, op::SUM);
        carry_out(Operation::Put, &mut ones, op::NO_OP);
        carry_out(Operation::Put, &mut values, op::NO_OP);
        carry_out(Operation::GetAccumulate, &mut read, op::NO_OP);
        assert_eq!(read, values, "turn {turn}");
    }
}

/// Patches of all lengths on every rank, each rank's at a place of its own there.
fn take_turns_everywhere(win: &Win<'_>, dtype: &TypeDesc, step: i64, place: &dyn Fn(u32) -> i64) {
    win.lock_all();
    for to in win.rank.all() {
        for (count, by_request) in [(1, false), (1, true), (40, false), (LONGEST, false), (LONGEST, true)] {
            let there = TargetElements { rank: to, disp: place(to), count, dtype };
            take_turns(win, there, step, by_request);
        }
    }
    win.unlock_all();
    win.rank.barrier();
}

/// Elements of the longest patch: more than travels at once.
const LONGEST: u64 = 9000;

check!(unlike_operations_that_overlap_are_ordered, ranks: [1, 2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = vec![0i64; 4 * LONGEST as usize];
    let (mine, bytes) = (LONGEST as i64 * i64::from(rank.me()), size_of_val(&*memory) as u64);
    let win = rank.over(&mut memory);
    take_turns_everywhere(&win, &long, 1, &|_| mine);
    win.free();
    let win = rank.window(8, WantedMemory::Allocated { bytes, align: 8 });
    take_turns_everywhere(&win, &long, 1, &|_| mine);
    win.free();
    let win = rank.window(1, WantedMemory::Dynamic);
    assert_eq!(attach(&win, &mut memory), Status::OK);
    let bases = addresses(rank, &memory);
    take_turns_everywhere(&win, &long, 8, &|to| bases[to as usize] + 8 * mine);
    assert_eq!(detach(&win, &memory), Status::OK);
    win.free();
});
