//! How a datatype was made: MPI_Type_get_envelope and MPI_Type_get_contents (MPI 5.0 §5.1.13).

use crate::call::memory::{slice_mut, write};
use crate::constants::*;
use crate::datatype::{self, Part};
use crate::error::{Failure, Res, call};
use crate::types::{Aint, Count, Datatype};
use core::ffi::c_int;

/// Numbers of integers, addresses, large counts and types, and the combiner.
fn envelope(datatype: Datatype) -> Res<[i64; 5]> {
    datatype::require(datatype, "datatype")?;
    let Ok(object) = datatype::object(datatype, "datatype") else {
        return Ok([0, 0, 0, 0, MPI_COMBINER_NAMED as i64]);
    };
    let r = &object.derived.recipe;
    let lengths = [r.integers.len(), r.addresses.len(), r.counts.len(), r.types.len()];
    let [integers, addresses, counts, types] = lengths.map(|n| n as i64);
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

fn fill_room<T>((room, at): (i64, *mut T), number: usize, what: &str) -> Res<&'static mut [T]> {
    if room < number as i64 {
        return Failure::err(MPI_ERR_ARG, format!("there is room for {room} {what}, the type has {number}"));
    }
    slice_mut(at, number, what)
}

fn fill<T: Copy + 'static>(room: (i64, *mut T), values: &[T], what: &str) -> Res {
    fill_room(room, values.len(), what)?.copy_from_slice(values);
    Ok(())
}

fn contents(datatype: Datatype, room: Room) -> Res {
    datatype::require(datatype, "datatype")?;
    let Ok(object) = datatype::object(datatype, "datatype") else {
        return Failure::err(MPI_ERR_TYPE, "datatype is predefined, it has no contents");
    };
    let r = &object.derived.recipe;
    match room.counts {
        Some(counts) => fill(counts, &r.counts, "large counts")?,
        None if r.counts.is_empty() => {}
        None => return made_large(),
    }
    fill(room.integers, &r.integers, "integers")?;
    fill(room.addresses, &r.addresses, "addresses")?;
    // The room is looked at first, so that no handle is made in vain.
    fill_room(room.types, r.types.len(), "datatypes")?;
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
