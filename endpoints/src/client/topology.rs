//! Grids and graphs on communicators of endpoints: made by the proxies, asked for here.

use super::comm::{self, EpComm, Topology};
use super::communicator::derive;
use super::error;
use super::state::Words;
use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{Record, op};

impl EpComm {
    fn topology(&self) -> Result<&Topology, c_int> {
        if let Some(topology) = self.topology.get() {
            return Ok(topology);
        }
        let [a, b, weighted] = self.sizes;
        let lengths = match self.kind {
            CART => vec![a, a, a],
            GRAPH => vec![a, b],
            DIST_GRAPH => vec![a, a, b, b],
            _ => return Err(ERR_TOPOLOGY),
        };
        let total = lengths.iter().sum();
        let words = Words::new(&vec![0; total])?;
        let fill = |r: &mut Record| {
            r.lists = words.address();
            r.args[..4].copy_from_slice(&[self.kind.into(), a as i64, b as i64, weighted as i64]);
        };
        self.command(op::TOPOLOGY, fill, |_| Ok(()))?;
        let all = words.read(total);
        let mut rest = &all[..];
        let mut lists: Vec<Vec<c_int>> = Vec::new();
        for length in lengths {
            let (list, left) = rest.split_at(length);
            lists.push(list.to_vec());
            rest = left;
        }
        let mut lists = lists.into_iter();
        let mut list = || lists.next().unwrap_or_default();
        let topology = match self.kind {
            CART => Topology::Cart { dims: list(), periods: list() },
            GRAPH => Topology::Graph { index: list(), edges: list() },
            _ => Topology::Dist {
                sources: list(),
                source_weights: list(),
                destinations: list(),
                weights: list(),
            },
        };
        Ok(self.topology.get_or_init(|| topology))
    }

    fn cart(&self) -> Result<(&[c_int], &[c_int]), c_int> {
        match self.topology()? {
            Topology::Cart { dims, periods } => Ok((dims, periods)),
            _ => Err(ERR_TOPOLOGY),
        }
    }

    /// Neighbors of a rank in a graph.
    fn neighbors(&self, rank: c_int) -> Result<&[c_int], c_int> {
        let Topology::Graph { index, edges } = self.topology()? else { return Err(ERR_TOPOLOGY) };
        let at = usize::try_from(rank).ok().filter(|at| *at < index.len()).ok_or(ERR_RANK)?;
        let first = if at == 0 { 0 } else { index[at - 1] };
        Ok(&edges[first as usize..index[at] as usize])
    }

    /// How many blocks a neighborhood collective receives and sends.
    pub fn degrees(&self) -> Result<(c_int, c_int), c_int> {
        match self.kind {
            CART => Ok((2 * self.sizes[0] as c_int, 2 * self.sizes[0] as c_int)),
            GRAPH => {
                let count = self.neighbors(self.rank)?.len() as c_int;
                Ok((count, count))
            }
            DIST_GRAPH => Ok((self.sizes[0] as c_int, self.sizes[1] as c_int)),
            _ => Err(ERR_TOPOLOGY),
        }
    }
}

/// A rank's place in a grid: the last dimension changes first.
fn coordinates(dims: &[c_int], rank: c_int) -> Vec<c_int> {
    let mut rest = rank;
    let mut place: Vec<c_int> = dims
        .iter()
        .rev()
        .map(|dim| {
            let at = rest % dim;
            rest /= dim;
            at
        })
        .collect();
    place.reverse();
    place
}

/// The rank at a place, which is wrapped around where the grid is; `None` outside.
fn at(dims: &[c_int], periods: &[c_int], place: &[c_int]) -> Option<c_int> {
    let mut rank = 0;
    for ((dim, periodic), x) in dims.iter().zip(periods).zip(place) {
        let inside = (0..*dim).contains(x);
        if !inside && *periodic == 0 {
            return None;
        }
        rank = rank * dim + x.rem_euclid(*dim);
    }
    Some(rank)
}

/// # Safety
/// A list of the program's with that many entries.
unsafe fn read(list: *const c_int, count: c_int) -> Vec<i64> {
    // SAFETY: the caller's promise.
    unsafe { super::collective_v::list(list, count) }
}

/// # Safety
/// A list of the program's with room for the first `room` values.
unsafe fn write(list: *mut c_int, room: c_int, values: &[c_int]) {
    for (i, value) in values.iter().take(room.max(0) as usize).enumerate() {
        // SAFETY: the caller's promise.
        unsafe { *list.add(i) = *value };
    }
}

on_endpoints! {
    fn [MPI_Cart_create] (comm: Comm, ndims: c_int, dims: *const c_int, periods: *const c_int, reorder: c_int, newcomm: *mut Comm) on comm, ep {
        if ndims < 0 {
            return Err(ERR_ARG);
        }
        let words = [read(dims, ndims), read(periods, ndims)].concat();
        let fill = |r: &mut Record| r.args[..2].copy_from_slice(&[ndims.into(), reorder.into()]);
        *newcomm = derive(ep, op::CART_CREATE, &words, fill)?;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Cart_sub] (comm: Comm, remain_dims: *const c_int, newcomm: *mut Comm) on comm, ep {
        let dims = ep.cart()?.0.len() as c_int;
        *newcomm = derive(ep, op::CART_SUB, &read(remain_dims, dims), |r| r.args[0] = dims.into())?;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Topo_test] (comm: Comm, status: *mut c_int) on comm, ep {
        *status = ep.kind;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Cartdim_get] (comm: Comm, ndims: *mut c_int) on comm, ep {
        *ndims = ep.cart()?.0.len() as c_int;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Cart_get] (comm: Comm, maxdims: c_int, dims: *mut c_int, periods: *mut c_int, coords: *mut c_int) on comm, ep {
        let cart = ep.cart()?;
        write(dims, maxdims, cart.0);
        write(periods, maxdims, cart.1);
        write(coords, maxdims, &coordinates(cart.0, ep.rank));
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Cart_coords] (comm: Comm, rank: c_int, maxdims: c_int, coords: *mut c_int) on comm, ep {
        let (dims, _) = ep.cart()?;
        if !(0..ep.size).contains(&rank) {
            return Err(ERR_RANK);
        }
        write(coords, maxdims, &coordinates(dims, rank));
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Cart_rank] (comm: Comm, coords: *const c_int, rank: *mut c_int) on comm, ep {
        let (dims, periods) = ep.cart()?;
        let place: Vec<c_int> = read(coords, dims.len() as c_int).into_iter().map(|x| x as c_int).collect();
        *rank = at(dims, periods, &place).ok_or(ERR_ARG)?;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Cart_shift] (comm: Comm, direction: c_int, disp: c_int, rank_source: *mut c_int, rank_dest: *mut c_int) on comm, ep {
        let (dims, periods) = ep.cart()?;
        let direction = usize::try_from(direction).ok().filter(|d| *d < dims.len()).ok_or(ERR_ARG)?;
        let shifted = |by: c_int| {
            let mut place = coordinates(dims, ep.rank);
            place[direction] += by;
            at(dims, periods, &place).unwrap_or(PROC_NULL)
        };
        *rank_source = shifted(-disp);
        *rank_dest = shifted(disp);
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Graph_create] (comm: Comm, nnodes: c_int, index: *const c_int, edges: *const c_int, reorder: c_int, newcomm: *mut Comm) on comm, ep {
        if nnodes < 0 {
            return Err(ERR_ARG);
        }
        let nodes = read(index, nnodes);
        let count = nodes.last().copied().unwrap_or(0);
        let words = [nodes, read(edges, count as c_int)].concat();
        let fill = |r: &mut Record| r.args[..3].copy_from_slice(&[nnodes.into(), reorder.into(), count]);
        *newcomm = derive(ep, op::GRAPH_CREATE, &words, fill)?;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Graphdims_get] (comm: Comm, nnodes: *mut c_int, nedges: *mut c_int) on comm, ep {
        let Topology::Graph { index, edges } = ep.topology()? else { return Err(ERR_TOPOLOGY) };
        *nnodes = index.len() as c_int;
        *nedges = edges.len() as c_int;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Graph_get] (comm: Comm, maxindex: c_int, maxedges: c_int, indices: *mut c_int, edges_out: *mut c_int) on comm, ep {
        let Topology::Graph { index, edges } = ep.topology()? else { return Err(ERR_TOPOLOGY) };
        write(indices, maxindex, index);
        write(edges_out, maxedges, edges);
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Graph_neighbors_count] (comm: Comm, rank: c_int, nneighbors: *mut c_int) on comm, ep {
        *nneighbors = ep.neighbors(rank)?.len() as c_int;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Graph_neighbors] (comm: Comm, rank: c_int, maxneighbors: c_int, neighbors: *mut c_int) on comm, ep {
        write(neighbors, maxneighbors, ep.neighbors(rank)?);
        Ok(())
    }
}

const UNWEIGHTED: usize = 10;
const WEIGHTS_EMPTY: usize = 11;

on_endpoints! {
    fn [MPI_Dist_graph_create_adjacent] (
        comm: Comm, indegree: c_int, sources: *const c_int, sourceweights: *const c_int, outdegree: c_int,
        destinations: *const c_int, destweights: *const c_int, info: Info, reorder: c_int, newcomm: *mut Comm,
    ) on comm, ep {
        let hints = Words::of_hints(info)?;
        let weighted = sourceweights as usize != UNWEIGHTED && destweights as usize != UNWEIGHTED;
        let weights = |list: *const c_int, count: c_int| match list as usize {
            UNWEIGHTED | WEIGHTS_EMPTY => vec![1; count.max(0) as usize],
            _ => read(list, count),
        };
        let words = [
            read(sources, indegree), weights(sourceweights, indegree), read(destinations, outdegree), weights(destweights, outdegree),
        ].concat();
        let fill = |r: &mut Record| {
            r.args[..4].copy_from_slice(&[indegree.into(), outdegree.into(), reorder.into(), weighted.into()]);
            r.hints = hints.as_ref().map_or(0, Words::address);
        };
        *newcomm = derive(ep, op::DIST_GRAPH_ADJACENT, &words, fill)?;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Dist_graph_create]
    (
        comm: Comm, n: c_int, sources: *const c_int, degrees: *const c_int, destinations: *const c_int,
        weights: *const c_int, info: Info, reorder: c_int, newcomm: *mut Comm,
    ) on comm, ep {
        let hints = Words::of_hints(info)?;
        let degrees = read(degrees, n);
        let edges: i64 = degrees.iter().sum();
        let weighted = weights as usize != UNWEIGHTED;
        let listed = match weights as usize {
            UNWEIGHTED | WEIGHTS_EMPTY => vec![1; edges as usize],
            _ => read(weights, edges as c_int),
        };
        let words = [read(sources, n), degrees, read(destinations, edges as c_int), listed].concat();
        let fill = |r: &mut Record| {
            r.args[..4].copy_from_slice(&[n.into(), edges, reorder.into(), weighted.into()]);
            r.hints = hints.as_ref().map_or(0, Words::address);
        };
        *newcomm = derive(ep, op::DIST_GRAPH, &words, fill)?;
        Ok(())
    }
}

// Ranks are not reordered.
fn mapped(ep: &EpComm, nodes: i64) -> Result<c_int, c_int> {
    if nodes > i64::from(ep.size) {
        return Err(ERR_ARG);
    }
    Ok(if i64::from(ep.rank) < nodes { ep.rank } else { UNDEFINED })
}

on_endpoints! {
    fn [MPI_Cart_map] (comm: Comm, ndims: c_int, dims: *const c_int, periods: *const c_int, newrank: *mut c_int) on comm, ep {
        let _ = periods;
        *newrank = mapped(ep, read(dims, ndims).iter().product())?;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Graph_map] (comm: Comm, nnodes: c_int, index: *const c_int, edges: *const c_int, newrank: *mut c_int) on comm, ep {
        let _ = (index, edges);
        *newrank = mapped(ep, nnodes.into())?;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Dist_graph_neighbors_count] (comm: Comm, indegree: *mut c_int, outdegree: *mut c_int, weighted: *mut c_int) on comm, ep {
        if ep.kind != DIST_GRAPH {
            return Err(ERR_TOPOLOGY);
        }
        *indegree = ep.sizes[0] as c_int;
        *outdegree = ep.sizes[1] as c_int;
        *weighted = ep.sizes[2] as c_int;
        Ok(())
    }
}

on_endpoints! {
    fn [MPI_Dist_graph_neighbors] (
        comm: Comm, maxindegree: c_int, sources_out: *mut c_int, sourceweights: *mut c_int, maxoutdegree: c_int,
        destinations_out: *mut c_int, destweights: *mut c_int,
    ) on comm, ep {
        let Topology::Dist { sources, source_weights, destinations, weights } = ep.topology()? else {
            return Err(ERR_TOPOLOGY);
        };
        write(sources_out, maxindegree, sources);
        write(destinations_out, maxoutdegree, destinations);
        if ep.sizes[2] != 0 {
            for (list, room, values) in [(sourceweights, maxindegree, source_weights), (destweights, maxoutdegree, weights)] {
                if !matches!(list as usize, UNWEIGHTED | WEIGHTS_EMPTY) {
                    write(list, room, values);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{at, coordinates};

    #[test]
    fn places_in_a_grid() {
        let (dims, periods) = ([2, 3], [0, 1]);
        for rank in 0..6 {
            assert_eq!(at(&dims, &periods, &coordinates(&dims, rank)), Some(rank));
        }
        assert_eq!(coordinates(&dims, 5), [1, 2]);
        assert_eq!(at(&dims, &periods, &[1, -1]), Some(5));
        assert_eq!(at(&dims, &periods, &[2, 0]), None);
    }
}
