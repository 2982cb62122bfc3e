//! Pack and unpack, resumable at any byte of the packed stream.
//!
//! There is no state to keep between two calls: the place of a byte is found from the front, by a
//! division per level of the nest and a search among siblings, so a message may be cut anywhere, its
//! parts may come in any order, and two threads may work on one message.
//!
//! **How a range is walked.** `count` elements are a loop around the type's items. Of each loop the range
//! meets first a part of a copy, then whole copies, then a part of one. Whole copies need no look at
//! the length. Many copies of a body of a few short blocks (an array of structures) are done a tile at a
//! time and inside a tile block by block: all first blocks, all second ones, … each at equal distances in
//! both memories, which is what `blocks.rs` is fast at; the tile stays in the first cache.

use crate::blocks::{Side, copy_blocks, gather, scatter};
use crate::desc::{Nest, Run, TypeDesc};
use core::ops::Range;
use core::ptr::copy_nonoverlapping;

/// Copies packed bytes `[from, from + len)` of `count` elements at `base` to `dst`. Returns how many
/// were copied (less than `len` only at the end of the data).
///
/// # Safety
/// `base` must be readable where the descriptor says, `dst` writable for `len` bytes, no overlap. It may be null (MPI_BOTTOM), with places that
/// are addresses: so places are found by wrapping offsets.
pub unsafe fn pack(desc: &TypeDesc, count: u64, base: *const u8, from: u64, dst: *mut u8, len: u64) -> u64 {
    if let Some(list) = List::of(desc) {
        return list.walk(count, from, len, |blocks| {
            // SAFETY: as below.
            unsafe {
                let (base, dst) = (base.wrapping_offset(blocks.origin as isize), dst.add(blocks.at as usize));
                match blocks.part {
                    None => gather(base, blocks.places, dst, list.len),
                    Some((disp, len)) => {
                        copy_nonoverlapping(base.wrapping_offset(disp as isize), dst, len as usize)
                    }
                }
            }
        });
    }
    walk(desc, count, from, len, |piece| {
        // SAFETY: inside the data by construction of the walk; `dst` by the caller's promise.
        unsafe {
            let user = Side { at: base.wrapping_offset(piece.disp as isize), step: piece.stride };
            let packed = Side { at: dst.add(piece.at as usize), step: piece.step as i64 };
            copy_blocks(user, packed, piece.len, piece.blocks);
        }
    })
}

/// Copies `len` packed bytes at `src` to where bytes `[from, from + len)` of `count` elements at
/// `base` lie. Returns how many were copied.
///
/// # Safety
/// As [`pack`], with the roles of the buffers exchanged.
pub unsafe fn unpack(desc: &TypeDesc, count: u64, base: *mut u8, from: u64, src: *const u8, len: u64) -> u64 {
    if let Some(list) = List::of(desc) {
        return list.walk(count, from, len, |blocks| {
            // SAFETY: as in `pack`.
            unsafe {
                let (base, src) = (base.wrapping_offset(blocks.origin as isize), src.add(blocks.at as usize));
                match blocks.part {
                    None => scatter(src, base, blocks.places, list.len),
                    Some((disp, len)) => {
                        copy_nonoverlapping(src, base.wrapping_offset(disp as isize), len as usize)
                    }
                }
            }
        });
    }
    walk(desc, count, from, len, |piece| {
        // SAFETY: as in `pack`.
        unsafe {
            let user = Side { at: base.wrapping_offset(piece.disp as isize), step: piece.stride };
            let packed = Side { at: src.add(piece.at as usize), step: piece.step as i64 };
            copy_blocks(packed, user, piece.len, piece.blocks);
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
            let from = Side { at: src.wrapping_offset(at), step: piece.stride };
            let to = Side { at: dst.wrapping_offset(at), step: piece.stride };
            copy_blocks(from, to, piece.len, piece.blocks);
        }
    });
}

/// Tells the blocks of packed bytes `[from, from + len)` in order, as displacement and length, until
/// `take` answers false. Blocks that touch may be told apart.
pub fn blocks(desc: &TypeDesc, count: u64, from: u64, len: u64, mut take: impl FnMut(i64, u64) -> bool) {
    let mut more = true;
    let mut at = from;
    let end = from.saturating_add(len).min(desc.packed.saturating_mul(count));
    // Small steps, because a walk cannot be left: no more is walked in vain than one of them.
    while more && at < end {
        let step = (end - at).min(1 << 16);
        walk_as(desc, count, at, step, true, |piece| {
            for i in 0..piece.blocks as i64 {
                more = more && take(piece.disp + i * piece.stride, piece.len);
            }
        });
        at += step;
    }
}

/// A layout whose blocks are listed one by one (`TypeDesc::places`): a place in the packed data is found by a division.
struct List<'a> {
    places: &'a [i32],
    /// Of a block.
    len: u64,
    extent: i64,
}

/// Blocks of one element: whole ones, or a part of one, as displacement and length.
struct Listed<'a> {
    /// The element's address from the buffer's.
    origin: i64,
    places: &'a [i32],
    part: Option<(i64, u64)>,
    /// Where in the packed range.
    at: u64,
}

impl<'a> List<'a> {
    #[inline(always)]
    fn of(desc: &'a TypeDesc) -> Option<List<'a>> {
        let places = desc.places();
        (!places.is_empty()).then(|| List {
            places,
            len: desc.packed / places.len() as u64,
            extent: desc.extent,
        })
    }

    /// Tells what the packed range `[from, from + len)` of `count` elements is made of, and returns its length.
    #[inline(always)]
    fn walk(&self, count: u64, from: u64, len: u64, mut take: impl FnMut(Listed<'a>)) -> u64 {
        let each = self.places.len() as u64;
        let total = (each * self.len).saturating_mul(count);
        let range = len.min(total.saturating_sub(from));
        let mut at = 0;
        while at < range {
            let (block, inside) = ((from + at) / self.len, (from + at) % self.len);
            let (element, block) = (block / each, (block % each) as usize);
            let origin = element as i64 * self.extent;
            let left = range - at;
            if inside > 0 || left < self.len {
                let (disp, len) = (self.places[block] as i64 + inside as i64, left.min(self.len - inside));
                take(Listed { origin, places: &[], part: Some((disp, len)), at });
                at += len;
            } else {
                let blocks = (left / self.len).min(each - block as u64);
                let places = &self.places[block..block + blocks as usize];
                take(Listed { origin, places, part: None, at });
                at += blocks * self.len;
            }
        }
        range
    }
}

/// `blocks` whole blocks of `len` bytes, or a part of one.
struct Piece {
    /// From the buffer's address, and from block to block.
    disp: i64,
    stride: i64,
    /// The same in the packed range.
    at: u64,
    step: u64,
    len: u64,
    blocks: u64,
}

/// A tile of short bodies has this many packed bytes, and such bodies no more.
const TILE: u64 = 4096;
const SHORT_BODY: u64 = 512;
const FEW_BLOCKS: u64 = 32;

/// Calls `take` for the pieces of the packed range and returns its length.
#[inline(always)]
fn walk(desc: &TypeDesc, count: u64, from: u64, len: u64, take: impl FnMut(Piece)) -> u64 {
    walk_as(desc, count, from, len, false, take)
}

/// `in_order`: the pieces come in the order of the packed range.
#[inline(always)]
fn walk_as(
    desc: &TypeDesc,
    count: u64,
    from: u64,
    len: u64,
    in_order: bool,
    mut take: impl FnMut(Piece),
) -> u64 {
    let total = desc.packed.saturating_mul(count);
    let left = len.min(total.saturating_sub(from));
    if left == 0 {
        return 0;
    }
    if desc.is_contiguous() {
        take(Piece { disp: from as i64, stride: 0, at: 0, step: left, len: left, blocks: 1 });
        return left;
    }
    let (runs, nest) = (desc.runs(), desc.nest());
    let mut walk = Walk { runs, nest, left, at: 0, in_order, take };
    match *runs {
        // Elements of one run that continue one another are one long run.
        [run] if run.count == 1 => {
            walk.in_run(&Run { count, stride: desc.extent, ..run }, 0, from);
        }
        [run] if run.stride.checked_mul(run.count as i64) == Some(desc.extent) => {
            walk.in_run(&Run { count: run.count * count, ..run }, 0, from);
        }
        _ => {
            let all = Run { disp: 0, len: desc.packed, count, stride: desc.extent };
            walk.copies(0..desc.top(), &all, 0, from);
        }
    }
    left
}

struct Walk<'a, F> {
    runs: &'a [Run],
    nest: &'a [Nest],
    /// Bytes of the range to come, and bytes told.
    left: u64,
    at: u64,
    in_order: bool,
    take: F,
}

impl<F: FnMut(Piece)> Walk<'_, F> {
    #[inline(always)]
    fn piece(&mut self, disp: i64, len: u64, blocks: u64, stride: i64) {
        (self.take)(Piece { disp, stride, at: self.at, step: len, len, blocks });
        self.at += len * blocks;
        self.left -= len * blocks;
    }

    /// The items of a loop's body; empty: it is a run.
    #[inline(always)]
    fn body(&self, item: usize) -> Range<usize> {
        match self.nest.get(item) {
            Some(n) => n.first as usize..(n.first + n.items) as usize,
            None => 0..0,
        }
    }

    /// Copies of a body, from byte `skip` of all of them on.
    fn copies(&mut self, body: Range<usize>, all: &Run, origin: i64, skip: u64) {
        let (mut copy, inside) = (skip / all.len, skip % all.len);
        let at = |copy: u64| origin + all.disp + copy as i64 * all.stride;
        if inside > 0 {
            self.part(body.clone(), at(copy), inside);
            copy += 1;
        }
        let whole = (self.left / all.len).min(all.count.saturating_sub(copy));
        if whole > 0 {
            self.whole(body.clone(), &Run { disp: at(copy), count: whole, ..*all });
            copy += whole;
        }
        if self.left > 0 && copy < all.count {
            self.part(body, at(copy), 0);
        }
    }

    /// A part of one copy of a body, from byte `skip` on.
    fn part(&mut self, body: Range<usize>, origin: i64, mut skip: u64) {
        let mut item = body.start;
        if skip > 0 && !self.nest.is_empty() {
            let ends = &self.nest[body.clone()];
            let before = ends.partition_point(|n| n.end <= skip);
            skip -= if before > 0 { ends[before - 1].end } else { 0 };
            item += before;
        }
        while item < body.end && self.left > 0 {
            let run = self.runs[item];
            let bytes = run.len * run.count;
            if skip >= bytes {
                skip -= bytes;
            } else {
                let inner = self.body(item);
                if inner.is_empty() {
                    self.in_run(&run, origin, skip);
                } else {
                    self.copies(inner, &run, origin, skip);
                }
                skip = 0;
            }
            item += 1;
        }
    }

    /// The part of one run: what is left of a block, then whole blocks, then the beginning of one.
    #[inline(always)]
    fn in_run(&mut self, run: &Run, origin: i64, skip: u64) {
        let (mut block, inside) = (skip / run.len, skip % run.len);
        let at = |block: u64| origin + run.disp + block as i64 * run.stride;
        if inside > 0 {
            let len = (run.len - inside).min(self.left);
            self.piece(at(block) + inside as i64, len, 1, 0);
            block += 1;
        }
        let blocks = (self.left / run.len).min(run.count - block);
        if blocks > 0 {
            self.piece(at(block), run.len, blocks, run.stride);
            block += blocks;
        }
        if self.left > 0 && block < run.count {
            self.piece(at(block), self.left, 1, 0);
        }
    }

    /// Whole copies of a body, all of them in the range.
    fn whole(&mut self, body: Range<usize>, all: &Run) {
        if !self.in_order && all.count > 1 && all.len <= SHORT_BODY && self.is_short(body.clone()) {
            return self.tiles(body, all);
        }
        for copy in 0..all.count as i64 {
            let origin = all.disp + copy * all.stride;
            for item in body.clone() {
                let run = self.runs[item];
                let run = Run { disp: origin + run.disp, ..run };
                let inner = self.body(item);
                if inner.is_empty() {
                    self.piece(run.disp, run.len, run.count, run.stride);
                } else {
                    self.whole(inner, &run);
                }
            }
        }
    }

    /// Whether a body is a few blocks without loops.
    fn is_short(&self, body: Range<usize>) -> bool {
        let flat = self.nest.is_empty() || self.nest[body.clone()].iter().all(|n| n.items == 0);
        flat && self.runs[body].iter().map(|run| run.count).sum::<u64>() <= FEW_BLOCKS
    }

    fn tiles(&mut self, body: Range<usize>, all: &Run) {
        let per_tile = (TILE / all.len).max(1);
        let mut copy = 0;
        while copy < all.count {
            let copies = per_tile.min(all.count - copy);
            let origin = all.disp + copy as i64 * all.stride;
            let mut at = self.at;
            for run in &self.runs[body.clone()] {
                for block in 0..run.count as i64 {
                    (self.take)(Piece {
                        disp: origin + run.disp + block * run.stride,
                        stride: all.stride,
                        at,
                        step: all.len,
                        len: run.len,
                        blocks: copies,
                    });
                    at += run.len;
                }
            }
            self.at += all.len * copies;
            self.left -= all.len * copies;
            copy += copies;
        }
    }
}
