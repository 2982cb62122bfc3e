//! Graph topologies (MPI 5.0 §8.5.3, §8.5.4).

use crate::call::memory::{length, slice, write};
use crate::call::process::Process;
use crate::comm::CommObject;
use crate::comm::lifetime::adopt;
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::info;
use crate::topo::{attach, fill, intra, make, mapped, not_null, placed, rank_in, wrong_kind};
use crate::types::{Comm, Info};
use core::ffi::c_int;
use oxmpi_runtime::topo::graph::{Flaw, Side};
use oxmpi_runtime::topo::{DistGraph, Edge, Graph, Topology, Weighing};

fn graph(comm: Comm) -> Res<(&'static CommObject, &'static Graph)> {
    let (object, placed) = placed(comm)?;
    match &placed.topology {
        Topology::Graph(graph) => Ok((object, graph)),
        _ => wrong_kind(object, "graph"),
    }
}

fn dist_graph(comm: Comm) -> Res<&'static DistGraph> {
    let (object, placed) = placed(comm)?;
    match &placed.topology {
        Topology::DistGraph(graph) => Ok(graph),
        _ => wrong_kind(object, "distributed graph"),
    }
}

/// A graph as a user describes it, for at most `most` ranks.
fn described(nnodes: c_int, index: *const c_int, edges: *const c_int, most: u32) -> Res<Graph> {
    let n = length(nnodes, "nnodes")?;
    if n > most as usize {
        return Failure::err(MPI_ERR_ARG, format!("nnodes is {nnodes}, there are {most} ranks"));
    }
    let index = slice(index, n, "index")?;
    let flawed = |flaw| match flaw {
        Flaw::Index(at) => {
            Failure::new(MPI_ERR_ARG, format!("index[{at}] is {}, less than before it", index[at]))
        }
        Flaw::Edge(at) => Failure::new(MPI_ERR_ARG, format!("edges[{at}] is no node below {nnodes}")),
    };
    let edges = slice(edges, Graph::num_edges(index).map_err(flawed)?, "edges")?;
    Graph::new(index, edges).map_err(flawed)
}

mpi_fn! {
    fn MPI_Graph_create(comm_old: Comm, nnodes: c_int, index: *const c_int, edges: *const c_int, _reorder: c_int, comm_graph: *mut Comm) -> c_int {
        call(NAME, Some(comm_old), |process| {
            let parent = intra(comm_old, "comm_old")?;
            not_null(comm_graph, "comm_graph")?;
            let graph = described(nnodes, index, edges, parent.comm.size())?;
            let ranks: Vec<u32> = (0..graph.index().len() as u32).collect();
            make(process, parent, &ranks, || Topology::Graph(graph), comm_graph)
        })
    }
}
mpi_fn! {
    fn MPI_Graphdims_get(comm: Comm, nnodes: *mut c_int, nedges: *mut c_int) -> c_int {
        call(NAME, Some(comm), |_| {
            let (_, graph) = graph(comm)?;
            write(nnodes, "nnodes", graph.index().len() as c_int)?;
            write(nedges, "nedges", graph.edges().len() as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_Graph_get(comm: Comm, maxindex: c_int, maxedges: c_int, index: *mut c_int, edges: *mut c_int) -> c_int {
        call(NAME, Some(comm), |_| {
            let (_, graph) = graph(comm)?;
            let (room, more) = (length(maxindex, "maxindex")?, length(maxedges, "maxedges")?);
            fill(index, room, "index", graph.index().iter().copied())?;
            fill(edges, more, "edges", graph.edges().iter().copied())
        })
    }
}
mpi_fn! {
    fn MPI_Graph_neighbors_count(comm: Comm, rank: c_int, nneighbors: *mut c_int) -> c_int {
        call(NAME, Some(comm), |_| {
            let (object, graph) = graph(comm)?;
            write(nneighbors, "nneighbors", graph.neighbors(rank_in(object, rank)?).len() as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_Graph_neighbors(comm: Comm, rank: c_int, maxneighbors: c_int, neighbors: *mut c_int) -> c_int {
        call(NAME, Some(comm), |_| {
            let (object, graph) = graph(comm)?;
            let all = graph.neighbors(rank_in(object, rank)?);
            fill(neighbors, length(maxneighbors, "maxneighbors")?, "neighbors", all.iter().copied())
        })
    }
}
mpi_fn! {
    fn MPI_Graph_map(comm: Comm, nnodes: c_int, index: *const c_int, edges: *const c_int, newrank: *mut c_int) -> c_int {
        call(NAME, Some(comm), |_| {
            let object = intra(comm, "comm")?;
            let graph = described(nnodes, index, edges, object.comm.size())?;
            write(newrank, "newrank", mapped(object, graph.index().len() as u32))
        })
    }
}

/// Weights as a user gives them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Weights<'a> {
    Unweighted,
    Given(&'a [c_int]),
    /// A null pointer, of no edges: either.
    None,
}

fn weights<'a>(at: *const c_int, n: usize, name: &str) -> Res<Weights<'a>> {
    match at as usize {
        MPI_UNWEIGHTED => return Ok(Weights::Unweighted),
        0 if n == 0 => return Ok(Weights::None),
        MPI_WEIGHTS_EMPTY if n == 0 => return Ok(Weights::Given(&[])),
        MPI_WEIGHTS_EMPTY => {
            return Failure::err(MPI_ERR_ARG, format!("{name} is MPI_WEIGHTS_EMPTY, there are {n} edges"));
        }
        _ => {}
    }
    let given = slice(at, n, name)?;
    match given.iter().position(|w| *w < 0) {
        Some(at) => Failure::err(MPI_ERR_ARG, format!("{name}[{at}] is {}", given[at])),
        None => Ok(Weights::Given(given)),
    }
}

impl Weights<'_> {
    fn weighing(self) -> Weighing {
        match self {
            Weights::Unweighted => Weighing::Unweighted,
            Weights::Given(_) => Weighing::Weighted,
            Weights::None => Weighing::Silent,
        }
    }

    fn of(self, edge: usize) -> c_int {
        if let Weights::Given(all) = self { all[edge] } else { 0 }
    }

    fn list(self) -> Vec<c_int> {
        if let Weights::Given(all) = self { all.to_vec() } else { Vec::new() }
    }
}

/// Ranks of a communicator from C.
fn ranks<'a>(object: &CommObject, at: *const c_int, n: usize, name: &str) -> Res<&'a [c_int]> {
    let given = slice(at, n, name)?;
    let size = object.comm.size();
    match given.iter().position(|r| u32::try_from(*r).map_or(true, |r| r >= size)) {
        None => Ok(given),
        Some(at) => Failure::err(
            MPI_ERR_RANK,
            format!("{name}[{at}] is {}, ranks are 0 to {}", given[at], size.saturating_sub(1)),
        ),
    }
}

/// A communicator of the same ranks with a distributed graph.
fn give(process: &Process, parent: &CommObject, graph: DistGraph, new: *mut Comm) -> Res {
    let made = parent.comm.dup(process.thread(), None)?;
    let rank = made.rank();
    let handle = adopt(parent, made)?;
    attach(handle, Topology::DistGraph(graph), rank);
    write(new, "comm_dist_graph", handle)
}

mpi_fn! {
    /// Nothing is sent: every rank tells its own edges.
    fn MPI_Dist_graph_create_adjacent(comm_old: Comm, indegree: c_int, sources: *const c_int, sourceweights: *const c_int, outdegree: c_int, destinations: *const c_int, destweights: *const c_int, info: Info, _reorder: c_int, comm_dist_graph: *mut Comm) -> c_int {
        call(NAME, Some(comm_old), |process| {
            let parent = intra(comm_old, "comm_old")?;
            not_null(comm_dist_graph, "comm_dist_graph")?;
            info::optional(info)?;
            let (ins, outs) = (length(indegree, "indegree")?, length(outdegree, "outdegree")?);
            let sources = ranks(parent, sources, ins, "sources")?;
            let destinations = ranks(parent, destinations, outs, "destinations")?;
            let of_sources = weights(sourceweights, ins, "sourceweights")?;
            let of_destinations = weights(destweights, outs, "destweights")?;
            let said = [of_sources.weighing(), of_destinations.weighing()];
            let weighted = !said.contains(&Weighing::Unweighted);
            if !weighted && said.contains(&Weighing::Weighted) {
                return Failure::err(MPI_ERR_ARG, "only one of sourceweights and destweights is MPI_UNWEIGHTED");
            }
            let side = |ranks: &[c_int], weights: Weights| Side { ranks: ranks.to_vec(), weights: weights.list() };
            let graph = DistGraph {
                sources: side(sources, of_sources),
                destinations: side(destinations, of_destinations),
                weighted,
            };
            give(process, parent, graph, comm_dist_graph)
        })
    }
}
mpi_fn! {
    fn MPI_Dist_graph_create(comm_old: Comm, n: c_int, sources: *const c_int, degrees: *const c_int, destinations: *const c_int, weights: *const c_int, info: Info, _reorder: c_int, comm_dist_graph: *mut Comm) -> c_int {
        call(NAME, Some(comm_old), |process| {
            let parent = intra(comm_old, "comm_old")?;
            not_null(comm_dist_graph, "comm_dist_graph")?;
            info::optional(info)?;
            let n = length(n, "n")?;
            let sources = ranks(parent, sources, n, "sources")?;
            let degrees = slice(degrees, n, "degrees")?;
            if let Some(at) = degrees.iter().position(|d| *d < 0) {
                return Failure::err(MPI_ERR_ARG, format!("degrees[{at}] is {}", degrees[at]));
            }
            let total = degrees.iter().map(|d| *d as usize).sum();
            let destinations = ranks(parent, destinations, total, "destinations")?;
            let weights = self::weights(weights, total, "weights")?;
            let from = sources.iter().zip(degrees).flat_map(|(from, d)| core::iter::repeat_n(*from, *d as usize));
            let edge = |(at, (from, to)): (usize, (c_int, &c_int))| Edge {
                from: from as u32,
                to: *to as u32,
                weight: weights.of(at),
            };
            let edges: Vec<Edge> = from.zip(destinations).enumerate().map(edge).collect();
            let graph = parent.comm.share_edges(process.thread(), &edges, weights.weighing())?;
            give(process, parent, graph, comm_dist_graph)
        })
    }
}
mpi_fn! {
    fn MPI_Dist_graph_neighbors_count(comm: Comm, indegree: *mut c_int, outdegree: *mut c_int, weighted: *mut c_int) -> c_int {
        call(NAME, Some(comm), |_| {
            let graph = dist_graph(comm)?;
            write(indegree, "indegree", graph.sources.ranks.len() as c_int)?;
            write(outdegree, "outdegree", graph.destinations.ranks.len() as c_int)?;
            write(weighted, "weighted", c_int::from(graph.weighted))
        })
    }
}
mpi_fn! {
    /// Of a graph without weights none are told.
    fn MPI_Dist_graph_neighbors(comm: Comm, maxindegree: c_int, sources: *mut c_int, sourceweights: *mut c_int, maxoutdegree: c_int, destinations: *mut c_int, destweights: *mut c_int) -> c_int {
        call(NAME, Some(comm), |_| {
            let graph = dist_graph(comm)?;
            let (ins, outs) = (length(maxindegree, "maxindegree")?, length(maxoutdegree, "maxoutdegree")?);
            tell(&graph.sources, ins, (sources, "sources"), (sourceweights, "sourceweights"))?;
            tell(&graph.destinations, outs, (destinations, "destinations"), (destweights, "destweights"))
        })
    }
}

fn tell(side: &Side, room: usize, ranks: (*mut c_int, &str), weights: (*mut c_int, &str)) -> Res {
    fill(ranks.0, room, ranks.1, side.ranks.iter().copied())?;
    match weights.0 as usize {
        MPI_UNWEIGHTED | MPI_WEIGHTS_EMPTY => Ok(()),
        _ => fill(weights.0, room, weights.1, side.weights.iter().copied()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_given_or_named() {
        let sentinel =
            |address: usize, n| weights(core::ptr::without_provenance(address), n, "w").map_err(|f| f.code);
        assert_eq!(sentinel(MPI_UNWEIGHTED, 3), Ok(Weights::Unweighted));
        assert_eq!(sentinel(MPI_WEIGHTS_EMPTY, 0), Ok(Weights::Given(&[])));
        assert_eq!(sentinel(MPI_WEIGHTS_EMPTY, 1), Err(MPI_ERR_ARG));
        assert_eq!(sentinel(0, 0), Ok(Weights::None));
        assert_eq!(sentinel(0, 1), Err(MPI_ERR_ARG));
        let given = [1, 0, 2];
        assert_eq!(weights(given.as_ptr(), 3, "w").unwrap(), Weights::Given(&given));
        let wrong = [1, -1];
        assert_eq!(weights(wrong.as_ptr(), 2, "w").unwrap_err().code, MPI_ERR_ARG);
    }
}
