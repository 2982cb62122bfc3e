//! Requests as tests see them.

use core::ptr::null_mut;
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};

/// A request of a component. It lies in a pool that stays as long as the component.
#[derive(Clone, Copy, Debug)]
pub struct Req(pub *mut RequestHeader);

impl Req {
    /// Reads the outcome of a verb that gives a request where it is not done at once; `None` means that it is done.
    pub fn of(status: Status, out: *mut RequestHeader) -> Result<Option<Req>, Status> {
        match status {
            Status::OK => Ok(None),
            Status::PENDING => {
                assert!(!out.is_null(), "PENDING without a request");
                Ok(Some(Req(out)))
            }
            error => Err(error),
        }
    }

    /// Returns the part of the request that all components have.
    pub fn header(&self) -> &RequestHeader {
        // SAFETY: headers lie in pools that never shrink.
        unsafe { &*self.0 }
    }

    /// Says whether the operation is over.
    pub fn is_complete(&self) -> bool {
        self.header().completion.is_complete()
    }

    /// Returns the status of an operation that is over.
    pub fn status(&self) -> MsgStatus {
        self.header().status
    }

    /// Gives the request back, from a thread without a context.
    pub fn release(&self) {
        self.release_by(null_mut());
    }

    /// Gives the request back from a thread.
    pub fn release_by(&self, thread: *mut ThreadCtx) {
        // SAFETY: operations live as long as their component.
        (unsafe { &*self.header().ops }.release)(self.0, thread)
    }

    /// Asks for the operation's cancellation.
    pub fn cancel(&self) -> Status {
        // SAFETY: as above.
        (unsafe { &*self.header().ops }.cancel)(self.0)
    }

    /// Starts a persistent operation.
    pub fn start(&self) -> Status {
        // SAFETY: as above.
        (unsafe { &*self.header().ops }.start)(self.0)
    }
}
