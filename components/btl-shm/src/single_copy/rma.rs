//! Reading and writing a peer's memory: by mapping it (`xpmem.rs`), or by process_vm_readv and process_vm_writev;
//! complete when they return, save for long reads, with which the source helps (`cooperative.rs`).
//!
//! Refusals (Yama, a filter, another pid namespace, an old kernel) are statuses, not errors: the layer
//! above copies through the ring instead. For a peer in this very process it is a plain copy; such a
//! peer's addresses are as good as our own.

use crate::context::{At, Context};
use crate::device::Shm;
use crate::single_copy::copy::status_of;
use crate::single_copy::stretch::{Owner, Stretch};
use crate::sys::{Direction, read_lists};
use oxmpi_btl::{Completion, RmaDesc, RmaVectorDesc, Vouched};
use oxmpi_mca::Status;
use oxmpi_mca::sync::{Ordering, fence};

impl Shm {
    /// Carries out a get or put on a peer's memory: a plain copy within a process, a shared read if it is long, else a
    /// copy by mapping or system call. `PENDING` only for a shared read, which keeps the completion; `NOT_SUPPORTED` or `NO_PERMISSION`:
    /// the system refuses such copies.
    pub(crate) fn copy_memory(
        &self,
        direction: Direction,
        at: &mut At<'_>,
        peer: u32,
        rma: Vouched<'_, RmaDesc>,
        done: Completion,
    ) -> Status {
        if rma.len == 0 {
            return Status::OK;
        }
        if rma.local.is_null() || rma.remote == 0 || rma.remote.checked_add(rma.len).is_none() {
            return Status::BAD_PARAM;
        }
        let Some(who) = self.identity(peer) else {
            return Status::UNREACHABLE;
        };
        if who.pid_namespace != self.pid_namespace() {
            // Its number means somebody else, or nobody, here.
            return Status::NOT_SUPPORTED;
        }
        if who.pid == self.pid() {
            let remote = rma.remote as *mut u8;
            let (src, dst) = match direction {
                Direction::Read => (remote, rma.local),
                Direction::Write => (rma.local, remote),
            };
            // SAFETY: the caller's buffer, and memory that another rank of this process offered. They
            // may be the same.
            unsafe { core::ptr::copy(src, dst, rma.len as usize) };
            return Status::OK;
        }
        let owner = Owner { peer, who };
        if direction == Direction::Read && rma.len >= self.assist_min() {
            return self.read_long(at, &owner, rma, done);
        }
        // SAFETY: the caller's buffer is valid for `len` bytes.
        match unsafe { self.copy(&mut at.attached, direction, &owner, Stretch::of(&rma)) } {
            Ok(()) => Status::OK,
            Err(errno) => status_of(errno),
        }
    }

    /// Reads a payload that lies in pieces, on either side, from a peer's memory; complete on return.
    pub(crate) fn read_pieces(&self, cx: &mut Context, peer: u32, rma: Vouched<'_, RmaVectorDesc>) -> Status {
        let Some(who) = self.identity(peer) else { return Status::UNREACHABLE };
        if who.pid_namespace != self.pid_namespace() {
            return Status::NOT_SUPPORTED;
        }
        if who.pid == self.pid() {
            // SAFETY: the lists are the caller's, and name its buffer and memory that another rank of this process offered.
            let whole = unsafe {
                rma.stretches(|local, remote, len| {
                    core::ptr::copy(remote as *const u8, local as *mut u8, len as usize);
                    true
                })
            };
            return if whole { Status::OK } else { Status::BAD_PARAM };
        }
        if who.xpmem != 0 && self.xpmem().is_some() {
            let (mut mapped, owner) = (true, Owner { peer, who });
            // SAFETY: the lists are the caller's, and what the local one names is its buffer.
            let whole = unsafe {
                rma.stretches(|local, remote, len| {
                    let what = Stretch::at(local, remote, len);
                    mapped = self.copy_attached(&mut cx.attached, Direction::Read, &owner, what);
                    mapped
                })
            };
            if mapped {
                return if whole { Status::OK } else { Status::BAD_PARAM };
            }
        }
        // SAFETY: the lists are the caller's, and what the local one names is its buffer.
        match unsafe { read_lists(who.pid, rma.local.get(), rma.remote.get(), rma.len) } {
            Ok(()) => Status::OK,
            Err(errno) => status_of(errno),
        }
    }

    /// Completes puts at their targets: each was complete when `put` returned, so a full fence orders later stores
    /// behind them.
    pub(crate) fn flush_puts(&self) -> Status {
        fence(Ordering::SeqCst);
        Status::OK
    }
}
