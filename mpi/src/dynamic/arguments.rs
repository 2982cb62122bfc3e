//! Arguments of the functions that start processes and meet jobs, read where they count: at the root.

use crate::call::memory::{In, Text};
use crate::comm::CommObject;
use crate::constants::*;
use crate::error::{Failure, Res};
use crate::info;
use crate::types::Info;
use core::ffi::{CStr, c_char, c_int};
use oxmpi_runtime::{Error, ErrorKind};
use oxmpi_wireup::jobs::SpawnedProgram;
use std::time::Duration;

/// The info key of a time limit, in seconds.
const TIMEOUT: &str = "timeout";

/// The root of a call on an intra-communicator.
pub fn root_of(object: &CommObject, root: c_int) -> Res<u32> {
    if object.comm.remote_group().is_some() {
        return Failure::err(MPI_ERR_COMM, "comm is an inter-communicator");
    }
    match u32::try_from(root) {
        Ok(root) if root < object.comm.size() => Ok(root),
        _ => Failure::err(MPI_ERR_ROOT, format!("root is {root}, ranks are 0 to {}", object.comm.size() - 1)),
    }
}

/// A failure of the root's arguments as an error that all ranks are told.
pub fn for_all(failure: Failure) -> Error {
    let kind = match failure.code {
        MPI_ERR_INFO | MPI_ERR_INFO_VALUE | MPI_ERR_INFO_KEY => ErrorKind::Info,
        MPI_ERR_SPAWN => ErrorKind::Spawn,
        MPI_ERR_PORT => ErrorKind::Port,
        _ => ErrorKind::Arg,
    };
    Error::new(kind, failure.message)
}

/// One program of MPI_Comm_spawn.
///
/// # Safety
/// `argv` is null, or an array of strings that ends with null.
pub unsafe fn program(
    command: Text,
    argv: In<*mut c_char>,
    maxprocs: c_int,
    hints: Info,
) -> Res<SpawnedProgram> {
    if command.is_null() {
        return Failure::err(MPI_ERR_ARG, "command is a null pointer");
    }
    // SAFETY: not null, and a string by the promise of the C function's caller.
    let command = unsafe { CStr::from_ptr(command.as_ptr()) }.to_bytes().to_vec();
    if command.is_empty() {
        return Failure::err(MPI_ERR_SPAWN, "command is an empty string");
    }
    let most = match u32::try_from(maxprocs) {
        Ok(most) if most > 0 => most,
        _ => return Failure::err(MPI_ERR_ARG, format!("maxprocs is {maxprocs}")),
    };
    let mut arguments = Vec::new();
    let mut at = argv.as_ptr();
    // SAFETY: null, or a place of the array, whose last one is null.
    while let Some(argument) = unsafe { at.as_ref() }.filter(|argument| !argument.is_null()) {
        // SAFETY: a string of the array.
        arguments.push(unsafe { CStr::from_ptr(*argument) }.to_bytes().to_vec());
        at = at.wrapping_add(1);
    }
    let hints = info::optional(hints)?.unwrap_or_default();
    let hints = hints.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    Ok(SpawnedProgram { command, arguments, most, hints })
}

/// How long a call may take to meet the other side; `None`: as long as it takes.
pub fn time_limit(hints: Info) -> Res<Option<Duration>> {
    let hints = info::optional(hints)?;
    let Some(text) = hints.as_ref().and_then(|hints| hints.get(TIMEOUT)) else { return Ok(None) };
    match text.trim().parse::<f64>() {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok(Some(Duration::from_secs_f64(seconds))),
        _ => Failure::err(MPI_ERR_INFO_VALUE, format!("{TIMEOUT} is {text:?}, no number of seconds")),
    }
}
