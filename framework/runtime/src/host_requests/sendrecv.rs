//! A send and a receive that complete as one (MPI 5.0 §3.7.3, MPI_Isendrecv).

use super::{Begin, Body};
use crate::message::{Envelope, RecvBuffer, SendBuffer};
use crate::objects::{Communicator, Instance};
use crate::request::Header;
use oxmpi_mca::{Entry, MsgStatus, Status};
use std::cell::{Cell, UnsafeCell};

/// The two halves; none: with MPI_PROC_NULL, and over.
#[derive(Default)]
struct SendRecv {
    recv: Cell<Half>,
    send: Cell<Half>,
    /// The outgoing data, where the user's buffer is for the incoming.
    kept: UnsafeCell<Vec<u8>>,
}

/// The request of the send or of the receive; none: with MPI_PROC_NULL.
#[derive(Clone, Copy, Default)]
struct Half(Option<Header>);

// SAFETY: everything is touched by its maker before it is published and under its pool's lock then.
unsafe impl Sync for SendRecv {}
// SAFETY: requests and bytes belong to no thread.
unsafe impl Send for SendRecv {}

impl Half {
    /// Whether the request is complete, or there is none.
    fn is_over(self) -> bool {
        self.0.is_none_or(|req| req.is_complete())
    }
    /// Releases the complete request and returns its status; `None`: there is none.
    fn take(self) -> Option<MsgStatus> {
        let req = self.0?;
        // SAFETY: complete, and ours until it is released, which it is once.
        unsafe {
            let status = req.status();
            req.release(&mut Entry::among());
            Some(status)
        }
    }
    /// Cancels and releases a request that nobody else has.
    fn give_up(self) {
        if let Some(req) = self.0 {
            // SAFETY: started just now; nobody else has it, and we do not use it any more.
            unsafe {
                req.cancel(&mut Entry::among());
                req.release(&mut Entry::among());
            }
        }
    }
}

impl Body for SendRecv {
    fn advance(&self, _: &Instance, _: &mut Entry) -> Option<MsgStatus> {
        let (recv, send) = (self.recv.get(), self.send.get());
        if !recv.is_over() || !send.is_over() {
            return None;
        }
        Some(outcome(recv, send))
    }
    fn reset(&self, _: &mut Entry) {
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
pub type Outgoing = (SendBuffer<'static>, Envelope);

/// A receive's place and its partner; `None` instead of one: MPI_PROC_NULL.
pub type Incoming = (RecvBuffer<'static>, Envelope);

impl Communicator {
    /// Starts a send and a receive that complete as one request. `kept`: the memory of `send`'s buffer, if that
    /// is not the user's; it lives until the request is over.
    pub fn isendrecv(
        &self,
        entry: &mut Entry,
        send: Option<Outgoing>,
        recv: Option<Incoming>,
        kept: Vec<u8>,
    ) -> Result<Header, Status> {
        let recv = match recv {
            Some((place, from)) => {
                self.can_come_from(from.rank)?;
                Half(Some(self.irecv(entry, place, from)?))
            }
            None => Half(None),
        };
        let sent = send.map(|(data, to)| self.isend(entry, data, to));
        let send = match sent.transpose() {
            Ok(send) => Half(send),
            Err(status) => {
                recv.give_up();
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
        let made = instance.make_request(entry, fill).inspect_err(|_| {
            recv.give_up();
            send.give_up();
        })?;
        instance.begin_request(entry, made, Begin::Pending);
        if recv.is_over() && send.is_over() {
            instance.poll_requests(entry);
        }
        Ok(made.handle())
    }
}
