//! Pairs of ranks that no transport joins, at random: every rank ends, a rank that says success has the right result, a second call
//! ends as the first, and no message or receive is left over that could be met, or write into memory, later.

use crate::data::{Random, predefined};
use crate::operations::predefined_op;
use crate::{Args, Blocks, Job, Rank, TableSlot};
use core::sync::atomic::{AtomicUsize, Ordering};
use oxmpi_coll::{NO_ROOT, Neighbors, ROOT};
use oxmpi_datatype::kernel::op;
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::Status;

/// Elements of a block.
const COUNT: usize = 6;

/// A rank of a call, as its model needs it.
struct Place {
    rank: u32,
    n: u32,
    root: u32,
}

/// Gives what a rank has in the end if nothing is missing; `None`: nothing is defined.
type Model = fn(&Place) -> Option<Vec<i32>>;

/// Element `j` of block `block` of a rank's send buffer.
fn value(rank: u32, block: u32, j: usize) -> i32 {
    (rank * 1009 + block * 31 + j as u32 * 7 + 1) as i32
}

/// A block of a rank.
fn block(rank: u32, block: u32) -> Vec<i32> {
    (0..COUNT).map(|j| value(rank, block, j)).collect()
}

/// The sum of one block of several ranks.
fn sum(ranks: core::ops::Range<u32>, block: u32) -> Option<Vec<i32>> {
    let is_some = !ranks.is_empty();
    is_some.then(|| (0..COUNT).map(|j| ranks.clone().map(|rank| value(rank, block, j)).sum()).collect())
}

fn at_root(at: &Place, all: Option<Vec<i32>>) -> Option<Vec<i32>> {
    all.filter(|_| at.rank == at.root)
}

fn all_blocks(at: &Place) -> Option<Vec<i32>> {
    Some((0..at.n).flat_map(|rank| block(rank, 0)).collect())
}

fn all_mine(at: &Place) -> Option<Vec<i32>> {
    Some((0..at.n).flat_map(|rank| block(rank, at.rank)).collect())
}

/// In a ring, with the rank before as first and the one behind as second source and destination.
fn of_neighbors(at: &Place) -> Option<Vec<i32>> {
    let (before, behind) = ((at.rank + at.n - 1) % at.n, (at.rank + 1) % at.n);
    // Of two ranks each is both to the other, whose blocks come in the order in which they were sent.
    let (first, second) = if at.n == 2 { (0, 1) } else { (1, 0) };
    Some([block(before, first), block(behind, second)].concat())
}

fn first_of_neighbors(at: &Place) -> Option<Vec<i32>> {
    let (before, behind) = ((at.rank + at.n - 1) % at.n, (at.rank + 1) % at.n);
    Some([block(before, 0), block(behind, 0)].concat())
}

/// Makes a call, with blocks of all peers or of `neighbors`; its status, and what is in the receive buffer.
fn called(rank: &Rank, which: TableSlot, root: u32, around: Option<&Neighbors>) -> (Status, Vec<i32>) {
    let (int, sum) = (predefined(Base::I32), predefined_op(op::SUM));
    let peers = rank.n.max(rank.remote).max(2) as usize;
    let (counts, types) = (vec![COUNT as u64; peers], vec![&raw const *int; peers]);
    let dtype: &TypeDesc = &int;
    let displs = |unit: usize| -> Vec<i64> { (0..peers).map(|r| (r * COUNT * unit) as i64).collect() };
    let send: Vec<i32> = (0..peers as u32).flat_map(|to| block(rank.rank, to)).collect();
    // The root of a bcast has its data where the others receive it.
    let mut recv = if rank.rank == root { send.clone() } else { vec![-1; peers * COUNT] };
    // Only alltoallw counts its displacements in bytes; it alone is given its types.
    let in_bytes = displs(4);
    let in_elements = displs(1);
    let is_typed = rank.is(which, |t| t.alltoallw);
    let displs = if is_typed { &in_bytes } else { &in_elements };
    let blocks = Blocks { counts: &counts, displs, types: &types };
    let args = Args {
        send: (send.as_ptr().cast(), COUNT as u64, Some(dtype)),
        recv: (recv.as_mut_ptr().cast(), COUNT as u64, Some(dtype)),
        op: Some(&sum),
        root,
        send_blocks: blocks,
        recv_blocks: blocks,
        neighbors: around,
    };
    (rank.call(which, args), recv)
}

/// Pairs of `n` ranks that do not reach each other: two nodes, or any.
fn cuts(n: u32, random: &mut Random) -> Vec<(u32, u32)> {
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let (kind, nodes) = (random.below(3), 1 + random.below(3) as u32);
    let cut = |&(a, b): &(u32, u32)| match kind {
        0 => (a / nodes) % 2 != (b / nodes) % 2,
        1 => random.below(3) == 0,
        _ => random.below(8) == 0,
    };
    pairs.filter(cut).collect()
}

/// Two calls in a row over many cuts.
fn over_cuts(job: &Job, which: TableSlot, model: Model, needs_ring: bool) {
    let mut random = Random::new(46);
    for n in [2, 3, 4, 5, 8] {
        if n > job.ranks() {
            continue;
        }
        for _ in 0..3 {
            let (cut, root) = (cuts(n, &mut random), random.below(u64::from(n)) as u32);
            job.without(&cut, [n, 0], |rank| {
                let ends = [(rank.rank + n - 1) % n, (rank.rank + 1) % n].map(|end| end as i32);
                let ring = Neighbors {
                    size: size_of::<Neighbors>() as u32,
                    flags: 0,
                    num_sources: 2,
                    num_destinations: 2,
                    sources: ends.as_ptr(),
                    destinations: ends.as_ptr(),
                };
                let mut statuses = vec![];
                for _ in 0..2 {
                    let (status, got) = called(rank, which, root, needs_ring.then_some(&ring));
                    let wanted = model(&Place { rank: rank.rank, n, root });
                    if let Some(wanted) = wanted.filter(|_| status.is_ok()) {
                        assert!(got[..wanted.len()] == wanted, "rank {} says success: {got:?}", rank.rank);
                    }
                    statuses.push(status);
                }
                assert_eq!(statuses[0], statuses[1], "rank {}: a second call", rank.rank);
                let known = [Status::OK, Status::UNREACHABLE].contains(&statuses[0]);
                assert!(known, "an error becomes another one: {}", statuses[0]);
                // Directly between all, unless by memory of the node.
                if !rank.nests()
                    && cut.iter().any(|&(a, b)| a == rank.rank || b == rank.rank)
                    && is_direct(rank, which)
                {
                    assert_eq!(statuses[0], Status::UNREACHABLE, "rank {}", rank.rank);
                }
            });
        }
    }
}

/// Whether a collective needs data of every rank that no other may have.
fn is_direct(rank: &Rank, which: TableSlot) -> bool {
    rank.is(which, |t| t.alltoall) || rank.is(which, |t| t.alltoallv) || rank.is(which, |t| t.alltoallw)
}

macro_rules! without_routes {
    ($($name:ident $which:ident $model:expr, $ring:expr;)*) => {
        $(crate::check!($name, needs: [$which], |job| over_cuts(job, |t| t.$which, $model, $ring));)*
    };
}

without_routes! {
    unreachable_in_bcast bcast |at| Some(block(at.root, 0)), false;
    unreachable_in_reduce reduce |at| at_root(at, sum(0..at.n, 0)), false;
    unreachable_in_allreduce allreduce |at| sum(0..at.n, 0), false;
    unreachable_in_allgather allgather all_blocks, false;
    unreachable_in_gather gather |at| at_root(at, all_blocks(at)), false;
    unreachable_in_scatter scatter |at| Some(block(at.root, at.rank)), false;
    unreachable_in_alltoall alltoall all_mine, false;
    unreachable_in_gatherv gatherv |at| at_root(at, all_blocks(at)), false;
    unreachable_in_scatterv scatterv |at| Some(block(at.root, at.rank)), false;
    unreachable_in_allgatherv allgatherv all_blocks, false;
    unreachable_in_alltoallv alltoallv all_mine, false;
    unreachable_in_alltoallw alltoallw all_mine, false;
    unreachable_in_scan scan |at| sum(0..at.rank + 1, 0), false;
    unreachable_in_exscan exscan |at| sum(0..at.rank, 0), false;
    unreachable_in_reduce_scatter reduce_scatter |at| sum(0..at.n, at.rank), false;
    unreachable_in_reduce_scatter_block reduce_scatter_block |at| sum(0..at.n, at.rank), false;
    unreachable_in_neighbor_allgather neighbor_allgather first_of_neighbors, true;
    unreachable_in_neighbor_allgatherv neighbor_allgatherv first_of_neighbors, true;
    unreachable_in_neighbor_alltoall neighbor_alltoall of_neighbors, true;
    unreachable_in_neighbor_alltoallv neighbor_alltoallv of_neighbors, true;
}

/// A barrier that says success was entered by all.
fn barriers(job: &Job, sizes: [u32; 2], cut: &[(u32, u32)]) {
    // Runs follow each other, and each has the same calls.
    let entered = [const { AtomicUsize::new(0) }; 2];
    let all = (sizes[0] + sizes[1]) as usize;
    job.without(cut, sizes, |rank| {
        let mut statuses = vec![];
        for entered in &entered {
            let before = entered.fetch_add(1, Ordering::SeqCst) / all * all;
            let (status, _) = called(rank, |t| t.barrier, 0, None);
            if status.is_ok() {
                assert!(
                    entered.load(Ordering::SeqCst) >= before + all,
                    "a barrier that not all have entered"
                );
            }
            statuses.push(status);
        }
        assert_eq!(statuses[0], statuses[1], "rank {}: a second call", rank.rank);
    });
}

crate::check!(unreachable_in_barrier, needs: [barrier], |job| {
    let mut random = Random::new(47);
    for n in [2, 3, 4, 5, 8] {
        for _ in 0..3 {
            barriers(job, [n, 0], &cuts(n, &mut random));
        }
    }
});

crate::check!(unreachable_between_groups, needs: [barrier, bcast, allreduce, alltoall], |job| {
    let mut random = Random::new(48);
    for sizes in [[1, 1], [2, 2], [3, 2], [1, 4]] {
        for _ in 0..3 {
            let cut = cuts(sizes[0] + sizes[1], &mut random);
            barriers(job, sizes, &cut);
            between(job, sizes, &cut);
        }
    }
});

/// Two calls in a row of collectives between two groups.
fn between(job: &Job, sizes: [u32; 2], cut: &[(u32, u32)]) {
    job.without(cut, sizes, |rank| {
        for which in ["allreduce", "alltoall", "bcast"] {
            let root = match (which, rank.side, rank.rank) {
                ("bcast", 0, 0) => ROOT,
                ("bcast", 0, _) => NO_ROOT,
                _ => 0,
            };
            let slot: TableSlot = match which {
                "allreduce" => |t| t.allreduce,
                "alltoall" => |t| t.alltoall,
                _ => |t| t.bcast,
            };
            let wanted = match which {
                "allreduce" => sum(0..rank.remote, 0),
                "alltoall" => all_mine(&Place { rank: rank.rank, n: rank.remote, root: 0 }),
                _ => Some(vec![-1; 0]),
            };
            let made = || called(rank, slot, root as u32, None);
            let (first, second) = (made(), made());
            assert_eq!(first.0, second.0, "{which} of rank {}: a second call", rank.rank);
            if let Some(wanted) = wanted.filter(|_| first.0.is_ok()) {
                assert!(first.1[..wanted.len()] == wanted, "{which}: rank {} says success", rank.rank);
            }
        }
    });
}
