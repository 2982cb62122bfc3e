//! Rings: eager messages by RDMA write into memory that the receiver polls.
//!
//! A receiver that has had `btl_verbs_eager_rdma_threshold` messages of a link offers memory of so many slots (*Ring*); from then on the
//! sender writes each message that fits into the next slot, where it has room, and sends the others as before. The frames of both are numbered, so
//! that the receiver takes them in order: a slot whose number is not due waits for what is still in the queue, and a message out of the
//! queue has everything before it in the slots already, since a queue pair carries out its requests in order.
//!
//! A message ends where its slot ends, with a word of its length and of the slot's lap, which is written last: a device writes the bytes of a
//! message in order of their addresses. The lap's number is never what the slot held before, so nobody has to clear it.
//!
//! Nothing wakes a sleeper that waits for memory. A receiver that is about to sleep asks its senders to leave the ring (*Hold*), sleeps by the millisecond
//! until they have (*Held*, which is sent behind all that they wrote), and offers it again when there is traffic.

use crate::objects::{Domain, Region};
use crate::wire::{FRAME, Frame};
use core::sync::atomic::{AtomicU64, Ordering};
use oxmpi_btl_support::Pages;
use oxmpi_verbs_abi::RdmaTarget;
use oxmpi_verbs_abi::numbers::access;
use std::sync::Arc;

/// Bytes behind a message in its slot: padding to the last word, and that.
pub const TAIL: usize = 16;
/// Bytes of an offer behind its frame.
const OFFER: usize = 20;
const LARGEST_STRIDE: usize = 1 << 21;
const MOST_SLOTS: u32 = 4096;

/// Bytes that a message of so many takes of a slot.
pub fn taken_of_slot(len: usize) -> usize {
    len.next_multiple_of(8) + 8
}

/// The word at the end of a slot: how long its message is, and which message of the ring.
fn last_word(number: u64, len: usize) -> u64 {
    (number + 1) << 32 | len as u64
}

/// A ring of the peer's, which we write to.
pub struct RingOut {
    pub addr: u64,
    rkey: u32,
    slots: u32,
    stride: usize,
    /// Messages written so far.
    put: u64,
    room: u32,
    /// The peer has not asked to leave it.
    pub open: bool,
}

/// Where a message goes.
pub struct Slot {
    addr: u64,
    rkey: u32,
    /// The last word.
    pub word: u64,
}

impl Slot {
    pub fn target(&self) -> RdmaTarget {
        RdmaTarget { remote_addr: self.addr, rkey: self.rkey }
    }
}

impl RingOut {
    pub fn read(bytes: &[u8]) -> Option<RingOut> {
        let bytes: &[u8; OFFER] = bytes.try_into().ok()?;
        let word = |at: usize| bytes[at..].first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
        let addr = u64::from(word(0)) | u64::from(word(4)) << 32;
        let (rkey, slots, stride) = (word(8), word(12), word(16) as usize);
        let sound = (1..=MOST_SLOTS).contains(&slots)
            && stride.is_multiple_of(64)
            && (64..=LARGEST_STRIDE).contains(&stride)
            && addr.is_multiple_of(64);
        sound.then_some(RingOut { addr, rkey, slots, stride, put: 0, room: slots, open: true })
    }

    /// The place of a message of so many bytes, if it fits and there is room.
    #[inline]
    pub fn slot(&self, len: usize) -> Option<Slot> {
        let taken = taken_of_slot(len);
        if !self.open || self.room == 0 || taken > self.stride {
            return None;
        }
        let end = self.addr + (self.put % u64::from(self.slots) + 1) * self.stride as u64;
        Some(Slot { addr: end - taken as u64, rkey: self.rkey, word: last_word(self.put, len) })
    }
    pub fn wrote(&mut self) {
        self.put += 1;
        self.room -= 1;
    }
    /// False: more than there are.
    pub fn gets_back(&mut self, slots: u16) -> bool {
        self.room += u32::from(slots);
        self.room <= self.slots
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Open,
    /// The peer has been asked to leave it.
    Holding,
    Held,
}

/// A message that lies in a slot.
pub struct Written {
    /// `None`: it does not begin with one.
    pub frame: Option<Frame>,
    /// Where it is, its frame in front, and how long with that.
    pub at: usize,
    pub len: usize,
}

/// A ring of ours, which the peer writes to.
pub struct RingIn {
    region: Region,
    pages: Pages,
    slots: u32,
    stride: usize,
    pub taken: u64,
    pub state: State,
}

impl RingIn {
    pub fn new(domain: &Arc<Domain>, slots: u32, message: usize) -> Result<RingIn, String> {
        let stride = taken_of_slot(message).next_multiple_of(64);
        let pages = Pages::new(stride * slots as usize).map_err(|e| e.to_string())?;
        let rights = access::LOCAL_WRITE | access::REMOTE_WRITE;
        // SAFETY: the pages lie behind their region, and are dropped after it.
        let region = unsafe { Region::new(domain, pages.base(), pages.len(), rights) }?;
        Ok(RingIn { region, pages, slots, stride, taken: 0, state: State::Open })
    }

    pub fn offer(&self) -> [u8; OFFER] {
        let mut bytes = [0; OFFER];
        bytes[..8].copy_from_slice(&(self.pages.base() as u64).to_le_bytes());
        let words = [self.region.rkey(), self.slots, self.stride as u32];
        for (to, word) in bytes[8..].chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The next message, if it is there. An error: what is there is none.
    pub fn next(&self) -> Result<Option<Written>, ()> {
        let end = (self.taken % u64::from(self.slots) + 1) as usize * self.stride;
        // SAFETY: the last word of a slot, aligned; the device writes whole words.
        let word = unsafe { &*self.pages.base().add(end - 8).cast::<AtomicU64>() }.load(Ordering::Acquire);
        if word >> 32 != (self.taken + 1) & u64::from(u32::MAX) {
            return Ok(None);
        }
        let len = (word & u64::from(u32::MAX)) as usize;
        if len < FRAME || taken_of_slot(len) > self.stride {
            return Err(());
        }
        let at = self.pages.base().wrapping_add(end - taken_of_slot(len));
        // SAFETY: inside the slot, of a frame at least. An honest peer writes no more there, and any bytes are what a frame is read from.
        let frame = Frame::decode(unsafe { &*at.cast::<[u8; FRAME]>() });
        Ok(Some(Written { frame, at: at as usize, len }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_survive_the_way_and_garbage_is_nothing() {
        let mut bytes = [0; OFFER];
        bytes[..8].copy_from_slice(&0x7f00_1234_0040u64.to_le_bytes());
        bytes[8..12].copy_from_slice(&77u32.to_le_bytes());
        bytes[12..16].copy_from_slice(&4u32.to_le_bytes());
        bytes[16..20].copy_from_slice(&128u32.to_le_bytes());
        let mut ring = RingOut::read(&bytes).expect("sound");
        for n in 0..4 {
            let slot = ring.slot(24).expect("room");
            assert_eq!((slot.addr, slot.rkey), (0x7f00_1234_0040 + 128 * (n + 1) - 32, 77));
            assert_eq!(slot.word, (n + 1) << 32 | 24);
            ring.wrote();
        }
        assert!(ring.slot(24).is_none(), "no room");
        assert!(ring.gets_back(2) && ring.slot(24).is_some() && ring.slot(121).is_none());
        assert!(!ring.gets_back(3), "more than there are");
        for (at, wrong) in [(0, 1), (12, 0), (16, 65)] {
            let mut bytes = bytes;
            bytes[at] = wrong;
            assert!(RingOut::read(&bytes).is_none(), "byte {at}");
        }
        assert!(RingOut::read(&bytes[1..]).is_none());
    }
}
