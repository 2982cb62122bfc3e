//! Operations as nearly all of them are on a node: memory that is mapped here, data that is one block at both sides, no request. They are
//! carried out at once, with nothing made or kept. False says that an operation is not of that kind, or is a mistake: then nothing has been done,
//! and `transfer`, `accumulate` and `swap` find out.

use crate::elements::{Update, swap_if};
use crate::epoch::Allowed;
use crate::layout::Block;
use crate::peer::Peer;
use crate::window::RdmaWindow;
use core::sync::atomic;
use oxmpi_datatype::kernel::op;
use oxmpi_datatype::{TypeDesc, flag};
use oxmpi_osc::Rma;

/// All that the calling thread has stored is seen by everybody before anything that it loads from now on is read.
#[inline(always)]
pub fn barrier() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: adds nothing to a word of the stack. Any locked instruction is a full barrier, and takes half of what `mfence` does.
    unsafe {
        core::arch::asm!("lock or dword ptr [rsp], 0", options(nostack));
    }
    #[cfg(not(target_arch = "x86_64"))]
    atomic::fence(atomic::Ordering::SeqCst);
    // For the compiler, whatever the processor.
    atomic::compiler_fence(atomic::Ordering::SeqCst);
}

/// As `core::ptr::copy`, without a call for a word.
///
/// # Safety
/// As that.
#[inline(always)]
pub unsafe fn copy_block(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise; a word is read before it is written.
    unsafe {
        match len {
            8 => to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
            4 => to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
            _ => core::ptr::copy(from, to, len),
        }
    }
}

/// Packed bytes of blocks of mapped memory.
///
/// # Safety
/// The blocks lie, by their addresses, in memory that this process can read.
pub unsafe fn read_here(blocks: &[&Block], mut into: &mut [u8]) {
    for block in blocks {
        let (part, behind) = into.split_at_mut(block.len as usize);
        let here: *const u8 = core::ptr::with_exposed_provenance(block.at as usize);
        // SAFETY: the caller's promise; the part is as long as the block.
        unsafe { core::ptr::copy(here, part.as_mut_ptr(), part.len()) };
        into = behind;
    }
}

/// Writes packed bytes to blocks of mapped memory.
///
/// # Safety
/// The blocks lie, by their addresses, in memory that this process can write.
pub unsafe fn write_here(blocks: &[&Block], mut from: &[u8]) {
    for block in blocks {
        let (part, behind) = from.split_at(block.len as usize);
        let here: *mut u8 = core::ptr::with_exposed_provenance_mut(block.at as usize);
        // SAFETY: the caller's promise; the part is as long as the block.
        unsafe { core::ptr::copy(part.as_ptr(), here, part.len()) };
        from = behind;
    }
}

/// Bytes of elements that are one block, if their number needs no care.
#[inline(always)]
fn block(dtype: &TypeDesc, count: u64) -> Option<u64> {
    let plain = dtype.is_contiguous() && (dtype.packed | count) >> 31 == 0;
    plain.then(|| dtype.packed * count)
}

impl RdmaWindow {
    /// A rank that is known, whose memory is mapped, and on which the epoch lets anybody operate.
    #[inline(always)]
    fn mapped(&self, rank: u32) -> Option<&Peer> {
        let peer = self.peers.near(rank)?;
        (!peer.base.is_null() && self.epochs.operate(peer) == Ok(Allowed::Yes)).then_some(peer)
    }

    /// Where `len` bytes at a displacement lie, all inside of the window's memory, which is mapped.
    #[inline(always)]
    fn place(&self, rank: u32, disp: i64, len: u64) -> Option<*mut u8> {
        let peer = self.mapped(rank)?;
        if (disp | peer.disp_unit) >> 31 != 0 {
            return None;
        }
        let at = (disp * peer.disp_unit) as u64;
        (at + len <= peer.bytes).then(|| peer.base.get().wrapping_add(at as usize))
    }

    /// The target's memory and how many bytes go there or come from there.
    #[inline(always)]
    fn copied(&self, args: &Rma<'_>) -> Option<(*mut u8, usize)> {
        // SAFETY: vouched for, or null.
        let (origin, target) = unsafe { (args.origin_type.as_ref()?, args.target_type.as_ref()?) };
        let (own, len) = (block(origin, args.origin_count)?, block(target, args.target_count)?);
        let there = self.place(args.target, args.disp, len)?;
        Some((there, own.min(len) as usize))
    }

    /// MPI_Put.
    #[inline(always)]
    pub fn puts(&self, args: &Rma<'_>) -> bool {
        let Some((there, len)) = self.copied(args) else { return false };
        // SAFETY: the origin's data, vouched for, is read; the target's is mapped and of the window.
        unsafe { copy_block(args.origin, there, len) };
        true
    }

    /// MPI_Get.
    #[inline(always)]
    pub fn gets(&self, args: &Rma<'_>) -> bool {
        let Some((there, len)) = self.copied(args) else { return false };
        // SAFETY: the origin's data, vouched for, is written; the target's is mapped and of the window.
        unsafe { copy_block(there, args.origin, len) };
        true
    }

    /// MPI_Accumulate on elements of a predefined type, the same at both sides.
    #[inline(always)]
    pub fn accumulates(&self, args: &Rma<'_>) -> bool {
        // SAFETY: nobody asks for the old elements.
        unsafe { self.updates(args, args.origin_count, core::ptr::null_mut()) }
    }

    /// MPI_Fetch_and_op.
    #[inline(always)]
    pub fn fetches(&self, args: &Rma<'_>) -> bool {
        // SAFETY: vouched for: the result of such an operation is one element, which is written.
        unsafe { self.updates(args, 1, args.result) }
    }

    /// # Safety
    /// As many elements can be written at `result`; null: nobody asks for the old ones.
    #[inline(always)]
    unsafe fn updates(&self, args: &Rma<'_>, count: u64, result: *mut u8) -> bool {
        // SAFETY: vouched for, or null.
        let (dtype, operation) = unsafe { (args.origin_type.as_ref(), args.op.as_ref()) };
        let (Some(dtype), Some(operation)) = (dtype, operation) else { return false };
        let basic = dtype.flags & flag::PREDEFINED != 0 && operation.code != op::USER;
        let Some(len) = block(dtype, count).filter(|len| basic && *len > 0) else { return false };
        let update = Update { code: operation.code, base: dtype.base, width: dtype.packed };
        let Some(there) = self.place(args.target, args.disp, len) else { return false };
        if self.rules.under_lock || !update.is_atomic_at(there as u64) {
            return false;
        }
        let input = if operation.code == op::NO_OP { core::ptr::null() } else { args.origin.cast_const() };
        // SAFETY: mapped memory of the window in its natural place; the program's operands, vouched for, and results are as many elements.
        unsafe { update.apply(there, count, input, result) };
        true
    }

    /// MPI_Compare_and_swap.
    #[inline(always)]
    pub fn swaps(&self, args: &Rma<'_>) -> bool {
        // SAFETY: vouched for, or null.
        let Some(dtype) = (unsafe { args.origin_type.as_ref() }) else { return false };
        let width = dtype.packed;
        if !matches!(width, 4 | 8) || self.rules.under_lock {
            return false;
        }
        let Some(there) = self.place(args.target, args.disp, width) else { return false };
        if there as u64 & (width - 1) != 0 {
            return false;
        }
        // SAFETY: one element each (MPI 5.0 §12.3.4), vouched for, of that width; the target's is mapped and in its natural place.
        unsafe {
            match width {
                4 => {
                    let (new, compare) = (
                        args.origin.cast::<u32>().read_unaligned(),
                        args.compare.cast::<u32>().read_unaligned(),
                    );
                    let old = swap_if(there, 4, compare.into(), new.into());
                    args.result.cast::<u32>().write_unaligned(old as u32);
                }
                _ => {
                    let (new, compare) = (
                        args.origin.cast::<u64>().read_unaligned(),
                        args.compare.cast::<u64>().read_unaligned(),
                    );
                    args.result.cast::<u64>().write_unaligned(swap_if(there, 8, compare, new));
                }
            }
        }
        true
    }
}
