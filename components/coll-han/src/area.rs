//! Blocks of all ranks, packed, node by node: how they travel between nodes, in the user's buffer or in temporary memory.

use crate::call::Call;
use crate::shape::Shape;
use core::ops::Range;
use oxmpi_coll::CollArgs;
use oxmpi_coll_support::layout::BYTE;
use oxmpi_coll_support::{Place, Result};
use oxmpi_mca::Status;

/// Lengths of blocks in bytes, by their places in the order of [`Shape::order`]. Equal in all ranks.
pub enum Lengths {
    /// All blocks have so many.
    Equal(u64),
    /// Where each block begins, and behind the last where it ends.
    Starts(Vec<u64>),
}

impl Lengths {
    /// Where each rank has `count(rank)` elements of `size` bytes. BAD_PARAM: more than MPI can count.
    pub fn of(shape: &Shape, size: u64, count: impl Fn(u32) -> u64) -> Result<Lengths> {
        let mut starts = Vec::with_capacity(shape.order().len() + 1);
        starts.push(0u64);
        for rank in shape.order() {
            let end = count(*rank).checked_mul(size).and_then(|len| len.checked_add(*starts.last()?));
            starts.push(end.filter(|end| *end <= i64::MAX as u64).ok_or(Status::BAD_PARAM)?);
        }
        Ok(Lengths::Starts(starts))
    }

    /// Where the block at a place begins.
    pub fn start(&self, place: u32) -> u64 {
        match self {
            Lengths::Equal(len) => len * u64::from(place),
            Lengths::Starts(starts) => starts[place as usize],
        }
    }

    /// Bytes of the block at a place.
    pub fn len(&self, place: u32) -> u64 {
        self.start(place + 1) - self.start(place)
    }

    /// Bytes of the blocks of a node.
    pub fn on(&self, shape: &Shape, node: u32) -> u64 {
        self.start(shape.start(node + 1)) - self.start(shape.start(node))
    }

    /// Bytes of all blocks.
    pub fn all(&self, shape: &Shape) -> u64 {
        self.start(shape.start(shape.nodes()))
    }
}

/// Lists of counts and displacements in bytes, as arguments take them.
pub struct Lists {
    pub counts: Vec<u64>,
    pub displs: Vec<i64>,
}

impl Lists {
    /// Of blocks that follow each other from the first on; each begins and ends there.
    fn new(blocks: impl Iterator<Item = Range<u64>> + Clone, first: u64) -> Lists {
        Lists {
            counts: blocks.clone().map(|block| block.end - block.start).collect(),
            displs: blocks.map(|block| (block.start - first).cast_signed()).collect(),
        }
    }

    /// Those of the ranks of a node, from the node's first byte on.
    pub fn of_node(shape: &Shape, lengths: &Lengths, node: u32) -> Lists {
        let places = shape.start(node)..shape.start(node + 1);
        let blocks = places.map(|place| lengths.start(place)..lengths.start(place + 1));
        Lists::new(blocks, lengths.start(shape.start(node)))
    }

    /// Those of the nodes.
    pub fn of_nodes(shape: &Shape, lengths: &Lengths) -> Lists {
        let start = |node: u32| lengths.start(shape.start(node));
        Lists::new((0..shape.nodes()).map(move |node| start(node)..start(node + 1)), 0)
    }
}

/// Bytes as the receiving side of arguments, with `args` for the rest.
pub fn receives(bytes: Place<'_>, count: u64, args: CollArgs) -> CollArgs {
    CollArgs { recvbuf: bytes.raw().0, recvcount: count, recvtype: &BYTE, ..args }
}

/// Bytes as the sending side of arguments, with `args` for the rest.
pub fn sends(bytes: Place<'_>, count: u64, args: CollArgs) -> CollArgs {
    CollArgs { sendbuf: bytes.raw().0, sendcount: count, sendtype: &BYTE, ..args }
}

/// Moves blocks between temporary memory, in which they lie node by node, and the user's, in which `block` says where each rank's lies; `moves` gets the rank's place there, where its block
/// begins in the memory, and its length.
pub fn each_block<'a>(
    call: &Call<'_>,
    lengths: &Lengths,
    block: impl Fn(u32) -> Place<'a>,
    moves: impl Fn(Place<'a>, u64, u64),
) {
    for (rank, place) in call.shape().order().iter().zip(0..) {
        if lengths.len(place) > 0 {
            moves(block(*rank), lengths.start(place), lengths.len(place));
        }
    }
}
