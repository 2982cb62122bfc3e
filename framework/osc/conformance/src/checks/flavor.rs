//! Memory of the host's, and its loads and stores beside operations.

use crate::check;
use crate::host::WantedMemory;
use crate::rank::{Data, Rank, TargetElements, basic, rank_value};
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::op;

/// Puts into the right neighbour's memory, which that loads.
fn put_and_load(rank: &Rank, memory: WantedMemory) {
    let long = basic(Base::I64);
    let win = rank.window(8, memory);
    let own = win.window.own();
    assert_eq!((own.bytes, own.disp_unit), (800, 8));
    // SAFETY: the window's memory, 100 words of this rank's.
    let words = unsafe { core::slice::from_raw_parts_mut(own.base.cast::<i64>(), 100) };
    words.fill(-1);
    win.fence();
    let data: Vec<i64> = (0..100).map(|i| rank_value(rank.me(), i)).collect();
    win.put(Data::of(&data, &long), TargetElements { rank: rank.right(), disp: 0, count: 100, dtype: &long });
    win.fence();
    assert!(words.iter().enumerate().all(|(i, v)| *v == rank_value(rank.left(), i)));
    win.fence();
    win.accumulate(
        Data::of(&data, &long),
        TargetElements { rank: rank.left(), disp: 0, count: 100, dtype: &long },
        op::REPLACE,
    );
    win.fence();
    assert!(words.iter().enumerate().all(|(i, v)| *v == rank_value(rank.right(), i)));
    rank.barrier();
    win.free();
}

check!(allocated_memory, ranks: [1, 2, 4], |rank: &Rank| {
    put_and_load(rank, WantedMemory::Allocated { bytes: 800, align: 64 });
});

check!(shared_memory, ranks: [1, 2, 4], |rank: &Rank| {
    put_and_load(rank, WantedMemory::Shared { bytes: 800, apart: false });
    put_and_load(rank, WantedMemory::Shared { bytes: 800, apart: true });
});

check!(stores_are_seen_by_operations, ranks: [2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let win = rank.window(8, WantedMemory::Shared { bytes: 64, apart: false });
    win.lock_all();
    // Each stores into the memory of its right neighbour; a get by the left one of that sees it.
    let mapped = win.window.mapped(rank.right()).expect("memory that all ranks map");
    // SAFETY: the neighbour's memory, which this rank alone writes.
    unsafe { mapped.base.cast::<i64>().write_volatile(rank_value(rank.me(), 5)) };
    win.sync();
    rank.barrier();
    win.sync();
    let mut got = [0i64];
    win.get(Data::into(&mut got, &long), TargetElements { rank: rank.left(), disp: 0, count: 1, dtype: &long });
    win.flush(rank.left());
    let storer = (rank.left() + rank.size() - 1) % rank.size();
    assert_eq!(got, [rank_value(storer, 5)]);
    win.unlock_all();
    win.free();
});

check!(units_and_sizes_differ, ranks: [3], |rank: &Rank| {
    // Rank r has 8 r bytes in units of 2 to the power r.
    let int = basic(Base::U16);
    let bytes = 8 * u64::from(rank.me());
    let mut memory = vec![0u16; bytes as usize / 2];
    let wanted = WantedMemory::Users { base: memory.as_mut_ptr().cast(), bytes };
    let win = rank.window(1 << rank.me(), wanted);
    win.fence();
    for to in 1..rank.size() {
        let at = 2 * i64::from(rank.me());
        let data = [100 + rank.me() as u16];
        win.put(Data::of(&data, &int), TargetElements { rank: to, disp: at >> to, count: 1, dtype: &int });
    }
    win.fence();
    if rank.me() == 1 {
        assert_eq!(memory, [100, 101, 102, 0]);
    }
    win.free();
});
