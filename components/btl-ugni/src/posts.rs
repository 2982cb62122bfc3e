//! Posts: what is under way by put, get and atomics on a device, under its lock.
//!
//! A post has a descriptor that stays where it is, and an endpoint of its own that is bound to the process it goes to, as in Open MPI:
//! so no process costs an endpoint on each device. An [`Operation`] of the host is one post, or a few where a get is not aligned.

use crate::abi::{MemHandle, PostDescriptor, cqmode};
use crate::peer::Core;
use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use oxmpi_btl_support::Pages;
use oxmpi_mca::Status;
use std::sync::Arc;

/// An operation of the host as its posts share it. The lane that it was issued on keeps the rest
/// ([`crate::pending_operations`]), by its ticket.
pub struct Operation {
    /// Lane that it was issued on, its ticket there, and the process it goes to.
    pub lane: u16,
    pub ticket: u32,
    pub core: Arc<Core>,
    /// Posts without a completion.
    left: AtomicU32,
    /// The first failure.
    status: AtomicI32,
}

impl Operation {
    pub fn new(lane: u16, ticket: u32, core: Arc<Core>, posts: usize) -> Operation {
        let (left, status) = (AtomicU32::new(posts as u32), AtomicI32::new(Status::OK.0));
        Operation { lane, ticket, core, left, status }
    }

    pub fn fail(&self, status: Status) {
        let _ = self.status.compare_exchange(Status::OK.0, status.0, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub fn status(&self) -> Status {
        Status(self.status.load(Ordering::Acquire))
    }

    /// A post is over. True: it was the last.
    pub fn is_over(&self) -> bool {
        self.left.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// Memory that was registered for one get.
pub struct Detour {
    pub pages: Pages,
    pub handle: MemHandle,
    /// Bytes to leave out at its beginning, address that the others go to, and how many they are.
    pub skip: usize,
    pub to: u64,
    pub len: usize,
}

impl Detour {
    /// Copies what has landed to its place.
    ///
    /// # Safety
    /// The get is over, and has been told to nobody: its place is the host's for it.
    pub unsafe fn copy(&self) {
        let to = with_exposed_provenance_mut(self.to as usize);
        // SAFETY: the pages are longer than what is left out and what is copied; the place by the caller's promise.
        unsafe { core::ptr::copy_nonoverlapping(self.pages.base().add(self.skip), to, self.len) }
    }
}

/// Bytes of a landing place, on a line of its own.
pub const LANDING: usize = 64;

/// Bytes that are copied from the landing place when they have come.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    pub skip: usize,
    /// Address that they go to.
    pub to: u64,
    pub len: usize,
}

/// An operation as it is posted to the device.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// `abi::post`.
    pub kind: i32,
    pub fast: bool,
    pub local: u64,
    pub local_handle: MemHandle,
    pub remote: u64,
    pub remote_handle: MemHandle,
    pub len: u64,
    pub command: i32,
    pub operands: [u64; 2],
    /// It lands in the post's own place, which takes the part of `local`.
    pub lands: bool,
    pub copied: Option<Copied>,
}

impl Piece {
    /// Whether doing it twice is as doing it once.
    pub fn may_be_repeated(&self) -> bool {
        self.kind != crate::abi::post::AMO
    }
}

/// A descriptor with an endpoint `E` of the device.
pub struct Slot<E> {
    pub descriptor: Box<PostDescriptor>,
    pub ep: E,
    /// Where the endpoint is bound to.
    pub bound: Option<(u32, u32)>,
    /// Address of the landing place.
    pub landing: u64,
    pub landing_handle: MemHandle,
    pub flying: Option<Flying>,
}

/// A post under way.
pub struct Flying {
    pub operation: Arc<Operation>,
    pub piece: Piece,
    pub to: (u32, u32),
    pub retries: u16,
}

impl<E> Slot<E> {
    /// Fills the descriptor. `number` is the slot's.
    pub fn describe(&mut self, number: u32) {
        let Some(flying) = &self.flying else { return };
        let piece = &flying.piece;
        let (local, local_handle) = match piece.lands {
            true => (self.landing, self.landing_handle),
            false => (piece.local, piece.local_handle),
        };
        *self.descriptor = PostDescriptor {
            post_id: number.into(),
            kind: piece.kind,
            cq_mode: cqmode::GLOBAL_EVENT,
            local_addr: local,
            local_mem_hndl: local_handle,
            remote_addr: piece.remote,
            remote_mem_hndl: piece.remote_handle,
            length: piece.len,
            amo_cmd: piece.command,
            first_operand: piece.operands[0],
            second_operand: piece.operands[1],
            ..PostDescriptor::empty()
        };
    }

    /// Copies what has landed to its place.
    ///
    /// # Safety
    /// The piece was posted with this slot and has landed, and the host has not been told: the place is its memory for the operation.
    pub unsafe fn copy(&self, piece: &Piece) {
        if let Some(Copied { skip, to, len }) = piece.copied {
            let from = with_exposed_provenance::<u8>(self.landing as usize);
            let to = with_exposed_provenance_mut(to as usize);
            // SAFETY: the landing place is the slot's, and longer; the other one by the caller's promise.
            unsafe { core::ptr::copy_nonoverlapping(from.add(skip), to, len) }
        }
    }
}

/// The posts of a device, whose endpoints are of type `E`.
pub struct Posts<E> {
    pub slots: Vec<Slot<E>>,
    pub free: Vec<u32>,
    /// Posts that were refused for want of room behind the first of their operation, or are to be repeated.
    pub waiting: Vec<u32>,
    /// Landing places, with their registration.
    pub landings: Vec<(Pages, MemHandle)>,
}

impl<E> Posts<E> {
    /// No posts yet.
    pub fn new() -> Posts<E> {
        Posts { slots: Vec::new(), free: Vec::new(), waiting: Vec::new(), landings: Vec::new() }
    }
}
