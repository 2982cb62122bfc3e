//! Pack and unpack, resumable at any byte of the packed stream.

use crate::desc::TypeDesc;

/// Copies packed bytes `[from, from + len)` of `count` elements at `base` to `dst`. Returns how many
/// were copied (less than `len` only at the end of the data).
///
/// # Safety
/// `base` must be readable where the descriptor says, `dst` writable for `len` bytes, no overlap.
pub unsafe fn pack(desc: &TypeDesc, count: u64, base: *const u8, from: u64, dst: *mut u8, len: u64) -> u64 {
    let mut out = dst;
    let copy = |user: i64, n: u64| {
        // SAFETY: inside the data by construction of the walk; `dst` by the caller's promise.
        unsafe {
            core::ptr::copy_nonoverlapping(base.offset(user as isize), out, n as usize);
            out = out.add(n as usize);
        }
    };
    walk(desc, count, from, len, copy)
}

/// Copies `len` packed bytes at `src` to where bytes `[from, from + len)` of `count` elements at
/// `base` lie. Returns how many were copied.
///
/// # Safety
/// As [`pack`], with the roles of the buffers exchanged.
pub unsafe fn unpack(desc: &TypeDesc, count: u64, base: *mut u8, from: u64, src: *const u8, len: u64) -> u64 {
    let mut input = src;
    let copy = |user: i64, n: u64| {
        // SAFETY: as in `pack`.
        unsafe {
            core::ptr::copy_nonoverlapping(input, base.offset(user as isize), n as usize);
            input = input.add(n as usize);
        }
    };
    walk(desc, count, from, len, copy)
}

/// Calls `copy(user offset, bytes)` for each contiguous piece of the packed range, in order.
fn walk(desc: &TypeDesc, count: u64, from: u64, len: u64, mut copy: impl FnMut(i64, u64)) -> u64 {
    let total = desc.packed.saturating_mul(count);
    let mut left = len.min(total.saturating_sub(from));
    let done = left;
    if left == 0 {
        return 0;
    }
    if desc.is_contiguous() {
        copy(from as i64 + desc.true_lb, left);
        return left;
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
            let (mut block, mut inside) = (skip / run.len, skip % run.len);
            skip = 0;
            while block < run.count && left > 0 {
                let n = (run.len - inside).min(left);
                copy(origin + run.disp + block as i64 * run.stride + inside as i64, n);
                left -= n;
                inside = 0;
                block += 1;
            }
            if left == 0 {
                break;
            }
        }
        element += 1;
    }
    done
}
