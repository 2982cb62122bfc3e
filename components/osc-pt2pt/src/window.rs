//! The module of one window: made, duplicated, freed.

use crate::link::Link;
use crate::origin::post;
use crate::peer::Peer;
use crate::sizes::Sizes;
use crate::state::{Common, Core, MemoryShare};
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::{Memory, Vouched, WinDesc, flavor};
use oxmpi_osc_support::{Comm, Exposed};
use std::sync::{Arc, Mutex};

pub struct Pt2ptWindow(pub Arc<Core>);

impl Pt2ptWindow {
    pub fn create(
        common: &Arc<Common>,
        entry: &mut Entry,
        desc: Vouched<'_, WinDesc>,
    ) -> Result<Pt2ptWindow, Status> {
        // SAFETY: the host's description of a communicator, which is valid until the window is freed.
        let link = Link { comm: unsafe { Comm::new(common.host, desc.comm) } };
        let exposed = match desc.flavor {
            flavor::DYNAMIC => Exposed::dynamic(),
            // SAFETY: the window's memory, which stays until the last window on it is freed.
            _ => unsafe { Exposed::whole(Memory { base: desc.base.expose_provenance(), bytes: desc.bytes }) },
        };
        let (sizes, peers) = meet(&link, common, entry, &desc)?;
        let shared = MemoryShare { exposed: Arc::new(Mutex::new(exposed)), sizes: Arc::new(sizes) };
        Pt2ptWindow::of(Core::new(common.clone(), link, &desc, shared, peers), entry)
    }

    /// Another window on the memory of this one; what its ranks have is known.
    pub fn duplicate(&self, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<Pt2ptWindow, Status> {
        let first = &*self.0;
        // SAFETY: the host's description of a communicator, which is valid until the new window is freed.
        let link = Link { comm: unsafe { Comm::new(first.common.host, desc.comm) } };
        let peers = first.look().peers.iter().map(|peer| Peer::new(peer.room)).collect();
        let shared = MemoryShare { exposed: first.exposed.clone(), sizes: first.sizes.clone() };
        Pt2ptWindow::of(Core::new(first.common.clone(), link, &desc, shared, peers), entry)
    }

    fn of(core: Core, entry: &mut Entry) -> Result<Pt2ptWindow, Status> {
        let made = Pt2ptWindow(Arc::new(core));
        let listens = made.listen(entry);
        let status = listens.err().unwrap_or_else(|| made.0.common.enlist(made.0.clone()));
        if status.is_err() {
            made.vanish(entry);
            return Err(status);
        }
        Ok(made)
    }

    /// Posts the receives of records.
    fn listen(&self, entry: &mut Entry) -> Result<(), Status> {
        let mut locked = self.0.enter(entry);
        for _ in 0..self.0.common.settings.receives {
            let posted = post(&self.0, locked.entry, Vec::new())?;
            locked.posted.push_back(posted);
        }
        Ok(())
    }

    /// Nothing of the window is used any more. Messages that are still on their way keep their buffers.
    pub fn vanish(&self, entry: &mut Entry) {
        self.0.common.strike(&self.0);
        let (posted, transfers) = {
            let mut state = self.0.look();
            (core::mem::take(&mut state.posted), core::mem::take(&mut state.transfers))
        };
        // Waits, so nothing is locked.
        posted.into_iter().for_each(|posted| self.0.link.cancel(entry, posted.pending));
        core::mem::forget(transfers);
    }
}

/// Learns what the other ranks have: what differs between them, and the largest message of records that each takes.
fn meet(
    link: &Link,
    common: &Common,
    entry: &mut Entry,
    desc: &WinDesc,
) -> Result<(Sizes, Vec<Peer>), Status> {
    let mut told = Sizes::differing(desc);
    told.push(common.settings.message as u64);
    let mut all = vec![0u64; told.len() * link.comm.num_ranks() as usize];
    let status = link.comm.allgather(entry, &told, &mut all);
    if status.is_err() {
        return Err(status);
    }
    let rooms = all.iter().skip(told.len() - 1).step_by(told.len());
    let peers = rooms.map(|room| Peer::new(*room as usize)).collect();
    Ok((Sizes::of(desc, &all, told.len()), peers))
}
