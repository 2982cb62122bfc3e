//! The host's services of one window, as calls.

use oxmpi_datatype::{TypeDesc, TypeRef};
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_osc::{Place, WinComm, WinServices};

/// `src` for messages of any rank.
pub const ANY_SOURCE: i32 = -1;

/// A message that is on its way.
pub struct Pending(*mut RequestHeader);

/// The window's communicator.
#[derive(Clone, Copy)]
pub struct Link(*const WinComm);

// SAFETY: the host's description of the communicator is immutable while the window lives; its services may be called from
// any thread.
unsafe impl Send for Link {}
// SAFETY: as above.
unsafe impl Sync for Link {}
// SAFETY: requests are named by whichever thread has the window's lock.
unsafe impl Send for Pending {}

/// A data buffer of messages.
#[derive(Clone, Copy)]
pub struct Buffer<'a> {
    pub at: *mut u8,
    pub count: u64,
    pub dtype: &'a TypeDesc,
}

impl Buffer<'_> {
    pub fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.dtype.packed)
    }
}

impl Link {
    /// # Safety
    /// `comm` must stay valid as long as the link is used.
    pub unsafe fn new(comm: *const WinComm) -> Link {
        Link(comm)
    }

    pub fn comm(&self) -> &WinComm {
        // SAFETY: valid until the window is freed (`new`).
        unsafe { &*self.0 }
    }
    pub fn services(&self) -> &WinServices {
        // SAFETY: as above.
        unsafe { &*self.comm().services }
    }

    /// The process behind a rank.
    pub fn proc(&self, rank: u32) -> u32 {
        let mut place = Place::default();
        let _ = (self.services().place)(self.comm().comm, rank, &mut place);
        place.proc
    }

    /// The type of single bytes.
    pub fn byte(&self) -> TypeRef {
        // SAFETY: a predefined type of the host.
        unsafe { TypeRef::retain((self.services().byte_type)(self.comm().comm)) }
    }

    /// Sends what must stay as it is until the message has [`Link::ended`].
    pub fn send(
        &self,
        thread: *mut ThreadCtx,
        data: Buffer<'_>,
        to: u32,
        tag: i32,
    ) -> Result<Pending, Status> {
        let (services, comm) = (self.services(), self.comm().comm);
        let mut out = core::ptr::null_mut();
        let status = (services.isend)(comm, thread, data.at, data.count, data.dtype, to, tag, &mut out);
        if status.is_err() { Err(status) } else { Ok(Pending(out)) }
    }

    /// Receives into memory that must stay until the message has [`Link::ended`].
    pub fn receive(
        &self,
        thread: *mut ThreadCtx,
        data: Buffer<'_>,
        from: i32,
        tag: i32,
    ) -> Result<Pending, Status> {
        let (services, comm) = (self.services(), self.comm().comm);
        let mut out = core::ptr::null_mut();
        let status = (services.irecv)(comm, thread, data.at, data.count, data.dtype, from, tag, &mut out);
        if status.is_err() { Err(status) } else { Ok(Pending(out)) }
    }

    /// The status of a message that is complete, which is over then and not to be asked for again.
    pub fn ended(&self, thread: *mut ThreadCtx, pending: &Pending) -> Option<MsgStatus> {
        let mut status = MsgStatus::EMPTY;
        match (self.services().test)(self.comm().comm, thread, pending.0, &mut status) {
            Status::PENDING => None,
            _ => Some(status),
        }
    }

    /// Ends a receive that nothing comes for.
    pub fn cancel(&self, thread: *mut ThreadCtx, pending: &Pending) {
        let _ = (self.services().cancel)(self.comm().comm, thread, pending.0);
    }
}
