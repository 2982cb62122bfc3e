//! An operation under way by a transport: its pieces, its local memory, and what happens when the last piece ends.
//!
//! It is begun by [`crate::issue::Issue`], which keeps one piece of its own until all others are issued, and ends under the CRI of its context,
//! in the `done` of its last piece or in the issuing call. Ending does, in this order: what came is put where it goes, local memory is
//! given back, the request is completed or a failure noted at the rank, the waiter is told, and the flow counts it.

use crate::local::Local;
use crate::order::Touch;
use crate::peer::Peer;
use crate::rdma::Rdma;
use core::cell::Cell;
use core::ffi::c_void;
use oxmpi_datatype::{TypeRef, unpack};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicI32, Ordering};
use oxmpi_osc::{Flow, Token};
use oxmpi_osc_support::Request;

/// The step to take with the data in local memory.
pub enum FinalStep {
    Nothing,
    Copy { to: *mut u8, len: usize },
    Unpack { to: *mut u8, count: u64, dtype: TypeRef, len: u64 },
}

pub struct Op {
    pub rdma: *const Rdma,
    pub peer: *const Peer,
    /// Its place among those under way.
    pub token: Cell<Option<Token>>,
    /// Pieces that have not ended, and one for the issuer while that issues.
    pub left: Cell<u32>,
    pub status: Cell<Status>,
    pub local: Option<Local>,
    pub final_step: FinalStep,
    /// Null: none.
    pub request: *mut Request,
    /// Gets the status, which is not `PENDING`; null: nobody waits.
    pub waiter: *const AtomicI32,
    /// An accumulate that later ones may have to wait for.
    pub ordered: Option<Touch>,
    /// Locks on its way are counted.
    pub is_put: bool,
}

impl Op {
    pub fn new(rdma: &Rdma, peer: &Peer) -> Op {
        Op {
            rdma,
            peer,
            token: Cell::new(None),
            left: Cell::new(1),
            status: Cell::new(Status::OK),
            local: None,
            final_step: FinalStep::Nothing,
            request: core::ptr::null_mut(),
            waiter: core::ptr::null(),
            ordered: None,
            is_put: false,
        }
    }

    /// A piece failed, or could not be issued. The first failure counts.
    pub fn fail(&self, status: Status) {
        if self.status.get().is_ok() {
            self.status.set(status);
        }
    }

    /// A piece has ended; with the last one the operation goes.
    ///
    /// # Safety
    /// `op` is one that was issued and has a piece left; the caller holds the CRI of its context.
    pub unsafe fn end_piece(op: *mut Op) {
        // SAFETY: the caller's promise.
        let left = unsafe { &(*op).left };
        left.set(left.get() - 1);
        if left.get() == 0 {
            // SAFETY: made by `Issue::begin` from a box; the last piece.
            unsafe { Box::from_raw(op) }.end();
        }
    }

    fn end(mut self) {
        // SAFETY: the component's state and peers outlive what is under way to them.
        let (rdma, peer) = unsafe { (&*self.rdma, &*self.peer) };
        let status = self.status.get();
        if status.is_ok()
            && let Some(local) = &self.local
        {
            // SAFETY: the program's buffers stay until the operation is complete; local memory has as many bytes.
            unsafe { self.final_step.take_from(local.at()) };
        }
        self.local = None;
        if let Some(touch) = self.ordered {
            peer.ordered.end(touch);
        }
        if !self.request.is_null() {
            // SAFETY: the operation's, which ends once.
            unsafe { rdma.requests.complete(self.request, status) };
        } else if self.waiter.is_null() && status.is_err() {
            peer.note_failure(status);
        }
        // SAFETY: the waiter waits for it.
        if let Some(waiter) = unsafe { self.waiter.as_ref() } {
            // SYNC POINT with `Call::run`.
            waiter.store(status.0, Ordering::Release);
        }
        if let Some(token) = self.token.get() {
            // Failures have been told.
            Flow::done(token.done_ctx(), Status::OK);
        }
    }
}

impl FinalStep {
    /// # Safety
    /// As many bytes as this says can be read at `from` and written where they go.
    unsafe fn take_from(&self, from: *const u8) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                FinalStep::Nothing => {}
                FinalStep::Copy { to, len } => core::ptr::copy(from, *to, *len),
                FinalStep::Unpack { to, count, dtype, len } => {
                    unpack(dtype, *count, *to, 0, from, *len);
                }
            }
        }
    }
}

/// For transports: a piece of the operation that is the context has ended.
pub extern "C" fn done(op: *mut c_void, status: Status) {
    let op: *mut Op = op.cast();
    // SAFETY: transports call it once for each piece, under the CRI of its context.
    unsafe {
        if status.is_err() {
            (*op).fail(status);
        }
        Op::end_piece(op);
    }
}
