//! A peer's memory mapped here, so that copying from and to it is a memcpy and no system call.
//!
//! The kernel module XPMEM lets a process offer its address space under a number (*segment*); another process
//! asks for access (*grant*), and maps ranges of it (*attaches* them). Each rank offers all of its memory when it
//! opens, and its identity in the node's segment tells the number; grants and attachments are made when they are first
//! needed.
//!
//! **Attachments are kept,** because making one costs more than most copies: [`MOST`] ranges per context, of which the
//! one used longest ago goes first. Ranges are rounded to [`UNIT`], so that neighbouring buffers share one; pages
//! that nobody touches cost nothing. The kernel module takes pages that the peer unmaps out of our mapping, and we see
//! those that the peer then maps at the same place, so an attachment is never stale. All of a peer's go when it offers
//! another number (it has begun anew), and all of them with our own end.
//!
//! **The price.** A system call refuses an address that the peer does not have; a load from there ends this
//! process with SIGBUS. So a peer that names memory it does not have is found out later and less kindly than with
//! CMA. Peers are processes of the same user and job.
//!
//! Any refusal ends the use of XPMEM for this process, with one message; copies go on by CMA.
//!
//! [`Device`] is what the kernel offers. Tests run over a stand-in, whose attachments are mappings of files.

use crate::single_copy::mapper::Device;
use rustix::io::Errno;

/// Most attachments of a context.
pub(super) const MOST: usize = 128;
/// Ranges begin and end at multiples of this.
pub(super) const UNIT: u64 = 2 << 20;
/// End of a process's addresses (four levels of page tables, without the page that guards the end).
const TOP: u64 = (1 << 47) - PAGE;
/// Bytes of a page, the unit of attachments.
pub(super) const PAGE: u64 = 4096;

/// Access to the memory that a peer offers: the peer, the number of its offer, and the number of the access.
struct Grant {
    peer: u32,
    segment: i64,
    number: i64,
}

/// A range of a peer's memory, by its addresses there, and where it is mapped here.
pub(super) struct Attached {
    peer: u32,
    from: u64,
    to: u64,
    at: usize,
    /// When it was last of use.
    used: u64,
}

/// The attachments of one context.
#[derive(Default)]
pub struct Attachments {
    grants: Vec<Grant>,
    pub(super) ranges: Vec<Attached>,
    clock: u64,
}

impl Attachments {
    /// The address here of bytes `[from, from + len)` of a peer's memory, which is mapped if it is not yet.
    pub(super) fn find(
        &mut self,
        device: &dyn Device,
        (peer, segment): (u32, i64),
        from: u64,
        len: u64,
    ) -> Result<*mut u8, Errno> {
        let to = from.checked_add(len).ok_or(Errno::FAULT)?;
        let grant = self.grant(device, peer, segment)?;
        let known = self.ranges.iter().position(|r| r.peer == peer && r.from <= from && to <= r.to);
        let place = match known {
            Some(place) => place,
            None => self.attach(device, (peer, grant), from, to)?,
        };
        self.clock += 1;
        let range = &mut self.ranges[place];
        range.used = self.clock;
        Ok((range.at + (from - range.from) as usize) as *mut u8)
    }

    /// The number of our access to the memory that a peer offers as `segment`; asks for access the first time, and
    /// anew (without the old mappings) when the peer offers another number.
    fn grant(&mut self, device: &dyn Device, peer: u32, segment: i64) -> Result<i64, Errno> {
        match self.grants.iter().find(|grant| grant.peer == peer) {
            Some(grant) if grant.segment == segment => return Ok(grant.number),
            Some(_) => self.forget(device, peer),
            None => {}
        }
        let number = device.get(segment)?;
        self.grants.push(Grant { peer, segment, number });
        Ok(number)
    }

    /// Maps the range of a peer's memory around `[from, to)`, after unmapping the one used longest ago if there are
    /// [`MOST`]. Returns its index in `ranges`.
    fn attach(
        &mut self,
        device: &dyn Device,
        (peer, grant): (u32, i64),
        from: u64,
        to: u64,
    ) -> Result<usize, Errno> {
        let end = to.checked_next_multiple_of(PAGE).ok_or(Errno::FAULT)?;
        let to = end.checked_next_multiple_of(UNIT).ok_or(Errno::FAULT)?.min(TOP).max(end);
        let from = from & !(UNIT - 1);
        if self.ranges.len() == MOST
            && let Some(oldest) = (0..MOST).min_by_key(|&i| self.ranges[i].used)
        {
            let old = self.ranges.swap_remove(oldest);
            // SAFETY: `attach` has mapped it, it is in the list no more, and each copy asks for its address anew.
            unsafe { device.detach(old.at as *mut u8, old.to - old.from) };
        }
        let at = device.attach(grant, from, to - from)? as usize;
        self.ranges.push(Attached { peer, from, to, at, used: 0 });
        Ok(self.ranges.len() - 1)
    }

    /// Unmaps all ranges of a peer's memory and gives back the access to it.
    fn forget(&mut self, device: &dyn Device, peer: u32) {
        self.ranges.retain(|range| {
            if range.peer == peer {
                // SAFETY: `attach` has mapped it, it leaves the list now, and each copy asks for its address anew.
                unsafe { device.detach(range.at as *mut u8, range.to - range.from) };
            }
            range.peer != peer
        });
        self.grants.retain(|grant| {
            if grant.peer == peer {
                device.release(grant.number);
            }
            grant.peer != peer
        });
    }

    /// Unmaps the memory of these peers and gives back the access to it.
    pub fn forget_all(&mut self, device: &dyn Device, is_gone: impl Fn(u32) -> bool) {
        while let Some(peer) = self.grants.iter().map(|grant| grant.peer).find(|&peer| is_gone(peer)) {
            self.forget(device, peer);
        }
    }

    /// Unmaps the memory of all peers and gives back the access to it.
    pub fn clear(&mut self, device: &dyn Device) {
        while let Some(grant) = self.grants.first() {
            self.forget(device, grant.peer);
        }
    }
}
