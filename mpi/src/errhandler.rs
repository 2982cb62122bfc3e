//! Error handlers: the three predefined ones, and the user's.
//!
//! A user's handler is one object with one handle, counted twice: how many references the user has
//! (`create` and every `get_errhandler` add one, `MPI_Errhandler_free` takes one), and how many there
//! are in all, with those of the objects that have it. Without a user's reference the handle is no valid
//! argument; the object dies with the last of all, so that freeing a handle too often harms nobody.
//!
//! Handlers may be made and freed at any time, and outlive MPI_Finalize.

use crate::constants::*;
use crate::error::{Failure, On, Res, call_any_time, call_on, raise_on};
use crate::handle::{Kind, Table};
use crate::memory::{read, write};
use crate::process;
use crate::types::{Comm, Errhandler, File, Session, Win};
use crate::{comm, environment, session, win};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use oxmpi_mca_params::Value;
use parking_lot::Mutex;

/// `MPI_Comm_errhandler_function`, and those of windows, files and sessions, whose first parameter
/// points to another kind of handle.
pub type Function = unsafe extern "C-unwind" fn(*mut Comm, *mut c_int, ...);

/// Kind of object that a handler is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum For {
    Comm,
    Win,
    File,
    Session,
}

pub struct User {
    pub function: Function,
    of: For,
    handle: AtomicUsize,
    /// The user's references.
    held: AtomicU32,
    /// All references.
    references: AtomicU32,
}

/// A counted reference to a user's handler.
pub struct UserRef(&'static User);

impl UserRef {
    fn new(user: &'static User) -> UserRef {
        user.references.fetch_add(1, Ordering::Relaxed);
        UserRef(user)
    }
}

impl core::ops::Deref for UserRef {
    type Target = User;
    fn deref(&self) -> &User {
        self.0
    }
}

impl Clone for UserRef {
    fn clone(&self) -> UserRef {
        UserRef::new(self.0)
    }
}

impl Drop for UserRef {
    fn drop(&mut self) {
        release(self.0);
    }
}

/// The object of a handle of which the user has a reference.
fn held(handle: usize) -> Option<&'static User> {
    TABLE.get(handle).filter(|user| user.held.load(Ordering::Relaxed) > 0)
}

/// Takes one of the user's references.
fn give_up(handle: usize) -> Res {
    let none = || Failure::new(MPI_ERR_ERRHANDLER, format!("errhandler {handle:#x} is none, or was freed"));
    let user = TABLE.get(handle).ok_or_else(none)?;
    user.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).map_err(|_| none())?;
    release(user);
    Ok(())
}

/// Handlers of the user that have not been freed.
pub fn count() -> usize {
    TABLE.handles().iter().filter(|h| held(**h).is_some()).count()
}

/// The handler of MPI_COMM_WORLD and MPI_COMM_SELF at first, and while there is no communicator
/// (MPI 5.0 §9.3): the parameter `mpi_initial_errhandler`.
pub fn initial() -> Handler {
    let value = match process::current() {
        Some(process) => process.instance.param(INITIAL).map(|p| p.value.clone()),
        None => oxmpi_runtime::param_outside(INITIAL, &environment::places()),
    };
    match value {
        Some(Value::Enum { index: 1, .. }) => Handler::Abort,
        Some(Value::Enum { index: 2, .. }) => Handler::Return,
        _ => Handler::Fatal,
    }
}

const INITIAL: &str = "mpi_initial_errhandler";

/// The default handler of files, which is that of MPI_FILE_NULL (MPI 5.0 §14.7).
static FILES: Mutex<Handler> = Mutex::new(Handler::Return);

/// The handler of a file; nothing but the default one exists in this version.
pub fn of_file(file: File) -> Option<Handler> {
    (file.0 == MPI_FILE_NULL).then(|| FILES.lock().clone())
}

/// Gives one reference up; the last one frees the object.
fn release(user: &'static User) {
    // SYNC POINT: release of every user's last access, acquire by the one who frees.
    if user.references.fetch_sub(1, Ordering::AcqRel) == 1 {
        drop(TABLE.remove(user.handle.load(Ordering::Relaxed)));
    }
}

#[derive(Clone)]
pub enum Handler {
    Fatal,
    Abort,
    Return,
    User(UserRef),
}

static TABLE: Table<User> = Table::new(Kind::Errhandler);

/// The handler of a handle.
pub fn get(handle: Errhandler, of: For) -> Res<Handler> {
    match handle.0 {
        MPI_ERRORS_ARE_FATAL => Ok(Handler::Fatal),
        MPI_ERRORS_ABORT => Ok(Handler::Abort),
        MPI_ERRORS_RETURN => Ok(Handler::Return),
        MPI_ERRHANDLER_NULL => Failure::err(MPI_ERR_ERRHANDLER, "errhandler is MPI_ERRHANDLER_NULL"),
        other => match held(other) {
            Some(user) if user.of == of => Ok(Handler::User(UserRef::new(user))),
            Some(user) => Failure::err(
                MPI_ERR_ERRHANDLER,
                format!("errhandler is for objects of kind {:?}, not {of:?}", user.of),
            ),
            None => Failure::err(MPI_ERR_ERRHANDLER, format!("errhandler {other:#x} is none")),
        },
    }
}

/// A handle of the handler for the user, who frees it.
pub fn handle(handler: &Handler) -> Errhandler {
    Errhandler(match handler {
        Handler::Fatal => MPI_ERRORS_ARE_FATAL,
        Handler::Abort => MPI_ERRORS_ABORT,
        Handler::Return => MPI_ERRORS_RETURN,
        Handler::User(user) => {
            user.held.fetch_add(1, Ordering::Relaxed);
            user.references.fetch_add(1, Ordering::Relaxed);
            user.handle.load(Ordering::Relaxed)
        }
    })
}

pub fn create(function: usize, of: For, out: *mut Errhandler) -> Res {
    if out.is_null() {
        return Failure::err(MPI_ERR_ARG, "errhandler is a null pointer");
    }
    if function < 0x1000 {
        return Failure::err(MPI_ERR_ARG, format!("{function:#x} is no function"));
    }
    // SAFETY: the user says it is one of this type; null and sentinels are excluded.
    let function = unsafe { core::mem::transmute::<usize, Function>(function) };
    let user = User {
        function,
        of,
        handle: AtomicUsize::new(0),
        held: AtomicU32::new(1),
        references: AtomicU32::new(1),
    };
    let Some(handle) = TABLE.insert(Box::new(user)) else {
        return Failure::err(MPI_ERR_NO_MEM, "too many error handlers");
    };
    if let Some(user) = TABLE.get(handle) {
        user.handle.store(handle, Ordering::Relaxed);
    }
    write(out, "errhandler", Errhandler(handle))
}

mpi_fn! {
    /// A handler from a function of the user.
    any_time fn MPI_Comm_create_errhandler(function: usize, errhandler: *mut Errhandler) -> c_int {
        call_any_time(NAME, || create(function, For::Comm, errhandler))
    }
}
mpi_fn! {
    any_time fn MPI_Win_create_errhandler(function: usize, errhandler: *mut Errhandler) -> c_int {
        call_any_time(NAME, || create(function, For::Win, errhandler))
    }
}
mpi_fn! {
    any_time fn MPI_File_create_errhandler(function: usize, errhandler: *mut Errhandler) -> c_int {
        call_any_time(NAME, || create(function, For::File, errhandler))
    }
}
mpi_fn! {
    any_time fn MPI_Session_create_errhandler(function: usize, errhandler: *mut Errhandler) -> c_int {
        call_any_time(NAME, || create(function, For::Session, errhandler))
    }
}
mpi_fn! {
    /// Gives the user's reference up.
    any_time fn MPI_Errhandler_free(errhandler: *mut Errhandler) -> c_int {
        call_any_time(NAME, || {
            let handle = read(errhandler, "errhandler")?;
            match handle.0 {
                MPI_ERRORS_ARE_FATAL | MPI_ERRORS_ABORT | MPI_ERRORS_RETURN => {}
                MPI_ERRHANDLER_NULL => return Failure::err(MPI_ERR_ERRHANDLER, "errhandler is MPI_ERRHANDLER_NULL"),
                other => give_up(other)?,
            }
            write(errhandler, "errhandler", Errhandler(MPI_ERRHANDLER_NULL))
        })
    }
}
/// An object that a handler of errors can be attached to, in the three functions that all kinds have.
pub trait Handled: Copy {
    const OF: For;
    fn on(self) -> On;
    fn get(self) -> Res<Handler>;
    fn set(self, handler: Handler) -> Res;
}

impl Handled for Comm {
    const OF: For = For::Comm;
    fn on(self) -> On {
        On::Comm(self)
    }
    fn get(self) -> Res<Handler> {
        comm::require(self).map(|c| c.handler())
    }
    fn set(self, handler: Handler) -> Res {
        comm::require(self).map(|c| c.set_handler(handler))
    }
}

impl Handled for Win {
    const OF: For = For::Win;
    fn on(self) -> On {
        On::Win(self)
    }
    fn get(self) -> Res<Handler> {
        win::require(self).map(|w| w.handler())
    }
    fn set(self, handler: Handler) -> Res {
        win::require(self).map(|w| w.set_handler(handler))
    }
}

impl Handled for Session {
    const OF: For = For::Session;
    fn on(self) -> On {
        On::Session(self)
    }
    fn get(self) -> Res<Handler> {
        session::require(self).map(|s| s.handler())
    }
    fn set(self, handler: Handler) -> Res {
        session::require(self).map(|s| s.set_handler(handler))
    }
}

/// No file but the null one, which stands for the files to come.
fn no_file(file: File) -> Failure {
    Failure::new(MPI_ERR_FILE, format!("file {:#x} is no file", file.0))
}

impl Handled for File {
    const OF: For = For::File;
    fn on(self) -> On {
        On::File(self)
    }
    fn get(self) -> Res<Handler> {
        of_file(self).ok_or_else(|| no_file(self))
    }
    fn set(self, handler: Handler) -> Res {
        of_file(self).ok_or_else(|| no_file(self))?;
        // The old one is dropped outside the lock.
        let old = core::mem::replace(&mut *FILES.lock(), handler);
        drop(old);
        Ok(())
    }
}

pub fn set(name: &'static str, object: impl Handled, errhandler: Errhandler) -> c_int {
    fn body<T: Handled>(object: T, errhandler: Errhandler) -> Res {
        object.get()?;
        object.set(get(errhandler, T::OF)?)
    }
    call_on(name, object.on(), |_| body(object, errhandler))
}

pub fn tell(name: &'static str, object: impl Handled, errhandler: *mut Errhandler) -> c_int {
    call_on(name, object.on(), |_| {
        let handler = object.get()?;
        if errhandler.is_null() {
            return Failure::err(MPI_ERR_ARG, "errhandler is a null pointer");
        }
        write(errhandler, "errhandler", handle(&handler))
    })
}

/// Calls the object's handler as if the error had happened.
fn invoke(name: &'static str, object: impl Handled, errorcode: c_int) -> c_int {
    let checked = call_on(name, object.on(), |_| {
        object.get()?;
        match errorcode == MPI_SUCCESS || crate::errcode::exists(errorcode) {
            true => Ok(()),
            false => Failure::err(MPI_ERR_ARG, format!("errorcode {errorcode} is no error code")),
        }
    });
    if checked == MPI_SUCCESS && errorcode != MPI_SUCCESS {
        raise_on(name, object.on(), Failure::new(errorcode, "raised by the program"));
    }
    checked
}

mpi_fn! {
    fn MPI_Comm_set_errhandler(comm: Comm, errhandler: Errhandler) -> c_int { set(NAME, comm, errhandler) }
}
mpi_fn! {
    fn MPI_Comm_get_errhandler(comm: Comm, errhandler: *mut Errhandler) -> c_int { tell(NAME, comm, errhandler) }
}
mpi_fn! {
    fn MPI_Comm_call_errhandler(comm: Comm, errorcode: c_int) -> c_int { invoke(NAME, comm, errorcode) }
}
mpi_fn! {
    fn MPI_Win_set_errhandler(win: Win, errhandler: Errhandler) -> c_int { set(NAME, win, errhandler) }
}
mpi_fn! {
    fn MPI_Win_get_errhandler(win: Win, errhandler: *mut Errhandler) -> c_int { tell(NAME, win, errhandler) }
}
mpi_fn! {
    fn MPI_Win_call_errhandler(win: Win, errorcode: c_int) -> c_int { invoke(NAME, win, errorcode) }
}
mpi_fn! {
    /// Of MPI_FILE_NULL: the handler that files get when they are opened.
    fn MPI_File_set_errhandler(file: File, errhandler: Errhandler) -> c_int { set(NAME, file, errhandler) }
}
mpi_fn! {
    fn MPI_File_get_errhandler(file: File, errhandler: *mut Errhandler) -> c_int { tell(NAME, file, errhandler) }
}
mpi_fn! {
    fn MPI_File_call_errhandler(fh: File, errorcode: c_int) -> c_int { invoke(NAME, fh, errorcode) }
}
mpi_fn! {
    fn MPI_Session_set_errhandler(session: Session, errhandler: Errhandler) -> c_int { set(NAME, session, errhandler) }
}
mpi_fn! {
    fn MPI_Session_get_errhandler(session: Session, errhandler: *mut Errhandler) -> c_int { tell(NAME, session, errhandler) }
}
mpi_fn! {
    fn MPI_Session_call_errhandler(session: Session, errorcode: c_int) -> c_int { invoke(NAME, session, errorcode) }
}
