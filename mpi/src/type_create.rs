//! Making derived datatypes, and telling how they were made.
//!
//! The plain constructors keep their numbers as integers and addresses, the large-count ones all of
//! them as counts, and MPI_Type_get_envelope and MPI_Type_get_contents tell them the same way.

use crate::constants::*;
use crate::datatype::{self, Part, Recipe, adopt, reference};
use crate::error::{Failure, Res, call};
use crate::memory::{slice, slice_mut, write};
use crate::types::{Aint, Count, Datatype};
use core::ffi::c_int;
use oxmpi_datatype::{TypeRef, build};
use oxmpi_mca::Status;

/// A count from the user.
fn natural(value: i64, what: &str) -> Res<u64> {
    u64::try_from(value).or_else(|_| Failure::err(MPI_ERR_COUNT, format!("{what} is {value}")))
}

/// The common end of all constructors: builds, keeps the recipe, gives the handle.
fn make(
    oldtype: Datatype,
    newtype: *mut Datatype,
    (combiner, large): (c_int, bool),
    (integers, addresses): (&[i64], &[i64]),
    how: impl FnOnce(&TypeRef) -> Result<TypeRef, Status>,
) -> Res {
    if newtype.is_null() {
        return Failure::err(MPI_ERR_ARG, "newtype is a null pointer");
    }
    let (old, part) = reference(oldtype, "oldtype")?;
    let desc = how(&old).map_err(|status| match status {
        Status::NOT_SUPPORTED => Failure::new(MPI_ERR_NO_MEM, "the layout has too many separate pieces"),
        Status::BAD_PARAM => Failure::new(MPI_ERR_ARG, "the layout does not fit into the address space"),
        other => other.into(),
    })?;
    let recipe = Recipe {
        combiner,
        large,
        integers: integers.to_vec(),
        addresses: addresses.to_vec(),
        types: vec![part],
    };
    write(newtype, "newtype", adopt(desc, recipe, false)?)
}

/// Whether a large-count function was called.
const fn large<N>() -> bool {
    size_of::<N>() == 8
}

mpi_fn! {
    fn MPI_Type_contiguous[c_int], MPI_Type_contiguous_c[Count]<N>(count: N, oldtype: Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| {
            let n = natural(i64::from(count), "count")?;
            let kind = (MPI_COMBINER_CONTIGUOUS, large::<N>());
            make(oldtype, newtype, kind, (&[n as i64], &[]), |old| build::contiguous(n, old))
        })
    }
}
mpi_fn! {
    fn MPI_Type_vector[c_int], MPI_Type_vector_c[Count]<N>(count: N, blocklength: N, stride: N, oldtype: Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| {
            let (n, block) = (natural(i64::from(count), "count")?, natural(i64::from(blocklength), "blocklength")?);
            let stride = i64::from(stride);
            let kind = (MPI_COMBINER_VECTOR, large::<N>());
            make(oldtype, newtype, kind, (&[n as i64, block as i64, stride], &[]), |old| build::vector(n, block, stride, old))
        })
    }
}

fn hvector(
    large: bool,
    count: i64,
    blocklength: i64,
    stride: i64,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> Res {
    let (n, block) = (natural(count, "count")?, natural(blocklength, "blocklength")?);
    let kind = (MPI_COMBINER_HVECTOR, large);
    make(oldtype, newtype, kind, (&[count, blocklength], &[stride]), |old| {
        build::hvector(n, block, stride, old)
    })
}

mpi_fn! {
    fn MPI_Type_create_hvector(count: c_int, blocklength: c_int, stride: Aint, oldtype: Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| hvector(false, count.into(), blocklength.into(), stride, oldtype, newtype))
    }
}
mpi_fn! {
    fn MPI_Type_create_hvector_c(count: Count, blocklength: Count, stride: Count, oldtype: Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| hvector(true, count, blocklength, stride, oldtype, newtype))
    }
}
mpi_fn! {
    fn MPI_Type_create_resized[Aint], MPI_Type_create_resized_c[Count]<N>(oldtype: Datatype, lb: N, extent: N, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| {
            let kind = (MPI_COMBINER_RESIZED, NAME.ends_with("_c"));
            make(oldtype, newtype, kind, (&[], &[lb, extent]), |old| build::resized(lb, extent, old))
        })
    }
}

/// Numbers of an array, widened.
fn numbers<N: Copy + Into<i64>>(at: *const N, count: u64, what: &str) -> Res<Vec<i64>> {
    Ok(slice(at, count as usize, what)?.iter().map(|&n| n.into()).collect())
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
    fn MPI_Type_indexed[c_int], MPI_Type_indexed_c[Count]<N>(count: N, array_of_blocklengths: *const N, array_of_displacements: *const N, oldtype: Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| {
            let n = natural(i64::from(count), "count")?;
            let lengths = numbers(array_of_blocklengths, n, "array_of_blocklengths")?;
            let places = numbers(array_of_displacements, n, "array_of_displacements")?;
            lengths_are_natural(&lengths)?;
            let integers = [&[n as i64], &lengths[..], &places[..]].concat();
            let kind = (MPI_COMBINER_INDEXED, large::<N>());
            make(oldtype, newtype, kind, (&integers, &[]), |old| blocks(old, &lengths, &places, None))
        })
    }
}
mpi_fn! {
    fn MPI_Type_create_indexed_block[c_int], MPI_Type_create_indexed_block_c[Count]<N>(count: N, blocklength: N, array_of_displacements: *const N, oldtype: Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| {
            let n = natural(i64::from(count), "count")?;
            let length = natural(i64::from(blocklength), "blocklength")? as i64;
            let places = numbers(array_of_displacements, n, "array_of_displacements")?;
            let integers = [&[n as i64, length], &places[..]].concat();
            let kind = (MPI_COMBINER_INDEXED_BLOCK, large::<N>());
            let lengths = vec![length; places.len()];
            make(oldtype, newtype, kind, (&integers, &[]), |old| blocks(old, &lengths, &places, None))
        })
    }
}

fn hindexed(large: bool, lengths: &[i64], places: &[i64], oldtype: Datatype, newtype: *mut Datatype) -> Res {
    lengths_are_natural(lengths)?;
    let integers = [&[lengths.len() as i64], lengths].concat();
    let kind = (MPI_COMBINER_HINDEXED, large);
    make(oldtype, newtype, kind, (&integers, places), |old| blocks(old, lengths, places, Some(1)))
}

mpi_fn! {
    fn MPI_Type_create_hindexed(count: c_int, array_of_blocklengths: *const c_int, array_of_displacements: *const Aint, oldtype: Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| {
            let n = natural(count.into(), "count")?;
            let lengths = numbers(array_of_blocklengths, n, "array_of_blocklengths")?;
            let places = numbers(array_of_displacements, n, "array_of_displacements")?;
            hindexed(false, &lengths, &places, oldtype, newtype)
        })
    }
}
mpi_fn! {
    fn MPI_Type_create_hindexed_c(count: Count, array_of_blocklengths: *const Count, array_of_displacements: *const Count, oldtype: Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| {
            let n = natural(count, "count")?;
            let lengths = numbers(array_of_blocklengths, n, "array_of_blocklengths")?;
            let places = numbers(array_of_displacements, n, "array_of_displacements")?;
            hindexed(true, &lengths, &places, oldtype, newtype)
        })
    }
}

fn hindexed_block(
    large: bool,
    length: i64,
    places: &[i64],
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> Res {
    natural(length, "blocklength")?;
    let kind = (MPI_COMBINER_HINDEXED_BLOCK, large);
    let lengths = vec![length; places.len()];
    let integers = [places.len() as i64, length];
    make(oldtype, newtype, kind, (&integers, places), |old| blocks(old, &lengths, places, Some(1)))
}

mpi_fn! {
    fn MPI_Type_create_hindexed_block(count: c_int, blocklength: c_int, array_of_displacements: *const Aint, oldtype: Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| {
            let places = numbers(array_of_displacements, natural(count.into(), "count")?, "array_of_displacements")?;
            hindexed_block(false, blocklength.into(), &places, oldtype, newtype)
        })
    }
}
mpi_fn! {
    fn MPI_Type_create_hindexed_block_c(count: Count, blocklength: Count, array_of_displacements: *const Count, oldtype: Datatype, newtype: *mut Datatype) -> c_int {
        call(NAME, None, |_| {
            let places = numbers(array_of_displacements, natural(count, "count")?, "array_of_displacements")?;
            hindexed_block(true, blocklength, &places, oldtype, newtype)
        })
    }
}

/// Numbers of integers, addresses, large counts and types, and the combiner.
fn envelope(datatype: Datatype) -> Res<[i64; 5]> {
    datatype::require(datatype, "datatype")?;
    let Ok(object) = datatype::object(datatype, "datatype") else {
        return Ok([0, 0, 0, 0, MPI_COMBINER_NAMED as i64]);
    };
    let r = &object.derived.recipe;
    let (integers, addresses, types) =
        (r.integers.len() as i64, r.addresses.len() as i64, r.types.len() as i64);
    let [integers, addresses, counts] =
        if r.large { [0, 0, integers + addresses] } else { [integers, addresses, 0] };
    Ok([integers, addresses, counts, types, r.combiner as i64])
}

fn made_large<T>() -> Res<T> {
    Failure::err(
        MPI_ERR_TYPE,
        "datatype was made by a large-count function; ask the form of this one that ends in _c",
    )
}

mpi_fn! {
    fn MPI_Type_get_envelope(datatype: Datatype, num_integers: *mut c_int, num_addresses: *mut c_int, num_datatypes: *mut c_int, combiner: *mut c_int) -> c_int {
        call(NAME, None, |_| {
            let [integers, addresses, counts, types, how] = envelope(datatype)?;
            if counts > 0 {
                return made_large();
            }
            write(num_integers, "num_integers", integers as c_int)?;
            write(num_addresses, "num_addresses", addresses as c_int)?;
            write(num_datatypes, "num_datatypes", types as c_int)?;
            write(combiner, "combiner", how as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_Type_get_envelope_c(datatype: Datatype, num_integers: *mut Count, num_addresses: *mut Count, num_large_counts: *mut Count, num_datatypes: *mut Count, combiner: *mut c_int) -> c_int {
        call(NAME, None, |_| {
            let [integers, addresses, counts, types, how] = envelope(datatype)?;
            write(num_integers, "num_integers", integers)?;
            write(num_addresses, "num_addresses", addresses)?;
            write(num_large_counts, "num_large_counts", counts)?;
            write(num_datatypes, "num_datatypes", types)?;
            write(combiner, "combiner", how as c_int)
        })
    }
}

/// The user's arrays for MPI_Type_get_contents: how long each is, and where.
struct Room {
    integers: (i64, *mut c_int),
    addresses: (i64, *mut Aint),
    counts: Option<(i64, *mut Count)>,
    types: (i64, *mut Datatype),
}

fn fill<T: Copy>((room, at): (i64, *mut T), values: &[T], what: &str) -> Res {
    if room < values.len() as i64 {
        return Failure::err(
            MPI_ERR_ARG,
            format!("there is room for {room} {what}, the type has {}", values.len()),
        );
    }
    slice_mut(at, values.len(), what)?.copy_from_slice(values);
    Ok(())
}

fn contents(datatype: Datatype, room: Room) -> Res {
    datatype::require(datatype, "datatype")?;
    let Ok(object) = datatype::object(datatype, "datatype") else {
        return Failure::err(MPI_ERR_TYPE, "datatype is predefined, it has no contents");
    };
    let r = &object.derived.recipe;
    if r.large {
        let Some(counts) = room.counts else { return made_large() };
        fill(counts, &[&r.integers[..], &r.addresses[..]].concat(), "large counts")?;
    } else {
        let integers: Vec<c_int> = r.integers.iter().map(|&n| n as c_int).collect();
        fill(room.integers, &integers, "integers")?;
        fill(room.addresses, &r.addresses, "addresses")?;
    }
    let handles = r.types.iter().map(|part| match part {
        Part::Predefined(handle) => Ok(*handle),
        Part::Derived(derived) => datatype::again(derived.clone()),
    });
    fill(room.types, &handles.collect::<Res<Vec<Datatype>>>()?, "datatypes")
}

mpi_fn! {
    fn MPI_Type_get_contents(datatype: Datatype, max_integers: c_int, max_addresses: c_int, max_datatypes: c_int, array_of_integers: *mut c_int, array_of_addresses: *mut Aint, array_of_datatypes: *mut Datatype) -> c_int {
        call(NAME, None, |_| contents(datatype, Room {
            integers: (max_integers.into(), array_of_integers),
            addresses: (max_addresses.into(), array_of_addresses),
            counts: None,
            types: (max_datatypes.into(), array_of_datatypes),
        }))
    }
}
mpi_fn! {
    fn MPI_Type_get_contents_c(datatype: Datatype, max_integers: Count, max_addresses: Count, max_large_counts: Count, max_datatypes: Count, array_of_integers: *mut c_int, array_of_addresses: *mut Aint, array_of_large_counts: *mut Count, array_of_datatypes: *mut Datatype) -> c_int {
        call(NAME, None, |_| contents(datatype, Room {
            integers: (max_integers, array_of_integers),
            addresses: (max_addresses, array_of_addresses),
            counts: Some((max_large_counts, array_of_large_counts)),
            types: (max_datatypes, array_of_datatypes),
        }))
    }
}
