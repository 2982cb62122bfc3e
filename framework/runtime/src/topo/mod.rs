//! Process topologies: who is next to whom (MPI 5.0 §8). These modules know ranks only; communicators that have a
//! topology keep it in the C interface, and neighborhood collectives get the list of a rank's neighbors with each
//! call, so that components know nothing of topologies.
//!
//! `dims` (MPI_Dims_create) · `cart` (grids) · `graph` (graphs known to all ranks, and those of which a rank knows its
//! own edges) · `edges` (how ranks learn of the edges that others name).

pub mod cart;
pub mod dims;
mod edges;
pub mod graph;

pub use cart::{Cart, NOBODY};
pub use edges::{Edge, Weighing};
pub use graph::{DistGraph, Graph};

/// A communicator's topology, as one rank knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    Cart(Cart),
    Graph(Graph),
    DistGraph(DistGraph),
}

/// Whom a rank gets from and sends to in neighborhood collectives, in the order of the blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbors {
    pub sources: Vec<i32>,
    pub destinations: Vec<i32>,
    /// Blocks come in pairs: see [`oxmpi_coll::neighbors::PAIRS`].
    pub pairs: bool,
}

impl Topology {
    /// The neighbors of a rank; of a distributed graph those of the rank that has it.
    pub fn neighbors(&self, rank: u32) -> Neighbors {
        match self {
            Topology::Cart(cart) => {
                let both = cart.neighbors(rank);
                Neighbors { sources: both.clone(), destinations: both, pairs: true }
            }
            Topology::Graph(graph) => {
                let both = graph.neighbors(rank).to_vec();
                Neighbors { sources: both.clone(), destinations: both, pairs: false }
            }
            Topology::DistGraph(graph) => {
                let ranks = |side: &graph::Side| side.ranks.clone();
                Neighbors {
                    sources: ranks(&graph.sources),
                    destinations: ranks(&graph.destinations),
                    pairs: false,
                }
            }
        }
    }
}
