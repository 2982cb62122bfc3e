//! Posts: what is under way by put, get and atomics on a device, under its lock.
//!
//! A post has a descriptor that stays where it is, and an endpoint of its own that is bound to the process it goes to, as in Open MPI:
//! so no process costs an endpoint on each device. An [`Operation`] of the host is one post, or a few where a get is not aligned.

use crate::abi::{Ep, MemHandle, PostDescriptor, cqmode};
use crate::link::Core;
use core::ffi::c_void;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use oxmpi_btl::Done;
use oxmpi_btl_support::Pages;
use oxmpi_mca::Status;
use std::sync::Arc;

/// An operation of the host, until its `done`.
pub struct Operation {
    /// Lane that it was issued on, its number there, and the process it goes to.
    pub lane: u16,
    pub number: u64,
    pub core: Arc<Core>,
    /// Device that it is on.
    pub device: usize,
    /// Posts without a completion.
    pub left: AtomicU32,
    /// The first failure.
    status: AtomicI32,
    pub done: Option<Done>,
    pub done_ctx: *mut c_void,
    /// Where the whole of it lands before it is copied to its place.
    pub detour: Option<Detour>,
}

// SAFETY: pointers of the host, which are used by the holder of the operation's lane, or under the device's lock.
unsafe impl Send for Operation {}
// SAFETY: as above.
unsafe impl Sync for Operation {}

/// Memory that was registered for one get.
pub struct Detour {
    pub pages: Pages,
    pub handle: MemHandle,
    /// Bytes to leave out at its beginning, target of the copy, and length.
    pub skip: usize,
    pub to: *mut u8,
    pub len: usize,
}

impl Operation {
    pub fn new(
        lane: u16,
        number: u64,
        core: Arc<Core>,
        device: usize,
        done: Option<Done>,
        done_ctx: *mut c_void,
    ) -> Operation {
        Operation {
            lane,
            number,
            core,
            device,
            left: AtomicU32::new(0),
            status: AtomicI32::new(Status::OK.0),
            done,
            done_ctx,
            detour: None,
        }
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

/// Bytes of a landing place, on a line of its own.
pub const LANDING: usize = 64;

/// Bytes that are copied from the landing place when they have come.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    pub skip: usize,
    pub to: *mut u8,
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

pub struct Slot {
    pub descriptor: Box<PostDescriptor>,
    pub ep: Ep,
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

impl Slot {
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
    pub fn copy(&self, piece: &Piece) {
        if let Some(Copied { skip, to, len }) = piece.copied {
            // SAFETY: the landing place is the slot's; the other one is the host's until `done`, which comes later.
            unsafe { core::ptr::copy_nonoverlapping((self.landing as *const u8).add(skip), to, len) }
        }
    }
}

#[derive(Default)]
pub struct Posts {
    pub slots: Vec<Slot>,
    pub free: Vec<u32>,
    /// Posts that were refused for want of room behind the first of their operation, or are to be repeated.
    pub waiting: Vec<u32>,
    /// Landing places, with their registration.
    pub landings: Vec<(Pages, MemHandle)>,
}

// SAFETY: handles and pointers, used under the device's lock.
unsafe impl Send for Posts {}
