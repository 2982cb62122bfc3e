//! Accumulates: operations, types, values that come back, atomicity by element.

use crate::check;
use crate::rank::{Data, Rank, TargetElements, basic};
use oxmpi_datatype::kernel::op;
use oxmpi_datatype::{Base, TypeDesc};

fn there(rank: u32, disp: i64, count: u64, dtype: &TypeDesc) -> TargetElements<'_> {
    TargetElements { rank, disp, count, dtype }
}

check!(sums_of_all_ranks, ranks: [1, 2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = vec![0i64; 500];
    let win = rank.over(&mut memory);
    win.fence();
    let data: Vec<i64> = (0..500).map(|i| i * (i64::from(rank.me()) + 1)).collect();
    for to in rank.all() {
        for _ in 0..3 {
            win.accumulate(Data::of(&data, &long), there(to, 0, 500, &long), op::SUM);
        }
    }
    win.fence();
    let factor: i64 = (1..=i64::from(rank.size())).sum();
    assert!(memory.iter().enumerate().all(|(i, v)| *v == 3 * factor * i as i64), "{memory:?}");
    win.free();
});

check!(operations_on_their_types, ranks: [2], |rank: &Rank| {
    // Two ranks: rank 1 accumulates into rank 0's memory, which begins with 6.
    macro_rules! on {
        ($t:ty, $base:expr, $(($code:expr, $value:expr, $due:expr)),*) => {
            let dtype = basic($base);
            $(
                let mut memory: [$t; 3] = [6 as $t; 3];
                let win = rank.over(&mut memory);
                win.fence();
                if rank.me() == 1 {
                    let data = [$value as $t; 2];
                    win.accumulate(Data::of(&data, &dtype), there(0, 1, 2, &dtype), $code);
                }
                win.fence();
                let due = if rank.me() == 0 { $due as $t } else { 6 as $t };
                assert_eq!(memory, [6 as $t, due, due], "operation {} on {:?}", $code, $base);
                win.free();
            )*
        };
    }
    on!(i32, Base::I32, (op::SUM, 5, 11), (op::PROD, 5, 30), (op::MIN, 5, 5), (op::MAX, 5, 6), (op::REPLACE, 5, 5));
    on!(u8, Base::U8, (op::BAND, 5, 4), (op::BOR, 5, 7), (op::BXOR, 5, 3), (op::LAND, 0, 0), (op::LOR, 0, 1));
    on!(f64, Base::F64, (op::SUM, 0.5, 6.5), (op::MAX, 7.5, 7.5), (op::REPLACE, 0.25, 0.25));
    on!(u64, Base::U64, (op::SUM, u64::MAX, 5u64), (op::MIN, 1, 1));
    on!(i16, Base::I16, (op::LXOR, 1, 0), (op::SUM, -7, -1));
});

/// (double, int) with the hole that C leaves behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Located {
    value: f64,
    place: i32,
    hole: i32,
}

check!(places_of_minima, ranks: [2, 4], |rank: &Rank| {
    let pair = basic(Base::DOUBLE_INT);
    let mut memory = [Located { value: 100.0, place: -1, hole: 77 }; 40];
    let win = rank.over(&mut memory);
    win.fence();
    let me = rank.me() as i32;
    let mine: Vec<Located> =
        (0..40).map(|i| Located { value: f64::from((i + me) % 4), place: me, hole: 5 }).collect();
    win.accumulate(Data::of(&mine, &pair), there(0, 0, 40, &pair), op::MINLOC);
    win.fence();
    if me == 0 {
        for (i, seen) in memory.iter().enumerate() {
            let least = (0..rank.size() as i32).map(|r| ((i as i32 + r) % 4, r)).min().expect("ranks");
            let due = Located { value: f64::from(least.0), place: least.1, hole: 77 };
            assert_eq!(*seen, due, "place {i}: the hole is not data");
        }
    }
    win.free();
});

check!(old_values_come_back, ranks: [1, 2, 3], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory: Vec<i64> = (0..600).collect();
    let win = rank.over(&mut memory);
    win.fence();
    let (data, mut old) = (vec![1000i64; 600], vec![0i64; 600]);
    let to = there(rank.right(), 0, 600, &long);
    win.get_accumulate(Some(Data::of(&data, &long)), Data::into(&mut old, &long), to, op::SUM);
    win.fence();
    assert!(old.iter().enumerate().all(|(i, v)| *v == i as i64), "what was there before");
    assert!(memory.iter().enumerate().all(|(i, v)| *v == i as i64 + 1000), "and the sum");
    // Nothing is taken from the origin: a get that is atomic.
    win.get_accumulate(None, Data::into(&mut old, &long), to, op::NO_OP);
    win.fence();
    assert!(old.iter().enumerate().all(|(i, v)| *v == i as i64 + 1000), "as it stands");
    win.free();
});

check!(elements_are_not_torn, ranks: [2, 4], |rank: &Rank| {
    // All replace the same elements by patterns of their own; whoever looks sees whole ones.
    let long = basic(Base::U64);
    let pattern = |r: u32| u64::from(r + 1) * 0x0101_0101_0101_0101;
    let mut memory = vec![pattern(0); 64];
    let win = rank.over(&mut memory);
    win.lock_all();
    let data = vec![pattern(rank.me()); 64];
    let mut seen = vec![0u64; 64];
    for _ in 0..20 {
        win.accumulate(Data::of(&data, &long), there(0, 0, 64, &long), op::REPLACE);
        win.get_accumulate(None, Data::into(&mut seen, &long), there(0, 0, 64, &long), op::NO_OP);
        win.flush(0);
        let whole = |v: &u64| (0..rank.size()).any(|r| *v == pattern(r));
        assert!(seen.iter().all(whole), "{seen:x?}");
    }
    win.unlock_all();
    win.free();
});
