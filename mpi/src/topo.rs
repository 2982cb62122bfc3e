//! Process topologies (MPI 5.0 §8): grids, and MPI_Dims_create. A communicator's topology is
//! [`Placed`]; graphs are in `topo_graph`, neighborhood collectives in `collective::neighbor`.
//!
//! `reorder` is taken as permission that is not used: ranks stay what they are, since all ranks of a node are equally
//! far from each other.
//!
//! Arrays of the user that are shorter than what there is to tell get as much as fits.

use crate::call::memory::{In, Out, length, slice, slice_mut, write};
use crate::comm::lifetime::adopt;
use crate::comm::{CommObject, Placed, get, require};
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::types::Comm;
use core::ffi::c_int;
use oxmpi_mca::Entry;
use oxmpi_runtime::topo::{Cart, Topology, dims};
use std::sync::Arc;

/// A communicator of one group; others have no topology, and none is made of them.
pub fn intra(comm: Comm, what: &str) -> Res<&'static CommObject> {
    let object = require(comm)?;
    if object.comm.remote_group().is_some() {
        return Failure::err(MPI_ERR_COMM, format!("{what} is {}, an inter-communicator", object.describe()));
    }
    Ok(object)
}

/// A communicator with a topology.
pub fn placed(comm: Comm) -> Res<(&'static CommObject, &'static Placed)> {
    let object = intra(comm, "comm")?;
    match object.topology.get() {
        Some(placed) => Ok((object, placed)),
        None => Failure::err(MPI_ERR_TOPOLOGY, format!("comm is {}, without a topology", object.describe())),
    }
}

pub fn wrong_kind<T>(object: &CommObject, wanted: &str) -> Res<T> {
    Failure::err(MPI_ERR_TOPOLOGY, format!("comm is {}, whose topology is no {wanted}", object.describe()))
}

fn cart(comm: Comm) -> Res<(&'static CommObject, &'static Cart)> {
    let (object, placed) = placed(comm)?;
    match &placed.topology {
        Topology::Cart(cart) => Ok((object, cart)),
        _ => wrong_kind(object, "grid"),
    }
}

/// A communicator of these ranks of `parent`, which all its ranks call for, with a topology. A rank that is not among
/// them gets MPI_COMM_NULL.
pub fn make(
    entry: &mut Entry,
    parent: &CommObject,
    ranks: &[u32],
    topology: impl FnOnce() -> Topology,
    new: Out<Comm>,
) -> Res {
    let group = parent.comm.group().incl(ranks)?;
    let handle = match parent.comm.create(entry, &group)? {
        Some(made) => {
            let (rank, handle) = (made.rank(), adopt(entry, parent, made)?);
            attach(handle, topology(), rank);
            handle
        }
        None => Comm(MPI_COMM_NULL),
    };
    write(new, "newcomm", handle)
}

/// Gives a new communicator its topology.
pub fn attach(comm: Comm, topology: Topology, rank: u32) {
    if let Some(object) = get(comm) {
        let neighbors = topology.neighbors(rank);
        let _ = object.topology.set(Arc::new(Placed { topology, neighbors }));
    }
}

/// Checks the pointer before other ranks learn of the call, and stores MPI_COMM_NULL, which stays there if the rank gets
/// no communicator or an error.
pub fn not_null(new: Out<Comm>, what: &str) -> Res {
    write(new, what, Comm(MPI_COMM_NULL))
}

/// A rank of a communicator with a topology.
pub fn rank_in(object: &CommObject, rank: c_int) -> Res<u32> {
    match u32::try_from(rank).ok().filter(|r| *r < object.comm.size()) {
        Some(rank) => Ok(rank),
        None => Failure::err(
            MPI_ERR_RANK,
            format!("rank is {rank}, ranks are 0 to {}", object.comm.size().saturating_sub(1)),
        ),
    }
}

/// As much as fits into an array of the user.
///
/// # Safety
/// The caller of the C function has promised as much room.
pub unsafe fn fill(
    at: Out<c_int>,
    room: usize,
    name: &str,
    values: impl ExactSizeIterator<Item = c_int>,
) -> Res {
    let n = room.min(values.len());
    // SAFETY: the caller's promise, of no less room.
    for (place, value) in unsafe { slice_mut(at, n, name) }?.iter_mut().zip(values) {
        *place = value;
    }
    Ok(())
}

/// A grid as a user describes it, for at most `most` ranks.
///
/// # Safety
/// The caller of the C function has promised `ndims` numbers in both arrays.
unsafe fn described(ndims: c_int, dims: In<c_int>, periods: In<c_int>, most: u32) -> Res<Cart> {
    let Ok(n) = usize::try_from(ndims) else {
        return Failure::err(MPI_ERR_DIMS, format!("ndims is {ndims}"));
    };
    // SAFETY: the caller's promise.
    let (dims, periods) = unsafe { (slice(dims, n, "dims")?, slice(periods, n, "periods")?) };
    if let Some(at) = dims.iter().position(|d| *d < 1) {
        return Failure::err(MPI_ERR_DIMS, format!("dims[{at}] is {}", dims[at]));
    }
    let periods: Vec<bool> = periods.iter().map(|p| *p != 0).collect();
    match Cart::new(dims, &periods).filter(|cart| cart.size() <= most) {
        Some(cart) => Ok(cart),
        None => Failure::err(MPI_ERR_DIMS, format!("dims are {dims:?}, more places than the {most} ranks")),
    }
}

mpi_fn! {
    fn MPI_Topo_test(comm: Comm, status: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let kind = match require(comm)?.topology.get().map(|placed| &placed.topology) {
                None => MPI_UNDEFINED,
                Some(Topology::Cart(_)) => MPI_CART,
                Some(Topology::Graph(_)) => MPI_GRAPH,
                Some(Topology::DistGraph(_)) => MPI_DIST_GRAPH,
            };
            write(status, "status", kind)
        })
    }
}
mpi_fn! {
    /// Fills in the dimensions that are 0.
    fn MPI_Dims_create(nnodes: c_int, ndims: c_int, dims: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let Ok(n) = usize::try_from(ndims) else {
                return Failure::err(MPI_ERR_DIMS, format!("ndims is {ndims}"));
            };
            let Some(nodes) = u32::try_from(nnodes).ok().filter(|n| *n > 0) else {
                return Failure::err(MPI_ERR_ARG, format!("nnodes is {nnodes}"));
            };
            // SAFETY: the standard has the caller pass `dims` with `n` elements.
            let all = unsafe { slice_mut(dims, n, "dims") }?;
            fill_in(nodes, all)
        })
    }
}

fn fill_in(nodes: u32, all: &mut [c_int]) -> Res {
    if let Some(at) = all.iter().position(|d| *d < 0) {
        return Failure::err(MPI_ERR_DIMS, format!("dims[{at}] is {}", all[at]));
    }
    let free = all.iter().filter(|d| **d == 0).count();
    let given = all.iter().filter(|d| **d != 0).try_fold(1u32, |product, d| product.checked_mul(*d as u32));
    // Without a dimension to fill in there is nothing to make up for a product that is another number.
    let fits = |given: &u32| nodes.is_multiple_of(*given) && (free > 0 || *given == nodes || all.is_empty());
    let Some(given) = given.filter(fits) else {
        return Failure::err(MPI_ERR_DIMS, format!("dims are {all:?}, nnodes is {nodes}"));
    };
    let mut found = dims::balanced(nodes / given, free).into_iter();
    for place in all.iter_mut().filter(|d| **d == 0) {
        *place = found.next().unwrap_or(1) as c_int;
    }
    Ok(())
}

mpi_fn! {
    fn MPI_Cart_create(comm_old: Comm, ndims: c_int, dims: In<c_int>, periods: In<c_int>, _reorder: c_int, comm_cart: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm_old), |_, entry| {
            let parent = intra(comm_old, "comm_old")?;
            not_null(comm_cart, "comm_cart")?;
            // SAFETY: the standard has the caller pass `dims` and `periods` with `ndims` elements.
            let cart = unsafe { described(ndims, dims, periods, parent.comm.size()) }?;
            let ranks: Vec<u32> = (0..cart.size()).collect();
            make(entry, parent, &ranks, || Topology::Cart(cart), comm_cart)
        })
    }
}
mpi_fn! {
    fn MPI_Cartdim_get(comm: Comm, ndims: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| write(ndims, "ndims", cart(comm)?.1.ndims() as c_int))
    }
}
mpi_fn! {
    fn MPI_Cart_get(comm: Comm, maxdims: c_int, dims: Out<c_int>, periods: Out<c_int>, coords: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let (object, cart) = cart(comm)?;
            let room = length(maxdims, "maxdims")?;
            // SAFETY: the standard has the caller pass the three arrays with room for `maxdims` elements.
            unsafe {
                fill(dims, room, "dims", cart.dims().iter().map(|d| *d as c_int))?;
                fill(periods, room, "periods", cart.periods().iter().map(|p| c_int::from(*p)))?;
                fill(coords, room, "coords", cart.coords(object.comm.rank()).into_iter().map(|c| c as c_int))
            }
        })
    }
}
mpi_fn! {
    fn MPI_Cart_rank(comm: Comm, coords: In<c_int>, rank: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let (_, cart) = cart(comm)?;
            // SAFETY: the standard has the caller pass `coords` with `cart.ndims()` elements.
            let coords = unsafe { slice(coords, cart.ndims(), "coords") }?;
            match cart.rank(coords) {
                Ok(found) => write(rank, "rank", found as c_int),
                Err(at) => Failure::err(
                    MPI_ERR_ARG,
                    format!("coords[{at}] is {}, the grid has 0 to {} there", coords[at], cart.dims()[at] - 1),
                ),
            }
        })
    }
}
mpi_fn! {
    fn MPI_Cart_coords(comm: Comm, rank: c_int, maxdims: c_int, coords: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let (object, cart) = cart(comm)?;
            let rank = rank_in(object, rank)?;
            let room = length(maxdims, "maxdims")?;
            // SAFETY: the standard has the caller pass `coords` with room for `maxdims` elements.
            unsafe { fill(coords, room, "coords", cart.coords(rank).into_iter().map(|c| c as c_int)) }
        })
    }
}
mpi_fn! {
    fn MPI_Cart_shift(comm: Comm, direction: c_int, disp: c_int, rank_source: Out<c_int>, rank_dest: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let (object, cart) = cart(comm)?;
            let Some(direction) = usize::try_from(direction).ok().filter(|d| *d < cart.ndims()) else {
                return Failure::err(MPI_ERR_DIMS, format!("direction is {direction}, the grid has {} dimensions", cart.ndims()));
            };
            let (source, dest) = cart.shift(object.comm.rank(), direction, disp);
            write(rank_source, "rank_source", source)?;
            write(rank_dest, "rank_dest", dest)
        })
    }
}
mpi_fn! {
    fn MPI_Cart_sub(comm: Comm, remain_dims: In<c_int>, newcomm: Out<Comm>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let (object, cart) = cart(comm)?;
            not_null(newcomm, "newcomm")?;
            // SAFETY: the standard has the caller pass `remain_dims` with `cart.ndims()` elements.
            let keep: Vec<bool> = unsafe { slice(remain_dims, cart.ndims(), "remain_dims") }?.iter().map(|k| *k != 0).collect();
            let ranks = cart.part(object.comm.rank(), &keep);
            make(entry, object, &ranks, || Topology::Cart(cart.kept(&keep)), newcomm)
        })
    }
}
mpi_fn! {
    fn MPI_Cart_map(comm: Comm, ndims: c_int, dims: In<c_int>, periods: In<c_int>, newrank: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, _| {
            let object = intra(comm, "comm")?;
            // SAFETY: the standard has the caller pass `dims` and `periods` with `ndims` elements.
            let cart = unsafe { described(ndims, dims, periods, object.comm.size()) }?;
            write(newrank, "newrank", mapped(object, cart.size()))
        })
    }
}

/// The rank that the caller would have among the first `n`, of whom the topology is made.
pub fn mapped(object: &CommObject, n: u32) -> c_int {
    if object.comm.rank() < n { object.comm.rank() as c_int } else { MPI_UNDEFINED }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_dimensions_stay() {
        let filled = |nodes, dims: &[c_int]| {
            let mut all = dims.to_vec();
            fill_in(nodes, &mut all).map(|()| all).map_err(|failure| failure.code)
        };
        assert_eq!(filled(6, &[0, 0]), Ok(vec![3, 2]));
        assert_eq!(filled(12, &[0, 2, 0]), Ok(vec![3, 2, 2]));
        assert_eq!(filled(6, &[0, 3, 0]), Ok(vec![2, 3, 1]));
        assert_eq!(filled(6, &[3, 2]), Ok(vec![3, 2]));
        assert_eq!(filled(7, &[]), Ok(vec![]));
        for wrong in [&[4, 0][..], &[3, 3], &[2, 2], &[-1, 0], &[1 << 16, 1 << 16, 0]] {
            assert_eq!(filled(6, wrong), Err(MPI_ERR_DIMS), "{wrong:?}");
        }
    }
}
