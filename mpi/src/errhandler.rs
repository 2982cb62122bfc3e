//! Error handlers: the three predefined ones, and the user's.
//!
//! A user's handler is one object with one handle, counted: by the user (`create` and every
//! `get_errhandler` add one, `MPI_Errhandler_free` takes one) and by the communicators that have it.
//! The handle dies with the last of them.

use crate::constants::*;
use crate::error::{Failure, Res, call, call_any_time};
use crate::handle::{Kind, Table};
use crate::memory::{read, write};
use crate::types::{Comm, Errhandler, File, Session, Win};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// `MPI_Comm_errhandler_function`, and those of windows, files and sessions, whose first parameter
/// points to another kind of handle.
pub type Function = unsafe extern "C-unwind" fn(*mut Comm, *mut c_int, ...);

/// What kind of object a handler is for.
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
        other => match TABLE.get(other) {
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
            user.references.fetch_add(1, Ordering::Relaxed);
            user.handle.load(Ordering::Relaxed)
        }
    })
}

fn create(function: usize, of: For, out: *mut Errhandler) -> Res {
    if function < 0x1000 {
        return Failure::err(MPI_ERR_ARG, format!("{function:#x} is no function"));
    }
    // SAFETY: the user says it is one of this type; null and sentinels are excluded.
    let function = unsafe { core::mem::transmute::<usize, Function>(function) };
    let user = User { function, of, handle: AtomicUsize::new(0), references: AtomicU32::new(1) };
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
    fn MPI_Comm_create_errhandler(function: usize, errhandler: *mut Errhandler) -> c_int {
        call_any_time(NAME, || create(function, For::Comm, errhandler))
    }
}
mpi_fn! {
    fn MPI_Win_create_errhandler(function: usize, errhandler: *mut Errhandler) -> c_int {
        call_any_time(NAME, || create(function, For::Win, errhandler))
    }
}
mpi_fn! {
    fn MPI_File_create_errhandler(function: usize, errhandler: *mut Errhandler) -> c_int {
        call_any_time(NAME, || create(function, For::File, errhandler))
    }
}
mpi_fn! {
    fn MPI_Session_create_errhandler(function: usize, errhandler: *mut Errhandler) -> c_int {
        call_any_time(NAME, || create(function, For::Session, errhandler))
    }
}
mpi_fn! {
    /// Gives the user's reference up.
    fn MPI_Errhandler_free(errhandler: *mut Errhandler) -> c_int {
        call_any_time(NAME, || {
            let handle = read(errhandler, "errhandler")?;
            match handle.0 {
                MPI_ERRORS_ARE_FATAL | MPI_ERRORS_ABORT | MPI_ERRORS_RETURN => {}
                other => match TABLE.get(other) {
                    Some(user) => release(user),
                    None => return Failure::err(MPI_ERR_ERRHANDLER, format!("errhandler {other:#x} is none")),
                },
            }
            write(errhandler, "errhandler", Errhandler(MPI_ERRHANDLER_NULL))
        })
    }
}
mpi_fn! {
    fn MPI_Comm_set_errhandler(comm: Comm, errhandler: Errhandler) -> c_int {
        call(NAME, Some(comm), |_| {
            let object = crate::comm::require(comm)?;
            object.set_handler(get(errhandler, For::Comm)?);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Comm_get_errhandler(comm: Comm, errhandler: *mut Errhandler) -> c_int {
        call(NAME, Some(comm), |_| {
            let object = crate::comm::require(comm)?;
            write(errhandler, "errhandler", handle(&object.handler()))
        })
    }
}
mpi_fn! {
    /// Calls the communicator's handler as if the error had happened.
    fn MPI_Comm_call_errhandler(comm: Comm, errorcode: c_int) -> c_int {
        call_errhandler(NAME, comm, errorcode)
    }
}

fn call_errhandler(name: &'static str, comm: Comm, errorcode: c_int) -> c_int {
    let checked = call(name, Some(comm), |_| crate::comm::require(comm).map(|_| ()));
    if checked == MPI_SUCCESS && errorcode != MPI_SUCCESS {
        crate::error::raise(name, Some(comm), Failure::new(errorcode, "raised by the program"));
    }
    checked
}

const _: () = assert!(size_of::<Win>() == size_of::<File>() && size_of::<File>() == size_of::<Session>());
