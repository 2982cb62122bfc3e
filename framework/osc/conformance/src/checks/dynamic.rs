//! Dynamic windows: memory attached and detached, named by address.

use crate::check;
use crate::host::WantedMemory;
use crate::rank::{Data, Rank, TargetElements, Win, basic, rank_value};
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;
use oxmpi_osc::lock_type;

/// The address of everybody's memory, told through a window of its own.
pub fn addresses(rank: &Rank, own: &[i64]) -> Vec<i64> {
    let long = basic(Base::I64);
    let mut all = vec![0i64; rank.size() as usize];
    let win = rank.over(&mut all);
    win.fence();
    let address = [own.as_ptr().expose_provenance() as i64];
    for to in rank.all() {
        win.put(
            Data::of(&address, &long),
            TargetElements { rank: to, disp: rank.me().into(), count: 1, dtype: &long },
        );
    }
    win.fence();
    win.free();
    all
}

pub fn attach(win: &Win<'_>, memory: &mut [i64]) -> Status {
    let (base, bytes) = (memory.as_mut_ptr().cast(), size_of_val(memory) as u64);
    // SAFETY: a check's memory outlives its windows, or is detached before it goes.
    unsafe { win.verbs().attach(&mut win.rank.entry(), base, bytes) }
}

pub fn detach(win: &Win<'_>, memory: &[i64]) -> Status {
    win.verbs().detach(&mut win.rank.entry(), memory.as_ptr().addr())
}

check!(attached_memory_is_a_target, ranks: [1, 2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let (mut first, mut second) = (vec![-1i64; 200], vec![0i64; 10]);
    let win = rank.window(1, WantedMemory::Dynamic);
    assert_eq!(attach(&win, &mut first), Status::OK);
    assert_eq!(attach(&win, &mut second), Status::OK);
    let (at_first, at_second) = (addresses(rank, &first), addresses(rank, &second));
    let to = rank.right();
    win.lock(lock_type::SHARED, to);
    let data: Vec<i64> = (0..200).map(|i| rank_value(rank.me(), i)).collect();
    win.put(Data::of(&data, &long), TargetElements { rank: to, disp: at_first[to as usize], count: 200, dtype: &long });
    let ones = [1i64; 5];
    let there = TargetElements { rank: to, disp: at_second[to as usize] + 40, count: 5, dtype: &long };
    win.accumulate(Data::of(&ones, &long), there, op::SUM);
    let mut back = vec![0i64; 200];
    win.flush(to);
    win.get(Data::into(&mut back, &long), TargetElements { rank: to, disp: at_first[to as usize], count: 200, dtype: &long });
    win.unlock(to);
    assert_eq!(back, data);
    rank.barrier();
    win.sync();
    assert!(first.iter().enumerate().all(|(i, v)| *v == rank_value(rank.left(), i)));
    assert_eq!(second, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    assert_eq!((detach(&win, &first), detach(&win, &second)), (Status::OK, Status::OK));
    win.free();
});

check!(memory_is_attached_once, ranks: [1, 2], |rank: &Rank| {
    let mut memory = [0i64; 20];
    let win = rank.window(1, WantedMemory::Dynamic);
    assert_eq!(attach(&win, &mut memory[..10]), Status::OK);
    assert_eq!(attach(&win, &mut memory[5..]), Status::RMA_ATTACH, "overlaps");
    assert_eq!(attach(&win, &mut memory[10..]), Status::OK, "side by side");
    assert_eq!(detach(&win, &memory[3..]), Status::RMA_ATTACH, "no beginning");
    assert_eq!(detach(&win, &memory[..10]), Status::OK);
    assert_eq!(attach(&win, &mut memory[..5]), Status::OK, "free again");
    win.free();
});

check!(what_is_not_attached_is_out_of_range, ranks: [2], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = vec![7i64; 4];
    let win = rank.window(1, WantedMemory::Dynamic);
    assert_eq!(attach(&win, &mut memory), Status::OK);
    let at = addresses(rank, &memory);
    let to = rank.right();
    let data = [1i64; 5];
    let there = TargetElements { rank: to, disp: at[to as usize], count: 5, dtype: &long };
    win.lock(lock_type::SHARED, to);
    // Told by the call, or by what completes the operation.
    let told = [
        win.try_put(Data::of(&data, &long), there),
        win.verbs().flush(&mut rank.entry(), Some(to), false),
        win.verbs().unlock(&mut rank.entry(), to),
    ];
    assert!(told.contains(&Status::RMA_RANGE), "{told:?}");
    assert!(told.iter().all(|s| !s.is_err() || *s == Status::RMA_RANGE), "{told:?}");
    rank.barrier();
    assert_eq!(memory, [7; 4], "none of it is written");
    assert_eq!(detach(&win, &memory), Status::OK);
    win.free();
});
