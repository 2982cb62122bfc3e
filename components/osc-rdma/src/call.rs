//! A call on a window in progress: its thread, its context, and how it waits.
//!
//! A call waits only in [`oxmpi_osc_support::Comm::until`], holding nothing: no CRI, no mutex.

use crate::local::Local;
use crate::peer::Link;
use crate::rdma::Rdma;
use crate::window::RdmaWindow;
use oxmpi_mca::{CriGuard, Status, ThreadCtx};

/// A call in progress.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub win: &'a RdmaWindow,
    pub thread: *mut ThreadCtx,
}

impl RdmaWindow {
    pub fn call(&self, thread: *mut ThreadCtx) -> Call<'_> {
        Call { win: self, thread }
    }
}

impl<'a> Call<'a> {
    pub fn rdma(&self) -> &'a Rdma {
        &self.win.rdma
    }

    pub fn until(&self, question: impl FnMut() -> bool) -> Status {
        self.win.comm.until(self.thread, question)
    }

    /// Some turns of progress, of this context too.
    pub fn turn(&self, ctx: u32) -> Status {
        // A look that finds it idle, and one that enters it.
        let mut looks = 3;
        self.win.comm.until_idle(self.thread, || {
            looks -= 1;
            if looks > 0 { 1 << ctx } else { 0 }
        })
    }

    /// The context that the calling thread uses of a transport.
    pub fn context(&self, link: &Link) -> u32 {
        // SAFETY: the host passes the calling thread's context, or null.
        let cri = unsafe { self.thread.as_ref() }.map_or(0, |thread| thread.cri);
        cri % link.contexts()
    }

    /// Enters a context.
    pub fn enter(&self, ctx: u32) -> CriGuard<'a> {
        let host = &self.rdma().host;
        host.activate(ctx);
        // SAFETY: the calling thread's context.
        host.hold(ctx, unsafe { ThreadCtx::seat_of(self.thread) }, host.threaded())
    }

    pub fn scratch(&self, link: &Link, bytes: usize) -> Result<Local, Status> {
        self.rdma().pools.scratch(self.win.btl, link.reach.btl(), bytes)
    }
}
