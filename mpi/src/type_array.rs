//! Datatypes of parts of arrays (MPI 5.0 §5.1.3, §5.1.4).

use crate::call::memory::{In, Out, slice};
use crate::constants::*;
use crate::datatype::Recipe;
use crate::error::{Failure, Res, call};
use crate::type_create::{large, make, natural, numbers, refusal};
use crate::types::{Count, Datatype};
use core::ffi::c_int;
use oxmpi_datatype::TypeRef;
use oxmpi_datatype::array::{self, Deal, Order, Slice};
use oxmpi_mca::Status;

fn order_of(order: c_int) -> Res<Order> {
    match order {
        MPI_ORDER_C => Ok(Order::C),
        MPI_ORDER_FORTRAN => Ok(Order::Fortran),
        _ => {
            Failure::err(MPI_ERR_ARG, format!("order is {order}, neither MPI_ORDER_C nor MPI_ORDER_FORTRAN"))
        }
    }
}

fn dimensions(ndims: c_int) -> Res<u64> {
    if ndims < 1 {
        return Failure::err(MPI_ERR_ARG, format!("ndims is {ndims}"));
    }
    natural(ndims.into(), "ndims")
}

/// Numbers of the array, and what of it the box has, checked against each other.
fn slices(sizes: &[i64], parts: &[i64], starts: &[i64]) -> Res<Vec<Slice>> {
    let all = sizes.iter().zip(parts).zip(starts).enumerate();
    all.map(|(d, ((&whole, &part), &start))| {
        let inside = whole >= 1 && (1..=whole).contains(&part) && (0..=whole - part).contains(&start);
        if !inside {
            return Failure::err(
                MPI_ERR_ARG,
                format!("in dimension {d} elements {start} to {start}+{part} are not in an array of {whole}"),
            );
        }
        Ok(Slice { whole: whole as u64, part: part as u64, start: start as u64 })
    })
    .collect()
}

/// Integers and, for a large-count function, counts: sizes are the one or the other.
fn recipe(combiner: c_int, parts: &[(&[i64], bool)]) -> Recipe {
    let mut recipe = Recipe { combiner, ..Recipe::default() };
    for (numbers, large) in parts {
        if *large {
            recipe.counts.extend_from_slice(numbers);
        } else {
            // They came as such integers.
            recipe.integers.extend(numbers.iter().map(|&n| n as c_int));
        }
    }
    recipe
}

mpi_fn! {
    fn MPI_Type_create_subarray[c_int], MPI_Type_create_subarray_c[Count]<N>(ndims: c_int, array_of_sizes: In<N>, array_of_subsizes: In<N>, array_of_starts: In<N>, order: c_int, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let n = dimensions(ndims)?;
            // SAFETY: the standard has the caller pass `array_of_sizes` with `n` elements.
            let sizes = unsafe { numbers(array_of_sizes, n, "array_of_sizes") }?;
            // SAFETY: the standard has the caller pass `array_of_subsizes` with `n` elements.
            let parts = unsafe { numbers(array_of_subsizes, n, "array_of_subsizes") }?;
            // SAFETY: the standard has the caller pass `array_of_starts` with `n` elements.
            let starts = unsafe { numbers(array_of_starts, n, "array_of_starts") }?;
            let (slices, way) = (slices(&sizes, &parts, &starts)?, order_of(order)?);
            let l = large::<N>();
            let recipe = recipe(
                MPI_COMBINER_SUBARRAY,
                &[(&[n as i64], false), (&sizes, l), (&parts, l), (&starts, l), (&[order.into()], false)],
            );
            make(oldtype, newtype, recipe, |old| array::subarray(&slices, way, old))
        })
    }
}

/// One dimension of a distributed array: how many elements a process gets at a time.
fn block(whole: u64, distrib: c_int, darg: c_int, procs: u64) -> Res<u64> {
    let default = darg == MPI_DISTRIBUTE_DFLT_DARG;
    match distrib {
        MPI_DISTRIBUTE_NONE if procs != 1 => Failure::err(
            MPI_ERR_ARG,
            format!("a dimension that is not distributed (MPI_DISTRIBUTE_NONE) has {procs} processes"),
        ),
        MPI_DISTRIBUTE_NONE => Ok(whole),
        MPI_DISTRIBUTE_BLOCK if default => Ok(whole.div_ceil(procs)),
        MPI_DISTRIBUTE_CYCLIC if default => Ok(1),
        MPI_DISTRIBUTE_BLOCK | MPI_DISTRIBUTE_CYCLIC if darg < 1 => {
            Failure::err(MPI_ERR_ARG, format!("a distribution argument is {darg}"))
        }
        MPI_DISTRIBUTE_BLOCK if (darg as u64).saturating_mul(procs) < whole => Failure::err(
            MPI_ERR_ARG,
            format!("{procs} blocks of {darg} elements do not hold the {whole} of a dimension"),
        ),
        MPI_DISTRIBUTE_BLOCK | MPI_DISTRIBUTE_CYCLIC => Ok(darg as u64),
        _ => Failure::err(MPI_ERR_ARG, format!("{distrib} is no distribution")),
    }
}

/// Distribution of blocks to ranks.
struct Share<'a> {
    size: c_int,
    rank: c_int,
    sizes: &'a [i64],
    distribs: &'a [c_int],
    dargs: &'a [c_int],
    procs: &'a [c_int],
}

impl Share<'_> {
    /// The dimensions, with this process's coordinates: the grid of processes is in C's order whatever
    /// that of the array (MPI 5.0 §5.1.4).
    fn deals(&self) -> Res<Vec<Deal>> {
        let product = self.procs.iter().try_fold(1i64, |all, &n| all.checked_mul(n.into()));
        if self.procs.iter().any(|&n| n < 1) || product != Some(self.size.into()) {
            return Failure::err(
                MPI_ERR_ARG,
                format!("size is {}, the grid of processes is {:?}", self.size, self.procs),
            );
        }
        if !(0..self.size).contains(&self.rank) {
            return Failure::err(MPI_ERR_ARG, format!("rank is {}, size is {}", self.rank, self.size));
        }
        let mut deals = Vec::with_capacity(self.sizes.len());
        let mut left = self.rank as u64;
        for d in (0..self.sizes.len()).rev() {
            if self.sizes[d] < 1 {
                return Failure::err(MPI_ERR_ARG, format!("dimension {d} has {} elements", self.sizes[d]));
            }
            let (whole, procs) = (self.sizes[d] as u64, self.procs[d] as u64);
            let block = block(whole, self.distribs[d], self.dargs[d], procs)?;
            deals.push(Deal { whole, block, procs, rank: left % procs });
            left /= procs;
        }
        deals.reverse();
        Ok(deals)
    }
}

mpi_fn! {
    fn MPI_Type_create_darray[c_int], MPI_Type_create_darray_c[Count]<N>(size: c_int, rank: c_int, ndims: c_int, array_of_gsizes: In<N>, array_of_distribs: In<c_int>, array_of_dargs: In<c_int>, array_of_psizes: In<c_int>, order: c_int, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let n = dimensions(ndims)?;
            // SAFETY: the standard has the caller pass `array_of_gsizes` with `n` elements.
            let sizes = unsafe { numbers(array_of_gsizes, n, "array_of_gsizes") }?;
            // SAFETY: the standard has the caller pass `array_of_distribs` with `n` elements.
            let distribs = unsafe { slice(array_of_distribs, n as usize, "array_of_distribs") }?;
            // SAFETY: the standard has the caller pass `array_of_dargs` with `n` elements.
            let dargs = unsafe { slice(array_of_dargs, n as usize, "array_of_dargs") }?;
            // SAFETY: the standard has the caller pass `array_of_psizes` with `n` elements.
            let procs = unsafe { slice(array_of_psizes, n as usize, "array_of_psizes") }?;
            let deals = Share { size, rank, sizes: &sizes, distribs, dargs, procs }.deals()?;
            let way = order_of(order)?;
            let wide = |numbers: &[c_int]| numbers.iter().map(|&n| n.into()).collect::<Vec<i64>>();
            let recipe = recipe(
                MPI_COMBINER_DARRAY,
                &[
                    (&[size.into(), rank.into(), ndims.into()], false),
                    (&sizes, large::<N>()),
                    (&wide(distribs), false),
                    (&wide(dargs), false),
                    (&wide(procs), false),
                    (&[order.into()], false),
                ],
            );
            make(oldtype, newtype, recipe, |old| array::darray(&deals, way, old))
        })
    }
}

/// The numbers of a recipe of an array: in the order of the arguments, wherever they are kept. `sizes`: those that a large-count function keeps apart, by their place among lists of `n`.
fn numbers_of(recipe: &Recipe, head: usize, n: usize, sizes: usize) -> Vec<i64> {
    let mut integers = recipe.integers.iter().map(|&number| i64::from(number));
    let mut all: Vec<i64> = integers.by_ref().take(head).collect();
    match recipe.counts[..] {
        [] => all.extend(integers.by_ref().take(sizes * n)),
        _ => all.extend(&recipe.counts),
    }
    all.extend(integers);
    all
}

/// Makes a type of an array once more as a recipe says, of another type.
pub fn again(recipe: &Recipe, old: &TypeRef) -> Res<TypeRef> {
    let broken = || refusal(Status::INTERNAL);
    let narrow = |numbers: &[i64]| numbers.iter().map(|&n| n as c_int).collect::<Vec<c_int>>();
    let made = if recipe.combiner == MPI_COMBINER_SUBARRAY {
        let n = recipe.integers.first().and_then(|&n| usize::try_from(n).ok()).ok_or_else(broken)?;
        let all = numbers_of(recipe, 1, n, 3);
        if all.len() != 3 * n + 2 {
            return Err(broken());
        }
        let part = |which: usize| &all[1 + which * n..1 + (which + 1) * n];
        let way = order_of(all[3 * n + 1] as c_int)?;
        array::subarray(&slices(part(0), part(1), part(2))?, way, old)
    } else {
        let n = recipe.integers.get(2).and_then(|&n| usize::try_from(n).ok()).ok_or_else(broken)?;
        let all = numbers_of(recipe, 3, n, 1);
        if all.len() != 4 * n + 4 {
            return Err(broken());
        }
        let part = |which: usize| &all[3 + which * n..3 + (which + 1) * n];
        let (distribs, dargs, procs) = (narrow(part(1)), narrow(part(2)), narrow(part(3)));
        let (size, rank) = (all[0] as c_int, all[1] as c_int);
        let share = Share { size, rank, sizes: part(0), distribs: &distribs, dargs: &dargs, procs: &procs };
        array::darray(&share.deals()?, order_of(all[4 * n + 3] as c_int)?, old)
    };
    made.map_err(refusal)
}
