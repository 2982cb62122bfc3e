//! The module of one window: made, and what the ranks tell each other then.

use crate::state::{Am, Operations, Peer, WinState};
use crate::wire::Header;
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::{Memory, Place, Reach, Vouched, WinDesc, flavor};
use oxmpi_osc_support::{Comm, Epochs, Exposed, Locks};
use std::sync::Arc;

pub struct AmWindow {
    pub am: Arc<Am>,
    /// This process's number of the window.
    pub slot: u32,
    pub dynamic: bool,
    pub comm: Comm,
}

/// Words that the ranks of a window tell each other: bytes, unit of displacement, number of the window.
const TOLD: usize = 3;

impl AmWindow {
    pub fn create(am: &Arc<Am>, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<AmWindow, Status> {
        let status = am.begin_progress();
        if status.is_err() {
            return Err(status);
        }
        // SAFETY: the host's description of a communicator, which is valid until the window is freed.
        let comm = unsafe { Comm::new(am.host, desc.comm) };
        let dynamic = desc.flavor == flavor::DYNAMIC;
        let exposed = match dynamic {
            true => Exposed::dynamic(),
            // SAFETY: the window's memory, which stays until it is freed.
            false => unsafe {
                Exposed::whole(Memory { base: desc.base.expose_provenance(), bytes: desc.bytes })
            },
        };
        // The slot is there before anybody hears of it.
        let slot = am.lock().place(WinState {
            rank: comm.rank(),
            peers: Vec::new(),
            exposed,
            epochs: Epochs::default(),
            locks: Locks::default(),
            operations: Operations::default(),
        });
        let window = AmWindow { am: am.clone(), slot, dynamic, comm };
        let made = window.meet(entry, &desc);
        if made.is_err() {
            window.vanish();
        }
        made.map(|()| window)
    }

    /// Learns what the other ranks have, and how they are reached.
    pub fn meet(&self, entry: &mut Entry, desc: &WinDesc) -> Result<(), Status> {
        let ranks = self.comm.num_ranks();
        let ways = (0..ranks).map(|rank| self.way(rank)).collect::<Result<Vec<_>, _>>();
        let told: [u64; TOLD] = [desc.bytes, desc.disp_unit.cast_unsigned(), self.slot.into()];
        let mut all = vec![0; TOLD * ranks as usize];
        let status = self.comm.allgather(entry, &told, &mut all);
        // Nobody goes on where somebody cannot reach all: their messages would find no window.
        let own = if status.is_err() { status } else { ways.as_ref().err().copied().unwrap_or(Status::OK) };
        let mut guard = self.am.lock();
        let shared = &mut *guard;
        for ((place, reach), &[bytes, unit, number]) in ways?.into_iter().zip(all.as_chunks::<TOLD>().0) {
            let room = reach.map_or(self.am.max_message, |reach| {
                let largest = reach.btl().attrs().max_send_size;
                self.am.max_message.min(usize::try_from(largest).unwrap_or(usize::MAX))
            });
            shared.outbox.open(place.proc, reach);
            let Some(window) = shared.window(self.slot) else { return Err(Status::INTERNAL) };
            window.peers.push(Peer {
                proc: place.proc,
                window: number as u32,
                bytes,
                disp_unit: unit.cast_signed(),
                room: room.saturating_sub(Header::LEN),
                pending: 0,
                failure: Status::OK,
                granted: false,
                posts: 0,
                completes: 0,
            });
        }
        if own.is_err() { Err(own) } else { Ok(()) }
    }

    /// Where a rank is, and the transport that reaches it; none for this process.
    pub fn way(&self, rank: u32) -> Result<(Place, Option<Reach>), Status> {
        let place = self.comm.place(rank)?;
        if place.proc == self.am.host.job().rank {
            return Ok((place, None));
        }
        let best = self.comm.reach(rank)?.first().copied();
        best.map(|reach| (place, Some(reach))).ok_or(Status::UNREACHABLE)
    }

    pub fn vanish(&self) {
        self.am.lock().windows[self.slot as usize] = None;
    }

    /// Changes the window's state.
    pub fn with<T>(&self, change: impl FnOnce(&mut WinState) -> T) -> Result<T, Status> {
        self.am.lock().window(self.slot).map(change).ok_or(Status::INTERNAL)
    }
}
