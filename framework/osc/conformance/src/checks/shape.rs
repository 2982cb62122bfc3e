//! Data that is not contiguous, at the origin, at the target, at both.

use crate::check;
use crate::rank::{Data, Rank, TargetElements, basic};
use oxmpi_datatype::kernel::op;
use oxmpi_datatype::{Base, TypeRef, build, pack, unpack};

/// Types of i32 with 24 elements of data each, within 200 elements.
fn shapes() -> Vec<(&'static str, u64, TypeRef)> {
    let int = basic(Base::I32);
    let vector = build::vector(6, 2, 5, &int).expect("a vector");
    let nested =
        build::hvector(2, 1, 400, &build::vector(3, 4, 7, &int).expect("a vector")).expect("of vectors");
    let places = [3i64, 0, 11, 7, 30, 19, 50, 43];
    let parts: Vec<build::Part<'_>> =
        places.iter().map(|at| build::Part { disp: 4 * at, count: 3, old: &int }).collect();
    let list = build::structure(&parts).expect("a structure");
    let backwards = build::vector(12, 1, -3, &int).expect("backwards");
    let backwards = build::structure(&[build::Part { disp: 140, count: 1, old: &backwards }]).expect("moved");
    let backwards = build::resized(0, 200, &backwards).expect("resized");
    vec![
        ("contiguous", 24, int),
        ("vector", 2, vector),
        ("nested", 1, nested),
        ("list", 1, list),
        ("backwards", 2, backwards),
    ]
}

const ROOM: usize = 200;

/// The packed elements of a type at the beginning of a memory.
fn packed(memory: &[i32], count: u64, dtype: &TypeRef) -> Vec<i32> {
    let mut out = vec![0i32; (dtype.packed * count / 4) as usize];
    // SAFETY: all shapes lie within the memory.
    let n = unsafe {
        pack(dtype, count, memory.as_ptr().cast(), 0, out.as_mut_ptr().cast(), 4 * out.len() as u64)
    };
    assert_eq!(n as usize, 4 * out.len());
    out
}

/// The contents that a memory of -1 gets.
fn unpacked(values: &[i32], count: u64, dtype: &TypeRef) -> Vec<i32> {
    let mut memory = vec![-1; ROOM];
    // SAFETY: as above.
    unsafe {
        unpack(dtype, count, memory.as_mut_ptr().cast(), 0, values.as_ptr().cast(), 4 * values.len() as u64)
    };
    memory
}

check!(puts_and_gets_of_every_shape, ranks: [2], |rank: &Rank| {
    let numbers: Vec<i32> = (0..ROOM as i32).map(|i| 1000 * (rank.me() as i32 + 1) + i).collect();
    let theirs: Vec<i32> = (0..ROOM as i32).map(|i| 1000 * (rank.right() as i32 + 1) + i).collect();
    for (from, n_from, origin) in &shapes() {
        for (to, n_to, target) in &shapes() {
            let what = format!("{from} to {to}");
            let data = |at: *mut u8| Data { at, count: *n_from, dtype: origin };
            let there = TargetElements { rank: rank.right(), disp: 0, count: *n_to, dtype: target };
            let mut memory = vec![-1i32; ROOM];
            let win = rank.over(&mut memory);
            win.fence();
            win.put(data(numbers.as_ptr().cast_mut().cast()), there);
            win.fence();
            let due = unpacked(&packed(&theirs, *n_from, origin), *n_to, target);
            assert_eq!(memory, due, "put {what}");
            win.free();

            let mut memory = numbers.clone();
            let win = rank.over(&mut memory);
            win.fence();
            let mut got = vec![-1i32; ROOM];
            win.get(data(got.as_mut_ptr().cast()), there);
            win.fence();
            assert_eq!(got, unpacked(&packed(&theirs, *n_to, target), *n_from, origin), "get {what}");
            win.free();
        }
    }
});

check!(accumulates_of_every_shape, ranks: [2], |rank: &Rank| {
    let numbers: Vec<i32> = (0..ROOM as i32).collect();
    let int = basic(Base::I32);
    for (name, count, dtype) in &shapes() {
        let mut memory = vec![100i32; ROOM];
        let win = rank.over(&mut memory);
        win.fence();
        let there = TargetElements { rank: rank.right(), disp: 0, count: *count, dtype };
        let data = Data { at: numbers.as_ptr().cast_mut().cast(), count: *count, dtype };
        win.accumulate(data, there, op::SUM);
        win.fence();
        let due: Vec<i32> = packed(&numbers, *count, dtype).iter().map(|v| v + 100).collect();
        assert_eq!(packed(&memory, *count, dtype), due, "{name}");
        win.fence();
        // The old values, dense, while the new ones are what they were.
        let mut old = vec![0i32; due.len()];
        win.get_accumulate(Some(data), Data::into(&mut old, &int), there, op::REPLACE);
        win.fence();
        assert_eq!(old, due, "{name}");
        assert_eq!(packed(&memory, *count, dtype), packed(&numbers, *count, dtype), "{name}");
        win.free();
    }
});

check!(many_short_blocks, ranks: [2], |rank: &Rank| {
    // More blocks than any message has room for.
    let byte = basic(Base::BYTE);
    let n = 20_000usize;
    let places: Vec<i64> = (0..n as i64).map(|i| 3 * i + i % 2).collect();
    let parts: Vec<build::Part<'_>> =
        places.iter().map(|disp| build::Part { disp: *disp, count: 1, old: &byte }).collect();
    let dtype = build::structure(&parts).expect("a list");
    let mut memory = vec![0u8; 3 * n + 1];
    let win = rank.over(&mut memory);
    let data: Vec<u8> = (0..n).map(|i| (i * 7 + 1) as u8).collect();
    let there = TargetElements { rank: rank.right(), disp: 0, count: 1, dtype: &dtype };
    win.fence();
    win.put(Data::of(&data, &byte), there);
    win.fence();
    let mut back = vec![0u8; n];
    win.get(Data::into(&mut back, &byte), there);
    win.fence();
    assert!(back == data, "what was put");
    assert!(places.iter().zip(&data).all(|(at, v)| memory[*at as usize] == *v));
    assert_eq!(memory[2], 0, "between the blocks");
    win.free();
});
