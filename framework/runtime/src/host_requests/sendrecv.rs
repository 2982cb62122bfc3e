//! A send and a receive that complete as one (MPI 5.0 §3.7.3, MPI_Isendrecv).

use super::{Begin, Body};
use crate::objects::{Communicator, Instance};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_pml::mode;
use std::cell::{Cell, UnsafeCell};
use std::ptr::null_mut;

/// The two halves; a null one is with MPI_PROC_NULL and over.
#[derive(Default)]
struct SendRecv {
    recv: Cell<Half>,
    send: Cell<Half>,
    /// The outgoing data, where the user's buffer is for the incoming.
    kept: UnsafeCell<Vec<u8>>,
}

/// The request of the send or of the receive; null: with MPI_PROC_NULL.
#[derive(Clone, Copy)]
struct Half(*mut RequestHeader);

impl Default for Half {
    fn default() -> Half {
        Half(null_mut())
    }
}

// SAFETY: everything is touched by its maker before it is published and under its pool's lock then.
unsafe impl Sync for SendRecv {}
// SAFETY: as above.
unsafe impl Send for SendRecv {}

impl Half {
    /// Whether the request is complete or null.
    fn is_over(self) -> bool {
        // SAFETY: null, or a live request of the point-to-point layer that is ours.
        unsafe { self.0.as_ref() }.is_none_or(|r| r.completion.is_complete())
    }
    /// Releases the complete request and returns its status; `None`: there is none.
    fn take(self) -> Option<MsgStatus> {
        // SAFETY: null, or complete and ours until it is released.
        unsafe {
            let status = self.0.as_ref()?.status;
            ((*(*self.0).ops).release)(self.0, null_mut());
            Some(status)
        }
    }
}

impl Body for SendRecv {
    fn advance(&self, _: &Instance, _: *mut ThreadCtx) -> Option<MsgStatus> {
        let (recv, send) = (self.recv.get(), self.send.get());
        if !recv.is_over() || !send.is_over() {
            return None;
        }
        Some(outcome(recv, send))
    }
    fn reset(&self) {
        // SAFETY: under the pool's lock; the send is over.
        drop(std::mem::take(unsafe { &mut *self.kept.get() }));
    }
}

/// Releases both requests; returns the receive's status, with the send's error where the receive has none.
fn outcome(recv: Half, send: Half) -> MsgStatus {
    let sent = send.take().map_or(Status::OK, |s| s.error);
    let mut status = recv.take().unwrap_or(MsgStatus { source: PROC_NULL, ..MsgStatus::EMPTY });
    if !status.error.is_err() {
        status.error = sent;
    }
    status
}

/// As MPI's ABI numbers it.
const PROC_NULL: i32 = -3;

/// Data with its partner; `None` instead of one: MPI_PROC_NULL.
pub struct Outgoing<'a> {
    pub buf: *const u8,
    pub count: u64,
    pub dtype: &'a TypeDesc,
    pub dst: i32,
    pub tag: i32,
}

/// A receive's buffer and its partner; `None` instead of one: MPI_PROC_NULL.
pub struct Incoming<'a> {
    pub buf: *mut u8,
    pub count: u64,
    pub dtype: &'a TypeDesc,
    pub src: i32,
    pub tag: i32,
}

impl Communicator {
    /// Starts a send and a receive that complete as one request. `kept`: the memory that `send.buf` points to, if that
    /// is not the user's; it lives until the request is over.
    pub fn isendrecv(
        &self,
        thread: *mut ThreadCtx,
        send: Option<Outgoing<'_>>,
        recv: Option<Incoming<'_>>,
        kept: Vec<u8>,
    ) -> Result<*mut RequestHeader, Status> {
        let recv = match recv {
            Some(r) => {
                self.can_come_from(r.src)?;
                Half(self.irecv(thread, r.buf, r.count, r.dtype, r.src, r.tag)?)
            }
            None => Half(null_mut()),
        };
        let sent = send.map(|s| self.isend(thread, s.buf, s.count, s.dtype, s.dst, s.tag, mode::STANDARD));
        let send = match sent.transpose() {
            Ok(send) => Half(send.unwrap_or(null_mut())),
            Err(status) => {
                give_up(recv);
                return Err(status);
            }
        };
        let instance = self.instance();
        let fill = |pair: &SendRecv| {
            pair.recv.set(recv);
            pair.send.set(send);
            // SAFETY: nobody else has the body yet.
            unsafe { *pair.kept.get() = kept };
        };
        let made = instance.make_request(thread, fill).inspect_err(|_| {
            give_up(recv);
            give_up(send);
        })?;
        instance.begin_request(made, Begin::Pending);
        if recv.is_over() && send.is_over() {
            instance.poll_requests(thread);
        }
        Ok(made.handle())
    }
}

/// Cancels and releases a request that nobody else has; null is skipped.
fn give_up(half: Half) {
    // SAFETY: null, or a live request that nobody else has.
    unsafe {
        if let Some(header) = half.0.as_ref() {
            ((*header.ops).cancel)(half.0);
            ((*header.ops).release)(half.0, null_mut());
        }
    }
}
