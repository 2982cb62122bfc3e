//! Graphs (MPI 5.0 §8.5.3, §8.5.4): one that every rank knows whole, and one of which each rank knows the edges that
//! begin or end at it.

/// A graph as MPI_Graph_create takes it: where each node's neighbors end, and all neighbors one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    index: Vec<i32>,
    edges: Vec<i32>,
}

/// An error in the description of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The end of this node's neighbors is before that of the node before it.
    Index(usize),
    /// This edge leads to no node.
    Edge(usize),
}

impl Graph {
    /// The number of edges that an index describes; an error where the index falls.
    pub fn num_edges(index: &[i32]) -> Result<usize, Flaw> {
        let falls = |at: &usize| index[*at] < if *at == 0 { 0 } else { index[*at - 1] };
        match (0..index.len()).find(falls) {
            Some(at) => Err(Flaw::Index(at)),
            None => Ok(index.last().map_or(0, |n| *n as usize)),
        }
    }

    /// Makes a graph of an index and at least as many edges as it describes; an error where an edge leads to no node.
    pub fn new(index: &[i32], edges: &[i32]) -> Result<Graph, Flaw> {
        let n = Graph::num_edges(index)?;
        let strays = |to: &i32| usize::try_from(*to).map_or(true, |to| to >= index.len());
        match edges[..n].iter().position(strays) {
            Some(at) => Err(Flaw::Edge(at)),
            None => Ok(Graph { index: index.to_vec(), edges: edges[..n].to_vec() }),
        }
    }

    /// The ends of the nodes' neighbors in the list of edges, by node.
    pub fn index(&self) -> &[i32] {
        &self.index
    }

    /// The neighbors of all nodes, one node's behind the other's.
    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// The neighbors of node `rank`, in the order given.
    pub fn neighbors(&self, rank: u32) -> &[i32] {
        let at = rank as usize;
        let start = if at == 0 { 0 } else { self.index[at - 1] };
        &self.edges[start as usize..self.index[at] as usize]
    }
}

/// The edges at one rank, of those that come in or go out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// At the other end.
    pub ranks: Vec<i32>,
    /// As many; empty where the graph has no weights.
    pub weights: Vec<i32>,
}

/// One rank's part of a distributed graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistGraph {
    pub sources: Side,
    pub destinations: Side,
    pub weighted: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_are_cut_out_of_the_list() {
        // The example of the standard: 0-1, 0-3, 2-3.
        let graph = Graph::new(&[2, 3, 4, 6], &[1, 3, 0, 3, 0, 2]).unwrap();
        let all: Vec<&[i32]> = (0..4).map(|r| graph.neighbors(r)).collect();
        assert_eq!(all, [&[1, 3][..], &[0], &[3], &[0, 2]]);
        let empty = Graph::new(&[0, 0], &[]).unwrap();
        assert!(empty.neighbors(0).is_empty() && empty.neighbors(1).is_empty());
        // Loops, several edges, one-way edges.
        let odd = Graph::new(&[3, 3], &[0, 1, 1]).unwrap();
        assert_eq!(odd.neighbors(0), [0, 1, 1]);
    }

    #[test]
    fn flaws_are_named() {
        assert_eq!(Graph::new(&[-1, 0], &[]), Err(Flaw::Index(0)));
        assert_eq!(Graph::new(&[1, 0], &[0]), Err(Flaw::Index(1)));
        assert_eq!(Graph::new(&[1, 3], &[0, 2, 1]), Err(Flaw::Edge(1)));
        assert_eq!(Graph::new(&[1], &[-1]), Err(Flaw::Edge(0)));
        assert_eq!(Graph::num_edges(&[]), Ok(0));
    }
}
