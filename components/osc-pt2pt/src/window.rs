//! The module of one window: made, freed.

use crate::component::Common;
use crate::exposed::Exposed;
use crate::link::Link;
use crate::origin::post;
use crate::peer::Peer;
use crate::state::{Core, State};
use core::mem::size_of;
use oxmpi_mca::{Status, ThreadCtx};
use oxmpi_osc::{WinDesc, flavor};
use std::sync::Arc;

pub struct Pt2ptWindow(pub Arc<Core>);

/// What the ranks of a window tell each other.
#[repr(C)]
#[derive(Clone, Copy)]
struct Told {
    bytes: u64,
    disp_unit: i64,
    /// Largest message of records that the rank takes.
    room: u64,
}

impl Pt2ptWindow {
    pub fn create(
        common: &Arc<Common>,
        desc: &WinDesc,
        thread: *mut ThreadCtx,
    ) -> Result<Pt2ptWindow, Status> {
        // SAFETY: valid until the window is freed.
        let link = unsafe { Link::new(desc.comm) };
        let dynamic = desc.flavor == flavor::DYNAMIC;
        let exposed = if dynamic { Exposed::dynamic() } else { Exposed::whole(desc.base, desc.bytes) };
        let state = State::new(meet(&link, common, desc, thread)?, exposed);
        let core = Arc::new(Core::new(common.clone(), link, dynamic, desc.host_win, state));
        let made = Pt2ptWindow(core);
        let listens = made.listen(thread);
        let status = listens.err().unwrap_or_else(|| common.enlist(made.0.clone()));
        if status.is_err() {
            made.vanish(thread);
            return Err(status);
        }
        Ok(made)
    }

    /// Posts the receives of records.
    fn listen(&self, thread: *mut ThreadCtx) -> Result<(), Status> {
        let mut inside = self.0.enter(thread);
        for _ in 0..self.0.common.settings.receives {
            let posted = post(&self.0, thread, Vec::new())?;
            inside.posted.push_back(posted);
        }
        Ok(())
    }

    /// Nothing of the window is used any more. Messages that are still on their way keep their buffers.
    pub fn vanish(&self, thread: *mut ThreadCtx) {
        self.0.common.strike(&self.0);
        let (posted, transfers) = {
            let mut inside = self.0.enter(thread);
            (core::mem::take(&mut inside.posted), core::mem::take(&mut inside.transfers))
        };
        // Waits, so nothing is locked.
        posted.iter().for_each(|posted| self.0.link.cancel(thread, &posted.pending));
        core::mem::forget(transfers);
    }
}

/// Learns what the other ranks have.
fn meet(link: &Link, common: &Common, desc: &WinDesc, thread: *mut ThreadCtx) -> Result<Vec<Peer>, Status> {
    let (comm, services) = (link.comm(), link.services());
    let told = Told { bytes: desc.bytes, disp_unit: desc.disp_unit, room: common.settings.message as u64 };
    let mut all = vec![told; comm.num_ranks as usize];
    let bytes = size_of::<Told>() as u64;
    let status =
        (services.allgather)(comm.comm, thread, (&raw const told).cast(), bytes, all.as_mut_ptr().cast());
    if status.is_err() {
        return Err(status);
    }
    Ok(all.iter().map(|told| Peer::new(told.bytes, told.disp_unit, told.room as usize)).collect())
}
