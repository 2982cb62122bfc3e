//! Parts of arrays of several dimensions: subarray and darray (MPI 5.0 §5.1.3, §5.1.4).
//!
//! Both are nests of strided blocks, one level per dimension from the fastest to the slowest, put at
//! their place in the whole array, whose bounds the result has.

use crate::build::{self, Part};
use crate::desc::TypeRef;
use oxmpi_mca::Status;

/// Which index is the fastest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The last one.
    C,
    /// The first one.
    Fortran,
}

/// Indices of the dimensions, the fastest first.
fn fastest_first(dims: usize, order: Order) -> Vec<usize> {
    match order {
        Order::C => (0..dims).rev().collect(),
        Order::Fortran => (0..dims).collect(),
    }
}

fn times(a: i64, b: u64) -> Result<i64, Status> {
    i64::try_from(b).ok().and_then(|b| a.checked_mul(b)).ok_or(Status::BAD_PARAM)
}

/// One dimension of [`subarray`]: elements `start..start + part` of `whole`.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    pub whole: u64,
    pub part: u64,
    pub start: u64,
}

/// A box of an array (MPI_Type_create_subarray).
pub fn subarray(slices: &[Slice], order: Order, old: &TypeRef) -> Result<TypeRef, Status> {
    let mut part = old.clone();
    let (mut step, mut place) = (old.extent, 0i64);
    for dim in fastest_first(slices.len(), order) {
        let slice = slices[dim];
        part = build::hvector(slice.part, 1, step, &part)?;
        place = times(step, slice.start)?.checked_add(place).ok_or(Status::BAD_PARAM)?;
        step = times(step, slice.whole)?;
    }
    build::resized(0, step, &build::structure(&[Part { disp: place, count: 1, old: &part }])?)
}

/// One dimension of [`darray`]: `whole` elements are dealt out in blocks of `block` to `procs` processes
/// in turn, and this is process `rank` of them.
#[derive(Clone, Copy, Debug)]
pub struct Deal {
    pub whole: u64,
    pub block: u64,
    pub procs: u64,
    pub rank: u64,
}

/// One process's share of a distributed array (MPI_Type_create_darray). Blocks must not be empty.
pub fn darray(deals: &[Deal], order: Order, old: &TypeRef) -> Result<TypeRef, Status> {
    let mut part = old.clone();
    let mut step = old.extent;
    for dim in fastest_first(deals.len(), order) {
        part = dealt(&deals[dim], step, &part)?;
        step = times(step, deals[dim].whole)?;
    }
    build::resized(0, step, &part)
}

/// The share in one dimension, whose elements `old` lie `step` bytes apart.
fn dealt(deal: &Deal, step: i64, old: &TypeRef) -> Result<TypeRef, Status> {
    let old = build::resized(old.lb, step, old)?;
    let first = deal.rank.checked_mul(deal.block).ok_or(Status::BAD_PARAM)?;
    let cycle = deal.procs.checked_mul(deal.block).ok_or(Status::BAD_PARAM)?;
    let behind = deal.whole.saturating_sub(first);
    let whole_blocks = behind / cycle + (behind % cycle >= deal.block) as u64;
    let rest = if behind % cycle >= deal.block { 0 } else { behind % cycle };
    let blocks = build::hvector(whole_blocks, deal.block, times(step, cycle)?, &old)?;
    let at = |blocks: u64| {
        times(step, first)?.checked_add(times(times(step, cycle)?, blocks)?).ok_or(Status::BAD_PARAM)
    };
    let mut parts = Vec::new();
    if whole_blocks > 0 {
        parts.push(Part { disp: at(0)?, count: 1, old: &blocks });
    }
    if rest > 0 {
        parts.push(Part { disp: at(whole_blocks)?, count: rest, old: &old });
    }
    build::structure(&parts)
}
