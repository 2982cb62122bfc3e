//! From a failure to the error handler that must hear of it.
//!
//! A function of the C interface finds out what is wrong as a [`Failure`] (class and sentence) and
//! hands it to [`raise`] with the object it was called on ([`On`]). That object's handler decides;
//! without one (a null or stale handle, a function without an object) it is MPI_COMM_SELF's, and where
//! there is none (before MPI_Init, after MPI_Finalize, with sessions only) the initial one (MPI 5.0 §9.3).
//! Programs older than MPI 4.0 expect such errors at MPI_COMM_WORLD; where the program has given that one
//! a handler and MPI_COMM_SELF none, it is asked.
//! **No lock and no guard is alive when a handler runs**: the handler is cloned out of the object first.

use crate::constants::*;
use crate::errcode;
use crate::errhandler::{self, Handler};
use crate::gate;
use crate::process::{self, Process};
use crate::tool::event;
use crate::types::{Comm, File, Session, Win};
use crate::{comm, session, win};
use core::ffi::c_int;
use oxmpi_mca::Status;

/// An error for the error handler: a class (or a user's code) and a sentence.
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
        Status::MISMATCH => MPI_ERR_NOT_SAME,
        Status::RMA_SYNC => MPI_ERR_RMA_SYNC,
        Status::RMA_CONFLICT => MPI_ERR_RMA_CONFLICT,
        Status::RMA_RANGE => MPI_ERR_RMA_RANGE,
        Status::RMA_ATTACH => MPI_ERR_RMA_ATTACH,
        Status::RMA_SHARED => MPI_ERR_RMA_SHARED,
        Status::RMA_FLAVOR => MPI_ERR_RMA_FLAVOR,
        Status(n) if n <= OF_USER => OF_USER - n,
        _ => MPI_ERR_INTERN,
    }
}

/// Turns a status into a result with the sentence the user should read.
pub fn check(s: Status) -> Res {
    if s.is_err() { Err(s.into()) } else { Ok(()) }
}

/// The object whose error handler hears of a failure.
#[derive(Clone)]
pub enum On {
    Nothing,
    Comm(Comm),
    Session(Session),
    Win(Win),
    File(File),
    /// This handler, for an object that does not exist yet or any more.
    Handler(Handler),
}

impl On {
    /// The object's handler and the word its functions get the address of; `None`: there is no such
    /// object.
    fn find(&self) -> Option<(Handler, usize)> {
        match self {
            On::Nothing => None,
            On::Comm(c) => Some((comm::get(*c)?.handler(), c.0)),
            On::Session(s) => Some((session::get(*s)?.handler(), s.0)),
            On::Win(w) => Some((win::get(*w)?.handler(), w.0)),
            On::File(f) => Some((errhandler::of_file(*f)?, f.0)),
            On::Handler(handler) => Some((handler.clone(), 0)),
        }
    }

    /// For messages to people.
    fn describe(&self) -> String {
        match self {
            On::Nothing | On::Handler(_) => "no object".into(),
            On::Comm(c) => comm::get(*c).map_or_else(|| "no communicator".into(), |c| c.describe()),
            On::Session(s) => format!("session {:#x}", s.0),
            On::Win(w) => format!("window {:#x}", w.0),
            On::File(f) if f.0 == MPI_FILE_NULL => "MPI_FILE_NULL".into(),
            On::File(f) => format!("file {:#x}", f.0),
        }
    }
}

/// Runs the body of a function that needs a running MPI.
#[inline]
pub fn call_on(name: &'static str, on: On, body: impl FnOnce(&'static Process) -> Res) -> c_int {
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
pub fn not_there(name: &str) -> Failure {
    let text = format!("{name} is not in this version of oxmpi; `mpi-info --help functions` lists what is");
    Failure::new(MPI_ERR_UNSUPPORTED_OPERATION, text)
}

/// Body of the functions of later work.
#[cold]
pub fn unsupported(name: &'static str, on: Option<Comm>) -> c_int {
    let failure = process::require().map_or_else(|failure| failure, |_| not_there(name));
    raise(name, on, failure)
}

/// As [`unsupported()`], for functions of files. No file is ever open, so the error is one on MPI_FILE_NULL, whose
/// handler returns it by default (MPI 5.0 §14.7): a program with another way to its data goes on.
#[cold]
pub fn unsupported_file(name: &'static str) -> c_int {
    match process::require() {
        Ok(_) => raise_on(name, On::File(File(MPI_FILE_NULL)), not_there(name)),
        Err(failure) => raise(name, None, failure),
    }
}

/// Tells the error handler, and returns what the function shall return if that comes back.
#[cold]
#[inline(never)]
pub fn raise(name: &str, on: Option<Comm>, failure: Failure) -> c_int {
    raise_on(name, on.map_or(On::Nothing, On::Comm), failure)
}

/// As [`raise`], for any object.
#[cold]
#[inline(never)]
pub fn raise_on(name: &str, on: On, failure: Failure) -> c_int {
    event::raise(event::Kind::ErrorRaised, || vec![failure.code]);
    let (on, (handler, word)) = match on.find() {
        Some(found) => (on, found),
        None => {
            let own = without_object();
            match own.find() {
                Some(found) => (own, found),
                None => (On::Nothing, (errhandler::initial(), 0)),
            }
        }
    };
    if !matches!(handler, Handler::Fatal | Handler::Abort) {
        errcode::note(name, &failure);
    }
    match handler {
        Handler::Return => failure.code,
        Handler::User(user) => {
            let (mut object, mut code) = (Comm(word), failure.code);
            // SAFETY: the function the user gave for this purpose; its parameters live here. Handles
            // of all kinds are one word, and the function's kind was checked when it was set.
            gate::outside(|| unsafe { (user.function)(&mut object, &mut code) });
            failure.code
        }
        Handler::Fatal => die(name, &on, "MPI_ERRORS_ARE_FATAL", &failure),
        Handler::Abort => die(name, &on, "MPI_ERRORS_ABORT", &failure),
    }
}

/// The communicator that hears of errors that have no object of their own.
fn without_object() -> On {
    let given = |c| comm::get(Comm(c)).is_some_and(|object| object.handler_given());
    match !given(MPI_COMM_SELF) && given(MPI_COMM_WORLD) {
        true => On::Comm(Comm(MPI_COMM_WORLD)),
        false => On::Comm(Comm(MPI_COMM_SELF)),
    }
}

fn die(name: &str, on: &On, handler: &str, failure: &Failure) -> ! {
    crate::stdio::flush();
    let class = errcode::class_name(failure.code);
    let on = on.describe();
    let text = format!("{name}: {class}: {} (on {on}, whose error handler is {handler})", failure.message);
    match process::current() {
        Some(process) => process.instance.abort(failure.code.max(1), &format!("an error in {name}"), &text),
        None => {
            eprintln!("oxmpi: {name}: {class}: {}. The program ends.", failure.message);
            std::process::exit(failure.code.clamp(1, 255))
        }
    }
}
