//! One datatype for the blocks of several processes, if there is one.
//!
//! A collective has one datatype for all blocks, each of which begins a whole number of extents behind the buffer's address. Through a section that is so where blocks begin and
//! end with indices of the outermost dimension that they need: the datatype leads through all below, and its extent is that dimension's stride.

use super::compose::{Mapped, compose};
use super::mpi::{Datatype, Made};
use super::section::Section;
use core::ffi::c_int;

/// The blocks of several processes in memory.
pub enum Blocks {
    /// The program's arguments do, with an address so many bytes behind the section's.
    AsIs(i64),
    /// The program's counts and displacements do, in units of this datatype.
    Each(Made),
    /// Counts and displacements are to be divided by that.
    Several(Made, i64),
    /// A single block, from that byte behind the section's address: one of the datatype.
    Single(i64, Made),
    /// There is none.
    None,
}

/// Maps `processes` blocks of `count`, both at least one, that follow each other. The answer is never [`Blocks::Several`]; of [`Blocks::Each`] one is a block.
pub fn equal(section: &Section, count: i64, of: &Datatype, processes: i64) -> Result<Blocks, c_int> {
    let all = compose_in_run(section, count * processes, of)?;
    if let Some(at) = all {
        return Ok(Blocks::AsIs(at));
    }
    if processes == 1 {
        return Ok(single(0, compose(section, 0, count, of)?));
    }
    let block = count * of.extent;
    let Some((used, slab, stride)) = outermost(section, of.bounds(count * processes).1) else {
        return Ok(Blocks::None);
    };
    if of.extent <= 0 || block % slab != 0 {
        return Ok(Blocks::None);
    }
    Ok(Blocks::Each(unit(&used, count, of, block / slab * stride)?))
}

/// Maps blocks of their own counts and displacements, in units of the datatype's extent. At least one count is not 0, and none is negative.
pub fn several(section: &Section, blocks: &[(i64, i64)], of: &Datatype) -> Result<Blocks, c_int> {
    let used = || blocks.iter().filter(|(count, _)| *count > 0);
    let ends = used().map(|(count, at)| {
        let (low, high) = of.bounds(*count);
        (at * of.extent + low, at * of.extent + high)
    });
    let (low, high) = ends.fold((i64::MAX, i64::MIN), |all, one| (all.0.min(one.0), all.1.max(one.1)));
    if low < 0 || high > section.len() {
        return Err(super::mpi::ERR_BUFFER);
    }
    if high <= section.run {
        return Ok(Blocks::AsIs(0));
    }
    if let (Some((count, at)), 1) = (used().next(), used().count()) {
        let from = at * of.extent;
        return Ok(single(from, compose(section, from, *count, of)?));
    }
    let Some((inner, slab, stride)) = outermost(section, high) else { return Ok(Blocks::None) };
    if of.extent > 0 && of.extent % slab == 0 {
        return Ok(Blocks::Each(unit(&inner, 1, of, of.extent / slab * stride)?));
    }
    if of.extent <= 0 || slab % of.extent != 0 {
        return Ok(Blocks::None);
    }
    let each = slab / of.extent;
    if used().any(|(count, at)| count % each != 0 || at % each != 0) {
        return Ok(Blocks::None);
    }
    Ok(Blocks::Several(unit(&inner, each, of, stride)?, each))
}

/// Where the data begin, if all of them are in the first run.
fn compose_in_run(section: &Section, count: i64, of: &Datatype) -> Result<Option<i64>, c_int> {
    let (low, high) = of.bounds(count);
    if low < 0 || high > section.len() {
        return Err(super::mpi::ERR_BUFFER);
    }
    Ok((high <= section.run).then_some(0))
}

/// One block, which is `from` bytes behind the address by the program's displacement.
fn single(from: i64, mapped: Mapped) -> Blocks {
    match mapped.datatype {
        Some(made) => Blocks::Single(mapped.at, made),
        None => Blocks::AsIs(mapped.at - from),
    }
}

/// The part of a section that data up to a byte need, bytes of the array and of memory for an index of its outermost dimension.
fn outermost(section: &Section, end: i64) -> Option<(Section, i64, i64)> {
    let used = section.up_to(end);
    let stride = used.dimensions.last()?.stride;
    let slab = used.slab(used.dimensions.len() - 1);
    Some((used, slab, stride))
}

/// So many of the program's datatype from the first byte on, as a datatype with that extent.
fn unit(section: &Section, count: i64, of: &Datatype, extent: i64) -> Result<Made, c_int> {
    let made = match compose(section, 0, count, of)?.datatype {
        Some(made) => made.resized(extent)?,
        None => Made::contiguous(count, of.handle)?.resized(extent)?,
    };
    let mut made = made;
    made.commit()?;
    Ok(made)
}
