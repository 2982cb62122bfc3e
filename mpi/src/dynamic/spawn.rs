//! MPI_Comm_spawn and MPI_Comm_spawn_multiple (MPI 5.0 §11.8).

use super::arguments::{for_all, program, root_of};
use crate::call::memory::{In, Out, Text, slice, write};
use crate::call::standstill;
use crate::comm::lifetime::adopt;
use crate::comm::require;
use crate::constants::*;
use crate::error::{Failure, Res, call};
use crate::types::{Comm, Info};
use core::ffi::{c_char, c_int};
use oxmpi_mca::Entry;
use oxmpi_wireup::jobs::SpawnedProgram;

/// Starts programs; `read` reads the root's arguments. `codes` has a place for each process that was asked for.
fn spawn(
    name: &'static str,
    entry: &mut Entry,
    comm: Comm,
    root: c_int,
    read: impl FnOnce() -> Res<Vec<SpawnedProgram>>,
    made: Out<Comm>,
    codes: Out<c_int>,
) -> Res {
    let object = require(comm)?;
    let root = root_of(object, root)?;
    if made.is_null() {
        return Failure::err(MPI_ERR_ARG, "intercomm is a null pointer");
    }
    let programs = (object.comm.rank() == root).then(read);
    let most: Vec<u32> =
        programs.iter().flatten().flat_map(|programs| programs.iter().map(|p| p.most)).collect();
    let programs = programs.map(|programs| programs.map_err(for_all));
    let give = |codes_of: &mut dyn Iterator<Item = c_int>| {
        for (n, code) in codes_of.enumerate() {
            // SAFETY: the standard has the caller pass as many as processes were asked for, or none.
            unsafe { codes.at(n) }.set(code);
        }
    };
    match object.comm.spawn(entry, root, programs) {
        Ok(spawned) => {
            let of = |&(count, most): &(u32, u32)| {
                (0..most).map(move |n| if n < count { MPI_SUCCESS } else { MPI_ERR_SPAWN })
            };
            give(&mut spawned.counts.iter().flat_map(of));
            write(made, "intercomm", adopt(entry, object, spawned.comm)?)
        }
        Err(why) => {
            give(&mut most.iter().flat_map(|&most| (0..most).map(|_| why.class())));
            made.set(Comm(MPI_COMM_NULL));
            let failure = Failure::from(why);
            standstill::watch(name, Failure::new(failure.code, failure.message.clone()));
            Err(failure)
        }
    }
}

mpi_fn! {
    fn MPI_Comm_spawn(command: Text, argv: In<*mut c_char>, maxprocs: c_int, info: Info, root: c_int, comm: Comm, intercomm: Out<Comm>, array_of_errcodes: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            // SAFETY: the standard has the root pass an array of strings that ends with null, or none.
            let read = || Ok(vec![unsafe { program(command, argv, maxprocs, info) }?]);
            spawn(NAME, entry, comm, root, read, intercomm, array_of_errcodes)
        })
    }
}

/// The argument arrays of several programs.
type Arguments<'a> = In<'a, *mut *mut c_char>;

mpi_fn! {
    fn MPI_Comm_spawn_multiple(count: c_int, array_of_commands: In<*mut c_char>, array_of_argv: Arguments, array_of_maxprocs: In<c_int>, array_of_info: In<Info>, root: c_int, comm: Comm, intercomm: Out<Comm>, array_of_errcodes: Out<c_int>) -> c_int |here| {
        call(here, NAME, Some(comm), |_, entry| {
            let read = || {
                let count = match usize::try_from(count) {
                    Ok(count) if count > 0 => count,
                    _ => return Failure::err(MPI_ERR_ARG, format!("count is {count}")),
                };
                // SAFETY: the standard has the root pass `count` of each; argument arrays may be none at all.
                let (commands, most, hints, argv) = unsafe {
                    (
                        slice(array_of_commands, count, "array_of_commands")?,
                        slice(array_of_maxprocs, count, "array_of_maxprocs")?,
                        slice(array_of_info, count, "array_of_info")?,
                        if array_of_argv.is_null() { None } else { Some(slice(array_of_argv, count, "array_of_argv")?) },
                    )
                };
                (0..count).map(|n| {
                    let argv = argv.map_or(core::ptr::null(), |all| all[n].cast_const());
                    // SAFETY: a string, and null or an array of strings that ends with null, as the standard has it.
                    unsafe { program(Text::new(commands[n]), In::new(argv), most[n], hints[n]) }
                }).collect()
            };
            spawn(NAME, entry, comm, root, read, intercomm, array_of_errcodes)
        })
    }
}
