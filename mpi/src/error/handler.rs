//! Error handlers as objects: the three predefined ones, and the user's; and the objects that have one.
//!
//! A user's handler is one object with one handle, counted twice: how many references the user has
//! (`create` and every `get_errhandler` add one, `MPI_Errhandler_free` takes one), and how many there
//! are in all, with those of the objects that have it. Without a user's reference the handle is no valid
//! argument; the object dies with the last of all, so that freeing a handle too often harms nobody.
//!
//! Handlers may be made and freed at any time, and outlive MPI_Finalize.

use super::failure::{Failure, Res};
use crate::call::handle::{Kind, Table};
use crate::call::memory::{Out, write};
use crate::constants::*;
use crate::types::{Comm, Errhandler, File, Session, Win};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// `MPI_Comm_errhandler_function`, and those of windows, files and sessions, whose first parameter
/// points to another kind of handle.
pub type Function = unsafe extern "C-unwind" fn(*mut Comm, *mut c_int, ...);

/// Kind of object that a handler is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandlerKind {
    Comm,
    Win,
    File,
    Session,
}

pub struct User {
    pub function: Function,
    kind: HandlerKind,
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

#[derive(Clone)]
pub enum Handler {
    Fatal,
    Abort,
    Return,
    User(UserRef),
}

/// The object whose error handler hears of a failure.
#[derive(Clone)]
pub enum ErrorObject {
    Nothing,
    Comm(Comm),
    Session(Session),
    Win(Win),
    File(File),
    /// This handler, for an object that does not exist yet or any more.
    Handler(Handler),
}

static TABLE: Table<User> = Table::new(Kind::Errhandler);

/// The object of a handle of which the user has a reference.
fn held(handle: usize) -> Option<&'static User> {
    TABLE.get(handle).filter(|user| user.held.load(Ordering::Relaxed) > 0)
}

/// Takes one of the user's references.
pub fn give_up(handle: usize) -> Res {
    let none = || Failure::new(MPI_ERR_ERRHANDLER, format!("errhandler {handle:#x} is none, or was freed"));
    let user = TABLE.get(handle).ok_or_else(none)?;
    user.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).map_err(|_| none())?;
    release(user);
    Ok(())
}

/// Gives one reference up; the last one frees the object.
fn release(user: &'static User) {
    // SYNC POINT: release of every user's last access, acquire by the one who frees.
    if user.references.fetch_sub(1, Ordering::AcqRel) == 1 {
        drop(TABLE.remove(user.handle.load(Ordering::Relaxed)));
    }
}

/// Handlers of the user that have not been freed.
pub fn count() -> usize {
    TABLE.handles().iter().filter(|h| held(**h).is_some()).count()
}

/// The handler of a handle.
pub fn get(handle: Errhandler, kind: HandlerKind) -> Res<Handler> {
    match handle.0 {
        MPI_ERRORS_ARE_FATAL => Ok(Handler::Fatal),
        MPI_ERRORS_ABORT => Ok(Handler::Abort),
        MPI_ERRORS_RETURN => Ok(Handler::Return),
        MPI_ERRHANDLER_NULL => Failure::err(MPI_ERR_ERRHANDLER, "errhandler is MPI_ERRHANDLER_NULL"),
        other => match held(other) {
            Some(user) if user.kind == kind => Ok(Handler::User(UserRef::new(user))),
            Some(user) => Failure::err(
                MPI_ERR_ERRHANDLER,
                format!("errhandler is for objects of kind {:?}, not {kind:?}", user.kind),
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

pub fn create(function: usize, kind: HandlerKind, out: Out<Errhandler>) -> Res {
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
        kind,
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
