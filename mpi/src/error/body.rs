//! How the body of a function of the C interface is run: with a look whether MPI runs, and with its failure told to the
//! handler that must hear of it.

use super::failure::Res;
use super::handler::ErrorObject;
use super::raise::{raise, raise_on, raise_without_call};
use crate::call::entry::Inside;
use crate::call::process::{self, Process};
use crate::constants::*;
use crate::types::Comm;
use core::ffi::c_int;
use oxmpi_mca::Entry;

/// Runs the body of a function that needs a running MPI: with the process and the call's entry.
#[inline]
pub fn call_on(
    here: Inside,
    name: &'static str,
    on: ErrorObject,
    body: impl FnOnce(&'static Process, &mut Entry) -> Res,
) -> c_int {
    let process = match process::require() {
        Ok(process) => process,
        Err(failure) => return raise_without_call(name, on, failure),
    };
    let mut entry = here.of(process).entry;
    match body(process, &mut entry) {
        Ok(()) => MPI_SUCCESS,
        Err(failure) => raise_on(&mut entry, name, on, failure),
    }
}

/// As [`call_on`], for a function that is called on a communicator or on nothing.
#[inline]
pub fn call(
    here: Inside,
    name: &'static str,
    on: Option<Comm>,
    body: impl FnOnce(&'static Process, &mut Entry) -> Res,
) -> c_int {
    let process = match process::require() {
        Ok(process) => process,
        Err(failure) => return raise_without_call(name, of_comm(on), failure),
    };
    let mut entry = here.of(process).entry;
    match body(process, &mut entry) {
        Ok(()) => MPI_SUCCESS,
        Err(failure) => raise(&mut entry, name, on, failure),
    }
}

/// The object that a function on a communicator, or on nothing, is called on.
fn of_comm(on: Option<Comm>) -> ErrorObject {
    on.map_or(ErrorObject::Nothing, ErrorObject::Comm)
}

/// Runs the body of a function that needs a running MPI and is not marked.
#[inline]
pub fn call_outside(
    name: &'static str,
    on: Option<Comm>,
    body: impl FnOnce(&'static Process) -> Res,
) -> c_int {
    match process::require().and_then(body) {
        Ok(()) => MPI_SUCCESS,
        Err(failure) => raise_without_call(name, of_comm(on), failure),
    }
}

/// Runs the body of a function that may be called at any time.
#[inline]
pub fn call_any_time(name: &'static str, body: impl FnOnce() -> Res) -> c_int {
    match body() {
        Ok(()) => MPI_SUCCESS,
        Err(failure) => raise_without_call(name, ErrorObject::Nothing, failure),
    }
}
