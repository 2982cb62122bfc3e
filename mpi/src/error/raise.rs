//! From a failure to the error handler that hears of it.
//!
//! [`raise`] takes a failure and the object that the function was called on. That object's handler decides;
//! without one (a null or stale handle, a function without an object) it is MPI_COMM_SELF's, and where
//! there is none (before MPI_Init, after MPI_Finalize, with sessions only) the initial one (MPI 5.0 §9.3).
//! Programs older than MPI 4.0 expect such errors at MPI_COMM_WORLD; where the program has given that one
//! a handler and MPI_COMM_SELF none, it is asked.
//! **No lock and no guard is alive when a handler runs**: the handler is cloned out of the object first, and the call's entry is borrowed.

use super::codes;
use super::failure::Failure;
use super::handler::{ErrorObject, Handler};
use crate::call::{gate, installation, process};
use crate::constants::*;
use crate::tool::event;
use crate::types::{Comm, File};
use crate::{comm, file, session, win};
use core::ffi::c_int;
use oxmpi_mca::Entry;
use oxmpi_mca_params::Value;

impl ErrorObject {
    /// The object's handler and the word its functions get the address of; `None`: there is no such
    /// object.
    fn find(&self) -> Option<(Handler, usize)> {
        match self {
            ErrorObject::Nothing => None,
            ErrorObject::Comm(c) => Some((comm::get(*c)?.handler(), c.0)),
            ErrorObject::Session(s) => Some((session::get(*s)?.handler(), s.0)),
            ErrorObject::Win(w) => Some((win::get(*w)?.handler(), w.0)),
            // Errors of what is no file are those of MPI_FILE_NULL (MPI 5.0 §14.7).
            ErrorObject::File(f) => match file::handler_of(*f) {
                Some(handler) => Some((handler, f.0)),
                None => Some((file::handler_of(File(MPI_FILE_NULL))?, MPI_FILE_NULL)),
            },
            ErrorObject::Handler(handler) => Some((handler.clone(), 0)),
        }
    }

    /// For messages to people.
    fn describe(&self) -> String {
        match self {
            ErrorObject::Nothing | ErrorObject::Handler(_) => "no object".into(),
            ErrorObject::Comm(c) => comm::get(*c).map_or_else(|| "no communicator".into(), |c| c.describe()),
            ErrorObject::Session(s) => format!("session {:#x}", s.0),
            ErrorObject::Win(w) => format!("window {:#x}", w.0),
            ErrorObject::File(f) if f.0 == MPI_FILE_NULL => "MPI_FILE_NULL".into(),
            ErrorObject::File(f) => match file::require(*f) {
                Ok(object) => format!("file {}", object.file.path().display()),
                Err(_) => format!("file {:#x}", f.0),
            },
        }
    }
}

/// Tells the error handler, and returns what the function shall return if that comes back.
#[cold]
#[inline(never)]
pub fn raise(entry: &mut Entry, name: &str, on: Option<Comm>, failure: Failure) -> c_int {
    raise_on(entry, name, on.map_or(ErrorObject::Nothing, ErrorObject::Comm), failure)
}

/// As [`raise`], for any object.
#[cold]
#[inline(never)]
pub fn raise_on(entry: &mut Entry, name: &str, on: ErrorObject, failure: Failure) -> c_int {
    let code = raise_without_call(name, on, failure);
    // The handler may have let a second thread in.
    entry.raise(gate::is_open_to_all());
    code
}

/// As [`raise_on`], for a function without an entry: one that is not marked, or where MPI is not in use.
#[cold]
#[inline(never)]
pub fn raise_without_call(name: &str, on: ErrorObject, failure: Failure) -> c_int {
    event::raise(event::Kind::ErrorRaised, || vec![failure.code]);
    let (on, (handler, word)) = match on.find() {
        Some(found) => (on, found),
        None => {
            let own = without_object();
            match own.find() {
                Some(found) => (own, found),
                None => (ErrorObject::Nothing, (initial(), 0)),
            }
        }
    };
    if !matches!(handler, Handler::Fatal | Handler::Abort) {
        codes::note(name, &failure);
    }
    match handler {
        Handler::Return => failure.code,
        Handler::User(user) => {
            let (mut object, mut code) = (Comm(word), failure.code);
            // SAFETY: the function the user gave for this purpose; its parameters live here. Handles
            // of all kinds are one word, and the function's kind was checked when it was set.
            gate::run_outside_without_entry(|| unsafe { (user.function)(&mut object, &mut code) });
            // It may have changed what the function returns (MPI 5.0 §9.3.1).
            code
        }
        Handler::Fatal => die(name, &on, "MPI_ERRORS_ARE_FATAL", &failure),
        Handler::Abort => die(name, &on, "MPI_ERRORS_ABORT", &failure),
    }
}

const INITIAL: &str = "mpi_initial_errhandler";

/// The handler of MPI_COMM_WORLD and MPI_COMM_SELF at first, and while there is no communicator
/// (MPI 5.0 §9.3): the parameter `mpi_initial_errhandler`.
pub fn initial() -> Handler {
    let value = match process::current() {
        Some(process) => process.instance.param(INITIAL).map(|p| p.value.clone()),
        None => oxmpi_runtime::param_outside(INITIAL, &installation::places()),
    };
    match value {
        Some(Value::Enum { index: 1, .. }) => Handler::Abort,
        Some(Value::Enum { index: 2, .. }) => Handler::Return,
        _ => Handler::Fatal,
    }
}

/// The communicator that hears of errors that have no object of their own.
fn without_object() -> ErrorObject {
    let given = |c| comm::get(Comm(c)).is_some_and(|object| object.handler_given());
    match !given(MPI_COMM_SELF) && given(MPI_COMM_WORLD) {
        true => ErrorObject::Comm(Comm(MPI_COMM_WORLD)),
        false => ErrorObject::Comm(Comm(MPI_COMM_SELF)),
    }
}

fn die(name: &str, on: &ErrorObject, handler: &str, failure: &Failure) -> ! {
    crate::call::stdio::flush();
    let class = codes::class_name(failure.code);
    let on = on.describe();
    let text = format!("{name}: {class}: {} (on {on}, whose error handler is {handler})", failure.message);
    match process::current() {
        Some(process) => process.instance.abort(failure.code.max(1), &format!("an error in {name}"), &text),
        None => {
            oxmpi_system::reportln!("oxmpi: {name}: {class}: {}. The program ends.", failure.message);
            std::process::exit(failure.code.clamp(1, 255))
        }
    }
}
