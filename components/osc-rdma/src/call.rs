//! A call on a window in progress: its way in, its context, and how it waits.
//!
//! A call waits only in [`oxmpi_osc_support::Comm::until`] and its like, holding nothing. A wait borrows the call's entry, and so does a guard that holds a CRI
//! ([`Call::enter`]): a wait with one held does not compile.

use crate::local::Scratch;
use crate::peer::Link;
use crate::rdma::Rdma;
use crate::window::RdmaWindow;
use oxmpi_mca::cri::set_of;
use oxmpi_mca::{CriGuard, Entry, Status};

/// A call in progress.
pub struct Call<'a> {
    pub win: &'a RdmaWindow,
    pub entry: &'a mut Entry,
}

impl RdmaWindow {
    pub fn call<'a>(&'a self, entry: &'a mut Entry) -> Call<'a> {
        Call { win: self, entry }
    }
}

impl<'a> Call<'a> {
    pub fn rdma(&self) -> &'a Rdma {
        &self.win.peers.rdma
    }

    pub fn until(&mut self, question: impl FnMut() -> bool) -> Status {
        self.win.comm.until(self.entry, question)
    }

    /// Waits until nothing is under way on any context: the question answers with those on which something is, by bit.
    pub fn until_idle(&mut self, question: impl FnMut() -> u64) -> Status {
        self.win.comm.until_idle(self.entry, question)
    }

    /// One turn of progress.
    pub fn progress(&mut self) {
        self.win.comm.progress(self.entry);
    }

    /// Some turns of progress, of this context too.
    pub fn turn(&mut self, ctx: u32) -> Status {
        // A look that finds it idle, and one that enters it.
        let mut looks = 3;
        self.until_idle(|| {
            looks -= 1;
            if looks > 0 { set_of(ctx) } else { 0 }
        })
    }

    /// The context that the calling thread uses of a transport.
    pub fn context(&self, link: &Link) -> u32 {
        self.entry.context().map_or(0, |thread| thread.cri) % link.contexts()
    }

    /// Enters a context.
    #[inline(always)]
    pub fn enter(&mut self, ctx: u32) -> CriGuard<'_> {
        let host = &self.rdma().host;
        host.activate(ctx);
        host.hold(self.entry, ctx)
    }

    pub fn scratch(&self, link: &Link, bytes: usize) -> Result<Scratch, Status> {
        self.win.scratch(link, bytes)
    }
}

impl RdmaWindow {
    /// Local memory for an operation by a transport.
    pub fn scratch(&self, link: &Link, bytes: usize) -> Result<Scratch, Status> {
        let pools = &self.peers.rdma.pools;
        // SAFETY: the pools go with the component's state, which a call has by its window, and which stays while operations are under way (`Peers`).
        unsafe { pools.scratch(self.services, link.reach.btl(), bytes) }
    }
}
