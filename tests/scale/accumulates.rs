//! Requests of an accumulate, of elements that no atomic can have, to a network, counted from the component's own calls: the lock by an atomic, the old elements by
//! a get, and one list that writes the new ones and gives the lock back.

use crate::process::{Cast, Instance, Shape, Win};
use oxmpi_osc::flavor;

/// Atomics, gets, puts and lists.
type RequestCounts = [u64; 4];

/// Requests of the second of two accumulates of `bytes` single bytes, over a transport with lists of so many bytes; and the window's first word behind both.
fn asked(lists: u64, bytes: u64) -> (RequestCounts, u64) {
    let instance = Instance::with_lists(osc_rdma::descriptor(), &[], 4, 0, lists);
    let shape = Shape { nodes: 4, per_node: 1, rank: 3 };
    let win = Win::make(&instance, shape, Cast::Echo, flavor::ALLOCATE, 1024);
    let counts = &instance.counts;
    let now = || [&counts.atomics, &counts.gets, &counts.puts, &counts.lists].map(|count| count.get());
    win.lock_all();
    // The rank is met with the first one.
    win.accumulate(1, bytes);
    let before = now();
    win.accumulate(1, bytes);
    let behind = now();
    let first = win.memory()[0];
    win.unlock_all();
    ([0, 1, 2, 3].map(|i| behind[i] - before[i]), first)
}

#[test]
fn a_list_writes_and_gives_the_lock_back() {
    assert_eq!(asked(4096, 2), ([1, 1, 0, 1], 0x0202));
    // More than a list has room for, or no lists: a put, and an atomic for the lock.
    assert_eq!(asked(128, 512), ([2, 1, 1, 0], 0x0202_0202_0202_0202));
    assert_eq!(asked(0, 2), ([2, 1, 1, 0], 0x0202));
}
