//! The right to complete a request: one is made for each start, and completing takes it ([`Requests::complete`](crate::requests::pool::Requests::complete)).
//!
//! **Its way.** [`Requests::take_for_send`](crate::requests::pool::Requests::take_for_send) and its like make it for a request that is new in use, [`Request::restart`] for a persistent one that
//! starts. From then on it is in one place:
//!
//! - in the hands of the thread that starts, matches or ends the operation;
//! - of a posted receive, as a node in the matching engine ([`Completer::into_node`], [`Completer::of_node`]);
//! - of an operation that goes on under the lock of its CRI, **parked** in the request ([`Completer::park`]), from which the holder of that CRI takes
//!   it once ([`Request::claim`]): the request may be known by several lists and by its id then, and whoever is first ends it.
//!
//! So nobody completes a request twice, whatever lists it is on.

use crate::matching::{Pattern, Posted};
use crate::requests::request::{Request, State};
use core::ffi::c_void;
use core::mem::offset_of;
use core::ops::Deref;
use core::ptr::NonNull;
use oxmpi_mca::{CriGuard, MsgStatus, Object, RequestHeader};

/// The right to complete a request, which is still pending. One that goes without having been used leaves a request that never completes.
#[must_use = "nobody else completes the request"]
pub struct Completer(&'static Request);

impl Deref for Completer {
    type Target = Request;
    #[inline(always)]
    fn deref(&self) -> &Request {
        self.0
    }
}

impl Completer {
    /// Makes that of a request that has just been taken from its pool, and resets its header.
    ///
    /// # Safety
    /// The request was free, and the caller has taken it: nobody else refers to it, so there is no other completer.
    #[inline(always)]
    pub(super) unsafe fn begin(req: &'static Request, kind: u32, host_comm: *mut c_void) -> Completer {
        // SAFETY: the request is the caller's alone.
        let h = unsafe { &mut *req.header.get() };
        h.completion.rearm();
        h.kind = kind;
        h.comm = host_comm;
        h.flags = 0;
        h.status = MsgStatus::EMPTY;
        Completer(req)
    }

    /// Gives the request, for those who wait for it.
    #[inline(always)]
    pub fn request(&self) -> &'static Request {
        self.0
    }

    /// Makes the request a persistent one, inactive: complete, with an empty status.
    pub fn into_persistent(self) -> &'static Request {
        // SAFETY: the request has not been shown to anybody.
        let h = unsafe { &mut *self.0.header.get() };
        h.flags = RequestHeader::PERSISTENT;
        h.completion.finish_alone();
        self.0
    }

    /// Completes a request that nobody else has seen yet, and that keeps no datatype.
    #[inline(always)]
    pub fn complete_unseen(self) -> &'static Request {
        self.0.state.set(State::Done);
        // SAFETY: the request is the caller's alone.
        unsafe { (*self.0.header.get()).completion.finish_alone() };
        self.0
    }

    /// Notes what the receive asks for, for the engine that will have it.
    #[inline(always)]
    pub fn ask(&self, pattern: Pattern) {
        // SAFETY: the request is in no engine while the caller has the completer, so the node is the caller's.
        unsafe { (*self.0.posted.get()).pattern = pattern };
    }

    /// Turns it into the request's node for a matching engine, with what the receive asks for and its place among receives.
    #[inline(always)]
    pub fn into_node(self, pattern: Pattern, stamp: u64) -> NonNull<Posted> {
        let node = self.0.posted.get();
        // SAFETY: the request is in no engine until the node is handed to one, so the node is the caller's; the address of a field is not null.
        unsafe {
            (*node).pattern = pattern;
            (*node).stamp = stamp;
            NonNull::new_unchecked(node)
        }
    }

    /// Takes it back out of a node.
    ///
    /// # Safety
    /// [`Completer::into_node`] gave the node to an engine, which has given it out to the caller.
    #[inline(always)]
    pub unsafe fn of_node(node: NonNull<Posted>) -> Completer {
        // SAFETY: the node lies in a request at this offset, and requests are never freed.
        Completer(unsafe { &*node.as_ptr().byte_sub(offset_of!(Request, posted)).cast::<Request>() })
    }

    /// Parks it in the request, which the holder of CRI `ctx` ends from now on.
    #[inline(always)]
    pub fn park(self, ctx: u32) -> &'static Request {
        self.0.parked.set(ctx as u8 + 1);
        self.0
    }
}

impl Request {
    /// Makes the completer of a persistent request that starts: it is pending again, with an empty status.
    ///
    /// # Safety
    /// The request is persistent and inactive, so the completer of the start before has been used, and the caller is its only user.
    pub unsafe fn restart(&'static self) -> Completer {
        // SAFETY: the caller's alone.
        let h = unsafe { &mut *self.header.get() };
        h.status = MsgStatus::EMPTY;
        h.flags |= RequestHeader::ACTIVE;
        h.completion.rearm();
        Completer(self)
    }

    /// Takes the completer of a request that goes on under the lock of the CRI that is held. Panics where it is not parked there.
    #[inline(always)]
    pub fn claim(&'static self, held: &CriGuard<'_>) -> Completer {
        match self.claim_any(held) {
            Some(completer) => completer,
            None => nothing_parked(),
        }
    }

    /// Takes the completer if it is parked on the CRI that is held.
    #[inline(always)]
    pub fn claim_any(&'static self, held: &CriGuard<'_>) -> Option<Completer> {
        if u32::from(self.parked.get()) != held.ctx() + 1 {
            return None;
        }
        self.parked.set(0);
        Some(Completer(self))
    }

    /// Gives the request's node, whatever it holds, for taking it out of the matching engine.
    pub fn posted_node(&self) -> NonNull<Posted> {
        // SAFETY: the address of a field is not null.
        unsafe { NonNull::new_unchecked(self.posted.get()) }
    }

    /// Gives what a receive asks for. By its user, while it is inactive or posted.
    pub fn asks(&self) -> Pattern {
        // SAFETY: posting wrote it, and nobody changes it before the receive is started again, by its user.
        unsafe { (*self.posted.get()).pattern }
    }

    /// Gives the header, by which the host knows the request.
    #[inline(always)]
    pub fn handle(&self) -> *mut RequestHeader {
        self.header()
    }
}

/// Refuses to complete a request whose completer is elsewhere.
#[cold]
#[inline(never)]
#[track_caller]
fn nothing_parked() -> ! {
    panic!("a request was to be completed that another CRI ends, or that is complete")
}
