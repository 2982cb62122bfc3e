//! Functions of error handlers (MPI 5.0 §9.3): made, freed, and attached to an object, asked for and called there.

use super::body::{call_any_time, call_on};
use super::codes;
use super::failure::{Failure, Res};
use super::handler::{ErrorObject, Handler, HandlerKind, create, get, give_up, handle};
use super::raise::raise_on;
use crate::call::entry::Inside;
use crate::call::memory::{Out, read, write};
use crate::constants::*;
use crate::types::{Comm, Errhandler, File, Session, Win};
use crate::{comm, file, session, win};
use core::ffi::c_int;

mpi_fn! {
    /// A handler from a function of the user.
    any_time fn MPI_Comm_create_errhandler(function: usize, errhandler: Out<Errhandler>) -> c_int {
        call_any_time(NAME, || create(function, HandlerKind::Comm, errhandler))
    }
}
mpi_fn! {
    any_time fn MPI_Win_create_errhandler(function: usize, errhandler: Out<Errhandler>) -> c_int {
        call_any_time(NAME, || create(function, HandlerKind::Win, errhandler))
    }
}
mpi_fn! {
    any_time fn MPI_File_create_errhandler(function: usize, errhandler: Out<Errhandler>) -> c_int {
        call_any_time(NAME, || create(function, HandlerKind::File, errhandler))
    }
}
mpi_fn! {
    any_time fn MPI_Session_create_errhandler(function: usize, errhandler: Out<Errhandler>) -> c_int {
        call_any_time(NAME, || create(function, HandlerKind::Session, errhandler))
    }
}
mpi_fn! {
    /// Gives the user's reference up.
    any_time fn MPI_Errhandler_free(errhandler: Out<Errhandler>) -> c_int {
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
    const KIND: HandlerKind;
    fn on(self) -> ErrorObject;
    fn get(self) -> Res<Handler>;
    fn set(self, handler: Handler) -> Res;
}

impl Handled for Comm {
    const KIND: HandlerKind = HandlerKind::Comm;
    fn on(self) -> ErrorObject {
        ErrorObject::Comm(self)
    }
    fn get(self) -> Res<Handler> {
        comm::require(self).map(|c| c.handler())
    }
    fn set(self, handler: Handler) -> Res {
        comm::require(self).map(|c| c.set_handler(handler))
    }
}

impl Handled for Win {
    const KIND: HandlerKind = HandlerKind::Win;
    fn on(self) -> ErrorObject {
        ErrorObject::Win(self)
    }
    fn get(self) -> Res<Handler> {
        win::require(self).map(|w| w.handler())
    }
    fn set(self, handler: Handler) -> Res {
        win::require(self).map(|w| w.set_handler(handler))
    }
}

impl Handled for Session {
    const KIND: HandlerKind = HandlerKind::Session;
    fn on(self) -> ErrorObject {
        ErrorObject::Session(self)
    }
    fn get(self) -> Res<Handler> {
        session::require(self).map(|s| s.handler())
    }
    fn set(self, handler: Handler) -> Res {
        session::require(self).map(|s| s.set_handler(handler))
    }
}

impl Handled for File {
    const KIND: HandlerKind = HandlerKind::File;
    fn on(self) -> ErrorObject {
        ErrorObject::File(self)
    }
    fn get(self) -> Res<Handler> {
        file::handler_of(self).map_or_else(
            || file::require(self).and_then(|_| Err(Failure::new(MPI_ERR_FILE, "fh is no file"))),
            Ok,
        )
    }
    fn set(self, handler: Handler) -> Res {
        file::set_handler_of(self, handler)
    }
}

pub fn set(here: Inside, name: &'static str, object: impl Handled, errhandler: Errhandler) -> c_int {
    fn body<T: Handled>(object: T, errhandler: Errhandler) -> Res {
        object.get()?;
        object.set(get(errhandler, T::KIND)?)
    }
    call_on(here, name, object.on(), |_, _| body(object, errhandler))
}

pub fn tell(here: Inside, name: &'static str, object: impl Handled, errhandler: Out<Errhandler>) -> c_int {
    call_on(here, name, object.on(), |_, _| {
        let handler = object.get()?;
        if errhandler.is_null() {
            return Failure::err(MPI_ERR_ARG, "errhandler is a null pointer");
        }
        write(errhandler, "errhandler", handle(&handler))
    })
}

/// Calls the object's handler as if the error had happened.
fn invoke(here: Inside, name: &'static str, object: impl Handled, errorcode: c_int) -> c_int {
    call_on(here, name, object.on(), |_, entry| {
        object.get()?;
        if errorcode != MPI_SUCCESS && !codes::exists(errorcode) {
            return Failure::err(MPI_ERR_ARG, format!("errorcode {errorcode} is no error code"));
        }
        if errorcode != MPI_SUCCESS {
            raise_on(entry, name, object.on(), Failure::new(errorcode, "raised by the program"));
        }
        Ok(())
    })
}

mpi_fn! {
    fn MPI_Comm_set_errhandler(comm: Comm, errhandler: Errhandler) -> c_int |here| { set(here, NAME, comm, errhandler) }
}
mpi_fn! {
    fn MPI_Comm_get_errhandler(comm: Comm, errhandler: Out<Errhandler>) -> c_int |here| { tell(here, NAME, comm, errhandler) }
}
mpi_fn! {
    fn MPI_Comm_call_errhandler(comm: Comm, errorcode: c_int) -> c_int |here| { invoke(here, NAME, comm, errorcode) }
}
mpi_fn! {
    fn MPI_Win_set_errhandler(win: Win, errhandler: Errhandler) -> c_int |here| { set(here, NAME, win, errhandler) }
}
mpi_fn! {
    fn MPI_Win_get_errhandler(win: Win, errhandler: Out<Errhandler>) -> c_int |here| { tell(here, NAME, win, errhandler) }
}
mpi_fn! {
    fn MPI_Win_call_errhandler(win: Win, errorcode: c_int) -> c_int |here| { invoke(here, NAME, win, errorcode) }
}
mpi_fn! {
    /// Of MPI_FILE_NULL: the handler that files get when they are opened.
    fn MPI_File_set_errhandler(file: File, errhandler: Errhandler) -> c_int |here| { set(here, NAME, file, errhandler) }
}
mpi_fn! {
    fn MPI_File_get_errhandler(file: File, errhandler: Out<Errhandler>) -> c_int |here| { tell(here, NAME, file, errhandler) }
}
mpi_fn! {
    fn MPI_File_call_errhandler(fh: File, errorcode: c_int) -> c_int |here| { invoke(here, NAME, fh, errorcode) }
}
mpi_fn! {
    fn MPI_Session_set_errhandler(session: Session, errhandler: Errhandler) -> c_int |here| { set(here, NAME, session, errhandler) }
}
mpi_fn! {
    fn MPI_Session_get_errhandler(session: Session, errhandler: Out<Errhandler>) -> c_int |here| { tell(here, NAME, session, errhandler) }
}
mpi_fn! {
    fn MPI_Session_call_errhandler(session: Session, errorcode: c_int) -> c_int |here| { invoke(here, NAME, session, errorcode) }
}
