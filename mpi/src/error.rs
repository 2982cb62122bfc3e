//! From a failure to the error handler that must hear of it.
//!
//! A function of the C interface finds out what is wrong as a [`Failure`] (class and sentence) and
//! hands it to [`raise`] with the communicator it was called on. That communicator's handler decides;
//! without one (a null or stale handle, a function without a communicator) it is MPI_COMM_SELF's, and
//! before MPI_Init and after MPI_Finalize the initial one, which ends the program. **No lock and no
//! guard is alive when a handler runs**: the handler is cloned out of the object first.

use crate::comm;
use crate::constants::*;
use crate::errhandler::Handler;
use crate::process::{self, Process};
use crate::types::Comm;
use core::ffi::c_int;
use oxmpi_mca::Status;

/// What went wrong, for the error handler: a class (or a user's code) and a sentence.
#[derive(Debug)]
pub struct Failure {
    pub code: c_int,
    pub message: String,
}

pub type Res<T = ()> = Result<T, Failure>;

impl Failure {
    pub fn new(code: c_int, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into() }
    }

    /// `Err`, for checks.
    pub fn err<T>(code: c_int, message: impl Into<String>) -> Res<T> {
        Err(Failure::new(code, message))
    }
}

impl From<oxmpi_runtime::Error> for Failure {
    fn from(e: oxmpi_runtime::Error) -> Failure {
        Failure { code: e.kind.class(), message: e.message }
    }
}

impl From<Status> for Failure {
    fn from(s: Status) -> Failure {
        let message = if s.0 <= OF_USER { "a callback function returned it" } else { s.name() };
        Failure { code: class_of(s), message: message.to_string() }
    }
}

/// Statuses from here downwards carry a code of MPI or of the user's callbacks, which have no status.
const OF_USER: i32 = -(1 << 20);

/// A code of MPI, 0 for none, as a status of a request.
pub fn of_user(code: c_int) -> Status {
    if code <= 0 { Status::OK } else { Status(OF_USER.saturating_sub(code)) }
}

/// The MPI error class of a status from below.
pub fn class_of(s: Status) -> c_int {
    match s {
        Status::OK | Status::PENDING => MPI_SUCCESS,
        Status::NO_RESOURCE | Status::UNREACHABLE | Status::TIMEOUT => MPI_ERR_OTHER,
        Status::NOT_SUPPORTED | Status::NOT_AVAILABLE => MPI_ERR_UNSUPPORTED_OPERATION,
        Status::BAD_PARAM | Status::NOT_FOUND => MPI_ERR_ARG,
        Status::OUT_OF_MEMORY => MPI_ERR_NO_MEM,
        Status::PEER_FAILED => MPI_ERR_PROC_ABORTED,
        Status::TRUNCATED => MPI_ERR_TRUNCATE,
        Status::NO_PERMISSION => MPI_ERR_ACCESS,
        Status(n) if n <= OF_USER => OF_USER - n,
        _ => MPI_ERR_INTERN,
    }
}

/// Turns a status into a result with the sentence the user should read.
pub fn check(s: Status) -> Res {
    if s.is_err() { Err(s.into()) } else { Ok(()) }
}

/// Runs the body of a function that needs a running MPI.
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

/// Body of the functions of later work.
#[cold]
pub fn unsupported(name: &'static str, on: Option<Comm>) -> c_int {
    let failure = match process::require() {
        Ok(_) => Failure::new(
            MPI_ERR_UNSUPPORTED_OPERATION,
            format!("{name} is not in this version of oxmpi; INDEX.md lists what is"),
        ),
        Err(failure) => failure,
    };
    raise(name, on, failure)
}

/// Tells the error handler, and returns what the function shall return if that comes back.
#[cold]
#[inline(never)]
pub fn raise(name: &str, on: Option<Comm>, failure: Failure) -> c_int {
    let Some(process) = process::current() else { before_or_after(name, &failure) };
    let comm = on.filter(|c| comm::get(*c).is_some()).unwrap_or(Comm(MPI_COMM_SELF));
    let handler = comm::get(comm).map_or(Handler::Fatal, |object| object.handler());
    match handler {
        Handler::Return => failure.code,
        Handler::User(user) => {
            let (mut comm, mut code) = (comm, failure.code);
            // SAFETY: the function the user gave for this purpose; its parameters live here.
            unsafe { (user.function)(&mut comm, &mut code) };
            failure.code
        }
        Handler::Fatal => die(process, name, comm, "MPI_ERRORS_ARE_FATAL", &failure),
        Handler::Abort => die(process, name, comm, "MPI_ERRORS_ABORT", &failure),
    }
}

fn die(process: &Process, name: &str, comm: Comm, handler: &str, failure: &Failure) -> ! {
    let on = comm::get(comm).map_or_else(|| "no communicator".into(), |object| object.describe());
    let class = crate::errcode::class_name(failure.code);
    let text = format!("{name}: {class}: {} (on {on}, whose error handler is {handler})", failure.message);
    process.instance.abort(failure.code.max(1), &text)
}

/// No communicator exists: the initial error handler, which is fatal.
fn before_or_after(name: &str, failure: &Failure) -> ! {
    let class = crate::errcode::class_name(failure.code);
    eprintln!("oxmpi: {name}: {class}: {}. The program ends.", failure.message);
    std::process::exit(failure.code.clamp(1, 255))
}
