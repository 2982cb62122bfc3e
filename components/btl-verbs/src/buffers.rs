//! Memory of lanes: registered for one of them or for several at once, and pools of send buffers out of it.
//!
//! Lanes that share registrations have a [`Supply`]: a lane that needs memory takes a part of the memory registered for all, and registers as much
//! for each of them where nothing is left. Lanes that share send buffers have a [`Pool`] of `btl_verbs_send_buffers`. Half of it is divided among them,
//! which each keeps for itself without a lock; the rest is under a lock, a leaf. Buffers that a lane gives back fill its own part first. So a lane
//! without a free buffer has some under way, whose completions will be reported (`outbound.rs`), and does not depend on another lane.

use crate::link::held;
use crate::objects::{Domain, Region};
use core::sync::atomic::{AtomicU32, Ordering};
use oxmpi_btl_support::Pages;
use oxmpi_verbs_abi::numbers::access;
use std::sync::{Arc, Mutex};

/// Registered memory; the region goes first.
struct Registered {
    region: Region,
    pages: Pages,
}

/// A part of it.
pub struct Piece {
    memory: Arc<Registered>,
    at: usize,
}

impl Piece {
    #[inline(always)]
    pub fn base(&self) -> *mut u8 {
        self.memory.pages.base().wrapping_add(self.at)
    }
    #[inline(always)]
    pub fn lkey(&self) -> u32 {
        self.memory.region.lkey()
    }
}

/// Memory for the lanes that share registrations.
pub struct Supply {
    domain: Arc<Domain>,
    lanes: usize,
    left: Mutex<Option<Piece>>,
}

impl Supply {
    pub fn new(domain: &Arc<Domain>, lanes: u32) -> Arc<Supply> {
        Arc::new(Supply { domain: domain.clone(), lanes: lanes.max(1) as usize, left: Mutex::default() })
    }

    /// So many bytes, aligned to 64. `of`: lanes that use them. Any thread.
    pub fn take(&self, bytes: usize, of: usize) -> Result<Piece, String> {
        let bytes = bytes.next_multiple_of(64);
        let mut left = held(&self.left);
        let piece = match left.take().filter(|p| p.memory.pages.len() - p.at >= bytes) {
            Some(piece) => piece,
            None => {
                let parts = self.lanes.div_ceil(of.max(1));
                let pages = Pages::new(bytes * parts).map_err(|e| e.to_string())?;
                // SAFETY: the pages lie beside their region, which is dropped first.
                let region =
                    unsafe { Region::new(&self.domain, pages.base(), pages.len(), access::LOCAL_WRITE) }?;
                Piece { memory: Arc::new(Registered { region, pages }), at: 0 }
            }
        };
        if self.lanes > 1 {
            *left = Some(Piece { memory: piece.memory.clone(), at: piece.at + bytes });
        }
        Ok(piece)
    }
}

/// Send buffers of a lane or of several.
pub struct Pool {
    piece: Piece,
    stride: usize,
    /// Buffers that each lane has for itself.
    pub own: usize,
    lanes: AtomicU32,
    /// The others.
    common: Option<Mutex<Vec<u32>>>,
    /// Behind the last buffer.
    scratch: usize,
}

impl Pool {
    /// So many buffers for so many lanes, at least one for each.
    pub fn new(supply: &Supply, buffers: usize, message: usize, lanes: u32) -> Result<Arc<Pool>, String> {
        let (stride, several) = (message.next_multiple_of(64), lanes as usize);
        let own = if several > 1 { (buffers / 2 / several).max(1) } else { buffers };
        let all = buffers.max(own * several);
        let common = (own * several..all).map(|n| n as u32).collect();
        Ok(Arc::new(Pool {
            piece: supply.take(stride * all + 64, several)?,
            stride,
            own,
            lanes: AtomicU32::new(0),
            common: (several > 1).then(|| Mutex::new(common)),
            scratch: stride * all,
        }))
    }

    /// The buffers of a new lane.
    pub fn join(&self) -> Vec<u32> {
        let first = self.lanes.fetch_add(1, Ordering::Relaxed) * self.own as u32;
        (first..first + self.own as u32).rev().collect()
    }

    /// Takes one for the lane whose own ones are free.
    #[inline(always)]
    pub fn take(&self, free: &mut Vec<u32>) -> Option<u32> {
        match free.pop() {
            None => self.common.as_ref().and_then(|common| held(common).pop()),
            number => number,
        }
    }

    /// Gives back.
    #[inline(always)]
    pub fn give(&self, free: &mut Vec<u32>, number: u32) {
        match &self.common {
            Some(common) if free.len() >= self.own => held(common).push(number),
            _ => free.push(number),
        }
    }

    /// Address and key of a buffer.
    #[inline(always)]
    pub fn buffer(&self, number: u32) -> (*mut u8, u32) {
        (self.piece.base().wrapping_add(self.stride * number as usize), self.piece.lkey())
    }
    /// A word for results that nobody wants.
    pub fn scratch(&self) -> (u64, u32) {
        (self.piece.base() as u64 + self.scratch as u64, self.piece.lkey())
    }
}
