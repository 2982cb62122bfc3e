//! The checks, one file each. A check runs jobs, and fails by panicking with a sentence.

mod agreement;
mod allgather;
mod allgatherv;
mod alltoall;
mod alltoallv;
mod alltoallw;
mod barrier;
mod bcast;
mod between_groups;
mod failure;
mod gather;
mod gatherv;
mod neighbors;
mod one_after_another;
mod persistent;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod unreachable;
