//! How the ranks of a communicator lie on nodes: what all decisions about levels rest on. Equal in all ranks.

use oxmpi_mca::Place;

/// The node of a rank, and its number on the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    pub node: u32,
    pub local: u32,
}

/// See the head of this file.
#[derive(Debug)]
pub struct Shape {
    seats: Vec<Seat>,
    /// The ranks, node by node.
    order: Vec<u32>,
    /// Where each node's ranks begin in `order`, and behind the last node their number.
    starts: Vec<u32>,
    least: u32,
    is_in_blocks: bool,
    is_even: bool,
}

impl Shape {
    /// The shape of ranks with these places.
    pub fn new(places: &[Place]) -> Shape {
        let seats: Vec<Seat> =
            places.iter().map(|place| Seat { node: place.node, local: place.node_rank }).collect();
        let mut order: Vec<u32> = (0..).take(seats.len()).collect();
        // Stable, so the ranks of a node keep their order.
        order.sort_by_key(|rank| seats[*rank as usize].node);
        let is_first = |at: &usize| {
            let node = |at: usize| seats[order[at] as usize].node;
            *at == 0 || node(*at - 1) != node(*at)
        };
        let mut starts: Vec<u32> = (0..order.len()).filter(is_first).map(|at| at as u32).collect();
        starts.push(order.len() as u32);
        let sizes = starts.windows(2).map(|pair| pair[1] - pair[0]);
        let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
        let is_in_blocks = order.iter().zip(0..).all(|(rank, at)| *rank == at);
        Shape { seats, order, starts, least, is_in_blocks, is_even: least == most }
    }

    /// The seat of a rank.
    pub fn seat(&self, rank: u32) -> Seat {
        self.seats[rank as usize]
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// The ranks of a node.
    pub fn on(&self, node: u32) -> &[u32] {
        let at = node as usize;
        &self.order[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// How many ranks lie on nodes before this one.
    pub fn start(&self, node: u32) -> u32 {
        self.starts[node as usize]
    }

    /// All ranks, node by node.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Whether every node has a rank of this number on its node.
    pub fn spans(&self, local: u32) -> bool {
        local < self.least
    }

    /// The number of a node's rank among the ranks of this number on their nodes, which are in the order of ranks. Every node has one.
    pub fn across(&self, local: u32, node: u32) -> u32 {
        let rank = |node: u32| self.on(node)[local as usize];
        (0..self.nodes()).filter(|other| rank(*other) < rank(node)).count() as u32
    }

    /// Whether every node has a rank of this number, and those are in the order of nodes.
    pub fn spans_in_order(&self, local: u32) -> bool {
        self.spans(local) && (0..self.nodes()).all(|node| self.across(local, node) == node)
    }

    /// Whether the ranks, node by node, are in their order: each node has ranks that follow each other.
    pub fn is_in_blocks(&self) -> bool {
        self.is_in_blocks
    }

    /// Whether all nodes have as many ranks.
    pub fn is_even(&self) -> bool {
        self.is_even
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape of ranks on these nodes.
    fn shape(nodes: &[u32]) -> Shape {
        let count = |of: &[u32], node| of.iter().filter(|other| **other == node).count() as u32;
        let place = |(rank, node): (usize, &u32)| Place {
            proc: rank as u32,
            node: *node,
            node_rank: count(&nodes[..rank], *node),
            node_size: count(nodes, *node),
            endpoint: 0,
            local: 0,
        };
        Shape::new(&nodes.iter().enumerate().map(place).collect::<Vec<_>>())
    }

    #[test]
    fn blocks_are_told_from_ranks_that_are_dealt() {
        let blocks = shape(&[0, 0, 1, 1, 1]);
        assert!(blocks.is_in_blocks() && !blocks.is_even());
        assert_eq!((blocks.nodes(), blocks.start(1), blocks.on(1)), (2, 2, &[2, 3, 4][..]));
        assert!(blocks.spans(1) && !blocks.spans(2));
        let dealt = shape(&[0, 1, 0, 1]);
        assert!(!dealt.is_in_blocks() && dealt.is_even());
        assert_eq!((dealt.order(), dealt.seat(3)), (&[0, 2, 1, 3][..], Seat { node: 1, local: 1 }));
        assert!(dealt.spans_in_order(1) && !dealt.spans_in_order(2));
    }

    #[test]
    fn second_ranks_of_nodes_may_be_in_another_order_than_nodes() {
        let crossed = shape(&[0, 1, 1, 0]);
        assert_eq!((crossed.across(0, 1), crossed.across(1, 1), crossed.across(1, 0)), (1, 0, 1));
        assert!(crossed.spans_in_order(0) && !crossed.spans_in_order(1) && crossed.spans(1));
    }
}
