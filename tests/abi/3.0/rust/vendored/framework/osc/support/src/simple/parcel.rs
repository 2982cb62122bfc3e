//! A message of the window's communicator together with its bytes, which stay where they are until it has ended.

use crate::address::Address;
use crate::comm::Comm;
use core::mem::{forget, take};
use core::ptr::null_mut;
use oxmpi_mca::{Entry, MsgStatus, RequestHeader, Status};

/// The tag of all messages.
const TAG: i32 = 0;
/// `src` of a receive of any rank's message.
const ANY_SOURCE: i32 = -1;

/// A message that was begun. Its bytes are the host's until it has ended; one that is dropped before keeps them for good.
pub(super) struct Parcel {
    bytes: Vec<u8>,
    /// Null: it has ended.
    request: Address<RequestHeader>,
}

impl Parcel {
    /// Begins to send.
    pub fn send(comm: &Comm, entry: &mut Entry, bytes: Vec<u8>, to: u32) -> Result<Parcel, Status> {
        let (services, mut request) = (comm.services(), null_mut());
        let (byte, len) = ((services.byte_type)(comm.get().comm), bytes.len() as u64);
        let begun = (services.isend)(
            comm.get().comm,
            entry.thread(),
            bytes.as_ptr(),
            len,
            byte,
            to,
            TAG,
            &mut request,
        );
        // SAFETY: a request of the host's, which any thread may wait for and release.
        begun.ok().map(|_| Parcel { bytes, request: unsafe { Address::of(request) } })
    }

    /// Begins to receive a message of any rank into these bytes.
    pub fn receive(comm: &Comm, entry: &mut Entry, mut bytes: Vec<u8>) -> Result<Parcel, Status> {
        let (services, mut request) = (comm.services(), null_mut());
        let (byte, len) = ((services.byte_type)(comm.get().comm), bytes.len() as u64);
        let begun = (services.irecv)(
            comm.get().comm,
            entry.thread(),
            bytes.as_mut_ptr(),
            len,
            byte,
            ANY_SOURCE,
            TAG,
            &mut request,
        );
        // SAFETY: a request of the host's, which any thread may wait for and release.
        begun.ok().map(|_| Parcel { bytes, request: unsafe { Address::of(request) } })
    }

    /// Tells its status, once, when it has ended.
    pub fn ended(&mut self, comm: &Comm, entry: &mut Entry) -> Option<MsgStatus> {
        if self.request.is_null() {
            return None;
        }
        let mut status = MsgStatus::EMPTY;
        let test = comm.services().test;
        if test(comm.get().comm, entry.thread(), self.request.get(), &mut status) == Status::PENDING {
            return None;
        }
        self.request = Address::NULL;
        Some(status)
    }

    /// Gives the bytes of a message that has ended; none of one that has not.
    pub fn into_bytes(mut self) -> Vec<u8> {
        if self.request.is_null() { take(&mut self.bytes) } else { Vec::new() }
    }

    /// Ends a receive that nothing comes for, and waits until that is so.
    pub fn cancel(mut self, comm: &Comm, entry: &mut Entry) {
        if !self.request.is_null() {
            let (cancel, request) = (comm.services().cancel, self.request.get());
            comm.waiting(entry, |comm, thread| cancel(comm, thread, request));
            self.request = Address::NULL;
        }
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        if !self.request.is_null() {
            // The host still reads or writes them.
            forget(take(&mut self.bytes));
        }
    }
}
