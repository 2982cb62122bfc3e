//! The price of the order of unlike operations, counted, and the order itself where it hangs on what arrives when.

use crate::operations::Operation;
use crate::process::{Cast, Instance, Shape, Win};
use oxmpi_osc::{flavor, hint};

/// Puts, gets, lists, atomics, flushes of the transport's, and waits for any of them.
type Cost = [u64; 6];

/// A way to have a put complete at the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// By MPI_Win_flush_local.
    Put(usize),
    /// By its request, without a flush.
    PutWithRequest(usize),
}

/// The cost of a put that is completed at the origin, an operation of `bytes` bytes at a displacement in words, and the flush behind both. The put is to the first words.
fn cost(lists: u64, hints: u32, first: First, second: Operation, disp: i64, bytes: usize) -> Cost {
    let instance = Instance::with_lists(osc_rdma::descriptor(), &[], 4, 0, lists);
    let shape = Shape { nodes: 4, per_node: 1, rank: 3 };
    let win = Win::make(&instance, shape, Cast::Echo, flavor::ALLOCATE, 1 << 16);
    win.set_hints(hints);
    win.lock_all();
    // With the first ones comes what is made once.
    win.accumulate(1, 2);
    win.put(1);
    let counts = &instance.counts;
    counts.late.set(true);
    let now = || {
        [&counts.puts, &counts.gets, &counts.lists, &counts.atomics, &counts.flushes, &counts.waits]
            .map(|count| count.get())
    };
    let before = now();
    let (mut given, mut data) = (vec![7u8; 1 << 15], vec![1u8; bytes]);
    match first {
        First::Put(n) => win.issue(Operation::Put, 1, 0, &mut given[..n]),
        First::PutWithRequest(n) => win.issue(Operation::PutWithRequest, 1, 0, &mut given[..n]),
    }
    if matches!(first, First::Put(_)) {
        win.flush_local(1);
    }
    win.issue(second, 1, disp, &mut data);
    win.flush(1);
    let behind = now();
    counts.late.set(false);
    win.unlock_all();
    [0, 1, 2, 3, 4, 5].map(|i| behind[i] - before[i])
}

const FIRST: [First; 4] =
    [First::Put(8), First::Put(9000), First::PutWithRequest(8), First::PutWithRequest(9000)];
const SECOND: [Operation; 5] = [
    Operation::Put,
    Operation::PutWithRequest,
    Operation::Get,
    Operation::Accumulate,
    Operation::GetAccumulate,
];

/// Operations that do not overlap ask as much of a network as where order is waived.
#[test]
fn disjoint_operations_cost_as_much_as_unordered_ones() {
    for lists in [0, 4096] {
        for first in FIRST {
            for second in SECOND {
                for bytes in [2, 8, 6000] {
                    let disjoint = |hints| cost(lists, hints, first, second, 9000 / 8, bytes);
                    let what = format!("lists of {lists} bytes, {first:?}, {second:?} of {bytes} bytes");
                    assert_eq!(disjoint(0), disjoint(hint::UNORDERED), "{what}");
                }
            }
        }
    }
}

/// An operation that overlaps has what it comes behind flushed, and waits for that once; small puts that no MPI_Win_flush_local stands between go in one list and cost nothing more.
#[test]
fn an_overlapping_operation_costs_one_round_trip() {
    for lists in [0, 4096] {
        for (first, second) in FIRST.into_iter().flat_map(|first| SECOND.map(|second| (first, second))) {
            let overlapping = |hints| cost(lists, hints, first, second, 0, 8);
            let (ordered, unordered) = (overlapping(0), overlapping(hint::UNORDERED));
            // MPI_Win_flush_local sends what waits in a list.
            let waits = lists > 0 && first == First::PutWithRequest(8);
            let together = waits && matches!(second, Operation::Put | Operation::PutWithRequest);
            // A get that finds the put flushed leaves nothing for the flush at the end.
            let flushes = u64::from(!together && second != Operation::Get);
            let more = [0, 0, 0, 0, flushes, u64::from(!together)];
            let due: Vec<u64> = unordered.iter().zip(more).map(|(count, more)| count + more).collect();
            assert_eq!(ordered[..], due, "lists of {lists} bytes, {first:?}, {second:?}");
        }
    }
}

/// Memory of a rank of osc-pt2pt, the bytes of an operation on word `disp`, and whether that was carried out early: while the data of a long put, complete at
/// its origin, was on its way.
fn behind_a_put_on_its_way(second: Operation, disp: i64) -> (Vec<u64>, Vec<u8>, bool) {
    /// The tag of data that does not stand in its record.
    const DATA: i32 = 2;
    let small = [("message_size", "256"), ("receives", "1")];
    let instance = Instance::open(osc_pt2pt::descriptor(), &small, 2, 2);
    let shape = |rank| Shape { nodes: 2, per_node: 1, rank };
    let target = Win::make(&instance, shape(1), Cast::There(1), flavor::CREATE, 1024);
    let origin = Win::make(&instance, shape(0), Cast::There(0), flavor::CREATE, 1024);
    origin.lock_all();
    instance.held.set(Some(DATA));
    origin.issue(Operation::Put, 1, 0, &mut [5; 512]);
    origin.flush_local(1);
    let mut data = [1u8; 8];
    origin.issue(second, 1, disp, &mut data);
    (0..16).for_each(|_| {
        instance.turn();
    });
    let early = target.memory()[disp as usize] != 0;
    instance.held.set(None);
    origin.flush(1);
    origin.unlock_all();
    let memory = target.memory().to_vec();
    (memory, data.to_vec(), early)
}

const FIVES: u64 = 0x0505_0505_0505_0505;
const ONES: u64 = 0x0101_0101_0101_0101;

#[test]
fn an_operation_waits_for_the_data_of_a_long_put() {
    for (second, stays, comes) in [
        (Operation::Put, ONES, [1; 8]),
        (Operation::Get, FIVES, [5; 8]),
        (Operation::Accumulate, FIVES + ONES, [1; 8]),
        (Operation::GetAccumulate, FIVES + ONES, [5; 8]),
    ] {
        let (memory, data, early) = behind_a_put_on_its_way(second, 2);
        assert_eq!((memory[2], &data[..], early), (stays, &comes[..], false), "{second:?}");
        assert!(memory[..64].iter().enumerate().all(|(at, word)| at == 2 || *word == FIVES), "{memory:?}");
    }
}

/// One that does not overlap is carried out meanwhile.
#[test]
fn an_operation_elsewhere_does_not_wait_for_data() {
    for second in [Operation::Put, Operation::Accumulate, Operation::GetAccumulate] {
        let (memory, _, early) = behind_a_put_on_its_way(second, 64);
        assert_eq!((memory[0], memory[64], early), (FIVES, ONES, true), "{second:?}");
    }
}
