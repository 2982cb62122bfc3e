//! Pack and unpack, resumable at any byte of the packed stream.

use crate::desc::{Run, TypeDesc};

/// Copies packed bytes `[from, from + len)` of `count` elements at `base` to `dst`. Returns how many
/// were copied (less than `len` only at the end of the data).
///
/// # Safety
/// `base` must be readable where the descriptor says, `dst` writable for `len` bytes, no overlap.
pub unsafe fn pack(desc: &TypeDesc, count: u64, base: *const u8, from: u64, dst: *mut u8, len: u64) -> u64 {
    let mut out = dst;
    walk(desc, count, from, len, |piece| {
        // SAFETY: inside the data by construction of the walk; `dst` by the caller's promise.
        unsafe {
            let user = base.offset(piece.disp as isize);
            copy_blocks(user, piece.stride, out, piece.len as i64, piece.len, piece.blocks);
            out = out.add((piece.len * piece.blocks) as usize);
        }
    })
}

/// Copies `len` packed bytes at `src` to where bytes `[from, from + len)` of `count` elements at
/// `base` lie. Returns how many were copied.
///
/// # Safety
/// As [`pack`], with the roles of the buffers exchanged.
pub unsafe fn unpack(desc: &TypeDesc, count: u64, base: *mut u8, from: u64, src: *const u8, len: u64) -> u64 {
    let mut input = src;
    walk(desc, count, from, len, |piece| {
        // SAFETY: as in `pack`.
        unsafe {
            let user = base.offset(piece.disp as isize);
            copy_blocks(input, piece.len as i64, user, piece.stride, piece.len, piece.blocks);
            input = input.add((piece.len * piece.blocks) as usize);
        }
    })
}

/// Copies the data of `count` elements at `src` to the same places at `dst`; what lies between the
/// data stays as it is.
///
/// # Safety
/// Both must be as the descriptor says, `dst` writable, and the data must not overlap.
pub unsafe fn copy(desc: &TypeDesc, count: u64, src: *const u8, dst: *mut u8) {
    walk(desc, count, 0, u64::MAX, |piece| {
        // SAFETY: inside the data by construction of the walk.
        unsafe {
            let at = piece.disp as isize;
            copy_blocks(src.offset(at), piece.stride, dst.offset(at), piece.stride, piece.len, piece.blocks);
        }
    });
}

/// `blocks` whole blocks of `len` bytes, or a part of one.
struct Piece {
    /// From the buffer's address.
    disp: i64,
    len: u64,
    blocks: u64,
    stride: i64,
}

/// Copies `blocks` blocks of `len` bytes that lie `from_step` apart to places `to_step` apart. The
/// lengths of basic types have loops of their own: a call to memcpy costs more than they do.
#[inline(always)]
unsafe fn copy_blocks(src: *const u8, from_step: i64, dst: *mut u8, to_step: i64, len: u64, blocks: u64) {
    // SAFETY: the promise of the callers, passed on.
    unsafe {
        match len {
            _ if blocks == 1 => core::ptr::copy_nonoverlapping(src, dst, len as usize),
            4 => copy_fixed::<4>(src, from_step, dst, to_step, blocks),
            8 => copy_fixed::<8>(src, from_step, dst, to_step, blocks),
            16 => copy_fixed::<16>(src, from_step, dst, to_step, blocks),
            _ => {
                for i in 0..blocks as isize {
                    let (from, to) = (i * from_step as isize, i * to_step as isize);
                    core::ptr::copy_nonoverlapping(src.offset(from), dst.offset(to), len as usize);
                }
            }
        }
    }
}

unsafe fn copy_fixed<const N: usize>(
    src: *const u8,
    from_step: i64,
    dst: *mut u8,
    to_step: i64,
    blocks: u64,
) {
    for i in 0..blocks as isize {
        // SAFETY: the promise of `copy_blocks`; arrays of bytes have no alignment.
        unsafe {
            let from = src.offset(i * from_step as isize).cast::<[u8; N]>();
            *dst.offset(i * to_step as isize).cast::<[u8; N]>() = *from;
        }
    }
}

/// Calls `take` for the pieces of the packed range, in order, and returns its length.
fn walk(desc: &TypeDesc, count: u64, from: u64, len: u64, mut take: impl FnMut(Piece)) -> u64 {
    let total = desc.packed.saturating_mul(count);
    let mut left = len.min(total.saturating_sub(from));
    let done = left;
    if left == 0 {
        return 0;
    }
    if desc.is_contiguous() {
        let disp = from as i64;
        take(Piece { disp, len: left, blocks: 1, stride: 0 });
        return done;
    }
    // Elements of one run that continue one another are one long run.
    if let [run] = *desc.runs()
        && (run.count == 1 || run.stride.checked_mul(run.count as i64) == Some(desc.extent))
    {
        let stride = if run.count == 1 { desc.extent } else { run.stride };
        let all = Run { count: run.count * count, stride, ..run };
        in_run(&all, 0, from, &mut left, &mut take);
        return done;
    }
    let (mut element, mut skip) = (from / desc.packed, from % desc.packed);
    while left > 0 {
        let origin = element as i64 * desc.extent;
        for run in desc.runs() {
            let bytes = run.len * run.count;
            if skip >= bytes {
                skip -= bytes;
                continue;
            }
            in_run(run, origin, skip, &mut left, &mut take);
            skip = 0;
            if left == 0 {
                break;
            }
        }
        element += 1;
    }
    done
}

/// The part of one run: what is left of a block, then whole blocks, then the beginning of one.
#[inline(always)]
fn in_run(run: &Run, origin: i64, skip: u64, left: &mut u64, take: &mut impl FnMut(Piece)) {
    let (mut block, inside) = (skip / run.len, skip % run.len);
    let at = |block: u64| origin + run.disp + block as i64 * run.stride;
    if inside > 0 {
        let len = (run.len - inside).min(*left);
        take(Piece { disp: at(block) + inside as i64, len, blocks: 1, stride: 0 });
        *left -= len;
        block += 1;
    }
    let blocks = (*left / run.len).min(run.count - block);
    if blocks > 0 {
        take(Piece { disp: at(block), len: run.len, blocks, stride: run.stride });
        *left -= blocks * run.len;
        block += blocks;
    }
    if *left > 0 && block < run.count {
        take(Piece { disp: at(block), len: *left, blocks: 1, stride: 0 });
        *left = 0;
    }
}
