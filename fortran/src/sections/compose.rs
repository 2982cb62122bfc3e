//! A datatype that leads through a section: `count` of the program's datatype, as if the section were contiguous.
//!
//! **By cells.** Nearly always a run of contiguous bytes holds a whole number of the program's datatype, and data keep inside their extents. Then runs are blocks of it,
//! dimensions are vectors of vectors, and what is left of a dimension that the count does not fill is a piece of a structure: at most two for each dimension.
//!
//! **By basic types.** Else the typemap is written out, and each basic type is looked up in the section. A basic type that is longer than a run is in
//! two places of memory, which no datatype can say: that is an error (MPI_ERR_TYPE), except of pairs like MPI_2INTEGER, which are two basic types.

use super::mpi::{Datatype, ERR_BUFFER, ERR_TYPE, Made};
use super::section::Section;
use super::typemap::{self, Block, push};
use crate::abi::Handle;
use core::ffi::c_int;

/// The data of an argument in memory.
pub struct Mapped {
    /// Bytes from the section's address.
    pub at: i64,
    /// A datatype of which one is the data. `None`: they are contiguous there, with the program's count and datatype.
    pub datatype: Option<Made>,
}

/// Maps `count`, at least one, of a datatype, from a byte of the array on. An error is an error class or what C said.
pub fn compose(section: &Section, from: i64, count: i64, of: &Datatype) -> Result<Mapped, c_int> {
    let (low, high) = of.bounds(count);
    let (low, high) = (from + low, from + high);
    if low < 0 || high > section.len() {
        return Err(ERR_BUFFER);
    }
    if high <= low || low / section.run == (high - 1) / section.run {
        return Ok(Mapped { at: section.place(low) - (low - from), datatype: None });
    }
    let (at, mut made) = if of.keeps_inside() && section.run % of.extent == 0 && from % of.extent == 0 {
        Cells { section, of }.compose(from, from + count * of.extent)?
    } else {
        (0, by_basic_types(section, from, count, of)?)
    };
    made.commit()?;
    Ok(Mapped { at, datatype: Some(made) })
}

/// Bytes of a section as whole numbers of a datatype.
struct Cells<'a> {
    section: &'a Section,
    of: &'a Datatype,
}

/// A part of the data, at a place from the section's address.
enum Piece {
    /// Within a run.
    Few { at: i64, cells: i64 },
    /// So many indices of a dimension, with all that is below.
    Full { at: i64, dimension: usize, count: i64 },
}

impl Cells<'_> {
    /// From and to a byte of the array; where one piece begins, else 0.
    fn compose(&self, from: i64, to: i64) -> Result<(i64, Made), c_int> {
        let mut pieces = Vec::new();
        self.split(self.section.dimensions.len(), from, to, 0, &mut pieces);
        if let [piece] = &pieces[..] {
            return self.make(piece);
        }
        let made = pieces.iter().map(|piece| self.make(piece)).collect::<Result<Vec<_>, _>>()?;
        let places: Vec<i64> = made.iter().map(|(at, _)| *at).collect();
        let handles: Vec<Handle> = made.iter().map(|(_, made)| made.handle()).collect();
        Ok((0, Made::structure(&vec![1; made.len()], &places, &handles)?))
    }

    /// Splits bytes of a slab of so many dimensions, which begins at that place.
    fn split(&self, dimensions: usize, from: i64, to: i64, at: i64, pieces: &mut Vec<Piece>) {
        let Some(below) = dimensions.checked_sub(1) else {
            return pieces.push(Piece::Few { at: at + from, cells: (to - from) / self.of.extent });
        };
        let slab = self.section.slab(below);
        let stride = self.section.dimensions[below].stride;
        let (first, last) = (from / slab, (to - 1) / slab);
        if first == last {
            return self.split(below, from - first * slab, to - first * slab, at + first * stride, pieces);
        }
        let whole_from = if from % slab == 0 { first } else { first + 1 };
        let whole_to = if to % slab == 0 { last + 1 } else { last };
        if whole_from > first {
            self.split(below, from % slab, slab, at + first * stride, pieces);
        }
        if whole_to > whole_from {
            let (at, count) = (at + whole_from * stride, whole_to - whole_from);
            pieces.push(Piece::Full { at, dimension: below, count });
        }
        if whole_to == last {
            self.split(below, 0, to % slab, at + last * stride, pieces);
        }
    }

    fn make(&self, piece: &Piece) -> Result<(i64, Made), c_int> {
        match *piece {
            Piece::Few { at, cells } => Ok((at, Made::contiguous(cells, self.of.handle)?)),
            Piece::Full { at, dimension, count } => Ok((at, self.full(dimension, count)?)),
        }
    }

    /// So many indices of a dimension.
    fn full(&self, dimension: usize, count: i64) -> Result<Made, c_int> {
        let stride = self.section.dimensions[dimension].stride;
        let Some(below) = dimension.checked_sub(1) else {
            return Made::hvector(count, self.section.run / self.of.extent, stride, self.of.handle);
        };
        let inner = self.full(below, self.section.dimensions[below].extent)?;
        Made::hvector(count, 1, stride, inner.handle())
    }
}

fn by_basic_types(section: &Section, from: i64, count: i64, of: &Datatype) -> Result<Made, c_int> {
    let typemap = typemap::of(of.handle)?;
    let mut blocks = Vec::new();
    for i in 0..count {
        for block in &typemap {
            place(section, Block { at: from + i * of.extent + block.at, ..*block }, &mut blocks)?;
        }
    }
    let lengths: Vec<i64> = blocks.iter().map(|block| block.count).collect();
    let places: Vec<i64> = blocks.iter().map(|block| block.at).collect();
    let first = blocks.first().ok_or(ERR_TYPE)?.of;
    if blocks.iter().all(|block| block.of == first) {
        return Made::hindexed(&lengths, &places, first.handle);
    }
    let handles: Vec<Handle> = blocks.iter().map(|block| block.of.handle).collect();
    Made::structure(&lengths, &places, &handles)
}

/// Adds a block of the array as blocks of memory.
fn place(section: &Section, mut block: Block, into: &mut Vec<Block>) -> Result<(), c_int> {
    let basic = block.of;
    while block.count > 0 {
        let run = block.at / section.run;
        let room = (run + 1) * section.run - block.at;
        let fit = if room < basic.reach { 0 } else { (room - basic.reach) / basic.extent + 1 };
        let count = fit.min(block.count);
        if count > 0 {
            push(into, Block { at: section.place(block.at), count, of: basic });
        } else {
            let half = basic.half().ok_or(ERR_TYPE)?;
            place(section, Block { at: block.at, count: 2, of: half }, into)?;
        }
        block.at += count.max(1) * basic.extent;
        block.count -= count.max(1);
    }
    Ok(())
}
