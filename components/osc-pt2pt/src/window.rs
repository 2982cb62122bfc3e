//! The module of one window: made, duplicated, freed.

use crate::link::Link;
use crate::origin::post;
use crate::peer::Peer;
use crate::sizes::Sizes;
use crate::state::{Common, Core, MemoryShare};
use oxmpi_mca::{Status, ThreadCtx};
use oxmpi_osc::{WinDesc, flavor};
use oxmpi_osc_support::{Comm, Exposed};
use std::sync::{Arc, Mutex};

pub struct Pt2ptWindow(pub Arc<Core>);

impl Pt2ptWindow {
    pub fn create(
        common: &Arc<Common>,
        desc: &WinDesc,
        thread: *mut ThreadCtx,
    ) -> Result<Pt2ptWindow, Status> {
        // SAFETY: valid until the window is freed.
        let link = Link { comm: unsafe { Comm::new(desc.comm) } };
        let dynamic = desc.flavor == flavor::DYNAMIC;
        let exposed = if dynamic { Exposed::dynamic() } else { Exposed::whole(desc.base, desc.bytes) };
        let (sizes, peers) = meet(&link, common, desc, thread)?;
        let shared = MemoryShare { exposed: Arc::new(Mutex::new(exposed)), sizes: Arc::new(sizes) };
        Pt2ptWindow::of(Core::new(common.clone(), link, desc, shared, peers), thread)
    }

    /// Another window on the memory of this one; what its ranks have is known.
    pub fn duplicate(&self, desc: &WinDesc, thread: *mut ThreadCtx) -> Result<Pt2ptWindow, Status> {
        let first = &*self.0;
        // SAFETY: valid until the new window is freed.
        let link = Link { comm: unsafe { Comm::new(desc.comm) } };
        let peers = first.enter(thread).peers.iter().map(|peer| Peer::new(peer.room)).collect();
        let shared = MemoryShare { exposed: first.exposed.clone(), sizes: first.sizes.clone() };
        Pt2ptWindow::of(Core::new(first.common.clone(), link, desc, shared, peers), thread)
    }

    fn of(core: Core, thread: *mut ThreadCtx) -> Result<Pt2ptWindow, Status> {
        let made = Pt2ptWindow(Arc::new(core));
        let listens = made.listen(thread);
        let status = listens.err().unwrap_or_else(|| made.0.common.enlist(made.0.clone()));
        if status.is_err() {
            made.vanish(thread);
            return Err(status);
        }
        Ok(made)
    }

    /// Posts the receives of records.
    fn listen(&self, thread: *mut ThreadCtx) -> Result<(), Status> {
        let mut locked = self.0.enter(thread);
        for _ in 0..self.0.common.settings.receives {
            let posted = post(&self.0, thread, Vec::new())?;
            locked.posted.push_back(posted);
        }
        Ok(())
    }

    /// Nothing of the window is used any more. Messages that are still on their way keep their buffers.
    pub fn vanish(&self, thread: *mut ThreadCtx) {
        self.0.common.strike(&self.0);
        let (posted, transfers) = {
            let mut locked = self.0.enter(thread);
            (core::mem::take(&mut locked.posted), core::mem::take(&mut locked.transfers))
        };
        // Waits, so nothing is locked.
        posted.iter().for_each(|posted| self.0.link.cancel(thread, &posted.pending));
        core::mem::forget(transfers);
    }
}

/// Learns what the other ranks have: what differs between them, and the largest message of records that each takes.
fn meet(
    link: &Link,
    common: &Common,
    desc: &WinDesc,
    thread: *mut ThreadCtx,
) -> Result<(Sizes, Vec<Peer>), Status> {
    let (comm, services) = (link.comm.get(), link.comm.services());
    let mut told = Sizes::differing(desc);
    told.push(common.settings.message as u64);
    let mut all = vec![0u64; told.len() * comm.num_ranks as usize];
    let bytes = size_of_val(&told[..]) as u64;
    let status =
        (services.allgather)(comm.comm, thread, told.as_ptr().cast(), bytes, all.as_mut_ptr().cast());
    if status.is_err() {
        return Err(status);
    }
    let rooms = all.iter().skip(told.len() - 1).step_by(told.len());
    let peers = rooms.map(|room| Peer::new(*room as usize)).collect();
    Ok((Sizes::of(desc, &all, told.len()), peers))
}
