//! How the body of a function of the C interface is run: with a look whether MPI runs, and with its failure told to the
//! handler that must hear of it.

use super::failure::{Failure, Res};
use super::handler::ErrorObject;
use super::raise::{raise, raise_on};
use crate::call::process::{self, Process};
use crate::constants::*;
use crate::types::{Comm, File};
use core::ffi::c_int;

/// Runs the body of a function that needs a running MPI.
#[inline]
pub fn call_on(name: &'static str, on: ErrorObject, body: impl FnOnce(&'static Process) -> Res) -> c_int {
    match process::require().and_then(body) {
        Ok(()) => MPI_SUCCESS,
        Err(failure) => raise_on(name, on, failure),
    }
}

/// As [`call_on`], for a function that is called on a communicator or on nothing.
#[inline]
pub fn call(name: &'static str, on: Option<Comm>, body: impl FnOnce(&'static Process) -> Res) -> c_int {
    match process::require().and_then(body) {
        Ok(()) => MPI_SUCCESS,
        Err(failure) => raise(name, on, failure),
    }
}

/// Runs the body of a function that may be called at any time.
#[inline]
pub fn call_any_time(name: &'static str, body: impl FnOnce() -> Res) -> c_int {
    match body() {
        Ok(()) => MPI_SUCCESS,
        Err(failure) => raise(name, None, failure),
    }
}

/// The error of a function of later work.
pub fn not_there() -> Failure {
    let text = "this function is not in this version of oxmpi; `mpi-info --help functions` lists what is";
    Failure::new(MPI_ERR_UNSUPPORTED_OPERATION, text)
}

/// Body of the functions of later work.
#[cold]
pub fn unsupported(name: &'static str, on: Option<Comm>) -> c_int {
    let failure = process::require().map_or_else(|failure| failure, |_| not_there());
    raise(name, on, failure)
}

/// As [`unsupported()`], for functions of files. No file is ever open, so the error is one on MPI_FILE_NULL, whose
/// handler returns it by default (MPI 5.0 §14.7): a program with another way to its data goes on.
#[cold]
pub fn unsupported_file(name: &'static str) -> c_int {
    match process::require() {
        Ok(_) => raise_on(name, ErrorObject::File(File(MPI_FILE_NULL)), not_there()),
        Err(failure) => raise(name, None, failure),
    }
}
