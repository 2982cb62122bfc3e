//! The algorithms: what each rank does, as words to a [`Script`](crate::script::Script).

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod barrier;
pub mod bcast;
pub mod gather;
pub mod halving;
pub mod pair;
pub mod reduce;
pub mod reduce_scatter;
pub mod ring;
pub mod scan;

#[cfg(test)]
mod tests;
