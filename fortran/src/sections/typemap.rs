//! The typemap of a datatype: basic types and where they lie, in order. Equal ones that follow each other without a gap are one block.

use super::contents::{Call, Old, call};
use super::mpi::Datatype;
use crate::abi::Handle;
use core::ffi::c_int;

/// A type that is not taken apart. Bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Basic {
    pub handle: Handle,
    /// From one to the next.
    pub extent: i64,
    /// Memory of one.
    pub reach: i64,
}

impl Basic {
    /// The type of which a pair of Fortran's is made, which has twice that (MPI 5.0 §6.9.4).
    pub fn half(self) -> Option<Basic> {
        const HALVES: [(Handle, Handle); 4] =
            [(0x22b, 0x209), (0x230, 0x21a), (0x231, 0x21c), (0x232, 0x219)];
        let (_, handle) = HALVES.into_iter().find(|(pair, _)| *pair == self.handle)?;
        Some(Basic { handle, extent: self.extent / 2, reach: self.extent / 2 })
    }
}

/// So many of a type, from that byte on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    pub at: i64,
    pub count: i64,
    pub of: Basic,
}

impl Block {
    fn end(&self) -> i64 {
        self.at + self.count * self.of.extent
    }
}

/// Adds a block, or makes the last one longer.
pub fn push(blocks: &mut Vec<Block>, block: Block) {
    match blocks.last_mut() {
        Some(last) if last.of == block.of && last.end() == block.at => last.count += block.count,
        _ => blocks.push(block),
    }
}

/// The typemap of one.
pub fn of(datatype: Handle) -> Result<Vec<Block>, c_int> {
    let mut blocks = Vec::new();
    match call(datatype)? {
        Call::Basic => {
            let asked = Datatype::of(datatype)?;
            let basic = Basic { handle: datatype, extent: asked.extent, reach: asked.high };
            if asked.size > 0 {
                blocks.push(Block { at: 0, count: 1, of: basic });
            }
        }
        Call::Same(old) => blocks = of(old.handle())?,
        Call::Vector { count, length, stride, in_bytes, of } => {
            let part = Part::of(&of)?;
            let stride = if in_bytes { stride } else { stride * part.extent };
            (0..count).for_each(|i| part.repeat(&mut blocks, i * stride, length));
        }
        Call::Indexed { lengths, displacements, in_bytes, of } => {
            let part = Part::of(&of)?;
            let unit = if in_bytes { 1 } else { part.extent };
            let all = lengths.iter().zip(displacements);
            all.for_each(|(length, at)| part.repeat(&mut blocks, at * unit, *length));
        }
        Call::Struct { lengths, displacements, of } => {
            for ((old, length), at) in of.iter().zip(lengths).zip(displacements) {
                Part::of(old)?.repeat(&mut blocks, at, length);
            }
        }
        Call::Array { dimensions, of } => Part::of(&of)?.array(&mut blocks, &dimensions, 0),
    }
    Ok(blocks)
}

/// A datatype of which another one is made.
struct Part {
    blocks: Vec<Block>,
    extent: i64,
}

impl Part {
    fn of(old: &Old) -> Result<Part, c_int> {
        Ok(Part { blocks: of(old.handle())?, extent: Datatype::of(old.handle())?.extent })
    }

    /// Adds so many, one behind the other.
    fn repeat(&self, into: &mut Vec<Block>, at: i64, count: i64) {
        if let [one] = self.blocks[..]
            && one.count * one.of.extent == self.extent
            && count > 0
        {
            return push(into, Block { at: at + one.at, count: count * one.count, of: one.of });
        }
        for i in 0..count {
            for block in &self.blocks {
                push(into, Block { at: at + i * self.extent + block.at, ..*block });
            }
        }
    }

    /// Adds those at the indices of an array; `first`: the number of elements in front of where it begins.
    fn array(&self, into: &mut Vec<Block>, dimensions: &[(i64, Vec<i64>)], first: i64) {
        let Some(((_, indices), inner)) = dimensions.split_last() else {
            return self.repeat(into, first * self.extent, 1);
        };
        let below: i64 = inner.iter().map(|(length, _)| length).product();
        indices.iter().for_each(|i| self.array(into, inner, first + i * below));
    }
}
