//! The network dies in the middle of a collective: the ranks that were told so return an error, and others only if they can have heard it from those;
//! nobody hangs, and no receive is left behind that could write into memory later.

use crate::data::predefined;
use crate::operations::predefined_op;
use crate::{Args, Blocks, Job, Rank, TableSlot};
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;

const COUNT: u64 = 40;

/// True: somebody failed.
fn attempt(rank: &Rank, which: TableSlot) -> bool {
    let int = predefined(Base::I32);
    let sum = predefined_op(op::SUM);
    let (counts, types) = (vec![COUNT; rank.n as usize], vec![&raw const *int; rank.n as usize]);
    // Read as bytes or as elements, blocks are inside the buffers.
    let displs: Vec<i64> = (0..i64::from(rank.n)).map(|r| r * COUNT as i64 / 4).collect();
    let blocks = Blocks { counts: &counts, displs: &displs, types: &types };
    let (send, mut recv) = (vec![1i32; COUNT as usize * 8], vec![0i32; COUNT as usize * 8]);
    let args = Args {
        send: (send.as_ptr().cast(), COUNT, Some(&*int)),
        recv: (recv.as_mut_ptr().cast(), COUNT, Some(&*int)),
        op: Some(&sum),
        root: rank.n - 1,
        send_blocks: blocks,
        recv_blocks: blocks,
        ..Args::default()
    };
    let status = rank.call(which, args);
    let told = rank.was_told();
    let failed = status.is_err();
    assert!(failed || !told, "rank {} of {} says nothing of it", rank.rank, rank.n);
    assert!(!failed || rank.net_is_dead(), "rank {} of {}: {status}", rank.rank, rank.n);
    assert!(!failed || status == Status::PEER_FAILED, "an error becomes another one: {status}");
    failed
}

/// Lets the net die before each operation of a call.
fn at_every_operation(job: &Job, which: TableSlot) {
    for variant in 0..job.variants() {
        for synchronous in [false, true] {
            for n in [2, 3, 8] {
                for dies_after in 0.. {
                    let failed = AtomicBool::new(false);
                    let ran = job.dying(n, variant, synchronous, dies_after, |rank| {
                        if attempt(rank, which) {
                            failed.store(true, Ordering::Relaxed);
                        }
                    });
                    // It died after the last operation: the whole of it has been tried.
                    if !ran || !failed.into_inner() {
                        break;
                    }
                }
            }
        }
    }
}

macro_rules! dies_in {
    ($($name:ident $which:ident,)*) => {
        $(crate::check!($name, needs: [$which], |job| at_every_operation(job, |t| t.$which));)*
    };
}

dies_in! {
    dies_in_barrier barrier,
    dies_in_bcast bcast,
    dies_in_reduce reduce,
    dies_in_allreduce allreduce,
    dies_in_allgather allgather,
    dies_in_gather gather,
    dies_in_scatter scatter,
    dies_in_alltoall alltoall,
    dies_in_gatherv gatherv,
    dies_in_scatterv scatterv,
    dies_in_allgatherv allgatherv,
    dies_in_alltoallv alltoallv,
    dies_in_alltoallw alltoallw,
    dies_in_scan scan,
    dies_in_exscan exscan,
    dies_in_reduce_scatter reduce_scatter,
    dies_in_reduce_scatter_block reduce_scatter_block,
}
