//! Contiguous images of sections, for data that no datatype leads to.
//!
//! An image is filled when the operation starts, whatever the direction: some of what is received may be in the section before (MPI_IN_PLACE), and some may stay. When
//! the operation is complete, the bytes of the program's datatypes go back, and no others: what lies between them is the program's all the time. Of a partitioned message each
//! partition is filled when it is ready, and goes back when it has arrived.

use super::mpi::Datatype;
use super::section::Section;
use super::typemap;
use crate::abi::ERR_NO_MEM;
use core::ffi::{c_int, c_void};

/// Whether data go from the section, or into it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    From,
    Into,
}

/// As aligned as any type of the program's.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

/// An image of a part of the array that a section stands for.
pub struct Image {
    section: Section,
    base: *mut u8,
    /// The first byte of the part, and how many.
    low: i64,
    len: i64,
    memory: Vec<Line>,
    /// Data of one of the datatype: from, how many bytes.
    spans: Vec<(i64, i64)>,
    extent: i64,
    /// From which byte, how many of the datatype.
    blocks: Vec<(i64, i64)>,
    /// Bounds of the data of a block, from where it begins; the first one's.
    of_block: (i64, i64),
    direction: Direction,
    /// Blocks are filled one by one.
    by_parts: bool,
}

// SAFETY: the memory is its own; the section is the program's, which leaves it alone until the operation is complete.
unsafe impl Send for Image {}

impl Image {
    /// Makes an image, which is not filled yet. `blocks`: from which byte of the array, how many, at least one; all within the section.
    ///
    /// # Safety
    /// The section's address, as long as the image lives.
    pub unsafe fn new(
        section: Section,
        base: *mut c_void,
        of: &Datatype,
        mut blocks: Vec<(i64, i64)>,
        direction: Direction,
    ) -> Result<Image, c_int> {
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for (from, count) in &blocks {
            let bounds = of.bounds(*count);
            (low, high) = (low.min(from + bounds.0), high.max(from + bounds.1));
        }
        let of_block = blocks.first().map_or((0, 0), |(_, count)| of.bounds(*count));
        let spans = if direction == Direction::From {
            Vec::new()
        } else if of.is_dense() {
            blocks.iter_mut().for_each(|(_, count)| *count *= of.extent);
            vec![(0, 1)]
        } else {
            typemap::of(of.handle)?.iter().flat_map(spans_of).collect()
        };
        let extent = if of.is_dense() { 1 } else { of.extent };
        let len = high - low;
        let mut memory = Vec::new();
        let lines = (len as usize).div_ceil(size_of::<Line>());
        memory.try_reserve_exact(lines).map_err(|_| ERR_NO_MEM)?;
        memory.resize(lines, Line([0; 64]));
        Ok(Image {
            section,
            base: base.cast(),
            low,
            len,
            memory,
            spans,
            extent,
            blocks,
            of_block,
            direction,
            by_parts: false,
        })
    }

    /// The same for blocks that are complete one by one.
    pub fn by_parts(mut self) -> Image {
        self.by_parts = true;
        self
    }

    /// The address that stands for the section's. It may lie outside of the image, where the data begin behind it.
    pub fn address(&mut self) -> *mut c_void {
        self.memory.as_mut_ptr().cast::<u8>().wrapping_offset(-self.low as isize).cast()
    }

    /// Takes over what the section has, unless that is done for each block.
    ///
    /// # Safety
    /// No other thread writes there.
    pub unsafe fn fill(&mut self) {
        if !self.by_parts {
            // SAFETY: the caller's promise.
            unsafe { self.take_over(self.low, self.len) }
        }
    }

    /// Takes over what the section has of a block, if there is such a block and data go that way.
    ///
    /// # Safety
    /// As [`Image::fill`].
    pub unsafe fn fill_block(&mut self, block: usize) {
        if let (Some((from, _)), Direction::From) = (self.blocks.get(block), self.direction) {
            let (low, high) = self.of_block;
            // SAFETY: the caller's promise.
            unsafe { self.take_over(from + low, high - low) }
        }
    }

    unsafe fn take_over(&mut self, from: i64, len: i64) {
        let memory = self.memory.as_mut_ptr().cast::<u8>();
        self.section.pieces(from, len, |at, from, n| {
            // SAFETY: a piece of the section, and its place in the image.
            unsafe {
                let place = memory.offset((from - self.low) as isize);
                place.copy_from_nonoverlapping(self.base.offset(at as isize), n as usize);
            }
        });
    }

    /// Writes what the operation has brought.
    ///
    /// # Safety
    /// No other thread reads or writes there.
    pub unsafe fn give_back(&self) {
        // SAFETY: the caller's promise.
        (0..self.blocks.len()).for_each(|block| unsafe { self.give_back_block(block) });
    }

    /// Writes what the operation has brought for a block, if there is such a block and data go that way.
    ///
    /// # Safety
    /// As [`Image::give_back`].
    pub unsafe fn give_back_block(&self, block: usize) {
        let Some((from, count)) = self.blocks.get(block).filter(|_| self.direction == Direction::Into) else {
            return;
        };
        let memory = self.memory.as_ptr().cast::<u8>();
        let write = |at: i64, from: i64, n: i64| {
            // SAFETY: as in `take_over`.
            unsafe {
                let place = memory.offset((from - self.low) as isize);
                self.base.offset(at as isize).copy_from_nonoverlapping(place, n as usize);
            }
        };
        if self.extent == 1 && self.spans == [(0, 1)] {
            return self.section.pieces(*from, *count, write);
        }
        for i in 0..*count {
            for (at, n) in &self.spans {
                self.section.pieces(from + i * self.extent + at, *n, write);
            }
        }
    }
}

/// Bytes of a block, without holes between its elements.
fn spans_of(block: &typemap::Block) -> Vec<(i64, i64)> {
    let basic = block.of;
    if basic.reach == basic.extent {
        return vec![(block.at, block.count * basic.extent)];
    }
    (0..block.count).map(|i| (block.at + i * basic.extent, basic.reach)).collect()
}
