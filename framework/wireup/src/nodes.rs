//! Which rank is on which node, in space that follows the pattern and not the number of ranks.
//!
//! Ranks are dealt to nodes in patterns: some to each node in turn (`--map-by slot`), or one to each and again
//! (`--map-by node`). A [`Block`] is one such pattern: `each` ranks to each of `nodes` nodes that follow each other, and
//! that `times` times. A regular job is one block, a job with nodes of different sizes has one block for each change,
//! and what has no pattern at all has one block for each run of ranks. Every question costs one look at the blocks.

use super::frame::{Builder, Fields, Malformed};

/// The nodes of all ranks of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeMap {
    blocks: Vec<Block>,
}

/// A pattern: `each` ranks to each of `nodes` nodes from `node` on, `times` times over, from rank `rank` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    /// The first rank, and the first node.
    rank: u32,
    node: u32,
    nodes: u32,
    each: u32,
    times: u32,
}

impl Block {
    /// How many ranks the block has.
    fn size(&self) -> u64 {
        u64::from(self.nodes) * u64::from(self.each) * u64::from(self.times)
    }

    /// Whether the block has ranks on this node.
    fn has(&self, node: u32) -> bool {
        node.checked_sub(self.node).is_some_and(|n| n < self.nodes)
    }

    /// Whether both blocks give as many ranks to the same nodes in each turn; first rank and number of turns may
    /// differ.
    fn same_pattern(&self, other: &Block) -> bool {
        (self.node, self.nodes, self.each) == (other.node, other.nodes, other.each)
    }
}

impl NodeMap {
    /// All ranks of a job on one node.
    pub fn one_node(size: u32) -> NodeMap {
        NodeMap { blocks: vec![Block { rank: 0, node: 0, nodes: 1, each: size, times: 1 }] }
    }

    /// Makes the map from the node of each rank; there is at least one rank and there are fewer than 2³¹.
    pub fn of(nodes: &[u32]) -> NodeMap {
        let mut strips: Vec<Block> = Vec::new();
        let mut rank = 0;
        for run in nodes.chunk_by(|a, b| a == b) {
            let (node, each) = (run[0], run.len() as u32);
            match strips.last_mut() {
                Some(last) if last.node + last.nodes == node && last.each == each => last.nodes += 1,
                _ => strips.push(Block { rank, node, nodes: 1, each, times: 1 }),
            }
            rank += each;
        }
        let mut blocks: Vec<Block> = Vec::new();
        for strip in strips {
            match blocks.last_mut() {
                Some(last) if last.same_pattern(&strip) => last.times += 1,
                _ => blocks.push(strip),
            }
        }
        NodeMap { blocks }
    }

    /// How many ranks there are.
    pub fn size(&self) -> u32 {
        // Checked where it came from.
        self.blocks.last().map_or(0, |last| last.rank + last.size() as u32)
    }

    /// How many nodes: one more than the highest number.
    pub fn nodes(&self) -> u32 {
        self.blocks.iter().map(|block| block.node + block.nodes).max().unwrap_or(0)
    }

    /// The node of a rank; None: there is no such rank.
    pub fn node_of(&self, rank: u32) -> Option<u32> {
        let (block, offset) = self.find(rank)?;
        Some(block.node + offset / block.each % block.nodes)
    }

    /// How many lower ranks are on the same node; `None`: there is no such rank.
    pub fn local_rank_of(&self, rank: u32) -> Option<u32> {
        let node = self.node_of(rank)?;
        let (own, offset) = self.find(rank)?;
        let earlier = self.blocks.iter().take_while(|block| block.rank < own.rank);
        let before: u32 = earlier.filter(|block| block.has(node)).map(|block| block.times * block.each).sum();
        Some(before + offset / (own.nodes * own.each) * own.each + offset % own.each)
    }

    /// How many ranks a node has.
    pub fn count(&self, node: u32) -> u32 {
        self.blocks.iter().filter(|block| block.has(node)).map(|block| block.times * block.each).sum()
    }

    /// The ranks of a node, ascending.
    pub fn ranks_of(&self, node: u32) -> Vec<u32> {
        let mut ranks = Vec::with_capacity(self.count(node) as usize);
        for block in self.blocks.iter().filter(|block| block.has(node)) {
            for turn in 0..block.times {
                let first = block.rank + (turn * block.nodes + (node - block.node)) * block.each;
                ranks.extend(first..first + block.each);
            }
        }
        ranks
    }

    /// The block that has a rank, and the rank's offset in it; `None`: there is no such rank.
    fn find(&self, rank: u32) -> Option<(&Block, u32)> {
        let at = self.blocks.partition_point(|block| block.rank <= rank).checked_sub(1)?;
        let (block, offset) = (&self.blocks[at], rank - self.blocks[at].rank);
        (u64::from(offset) < block.size()).then_some((block, offset))
    }

    /// Appends the map to a frame.
    pub fn encode(&self, into: Builder) -> Builder {
        self.blocks.iter().fold(into.count(self.blocks.len()), |b, block| {
            b.u32(block.node).u32(block.nodes).u32(block.each).u32(block.times)
        })
    }

    /// Reads a map from a frame's fields; refuses one without ranks, with more than MPI can number, or with patterns
    /// without ranks.
    pub fn decode(f: &mut Fields<'_>) -> Result<NodeMap, Malformed> {
        let wrong = |value: u64| Malformed::Value { field: "map of nodes", value };
        let mut blocks = f.list("map of nodes", 16, |f| {
            let (node, nodes) = (f.u32("first node")?, f.u32("nodes")?);
            Ok(Block { rank: 0, node, nodes, each: f.u32("ranks of each")?, times: f.u32("turns")? })
        })?;
        let mut size = 0_u64;
        for block in &mut blocks {
            block.rank = size as u32;
            // Three numbers of 32 bits: the product of two fits, that of three may not.
            let ranks = (u64::from(block.nodes) * u64::from(block.each)).checked_mul(block.times.into());
            size = ranks.and_then(|ranks| size.checked_add(ranks)).unwrap_or(u64::MAX);
            if ranks == Some(0) || size > i32::MAX as u64 || block.node > u32::MAX - block.nodes {
                return Err(wrong(size));
            }
        }
        if size == 0 { Err(wrong(0)) } else { Ok(NodeMap { blocks }) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::HEADER;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn regular_jobs_are_one_block() {
        let by_slot: Vec<u32> = (0..4000).map(|rank| rank / 40).collect();
        let by_node: Vec<u32> = (0..4000).map(|rank| rank % 100).collect();
        for (nodes, local) in [(by_slot, 13), (by_node, 20)] {
            let map = NodeMap::of(&nodes);
            assert_eq!((map.blocks.len(), map.size(), map.nodes()), (1, 4000, 100));
            assert_eq!(map.count(99), 40);
            assert_eq!(map.local_rank_of(2013), Some(local));
        }
        assert_eq!(NodeMap::one_node(3), NodeMap::of(&[0, 0, 0]));
    }

    #[test]
    fn what_is_no_map_is_refused() {
        let map = |blocks: &[[u32; 4]]| {
            let b = Builder::new(1).count(blocks.len());
            let b = blocks.iter().fold(b, |b, block| block.iter().fold(b, |b, n| b.u32(*n)));
            let bytes = b.finish().expect("short");
            NodeMap::decode(&mut Fields::new(&bytes[HEADER..]))
        };
        assert!(map(&[[0, 2, 3, 1]]).is_ok());
        let most = u32::MAX;
        for wrong in [
            &[][..],
            &[[0, 0, 3, 1]],
            &[[0, 2, 3, 0]],
            &[[0, most, most, most]],
            &[[0, 1, 1 << 31, 1]],
            &[[most, 1, 1, 1]],
            &[[0, 1, 1 << 30, 1], [0, 1, 1 << 30, 1]],
        ] {
            assert!(map(wrong).is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn answers_are_those_of_the_list(nodes in prop::collection::vec(0u32..4, 1..60)) {
            let map = NodeMap::of(&nodes);
            let bytes = map.encode(Builder::new(1)).finish().expect("short");
            prop_assert_eq!(&NodeMap::decode(&mut Fields::new(&bytes[HEADER..])).expect("one"), &map);
            prop_assert_eq!(map.size() as usize, nodes.len());
            prop_assert_eq!(map.node_of(map.size()), None);
            for (rank, &node) in nodes.iter().enumerate() {
                prop_assert_eq!(map.node_of(rank as u32), Some(node));
                let before = nodes[..rank].iter().filter(|n| **n == node).count() as u32;
                prop_assert_eq!(map.local_rank_of(rank as u32), Some(before));
            }
            for node in 0..5 {
                let ranks: Vec<u32> = (0..map.size()).filter(|r| nodes[*r as usize] == node).collect();
                prop_assert_eq!(map.count(node) as usize, ranks.len());
                prop_assert_eq!(map.ranks_of(node), ranks);
            }
        }
    }
}
