//! Messages of a window go through the host's services as calls that begin one and calls that ask whether it has ended.

use oxmpi_datatype::TypeRef;
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_osc_support::{Comm, Elements};

/// `src` for messages of any rank.
pub const ANY_SOURCE: i32 = -1;

/// A message that is on its way.
pub struct Pending(*mut RequestHeader);

/// The window's communicator.
#[derive(Clone, Copy)]
pub struct Link {
    pub comm: Comm,
}

// SAFETY: requests are named by whichever thread has the window's lock.
unsafe impl Send for Pending {}

impl Link {
    /// The process behind a rank.
    pub fn proc(&self, rank: u32) -> u32 {
        self.comm.place(rank).unwrap_or_default().proc
    }

    /// The type of single bytes.
    pub fn byte(&self) -> TypeRef {
        // SAFETY: a predefined type of the host.
        unsafe { TypeRef::retain((self.comm.services().byte_type)(self.comm.get().comm)) }
    }

    /// Sends what must stay as it is until the message has [`Link::ended`].
    pub fn send(
        &self,
        thread: *mut ThreadCtx,
        data: Elements<'_>,
        to: u32,
        tag: i32,
    ) -> Result<Pending, Status> {
        let (services, comm) = (self.comm.services(), self.comm.get().comm);
        let mut out = core::ptr::null_mut();
        let status = (services.isend)(comm, thread, data.at, data.count, data.dtype, to, tag, &mut out);
        if status.is_err() { Err(status) } else { Ok(Pending(out)) }
    }

    /// Receives into memory that must stay until the message has [`Link::ended`].
    pub fn receive(
        &self,
        thread: *mut ThreadCtx,
        data: Elements<'_>,
        from: i32,
        tag: i32,
    ) -> Result<Pending, Status> {
        let (services, comm) = (self.comm.services(), self.comm.get().comm);
        let mut out = core::ptr::null_mut();
        let status = (services.irecv)(comm, thread, data.at, data.count, data.dtype, from, tag, &mut out);
        if status.is_err() { Err(status) } else { Ok(Pending(out)) }
    }

    /// The status of a message that is complete, which is over then and not to be asked for again.
    pub fn ended(&self, thread: *mut ThreadCtx, pending: &Pending) -> Option<MsgStatus> {
        let mut status = MsgStatus::EMPTY;
        match (self.comm.services().test)(self.comm.get().comm, thread, pending.0, &mut status) {
            Status::PENDING => None,
            _ => Some(status),
        }
    }

    /// Ends a receive that nothing comes for.
    pub fn cancel(&self, thread: *mut ThreadCtx, pending: &Pending) {
        let _ = (self.comm.services().cancel)(self.comm.get().comm, thread, pending.0);
    }
}
