//! Large work of the host in pieces, for the task pool: packing, unpacking, copies, reductions.
//!
//! Work is shared where several threads make calls, somebody waits, it is at least
//! `mpi_task_min_size` bytes, and the rank has a core for a helper: what is gained by waking a
//! thread is lost again if it has to take the core from another, and so is a piece that waits for a core with
//! the thread that took it. So the owner of progress helps, and no more sleepers are woken than the rank has
//! cores beside the caller's and the owner's. Otherwise the work is done here and now, as one call.

use crate::objects::Instance;
use oxmpi_datatype::kernel::{self, OpDesc};
use oxmpi_datatype::{TypeDesc, pack, unpack};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicI32, Ordering};
use oxmpi_waiting::PIECE;

/// An address that goes to other threads with the promise of the function it was given to.
#[derive(Clone, Copy)]
struct Place(usize);

impl Place {
    /// The address `offset` bytes behind this place.
    fn at<T>(self, offset: i64) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.0.wrapping_add_signed(offset as isize))
    }
}

impl Instance {
    /// Whether work on so many bytes goes to the task pool: it is long enough, others make calls and wait, and there
    /// are cores for them.
    #[inline]
    fn is_shared(&self, bytes: u64) -> bool {
        bytes >= self.host_params().task_min && self.waiting().has_helpers() && self.job().oversubscribed == 0
    }

    /// Packs all of `count` elements at `base` to `dst`, with help of waiting threads if it is much.
    ///
    /// # Safety
    /// As [`oxmpi_datatype::pack`], for all `count * desc.packed` bytes.
    pub unsafe fn pack(&self, desc: &TypeDesc, count: u64, base: *const u8, dst: *mut u8) {
        let bytes = count * desc.packed;
        if !self.is_shared(bytes) {
            // SAFETY: the caller's promise.
            unsafe {
                if desc.is_contiguous() {
                    core::ptr::copy_nonoverlapping(base, dst, bytes as usize);
                } else {
                    pack(desc, count, base, 0, dst, bytes);
                }
            }
            return;
        }
        let (base, dst) = (Place(base.expose_provenance()), Place(dst.expose_provenance()));
        self.waiting().share(bytes.div_ceil(PIECE), &|n| {
            let from = n * PIECE;
            // SAFETY: the caller's promise; pieces write to places of their own.
            unsafe { pack(desc, count, base.at(0), from, dst.at(from as i64), PIECE.min(bytes - from)) };
        });
    }

    /// Unpacks all of `count` elements at `base` from `src`, with help of waiting threads if it is much.
    ///
    /// # Safety
    /// As [`oxmpi_datatype::unpack`], for all `count * desc.packed` bytes.
    pub unsafe fn unpack(&self, desc: &TypeDesc, count: u64, base: *mut u8, src: *const u8) {
        let bytes = count * desc.packed;
        if !self.is_shared(bytes) {
            // SAFETY: the caller's promise.
            unsafe {
                if desc.is_contiguous() {
                    core::ptr::copy_nonoverlapping(src, base, bytes as usize);
                } else {
                    unpack(desc, count, base, 0, src, bytes);
                }
            }
            return;
        }
        let (base, src) = (Place(base.expose_provenance()), Place(src.expose_provenance()));
        self.waiting().share(bytes.div_ceil(PIECE), &|n| {
            let from = n * PIECE;
            // SAFETY: the caller's promise; the parts of a receive buffer do not overlap (MPI 5.0 §4.1).
            unsafe { unpack(desc, count, base.at(0), from, src.at(from as i64), PIECE.min(bytes - from)) };
        });
    }

    /// Computes `inout[i] = input[i] op inout[i]`, with help of waiting threads if it is much. A function of the
    /// user's runs in the calling thread.
    ///
    /// # Safety
    /// As [`kernel::reduce`].
    pub unsafe fn reduce(
        &self,
        op: &OpDesc,
        input: *const u8,
        inout: *mut u8,
        count: u64,
        desc: &TypeDesc,
    ) -> Status {
        if op.user.is_some() || !self.is_shared(count.saturating_mul(desc.packed)) {
            // SAFETY: the caller's promise.
            return unsafe { kernel::reduce(op, input, inout, count, desc) };
        }
        let each = (PIECE / desc.packed.max(1)).max(1);
        let op = SharedOp(*op);
        let worst = AtomicI32::new(Status::OK.0);
        let (input, inout) = (Place(input.expose_provenance()), Place(inout.expose_provenance()));
        self.waiting().share(count.div_ceil(each), &|n| {
            let from = n * each;
            let at = from as i64 * desc.extent;
            // SAFETY: the caller's promise; pieces have elements of their own.
            let status =
                unsafe { kernel::reduce(op.get(), input.at(at), inout.at(at), each.min(count - from), desc) };
            worst.fetch_min(status.0, Ordering::Relaxed);
        });
        Status(worst.into_inner())
    }
}

/// A predefined operation, which has no function of the user's, so that several threads may use it.
struct SharedOp(OpDesc);

impl SharedOp {
    /// The operation.
    fn get(&self) -> &OpDesc {
        &self.0
    }
}

// SAFETY: without a function of the user's there is no context that a thread could touch.
unsafe impl Sync for SharedOp {}
