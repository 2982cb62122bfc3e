//! The communicator, window or file that a request belongs to: the user gets a request with that, and its errors go there.

use super::word::{BITS, FREED, Header, LIVE, comm_word, handle_of};
use crate::comm::CommObject;
use crate::constants::*;
use crate::error::{ErrorObject, Failure};
use crate::file::FileObject;
use crate::types::Request;
use crate::win::WinObject;
use core::ptr::{null, with_exposed_provenance};
use core::sync::atomic::Ordering;
use oxmpi_mca::{MsgStatus, Status as Code};

/// The address is that of a [`WinObject`]: the request is one of a window. Part of the address for all who compare
/// addresses of communicators.
pub const WINDOW: usize = 8;
/// The same for a [`FileObject`].
pub const FILE: usize = 16;
const _: () = assert!(
    align_of::<WinObject>() > FILE && align_of::<CommObject>() > FILE && align_of::<FileObject>() > FILE
);

/// Makes a request that a component gave the user's.
#[inline(always)]
pub fn give(object: &'static CommObject, req: Header) -> Request {
    comm_word(req).store(core::ptr::from_ref(object).expose_provenance() | LIVE, Ordering::Relaxed);
    handle_of(req)
}

/// The same for a request of a window.
pub fn give_of_window(object: &'static WinObject, req: Header) -> Request {
    comm_word(req).store(core::ptr::from_ref(object).expose_provenance() | WINDOW | LIVE, Ordering::Relaxed);
    handle_of(req)
}

/// The same for a request of a file.
pub fn give_of_file(object: &'static FileObject, req: Header) -> Request {
    comm_word(req).store(core::ptr::from_ref(object).expose_provenance() | FILE | LIVE, Ordering::Relaxed);
    handle_of(req)
}

/// The library keeps a request that it started on behalf of the user: the communicator counts as used
/// until that is complete, and no handle leads to it.
pub fn hold(object: &CommObject, req: Header) {
    comm_word(req).store(core::ptr::from_ref(object).expose_provenance() | FREED, Ordering::Relaxed);
}

/// The object an error of a request goes to: the address of a communicator, with the bit [`WINDOW`] of a window or [`FILE`] of a file, or 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Owner(usize);

impl Owner {
    /// No object: that of MPI_COMM_SELF hears of errors.
    pub const NOBODY: Owner = Owner(0);

    /// The address in the header's word, for one that goes on without a handle.
    pub fn word(self) -> usize {
        self.0
    }

    /// The communicator; `None`: there is none, or it is a window or a file.
    ///
    /// # Safety
    /// The object of the request lives.
    pub unsafe fn comm<'a>(self) -> Option<&'a CommObject> {
        let comm = if self.0 & (WINDOW | FILE) == 0 {
            with_exposed_provenance::<CommObject>(self.0)
        } else {
            null()
        };
        // SAFETY: null, or what `give` put there, which lives.
        unsafe { comm.as_ref() }
    }

    /// The file; `None`: it is another object.
    ///
    /// # Safety
    /// The object of the request lives.
    pub unsafe fn file<'a>(self) -> Option<&'a FileObject> {
        let file =
            if self.0 & FILE == 0 { null() } else { with_exposed_provenance::<FileObject>(self.0 & !FILE) };
        // SAFETY: null, or what `give_of_file` put there, which lives.
        unsafe { file.as_ref() }
    }

    /// The object whose handler hears of errors.
    ///
    /// # Safety
    /// The object of the request lives.
    pub unsafe fn error_object(self) -> ErrorObject {
        if self.0 & WINDOW != 0 {
            let window = with_exposed_provenance::<WinObject>(self.0 & !WINDOW);
            // SAFETY: what `give_of_window` put there, which lives.
            return ErrorObject::Win(unsafe { &*window }.handle());
        }
        // SAFETY: the caller's promise.
        if let Some(file) = unsafe { self.file() } {
            return ErrorObject::File(file.handle());
        }
        // SAFETY: the caller's promise.
        unsafe { self.comm() }.map_or(ErrorObject::Nothing, |comm| ErrorObject::Comm(comm.handle()))
    }
}

/// The object an error of this request goes to.
#[inline(always)]
pub fn owner_of(req: Header) -> Owner {
    Owner(comm_word(req).load(Ordering::Relaxed) & !BITS)
}

/// An error of an operation; nothing where all is well, so that the usual case carries nothing on.
pub struct Outcome(Option<Box<Failed>>);

struct Failed {
    status: MsgStatus,
    /// Where the error goes.
    owner: Owner,
}

/// Bytes that did not fit, by the word of a status with the error TRUNCATED: its field `cancelled`, whose lowest bit says
/// that the operation was cancelled, has them above that bit; all bits: that many or more.
fn dropped(status: &MsgStatus) -> (u64, bool) {
    let dropped = status.cancelled >> 1;
    (dropped.into(), dropped == u32::MAX >> 1)
}

/// The error of a message that was longer than its place. One of a collective operation has no tag of the user's.
#[cold]
pub fn truncated(status: &MsgStatus) -> Failure {
    let MsgStatus { source, tag, bytes, .. } = *status;
    let (message, room) = match tag {
        MPI_ANY_TAG => (format!("the part of rank {source}"), "the place for it"),
        _ => (format!("the message of rank {source} with tag {tag}"), "the receive buffer"),
    };
    let (dropped, at_least) = dropped(status);
    let sizes = match (dropped, at_least) {
        (0, _) => format!("is longer than {room}"),
        (_, true) => format!("is over {} bytes longer than {room}", dropped - 1),
        _ => format!("has {} bytes, {room} {bytes}", bytes + dropped),
    };
    Failure::new(MPI_ERR_TRUNCATE, format!("{message} {sizes}"))
}

impl Outcome {
    /// Of an operation with this status, whose errors go to this object.
    #[inline(always)]
    pub fn of(status: &MsgStatus, owner: Owner) -> Outcome {
        if status.error.is_err() { Outcome::failed(status, owner) } else { Outcome(None) }
    }

    #[cold]
    #[inline(never)]
    fn failed(status: &MsgStatus, owner: Owner) -> Outcome {
        Outcome(Some(Box::new(Failed { status: *status, owner })))
    }

    #[inline(always)]
    pub fn is_err(&self) -> bool {
        self.0.is_some()
    }

    pub fn error(&self) -> Code {
        self.0.as_ref().map_or(Code::OK, |failed| failed.status.error)
    }

    /// The error as the user shall hear it.
    pub fn failure(&self) -> Failure {
        let Some(failed) = &self.0 else { return Code::OK.into() };
        match failed.status.error {
            // Of data that did not leave this process nothing is known.
            Code::TRUNCATED if failed.status.source != MPI_ANY_SOURCE => truncated(&failed.status),
            other => {
                let failure = Failure::from(other);
                // SAFETY: as for `on`.
                match unsafe { failed.owner.file() } {
                    Some(object) => Failure {
                        message: format!("{}: {}", object.file.path().display(), failure.message),
                        ..failure
                    },
                    None => failure,
                }
            }
        }
    }

    /// The communicator whose handler hears of it; nothing for that of MPI_COMM_SELF.
    #[cold]
    #[inline(never)]
    pub fn on(&self) -> ErrorObject {
        // SAFETY: while a request's handle is alive so is its object; `collect` read it before ending
        // the handle, and a correct program frees the object after the call.
        self.0.as_ref().map_or(ErrorObject::Nothing, |failed| unsafe { failed.owner.error_object() })
    }
}
