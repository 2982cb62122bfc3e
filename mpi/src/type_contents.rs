//! How a datatype was made: MPI_Type_get_envelope and MPI_Type_get_contents (MPI 5.0 §5.1.13).

use crate::call::memory::{Out, slice_mut, write};
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
    fn MPI_Type_get_envelope(datatype: Datatype, num_integers: Out<c_int>, num_addresses: Out<c_int>, num_datatypes: Out<c_int>, combiner: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
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
    fn MPI_Type_get_envelope_c(datatype: Datatype, num_integers: Out<Count>, num_addresses: Out<Count>, num_large_counts: Out<Count>, num_datatypes: Out<Count>, combiner: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
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
struct Room<'a> {
    integers: Array<'a, c_int>,
    addresses: Array<'a, Aint>,
    counts: Option<Array<'a, Count>>,
    types: Array<'a, Datatype>,
}

/// An array of the user's with room for so many.
struct Array<'a, T> {
    room: i64,
    at: Out<'a, T>,
}

impl<'a, T: Copy> Array<'a, T> {
    /// An array of the arguments.
    ///
    /// # Safety
    /// The caller of the C function has promised as much room.
    unsafe fn new(room: impl Into<i64>, at: Out<'a, T>) -> Array<'a, T> {
        Array { room: room.into(), at }
    }

    /// The places for so many.
    fn places(&mut self, number: usize, what: &str) -> Res<&mut [T]> {
        let room = self.room;
        if room < number as i64 {
            return Failure::err(
                MPI_ERR_ARG,
                format!("there is room for {room} {what}, the type has {number}"),
            );
        }
        // SAFETY: no more than there is room for, by the promise of `new`; who has the places borrows the array.
        unsafe { slice_mut(self.at, number, what) }
    }

    fn fill(&mut self, values: &[T], what: &str) -> Res {
        self.places(values.len(), what)?.copy_from_slice(values);
        Ok(())
    }
}

fn contents(datatype: Datatype, mut room: Room) -> Res {
    datatype::require(datatype, "datatype")?;
    let Ok(object) = datatype::object(datatype, "datatype") else {
        return Failure::err(MPI_ERR_TYPE, "datatype is predefined, it has no contents");
    };
    let r = &object.derived.recipe;
    match room.counts {
        Some(mut counts) => counts.fill(&r.counts, "large counts")?,
        None if r.counts.is_empty() => {}
        None => return made_large(),
    }
    room.integers.fill(&r.integers, "integers")?;
    room.addresses.fill(&r.addresses, "addresses")?;
    // The room is looked at first, so that no handle is made in vain.
    room.types.places(r.types.len(), "datatypes")?;
    let handles = r.types.iter().map(|part| match part {
        Part::Predefined(handle) => Ok(*handle),
        Part::Derived(derived) => datatype::again(derived.clone()),
    });
    room.types.fill(&handles.collect::<Res<Vec<Datatype>>>()?, "datatypes")
}

mpi_fn! {
    fn MPI_Type_get_contents(datatype: Datatype, max_integers: c_int, max_addresses: c_int, max_datatypes: c_int, array_of_integers: Out<c_int>, array_of_addresses: Out<Aint>, array_of_datatypes: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            // SAFETY: the standard has the caller pass each array with room for as many as the argument `max_` of its name says.
            let room = unsafe {
                Room {
                    integers: Array::new(max_integers, array_of_integers),
                    addresses: Array::new(max_addresses, array_of_addresses),
                    counts: None,
                    types: Array::new(max_datatypes, array_of_datatypes),
                }
            };
            contents(datatype, room)
        })
    }
}
mpi_fn! {
    fn MPI_Type_get_contents_c(datatype: Datatype, max_integers: Count, max_addresses: Count, max_large_counts: Count, max_datatypes: Count, array_of_integers: Out<c_int>, array_of_addresses: Out<Aint>, array_of_large_counts: Out<Count>, array_of_datatypes: Out<Datatype>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            // SAFETY: the standard has the caller pass each array with room for as many as the argument `max_` of its name says.
            let room = unsafe {
                Room {
                    integers: Array::new(max_integers, array_of_integers),
                    addresses: Array::new(max_addresses, array_of_addresses),
                    counts: Some(Array::new(max_large_counts, array_of_large_counts)),
                    types: Array::new(max_datatypes, array_of_datatypes),
                }
            };
            contents(datatype, room)
        })
    }
}
