//! The network dies in the middle of a collective: exactly the ranks that were told so return the
//! error, nobody hangs, and no receive is left behind that could write into memory later.

use crate::common::data::predefined;
use crate::common::{Args, Blocks, Params, Rank, dying_job};
use oxmpi_coll::{CollFn, CollTable};
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::{OpDesc, op};
use oxmpi_mca::Status;
use std::sync::atomic::{AtomicBool, Ordering};

const SMALL: Params = &[];
const LARGE: Params = &[
    ("barrier_algorithm", "tree"),
    ("bcast_segment_size", "24"),
    ("reduce_small_msg", "0"),
    ("allgather_small_msg", "0"),
    ("gather_small_msg", "0"),
    ("alltoall_small_msg", "0"),
];

const COUNT: u64 = 40;

/// True: somebody failed.
fn attempt(rank: &Rank, which: impl Fn(&CollTable) -> Option<CollFn>) -> bool {
    let int = predefined(Base::I32);
    let sum = OpDesc {
        size: size_of::<OpDesc>() as u32,
        code: op::SUM,
        commutative: 1,
        reserved: 0,
        user: None,
        ctx: std::ptr::null_mut(),
    };
    let (counts, types) = (vec![COUNT; rank.n as usize], vec![&raw const *int; rank.n as usize]);
    // Read as bytes or as elements, blocks are inside the buffers.
    let displs: Vec<i64> = (0..rank.n as i64).map(|r| r * COUNT as i64 / 4).collect();
    let blocks = Blocks { counts: &counts, displs: &displs, types: &types };
    let (send, mut recv) = (vec![1i32; COUNT as usize * 8], vec![0i32; COUNT as usize * 8]);
    let status = rank.call(
        which,
        Args {
            send: (send.as_ptr().cast(), COUNT, Some(&*int)),
            recv: (recv.as_mut_ptr().cast(), COUNT, Some(&*int)),
            op: Some(&sum),
            root: rank.n - 1,
            send_blocks: blocks,
            recv_blocks: blocks,
            ..Args::default()
        },
    );
    let expected = if rank.was_told() { Status::PEER_FAILED } else { Status::OK };
    assert_eq!(status, expected, "rank {} of {}", rank.rank, rank.n);
    rank.was_told()
}

fn at_every_operation(which: impl Fn(&CollTable) -> Option<CollFn> + Sync + Copy) {
    for params in [SMALL, LARGE] {
        for synchronous in [false, true] {
            for n in [2, 3, 8] {
                for dies_after in 0.. {
                    let failed = AtomicBool::new(false);
                    dying_job(n, synchronous, params, dies_after, |rank| {
                        if attempt(rank, which) {
                            failed.store(true, Ordering::Relaxed);
                        }
                    });
                    // It died after the last operation: the whole of it has been tried.
                    if !failed.into_inner() {
                        assert!(dies_after > 0);
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn barrier() {
    at_every_operation(|t| t.barrier);
}

#[test]
fn bcast() {
    at_every_operation(|t| t.bcast);
}

#[test]
fn reduce() {
    at_every_operation(|t| t.reduce);
}

#[test]
fn allreduce() {
    at_every_operation(|t| t.allreduce);
}

#[test]
fn allgather() {
    at_every_operation(|t| t.allgather);
}

#[test]
fn gather() {
    at_every_operation(|t| t.gather);
}

#[test]
fn scatter() {
    at_every_operation(|t| t.scatter);
}

#[test]
fn alltoall() {
    at_every_operation(|t| t.alltoall);
}

#[test]
fn gatherv() {
    at_every_operation(|t| t.gatherv);
}

#[test]
fn scatterv() {
    at_every_operation(|t| t.scatterv);
}

#[test]
fn allgatherv() {
    at_every_operation(|t| t.allgatherv);
}

#[test]
fn alltoallv() {
    at_every_operation(|t| t.alltoallv);
}

#[test]
fn alltoallw() {
    at_every_operation(|t| t.alltoallw);
}

#[test]
fn scan() {
    at_every_operation(|t| t.scan);
}

#[test]
fn exscan() {
    at_every_operation(|t| t.exscan);
}

#[test]
fn reduce_scatter() {
    at_every_operation(|t| t.reduce_scatter);
}

#[test]
fn reduce_scatter_block() {
    at_every_operation(|t| t.reduce_scatter_block);
}
