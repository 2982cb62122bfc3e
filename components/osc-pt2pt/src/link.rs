//! Messages of a window go through the host's services as calls that begin one and calls that ask whether it has ended.
//!
//! The host enters CRIs in them, so they borrow the call's entry as a wait does.

use oxmpi_datatype::TypeRef;
use oxmpi_mca::{Entry, MsgStatus, RequestHeader, Status};
use oxmpi_osc_support::{Address, Comm, Elements};

/// `src` for messages of any rank.
pub const ANY_SOURCE: i32 = -1;

/// A message that is on its way, or has ended: then there is no address.
pub struct Pending(Address<RequestHeader>);

impl Pending {
    /// The message that a call of the host's began.
    fn of(status: Status, request: *mut RequestHeader) -> Result<Pending, Status> {
        if status.is_err() {
            return Err(status);
        }
        // SAFETY: a request of the host's, which it takes back from any thread; only the host follows the address.
        Ok(Pending(unsafe { Address::of(request) }))
    }
}

/// The window's communicator.
#[derive(Clone, Copy)]
pub struct Link {
    pub comm: Comm,
}

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

    /// Sends data.
    ///
    /// # Safety
    /// The data can be read until the message has [`Link::ended`].
    pub unsafe fn send(
        &self,
        entry: &mut Entry,
        data: Elements<'_>,
        to: u32,
        tag: i32,
    ) -> Result<Pending, Status> {
        let (services, comm) = (self.comm.services(), self.comm.get().comm);
        let mut out = core::ptr::null_mut();
        let status =
            (services.isend)(comm, entry.thread(), data.at, data.count, data.dtype, to, tag, &mut out);
        Pending::of(status, out)
    }

    /// Receives data.
    ///
    /// # Safety
    /// It can be written where it goes until the message has [`Link::ended`], and nobody else uses that memory.
    pub unsafe fn receive(
        &self,
        entry: &mut Entry,
        data: Elements<'_>,
        from: i32,
        tag: i32,
    ) -> Result<Pending, Status> {
        let (services, comm) = (self.comm.services(), self.comm.get().comm);
        let mut out = core::ptr::null_mut();
        let status =
            (services.irecv)(comm, entry.thread(), data.at, data.count, data.dtype, from, tag, &mut out);
        Pending::of(status, out)
    }

    /// The status of a message that is complete, once: it is over then.
    pub fn ended(&self, entry: &mut Entry, pending: &mut Pending) -> Option<MsgStatus> {
        let (test, comm, request) = (self.comm.services().test, self.comm.get().comm, pending.0);
        if request.is_null() {
            return None;
        }
        let mut status = MsgStatus::EMPTY;
        match test(comm, entry.thread(), request.get(), &mut status) {
            Status::PENDING => None,
            _ => {
                pending.0 = Address::NULL;
                Some(status)
            }
        }
    }

    /// Ends a receive that nothing comes for. It waits until the receive is over.
    pub fn cancel(&self, entry: &mut Entry, pending: Pending) {
        if !pending.0.is_null() {
            let cancel = self.comm.services().cancel;
            self.comm.waiting(entry, |comm, thread| cancel(comm, thread, pending.0.get()));
        }
    }
}
