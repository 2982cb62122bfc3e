//! Registered memory as a device with page tables of its own has it: pages are pinned when they are registered, and reached by
//! what was pinned, whatever lies at their address since.
//!
//! io_uring's registered buffers do that: the kernel pins the pages of a buffer and keeps the list, and READ_FIXED and
//! WRITE_FIXED copy between them and a file. Here that file is a memfd of one packet, mapped. So a registration that was kept
//! beyond a munmap shows: its reader gets bytes of the old pages, its writer's bytes are nowhere.

use crate::wire::DATA;
use core::ffi::c_void;
use core::ptr::{copy_nonoverlapping, null_mut};
use oxmpi_mca::Status;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::io_uring::{
    IORING_OFF_CQ_RING, IORING_OFF_SQ_RING, IORING_OFF_SQES, IoringEnterFlags, IoringRegisterOp,
    io_uring_enter, io_uring_params, io_uring_register, io_uring_setup,
};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// As many registrations as there may be at once: the kernel's own limit.
const MOST: u32 = 1 << 14;
const READ_FIXED: u64 = 4;
const WRITE_FIXED: u64 = 5;
/// `IORING_RSRC_REGISTER_SPARSE`.
const SPARSE: u32 = 1;

/// `struct io_uring_rsrc_register`.
#[repr(C)]
struct Table {
    many: u32,
    flags: u32,
    zero: u64,
    data: u64,
    tags: u64,
}

/// `struct io_uring_rsrc_update2`.
#[repr(C)]
struct Update {
    offset: u32,
    zero: u32,
    data: u64,
    tags: u64,
    many: u32,
    zero2: u32,
}

pub struct Pins {
    ring: OwnedFd,
    packet: OwnedFd,
    /// One operation at a time.
    queues: Mutex<Queues>,
}

struct Queues {
    submitted: *mut u8,
    completed: *mut u8,
    entries: *mut [u64; 8],
    params: io_uring_params,
    packet: *mut u8,
}

// SAFETY: mapped memory, which stays; used under the lock.
unsafe impl Send for Queues {}

impl Pins {
    /// The reason if this system has no such thing.
    pub fn new() -> Result<Pins, Errno> {
        let mut params = io_uring_params::default();
        // SAFETY: a descriptor of our own.
        let ring = unsafe { io_uring_setup(2, &mut params)? };
        let table = Table { many: MOST, flags: SPARSE, zero: 0, data: 0, tags: 0 };
        // SAFETY: an empty table.
        unsafe {
            let (at, size) = ((&raw const table).cast(), size_of::<Table>() as u32);
            io_uring_register(&ring, IoringRegisterOp::RegisterBuffers2, at, size)?;
        }
        let packet = memfd_create("oxmpi-fabric-packet", MemfdFlags::CLOEXEC)?;
        ftruncate(&packet, 4096)?;
        let queues = Queues {
            submitted: map(&ring, 4096, IORING_OFF_SQ_RING)?.cast(),
            completed: map(&ring, 4096, IORING_OFF_CQ_RING)?.cast(),
            entries: map(&ring, 4096, IORING_OFF_SQES)?.cast(),
            packet: map(&packet, 4096, 0)?.cast(),
            params,
        };
        Ok(Pins { ring, packet, queues: Mutex::new(queues) })
    }

    /// Pins the pages of a slot's memory.
    pub fn set(&self, slot: usize, base: u64, len: u64) -> Status {
        match self.update(slot, base, len) {
            Ok(()) => Status::OK,
            // More than may be locked, or than the kernel takes.
            Err(Errno::NOMEM | Errno::INVAL | Errno::OVERFLOW) => Status::NO_RESOURCE,
            // It cannot be written.
            Err(_) => Status::NO_PERMISSION,
        }
    }

    pub fn unset(&self, slot: usize) {
        // A slot that is set can be emptied.
        let _ = self.update(slot, 0, 0);
    }

    fn update(&self, slot: usize, base: u64, len: u64) -> Result<(), Errno> {
        let offset = u32::try_from(slot).ok().filter(|s| *s < MOST).ok_or(Errno::NOMEM)?;
        let pair = [base, len];
        let update = Update { offset, zero: 0, data: pair.as_ptr() as u64, tags: 0, many: 1, zero2: 0 };
        // SAFETY: one pair of base and length; the kernel checks what lies there.
        unsafe {
            let (at, size) = ((&raw const update).cast(), size_of::<Update>() as u32);
            io_uring_register(&self.ring, IoringRegisterOp::RegisterBuffersUpdate, at, size).map(drop)
        }
    }

    /// Copies from pinned pages.
    ///
    /// # Safety
    /// `to` has room for `n` bytes, at most [`DATA`].
    pub unsafe fn read(&self, slot: usize, addr: u64, to: *mut u8, n: usize) -> bool {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let done = n <= DATA && queues.run(self, WRITE_FIXED, slot, addr, n);
        if done {
            // SAFETY: the caller's promise; the packet has that room.
            unsafe { copy_nonoverlapping(queues.packet, to, n) };
        }
        done
    }

    /// Copies to pinned pages.
    ///
    /// # Safety
    /// `from` has `n` bytes, at most [`DATA`].
    pub unsafe fn write(&self, slot: usize, addr: u64, from: *const u8, n: usize) -> bool {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if n > DATA {
            return false;
        }
        // SAFETY: the caller's promise; the packet has that room.
        unsafe { copy_nonoverlapping(from, queues.packet, n) };
        queues.run(self, READ_FIXED, slot, addr, n)
    }
}

impl Queues {
    /// One operation on the packet's file, to its end. Whether all bytes went.
    fn run(&mut self, pins: &Pins, operation: u64, slot: usize, addr: u64, n: usize) -> bool {
        let fd = u64::from(pins.packet.as_raw_fd() as u32);
        // Operation and descriptor, offset in the file, address, length, nothing of our own, buffer, nothing, nothing.
        let entry = [operation | fd << 32, 0, addr, n as u64, 0, slot as u64, 0, 0];
        let (to, from) = (self.params.sq_off, self.params.cq_off);
        // SAFETY: the kernel's layout of memory that it shares with us; the lock is held, so nobody else submits.
        unsafe {
            let word = |base: *mut u8, at: u32| &*base.add(at as usize).cast::<AtomicU32>();
            let tail = word(self.submitted, to.tail);
            let next = tail.load(Ordering::Relaxed);
            let place = next & word(self.submitted, to.ring_mask).load(Ordering::Relaxed);
            self.entries.add(place as usize).write(entry);
            word(self.submitted, to.array + 4 * place).store(place, Ordering::Relaxed);
            tail.store(next.wrapping_add(1), Ordering::Release);
            let (head, end) = (word(self.completed, from.head), word(self.completed, from.tail));
            let seen = head.load(Ordering::Relaxed);
            let mut submit = 1;
            while end.load(Ordering::Acquire) == seen {
                match io_uring_enter(&pins.ring, submit, 1, IoringEnterFlags::GETEVENTS) {
                    Ok(_) => submit = 0,
                    Err(Errno::INTR | Errno::AGAIN | Errno::BUSY) => {}
                    Err(_) => return false,
                }
            }
            let place = seen & word(self.completed, from.ring_mask).load(Ordering::Relaxed);
            let answer = self.completed.add((from.cqes + 16 * place + 8) as usize).cast::<i32>().read();
            head.store(seen.wrapping_add(1), Ordering::Release);
            answer == n as i32
        }
    }
}

fn map(fd: &OwnedFd, bytes: usize, offset: u64) -> Result<*mut c_void, Errno> {
    // SAFETY: a new mapping, which stays as long as the process.
    unsafe { mmap(null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, fd, offset) }
}
