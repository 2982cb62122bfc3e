//! Graph topologies (MPI 5.0 §8.5.3, §8.5.4).

use crate::call::memory::{In, Out, length, slice, write};
use crate::comm::CommObject;
use crate::comm::lifetime::adopt;
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::info;
use crate::topo::{attach, fill, intra, make, mapped, not_null, placed, rank_in, wrong_kind};
use crate::types::{Comm, Info};
use core::ffi::c_int;
use oxmpi_mca::Entry;
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
///
/// # Safety
/// The caller of the C function has promised `nnodes` numbers at `index`, and as many edges as the last of them says.
unsafe fn described(nnodes: c_int, index: In<c_int>, edges: In<c_int>, most: u32) -> Res<Graph> {
    let n = length(nnodes, "nnodes")?;
    if n > most as usize {
        return Failure::err(MPI_ERR_ARG, format!("nnodes is {nnodes}, there are {most} ranks"));
    }
    // SAFETY: the caller's promise.
    let index = unsafe { slice(index, n, "index") }?;
    let flawed = |flaw| match flaw {
        Flaw::Index(at) => {
            Failure::new(MPI_ERR_ARG, format!("index[{at}] is {}, less than before it", index[at]))
        }
        Flaw::Edge(at) => Failure::new(MPI_ERR_ARG, format!("edges[{at}] is no node below {nnodes}")),
    };
    let num_edges = Graph::num_edges(index).map_err(flawed)?;
    // SAFETY: the caller's promise: this is the last of the index.
    let edges = unsafe { slice(edges, num_edges, "edges") }?;
    Graph::new(index, edges).map_err(flawed)
}

mpi_fn! {
    fn MPI_Graph_create(comm_old: Comm, nnodes: c_int, index: In<c_int>, edges: In<c_int>, _reorder: c_int, comm_graph: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm_old), |_, entry| {
            let parent = intra(comm_old, "comm_old")?;
            not_null(comm_graph, "comm_graph")?;
            // SAFETY: the standard has the caller pass `index` with `nnodes` elements, and `edges` with as many as the last of them says.
            let graph = unsafe { described(nnodes, index, edges, parent.comm.size()) }?;
            let ranks: Vec<u32> = (0..graph.index().len() as u32).collect();
            make(entry, parent, &ranks, || Topology::Graph(graph), comm_graph)
        })
    }
}
mpi_fn! {
    fn MPI_Graphdims_get(comm: Comm, nnodes: Out<c_int>, nedges: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let (_, graph) = graph(comm)?;
            write(nnodes, "nnodes", graph.index().len() as c_int)?;
            write(nedges, "nedges", graph.edges().len() as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_Graph_get(comm: Comm, maxindex: c_int, maxedges: c_int, index: Out<c_int>, edges: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let (_, graph) = graph(comm)?;
            let (room, more) = (length(maxindex, "maxindex")?, length(maxedges, "maxedges")?);
            // SAFETY: the standard has the caller pass `index` with room for `maxindex` elements, and `edges` with room for `maxedges`.
            unsafe {
                fill(index, room, "index", graph.index().iter().copied())?;
                fill(edges, more, "edges", graph.edges().iter().copied())
            }
        })
    }
}
mpi_fn! {
    fn MPI_Graph_neighbors_count(comm: Comm, rank: c_int, nneighbors: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let (object, graph) = graph(comm)?;
            write(nneighbors, "nneighbors", graph.neighbors(rank_in(object, rank)?).len() as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_Graph_neighbors(comm: Comm, rank: c_int, maxneighbors: c_int, neighbors: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let (object, graph) = graph(comm)?;
            let all = graph.neighbors(rank_in(object, rank)?);
            let room = length(maxneighbors, "maxneighbors")?;
            // SAFETY: the standard has the caller pass `neighbors` with room for `maxneighbors` elements.
            unsafe { fill(neighbors, room, "neighbors", all.iter().copied()) }
        })
    }
}
mpi_fn! {
    fn MPI_Graph_map(comm: Comm, nnodes: c_int, index: In<c_int>, edges: In<c_int>, newrank: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let object = intra(comm, "comm")?;
            // SAFETY: the standard has the caller pass `index` with `nnodes` elements, and `edges` with as many as the last of them says.
            let graph = unsafe { described(nnodes, index, edges, object.comm.size()) }?;
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

/// The weights of `n` edges, or what stands for them.
///
/// # Safety
/// The caller of the C function has promised `n` weights where this is an address.
unsafe fn weights<'a>(at: In<'a, c_int>, n: usize, name: &str) -> Res<Weights<'a>> {
    match at.as_ptr().addr() {
        MPI_UNWEIGHTED => return Ok(Weights::Unweighted),
        0 if n == 0 => return Ok(Weights::None),
        MPI_WEIGHTS_EMPTY if n == 0 => return Ok(Weights::Given(&[])),
        MPI_WEIGHTS_EMPTY => {
            return Failure::err(MPI_ERR_ARG, format!("{name} is MPI_WEIGHTS_EMPTY, there are {n} edges"));
        }
        _ => {}
    }
    // SAFETY: the caller's promise.
    let given = unsafe { slice(at, n, name) }?;
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
///
/// # Safety
/// The caller of the C function has promised `n` of them.
unsafe fn ranks<'a>(object: &CommObject, at: In<'a, c_int>, n: usize, name: &str) -> Res<&'a [c_int]> {
    // SAFETY: the caller's promise.
    let given = unsafe { slice(at, n, name) }?;
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
fn give(entry: &mut Entry, parent: &CommObject, graph: DistGraph, new: Out<Comm>) -> Res {
    let made = parent.comm.dup(None)?;
    let rank = made.rank();
    let handle = adopt(entry, parent, made)?;
    attach(handle, Topology::DistGraph(graph), rank);
    write(new, "comm_dist_graph", handle)
}

mpi_fn! {
    /// Nothing is sent: every rank tells its own edges.
    fn MPI_Dist_graph_create_adjacent(comm_old: Comm, indegree: c_int, sources: In<c_int>, sourceweights: In<c_int>, outdegree: c_int, destinations: In<c_int>, destweights: In<c_int>, info: Info, _reorder: c_int, comm_dist_graph: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm_old), |_, entry| {
            let parent = intra(comm_old, "comm_old")?;
            not_null(comm_dist_graph, "comm_dist_graph")?;
            info::optional(info)?;
            let (ins, outs) = (length(indegree, "indegree")?, length(outdegree, "outdegree")?);
            // SAFETY: the standard has the caller pass `sources` and its weights with `indegree` elements.
            let (sources, of_sources) = unsafe {
                (ranks(parent, sources, ins, "sources")?, weights(sourceweights, ins, "sourceweights"))
            };
            // SAFETY: the standard has the caller pass `destinations` and its weights with `outdegree` elements.
            let (destinations, of_destinations) = unsafe {
                (ranks(parent, destinations, outs, "destinations")?, weights(destweights, outs, "destweights"))
            };
            let (of_sources, of_destinations) = (of_sources?, of_destinations?);
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
            give(entry, parent, graph, comm_dist_graph)
        })
    }
}
mpi_fn! {
    fn MPI_Dist_graph_create(comm_old: Comm, n: c_int, sources: In<c_int>, degrees: In<c_int>, destinations: In<c_int>, weights: In<c_int>, info: Info, _reorder: c_int, comm_dist_graph: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm_old), |_, entry| {
            let parent = intra(comm_old, "comm_old")?;
            not_null(comm_dist_graph, "comm_dist_graph")?;
            info::optional(info)?;
            let n = length(n, "n")?;
            // SAFETY: the standard has the caller pass `sources` with `n` elements.
            let sources = unsafe { ranks(parent, sources, n, "sources") }?;
            // SAFETY: the standard has the caller pass `degrees` with `n` elements.
            let degrees = unsafe { slice(degrees, n, "degrees") }?;
            if let Some(at) = degrees.iter().position(|d| *d < 0) {
                return Failure::err(MPI_ERR_ARG, format!("degrees[{at}] is {}", degrees[at]));
            }
            let total = degrees.iter().map(|d| *d as usize).sum();
            // SAFETY: the standard has the caller pass `destinations` with as many elements as all `degrees` say.
            let destinations = unsafe { ranks(parent, destinations, total, "destinations") }?;
            // SAFETY: the standard has the caller pass a weight for each destination.
            let weights = unsafe { self::weights(weights, total, "weights") }?;
            let from = sources.iter().zip(degrees).flat_map(|(from, d)| core::iter::repeat_n(*from, *d as usize));
            let edge = |(at, (from, to)): (usize, (c_int, &c_int))| Edge {
                from: from as u32,
                to: *to as u32,
                weight: weights.of(at),
            };
            let edges: Vec<Edge> = from.zip(destinations).enumerate().map(edge).collect();
            let graph = parent.comm.share_edges(entry, &edges, weights.weighing())?;
            give(entry, parent, graph, comm_dist_graph)
        })
    }
}
mpi_fn! {
    fn MPI_Dist_graph_neighbors_count(comm: Comm, indegree: Out<c_int>, outdegree: Out<c_int>, weighted: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let graph = dist_graph(comm)?;
            write(indegree, "indegree", graph.sources.ranks.len() as c_int)?;
            write(outdegree, "outdegree", graph.destinations.ranks.len() as c_int)?;
            write(weighted, "weighted", c_int::from(graph.weighted))
        })
    }
}
mpi_fn! {
    /// Of a graph without weights none are told.
    fn MPI_Dist_graph_neighbors(comm: Comm, maxindegree: c_int, sources: Out<c_int>, sourceweights: Out<c_int>, maxoutdegree: c_int, destinations: Out<c_int>, destweights: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let graph = dist_graph(comm)?;
            let (ins, outs) = (length(maxindegree, "maxindegree")?, length(maxoutdegree, "maxoutdegree")?);
            // SAFETY: the standard has the caller pass both arrays of either side with room for the maximum of that side.
            unsafe {
                tell(&graph.sources, ins, (sources, "sources"), (sourceweights, "sourceweights"))?;
                tell(&graph.destinations, outs, (destinations, "destinations"), (destweights, "destweights"))
            }
        })
    }
}

/// As much of one side as fits into two arrays of the user.
///
/// # Safety
/// As for [`fill`], where weights are an address.
unsafe fn tell(side: &Side, room: usize, ranks: (Out<c_int>, &str), weights: (Out<c_int>, &str)) -> Res {
    // SAFETY: the caller's promise.
    unsafe { fill(ranks.0, room, ranks.1, side.ranks.iter().copied()) }?;
    match weights.0.as_ptr().addr() {
        MPI_UNWEIGHTED | MPI_WEIGHTS_EMPTY => Ok(()),
        // SAFETY: the caller's promise of such an address.
        _ => unsafe { fill(weights.0, room, weights.1, side.weights.iter().copied()) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_given_or_named() {
        let sentinel = |address: usize, n| {
            // SAFETY: null, or a sentinel, which is not followed.
            let at = In::from(unsafe { Out::new(core::ptr::without_provenance_mut::<c_int>(address)) });
            // SAFETY: no address.
            unsafe { weights(at, n, "w") }.map_err(|f| f.code)
        };
        let given = |numbers: &'static [c_int]| {
            // SAFETY: as many as there are.
            unsafe { weights(In::from(&numbers[0]), numbers.len(), "w") }.map_err(|f| f.code)
        };
        assert_eq!(sentinel(MPI_UNWEIGHTED, 3), Ok(Weights::Unweighted));
        assert_eq!(sentinel(MPI_WEIGHTS_EMPTY, 0), Ok(Weights::Given(&[])));
        assert_eq!(sentinel(MPI_WEIGHTS_EMPTY, 1), Err(MPI_ERR_ARG));
        assert_eq!(sentinel(0, 0), Ok(Weights::None));
        assert_eq!(sentinel(0, 1), Err(MPI_ERR_ARG));
        assert_eq!(given(&[1, 0, 2]), Ok(Weights::Given(&[1, 0, 2])));
        assert_eq!(given(&[1, -1]), Err(MPI_ERR_ARG));
    }
}
