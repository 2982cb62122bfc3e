//! Ways to processes: transports with their endpoints, which the host has made and keeps as long as the instance.

use crate::table::Transports;
use oxmpi_btl::{BtlAttrs, BtlServices, Reach, SendDesc};
use oxmpi_mca::{CriGuard, SliceRef, Status};

/// The transports that reach processes. Any thread.
#[derive(Clone, Copy)]
pub struct Links(&'static BtlServices);

// SAFETY: the host's services may be called from any thread; the pointer in them is handed back to them.
unsafe impl Send for Links {}
// SAFETY: they are not changed.
unsafe impl Sync for Links {}

impl Links {
    /// The transports that `enable` got.
    ///
    /// # Safety
    /// The transports are the host's, and their services outlive the result.
    pub(crate) unsafe fn of(transports: &Transports) -> Links {
        // SAFETY: the caller's promise.
        Links(unsafe { &*transports.services })
    }

    /// The best transport that reaches a process. UNREACHABLE: none. May be asked with a CRI held.
    pub fn to(self, proc: u32) -> Result<Link, Status> {
        let mut list = SliceRef { ptr: core::ptr::null(), len: 0 };
        (self.0.reach)(self.0.instance, proc, &mut list).ok()?;
        // SAFETY: the host's list, which stays as long as the instance.
        unsafe { list.get() }.first().map(|reach| Link(*reach)).ok_or(Status::UNREACHABLE)
    }
}

/// A transport with its endpoint of a process.
#[derive(Clone, Copy)]
pub struct Link(Reach);

impl Link {
    /// The transport's limits.
    pub fn attrs(&self) -> &'static BtlAttrs {
        self.0.btl().attrs()
    }

    /// Sends an active message on the context that is held, or answers NO_RESOURCE having done nothing.
    pub fn send(&self, held: &mut CriGuard<'_>, tag: u8, header: &[u8], payload: &[u8]) -> Status {
        let desc = SendDesc {
            tag: tag.into(),
            hdr_len: header.len() as u32,
            hdr: header.as_ptr(),
            payload: payload.as_ptr(),
            len: payload.len() as u64,
            pack: None,
            pack_ctx: core::ptr::null_mut(),
        };
        // SAFETY: the host's endpoint of this transport, which stays as long as the instance; header and payload live as long as the call.
        unsafe { self.0.btl().send(held, self.0.endpoint, &desc) }
    }
}
