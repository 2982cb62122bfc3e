//! Reading and writing a peer's memory: by mapping it (`xpmem.rs`), or by process_vm_readv and process_vm_writev;
//! complete when they return, save for long reads, with which the source helps (`cooperative.rs`).
//!
//! Refusals (Yama, a filter, another pid namespace, an old kernel) are statuses, not errors: the layer
//! above copies through the ring instead. For a peer in this very process it is a plain copy; such a
//! peer's addresses are as good as our own.

use crate::device::Shm;
use crate::sender::outgoing::Endpoint;
use crate::single_copy::copy::status_of;
use crate::sys::{Direction, read_lists};
use oxmpi_btl::{RmaDesc, RmaVectorDesc};
use oxmpi_mca::Status;
use oxmpi_mca::sync::{Ordering, fence};

impl Shm {
    /// Carries out a get or put on a peer's memory: a plain copy within a process, a shared read if it is long, else a
    /// copy by mapping or system call. `PENDING` only for a shared read; `NOT_SUPPORTED` or `NO_PERMISSION`: the
    /// system refuses such copies.
    pub(crate) fn copy_memory(
        &self,
        direction: Direction,
        endpoint: &Endpoint,
        ctx: u32,
        rma: &RmaDesc,
    ) -> Status {
        if rma.len == 0 {
            return Status::OK;
        }
        if rma.local.is_null() || rma.remote == 0 || rma.remote.checked_add(rma.len).is_none() {
            return Status::BAD_PARAM;
        }
        let Some(peer) = self.segment().identity(endpoint.peer) else {
            return Status::UNREACHABLE;
        };
        if peer.pid_namespace != self.pid_namespace() {
            // Its number means somebody else, or nobody, here.
            return Status::NOT_SUPPORTED;
        }
        if peer.pid == self.pid() {
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
        if direction == Direction::Read && rma.len >= self.assist_min() {
            return self.read_long(endpoint, ctx, &peer, rma);
        }
        let at = (ctx, endpoint.peer);
        // SAFETY: the caller's buffer is valid for `len` bytes.
        match unsafe { self.copy(direction, at, &peer, rma.local, rma.remote, rma.len) } {
            Ok(()) => Status::OK,
            Err(errno) => status_of(errno),
        }
    }

    /// Reads a payload that lies in pieces, on either side, from a peer's memory; complete on return.
    pub(crate) fn read_pieces(&self, endpoint: &Endpoint, ctx: u32, rma: &RmaVectorDesc) -> Status {
        let Some(peer) = self.segment().identity(endpoint.peer) else { return Status::UNREACHABLE };
        if peer.pid_namespace != self.pid_namespace() {
            return Status::NOT_SUPPORTED;
        }
        if peer.pid == self.pid() {
            // SAFETY: the lists are the caller's; their addresses as in `copy_memory`.
            let whole = unsafe {
                rma.stretches(|local, remote, len| {
                    core::ptr::copy(remote as *const u8, local as *mut u8, len as usize);
                    true
                })
            };
            return if whole { Status::OK } else { Status::BAD_PARAM };
        }
        if peer.xpmem != 0 && self.xpmem().is_some() {
            let (mut mapped, at) = (true, (ctx, endpoint.peer));
            // SAFETY: the lists are the caller's, and what the local one names is its buffer.
            let whole = unsafe {
                rma.stretches(|local, remote, len| {
                    mapped = self.copy_attached(Direction::Read, at, &peer, local as *mut u8, remote, len);
                    mapped
                })
            };
            if mapped {
                return if whole { Status::OK } else { Status::BAD_PARAM };
            }
        }
        // SAFETY: as above.
        match unsafe { read_lists(peer.pid, rma.local.get(), rma.remote.get(), rma.len) } {
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
