//! Making derived datatypes (MPI 5.0 §5.1.2); those of arrays are in `type_array`.
//!
//! The plain constructors keep their numbers as integers and addresses, the large-count ones all of
//! them as counts; `type_contents` tells them the same way.

use crate::call::memory::{In, Out, slice, write};
use crate::constants::*;
use crate::datatype::{OldType, Recipe, adopt, reference};
use crate::error::{Failure, Res, call};
use crate::types::{Aint, Count, Datatype};
use core::ffi::c_int;
use oxmpi_datatype::{Signature, TypeRef, build};
use oxmpi_mca::Status;
use std::sync::Arc;

/// A count from the user.
pub fn natural(value: i64, what: &str) -> Res<u64> {
    u64::try_from(value).or_else(|_| Failure::err(MPI_ERR_COUNT, format!("{what} is {value}")))
}

/// The error text for a layout that cannot be.
pub fn refusal(status: Status) -> Failure {
    match status {
        Status::NOT_SUPPORTED => Failure::new(MPI_ERR_NO_MEM, "the layout has too many separate pieces"),
        Status::BAD_PARAM => Failure::new(MPI_ERR_ARG, "the layout does not fit into the address space"),
        other => other.into(),
    }
}

/// The common end of all constructors of one type: builds, gives the handle. `recipe` is all but the
/// old type.
pub fn make(
    oldtype: Datatype,
    newtype: Out<Datatype>,
    recipe: Recipe,
    how: impl FnOnce(&TypeRef) -> Result<TypeRef, Status>,
) -> Res {
    if newtype.is_null() {
        return Failure::err(MPI_ERR_ARG, "newtype is a null pointer");
    }
    let old = reference(oldtype, "oldtype")?;
    let desc = how(&old.desc).map_err(refusal)?;
    let mut signature = Signature::default();
    // All data of the new type is data of the old one.
    let copies = desc.packed.checked_div(old.desc.packed).unwrap_or(0);
    signature.append(&old.signature, copies).map_err(refusal)?;
    let recipe = Recipe { types: vec![old.part], ..recipe };
    write(newtype, "newtype", adopt(desc, Arc::new(signature), recipe, false)?)
}

/// The numbers of a constructor as MPI_Type_get_contents tells them.
pub fn recipe((combiner, large): (c_int, bool), integers: &[i64], addresses: &[i64]) -> Recipe {
    if large {
        return Recipe { combiner, counts: [integers, addresses].concat(), ..Recipe::default() };
    }
    // They came as such integers.
    let integers = integers.iter().map(|&n| n as c_int).collect();
    Recipe { combiner, integers, addresses: addresses.to_vec(), ..Recipe::default() }
}

/// Whether a large-count function was called.
pub const fn large<N>() -> bool {
    size_of::<N>() == 8
}

mpi_fn! {
    fn MPI_Type_contiguous[c_int], MPI_Type_contiguous_c[Count]<N>(count: N, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let n = natural(i64::from(count), "count")?;
            let kind = (MPI_COMBINER_CONTIGUOUS, large::<N>());
            make(oldtype, newtype, recipe(kind, &[n as i64], &[]), |old| build::contiguous(n, old))
        })
    }
}
mpi_fn! {
    fn MPI_Type_vector[c_int], MPI_Type_vector_c[Count]<N>(count: N, blocklength: N, stride: N, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let (n, block) = (natural(i64::from(count), "count")?, natural(i64::from(blocklength), "blocklength")?);
            let stride = i64::from(stride);
            let kind = (MPI_COMBINER_VECTOR, large::<N>());
            make(oldtype, newtype, recipe(kind, &[n as i64, block as i64, stride], &[]), |old| build::vector(n, block, stride, old))
        })
    }
}

pub fn hvector(
    large: bool,
    count: i64,
    blocklength: i64,
    stride: i64,
    oldtype: Datatype,
    newtype: Out<Datatype>,
) -> Res {
    let (n, block) = (natural(count, "count")?, natural(blocklength, "blocklength")?);
    let kind = (MPI_COMBINER_HVECTOR, large);
    make(oldtype, newtype, recipe(kind, &[count, blocklength], &[stride]), |old| {
        build::hvector(n, block, stride, old)
    })
}

mpi_fn! {
    fn MPI_Type_create_hvector(count: c_int, blocklength: c_int, stride: Aint, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| hvector(false, count.into(), blocklength.into(), stride, oldtype, newtype))
    }
}
mpi_fn! {
    fn MPI_Type_create_hvector_c(count: Count, blocklength: Count, stride: Count, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| hvector(true, count, blocklength, stride, oldtype, newtype))
    }
}
mpi_fn! {
    fn MPI_Type_create_resized[Aint], MPI_Type_create_resized_c[Count]<N>(oldtype: Datatype, lb: N, extent: N, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let kind = (MPI_COMBINER_RESIZED, NAME.ends_with("_c"));
            make(oldtype, newtype, recipe(kind, &[], &[lb, extent]), |old| build::resized(lb, extent, old))
        })
    }
}

/// Numbers of an array, widened.
///
/// # Safety
/// As for [`slice()`].
pub unsafe fn numbers<N: Copy + Into<i64>>(at: In<N>, count: u64, what: &str) -> Res<Vec<i64>> {
    // SAFETY: the caller's promise.
    Ok(unsafe { slice(at, count as usize, what) }?.iter().map(|&n| n.into()).collect())
}

/// Blocks at displacements in units of `unit` bytes, or of the old type's extent.
fn blocks(old: &TypeRef, lengths: &[i64], places: &[i64], unit: Option<i64>) -> Result<TypeRef, Status> {
    let unit = unit.unwrap_or(old.extent);
    let mut parts = Vec::with_capacity(lengths.len());
    for (&count, &place) in lengths.iter().zip(places) {
        let disp = place.checked_mul(unit).ok_or(Status::BAD_PARAM)?;
        parts.push(build::Part { disp, count: count as u64, old });
    }
    build::structure(&parts)
}

fn lengths_are_natural(lengths: &[i64]) -> Res {
    lengths.iter().try_for_each(|&n| natural(n, "a blocklength").map(|_| ()))
}

mpi_fn! {
    fn MPI_Type_indexed[c_int], MPI_Type_indexed_c[Count]<N>(count: N, array_of_blocklengths: In<N>, array_of_displacements: In<N>, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let n = natural(i64::from(count), "count")?;
            // SAFETY: the standard has the caller pass `array_of_blocklengths` with `n` elements.
            let lengths = unsafe { numbers(array_of_blocklengths, n, "array_of_blocklengths") }?;
            // SAFETY: the standard has the caller pass `array_of_displacements` with `n` elements.
            let places = unsafe { numbers(array_of_displacements, n, "array_of_displacements") }?;
            lengths_are_natural(&lengths)?;
            let integers = [&[n as i64], &lengths[..], &places[..]].concat();
            let kind = (MPI_COMBINER_INDEXED, large::<N>());
            make(oldtype, newtype, recipe(kind, &integers, &[]), |old| blocks(old, &lengths, &places, None))
        })
    }
}
mpi_fn! {
    fn MPI_Type_create_indexed_block[c_int], MPI_Type_create_indexed_block_c[Count]<N>(count: N, blocklength: N, array_of_displacements: In<N>, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let n = natural(i64::from(count), "count")?;
            let length = natural(i64::from(blocklength), "blocklength")? as i64;
            // SAFETY: the standard has the caller pass `array_of_displacements` with `n` elements.
            let places = unsafe { numbers(array_of_displacements, n, "array_of_displacements") }?;
            let integers = [&[n as i64, length], &places[..]].concat();
            let kind = (MPI_COMBINER_INDEXED_BLOCK, large::<N>());
            let lengths = vec![length; places.len()];
            make(oldtype, newtype, recipe(kind, &integers, &[]), |old| blocks(old, &lengths, &places, None))
        })
    }
}

pub fn hindexed(
    large: bool,
    lengths: &[i64],
    places: &[i64],
    oldtype: Datatype,
    newtype: Out<Datatype>,
) -> Res {
    lengths_are_natural(lengths)?;
    let integers = [&[lengths.len() as i64], lengths].concat();
    let kind = (MPI_COMBINER_HINDEXED, large);
    make(oldtype, newtype, recipe(kind, &integers, places), |old| blocks(old, lengths, places, Some(1)))
}

mpi_fn! {
    fn MPI_Type_create_hindexed(count: c_int, array_of_blocklengths: In<c_int>, array_of_displacements: In<Aint>, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let n = natural(count.into(), "count")?;
            // SAFETY: the standard has the caller pass `array_of_blocklengths` with `n` elements.
            let lengths = unsafe { numbers(array_of_blocklengths, n, "array_of_blocklengths") }?;
            // SAFETY: the standard has the caller pass `array_of_displacements` with `n` elements.
            let places = unsafe { numbers(array_of_displacements, n, "array_of_displacements") }?;
            hindexed(false, &lengths, &places, oldtype, newtype)
        })
    }
}
mpi_fn! {
    fn MPI_Type_create_hindexed_c(count: Count, array_of_blocklengths: In<Count>, array_of_displacements: In<Count>, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let n = natural(count, "count")?;
            // SAFETY: the standard has the caller pass `array_of_blocklengths` with `n` elements.
            let lengths = unsafe { numbers(array_of_blocklengths, n, "array_of_blocklengths") }?;
            // SAFETY: the standard has the caller pass `array_of_displacements` with `n` elements.
            let places = unsafe { numbers(array_of_displacements, n, "array_of_displacements") }?;
            hindexed(true, &lengths, &places, oldtype, newtype)
        })
    }
}

fn hindexed_block(
    large: bool,
    length: i64,
    places: &[i64],
    oldtype: Datatype,
    newtype: Out<Datatype>,
) -> Res {
    natural(length, "blocklength")?;
    let kind = (MPI_COMBINER_HINDEXED_BLOCK, large);
    let lengths = vec![length; places.len()];
    let integers = [places.len() as i64, length];
    make(oldtype, newtype, recipe(kind, &integers, places), |old| blocks(old, &lengths, places, Some(1)))
}

mpi_fn! {
    fn MPI_Type_create_hindexed_block(count: c_int, blocklength: c_int, array_of_displacements: In<Aint>, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            // SAFETY: the standard has the caller pass `array_of_displacements` with `count` elements.
            let places = unsafe { numbers(array_of_displacements, natural(count.into(), "count")?, "array_of_displacements") }?;
            hindexed_block(false, blocklength.into(), &places, oldtype, newtype)
        })
    }
}
mpi_fn! {
    fn MPI_Type_create_hindexed_block_c(count: Count, blocklength: Count, array_of_displacements: In<Count>, oldtype: Datatype, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            // SAFETY: the standard has the caller pass `array_of_displacements` with `count` elements.
            let places = unsafe { numbers(array_of_displacements, natural(count, "count")?, "array_of_displacements") }?;
            hindexed_block(true, blocklength, &places, oldtype, newtype)
        })
    }
}

/// Blocks of any types.
pub fn structure(
    large: bool,
    lengths: &[i64],
    places: &[i64],
    types: &[Datatype],
    newtype: Out<Datatype>,
) -> Res {
    lengths_are_natural(lengths)?;
    if newtype.is_null() {
        return Failure::err(MPI_ERR_ARG, "newtype is a null pointer");
    }
    let olds: Vec<OldType> =
        types.iter().map(|&t| reference(t, "a type of array_of_types")).collect::<Res<_>>()?;
    let mut signature = Signature::default();
    let mut parts = Vec::with_capacity(olds.len());
    for ((old, &length), &disp) in olds.iter().zip(lengths).zip(places) {
        signature.append(&old.signature, length as u64).map_err(refusal)?;
        parts.push(build::Part { disp, count: length as u64, old: &old.desc });
    }
    let desc = build::structure(&parts).map_err(refusal)?;
    let integers = [&[lengths.len() as i64], lengths].concat();
    let recipe = recipe((MPI_COMBINER_STRUCT, large), &integers, places);
    let recipe = Recipe { types: olds.into_iter().map(|old| old.part).collect(), ..recipe };
    write(newtype, "newtype", adopt(desc, Arc::new(signature), recipe, false)?)
}

mpi_fn! {
    fn MPI_Type_create_struct(count: c_int, array_of_blocklengths: In<c_int>, array_of_displacements: In<Aint>, array_of_types: In<Datatype>, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let n = natural(count.into(), "count")?;
            // SAFETY: the standard has the caller pass `array_of_blocklengths` with `n` elements.
            let lengths = unsafe { numbers(array_of_blocklengths, n, "array_of_blocklengths") }?;
            // SAFETY: the standard has the caller pass `array_of_displacements` with `n` elements.
            let places = unsafe { numbers(array_of_displacements, n, "array_of_displacements") }?;
            // SAFETY: the standard has the caller pass `array_of_types` with `n` elements.
            structure(false, &lengths, &places, unsafe { slice(array_of_types, n as usize, "array_of_types") }?, newtype)
        })
    }
}
mpi_fn! {
    fn MPI_Type_create_struct_c(count: Count, array_of_blocklengths: In<Count>, array_of_displacements: In<Count>, array_of_types: In<Datatype>, newtype: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let n = natural(count, "count")?;
            // SAFETY: the standard has the caller pass `array_of_blocklengths` with `n` elements.
            let lengths = unsafe { numbers(array_of_blocklengths, n, "array_of_blocklengths") }?;
            // SAFETY: the standard has the caller pass `array_of_displacements` with `n` elements.
            let places = unsafe { numbers(array_of_displacements, n, "array_of_displacements") }?;
            // SAFETY: the standard has the caller pass `array_of_types` with `n` elements.
            structure(true, &lengths, &places, unsafe { slice(array_of_types, n as usize, "array_of_types") }?, newtype)
        })
    }
}

/// Makes a type once more as a recipe says, of other types: any but those of arrays.
pub fn again(recipe: &Recipe, olds: &[TypeRef]) -> Res<TypeRef> {
    let integers = recipe.integers.iter().map(|&n| i64::from(n));
    let all: Vec<i64> = match recipe.counts[..] {
        [] => integers.chain(recipe.addresses.iter().copied()).collect(),
        _ => recipe.counts.clone(),
    };
    let lists = |n: i64, rest: &[i64]| {
        let (lengths, places) = rest.split_at_checked(usize::try_from(n).ok()?)?;
        Some((lengths.to_vec(), places.to_vec()))
    };
    let equal = |n: i64, length: i64| vec![length; usize::try_from(n).unwrap_or(0)];
    let made = match (recipe.combiner, olds, &all[..]) {
        (MPI_COMBINER_CONTIGUOUS, [old], &[n]) => build::contiguous(n as u64, old),
        (MPI_COMBINER_VECTOR, [old], &[n, block, stride]) => {
            build::vector(n as u64, block as u64, stride, old)
        }
        (MPI_COMBINER_HVECTOR, [old], &[n, block, stride]) => {
            build::hvector(n as u64, block as u64, stride, old)
        }
        (MPI_COMBINER_RESIZED, [old], &[lb, extent]) => build::resized(lb, extent, old),
        (MPI_COMBINER_INDEXED_BLOCK, [old], [n, length, places @ ..]) => {
            blocks(old, &equal(*n, *length), places, None)
        }
        (MPI_COMBINER_HINDEXED_BLOCK, [old], [n, length, places @ ..]) => {
            blocks(old, &equal(*n, *length), places, Some(1))
        }
        (kind @ (MPI_COMBINER_INDEXED | MPI_COMBINER_HINDEXED), [old], [n, rest @ ..]) => {
            let (lengths, places) = lists(*n, rest).ok_or_else(|| refusal(Status::INTERNAL))?;
            blocks(old, &lengths, &places, (kind == MPI_COMBINER_HINDEXED).then_some(1))
        }
        (MPI_COMBINER_STRUCT, olds, [n, rest @ ..]) => {
            let (lengths, places) = lists(*n, rest).ok_or_else(|| refusal(Status::INTERNAL))?;
            let all = olds.iter().zip(&lengths).zip(&places);
            let parts = all.map(|((old, &count), &disp)| build::Part { disp, count: count as u64, old });
            build::structure(&parts.collect::<Vec<_>>())
        }
        _ => Err(Status::INTERNAL),
    };
    made.map_err(refusal)
}
