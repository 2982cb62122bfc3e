//! The link to a process: a transport and its endpoint there.

use crate::wire::Parcel;
use core::ffi::c_void;
use oxmpi_btl::{BtlHandle, Done, KeptDesc, Reach, SendDesc, cap};
use oxmpi_mca::{CriGuard, Status};

/// A transport, and its endpoint of a process. It is a few words, with the transport's `send` at hand.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Link {
    send: unsafe extern "C" fn(*mut c_void, *mut c_void, u32, *const SendDesc) -> Status,
    state: *mut c_void,
    endpoint: *mut c_void,
    btl: &'static BtlHandle,
}

// SAFETY: transports may be used from any thread, on each context by its holder, and so may their endpoints, which the words only name.
unsafe impl Send for Link {}

impl Link {
    /// Makes the link by which a process is reached, as the host says.
    pub fn new(reach: &Reach) -> Link {
        let btl = reach.btl();
        Link { send: btl.send, state: btl.state, endpoint: reach.endpoint, btl }
    }

    /// Gives the transport.
    #[inline(always)]
    pub fn btl(&self) -> &'static BtlHandle {
        self.btl
    }

    /// Gives the transport's endpoint of the process, which stays as long as the peer.
    #[inline(always)]
    pub fn endpoint(&self) -> *mut c_void {
        self.endpoint
    }

    /// Calls the transport's `send` once, on the CRI that is held. `NO_RESOURCE`: there is no room now, and nothing was sent.
    #[inline(always)]
    pub fn transmit(&self, held: &mut CriGuard<'_>, parcel: &Parcel<'_>) -> Status {
        // SAFETY: the parcel has borrowed what the descriptor points to.
        unsafe { self.transmit_parts(held, parcel.desc()) }
    }

    /// Sends a request's data, which stays as it is until the request is complete: PENDING from a transport that keeps it where it lies, which `done` tells the
    /// end with `ctx`. Otherwise as [`Link::transmit`].
    ///
    /// # Safety
    /// The data stays until the end is told; `done` may be called with `ctx` as [`oxmpi_btl::Done`] says.
    pub unsafe fn transmit_kept(
        &self,
        held: &mut CriGuard<'_>,
        parcel: Parcel<'_>,
        done: Done,
        ctx: *mut c_void,
    ) -> Status {
        let message = parcel.into_desc();
        if message.pack.is_some() || !self.btl.can(cap::KEEPS) {
            // SAFETY: the parcel had borrowed what the descriptor points to, and the caller keeps that.
            return unsafe { self.transmit_parts(held, &message) };
        }
        let desc = KeptDesc { message, done: Some(done), done_ctx: ctx };
        // SAFETY: endpoints stay as long as peers; the rest is the caller's promise.
        unsafe { self.btl.send_kept(held, self.endpoint, &desc) }
    }

    /// The same with a descriptor.
    ///
    /// # Safety
    /// It is valid as [`SendDesc`] says, for the call.
    #[inline(always)]
    pub unsafe fn transmit_parts(&self, held: &mut CriGuard<'_>, desc: &SendDesc) -> Status {
        // SAFETY: the context is held, endpoints stay as long as peers, and the rest is the caller's promise.
        unsafe { (self.send)(self.state, self.endpoint, held.ctx(), desc) }
    }
}
