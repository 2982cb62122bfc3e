//! A part of a view cut against memory: pieces for a transfer, in batches that are bounded and begin where the last one ended.
//!
//! Both sides are layouts of the same packed bytes. They are walked side by side, and a piece ends where a block of either ends; pieces that touch on both sides are one.

use crate::blocks::Blocks;
use crate::view::View;
use core::marker::PhantomData;
use oxmpi_datatype::TypeDesc;
use oxmpi_fbtl::Piece;

/// Elements in memory. Their number does not matter here: an access names no more bytes than they have.
#[derive(Clone, Copy)]
pub struct Memory<'a> {
    base: *mut u8,
    desc: &'a TypeDesc,
    /// The memory at `base` is borrowed.
    held: PhantomData<&'a u8>,
}

impl<'a> Memory<'a> {
    /// Elements of `desc` at `base`, which may be null where the type's displacements are addresses (MPI_BOTTOM).
    ///
    /// # Safety
    /// A transfer of its pieces reads or writes what the type says at `base`, up to the packed bytes that were asked for: that memory must be there for it as long as
    /// pieces are used.
    pub unsafe fn new(base: *mut u8, desc: &'a TypeDesc) -> Memory<'a> {
        Memory { base, desc, held: PhantomData }
    }

    /// Whether its packed bytes `from` to `from + len` lie in one block, and where.
    pub fn one_block(&self, from: u64, len: u64) -> Option<*mut u8> {
        let (disp, first) = Blocks::new(self.desc, from, len).next()?;
        (first >= len).then(|| self.base.wrapping_offset(disp as isize))
    }
}

/// The pieces of an access that are still to come.
pub struct Pieces<'a> {
    displacement: u64,
    file: Blocks<'a>,
    base: *mut u8,
    memory: Blocks<'a>,
    /// The rest of the block at hand, on both sides.
    in_file: (i64, u64),
    in_memory: (i64, u64),
    left: u64,
}

impl<'a> Pieces<'a> {
    /// The pieces of bytes `from` to `from + len` of a view, whose data is packed byte `at` and those behind it in memory. [`View::end`] has answered for the range.
    pub fn new(view: &View<'a>, from: u64, len: u64, memory: &Memory<'a>, at: u64) -> Pieces<'a> {
        let (displacement, filetype) = view.parts();
        let has = |desc: &TypeDesc| desc.packed > 0;
        Pieces {
            displacement,
            file: Blocks::new(filetype, from, len),
            base: memory.base,
            memory: Blocks::new(memory.desc, at, len),
            in_file: (0, 0),
            in_memory: (0, 0),
            left: if has(filetype) && has(memory.desc) { len } else { 0 },
        }
    }

    /// Bytes that no batch has had yet.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Appends the next pieces, until there are `most` in `out` (at least 1), these have `bytes` bytes, or the access is at its end. Returns how many bytes they have.
    pub fn batch(&mut self, most: usize, bytes: u64, out: &mut Vec<Piece>) -> u64 {
        let mut told = 0;
        while self.left > 0 && told < bytes {
            if self.in_file.1 == 0 {
                self.in_file = self.file.next().unwrap_or((0, 0));
            }
            if self.in_memory.1 == 0 {
                self.in_memory = self.memory.next().unwrap_or((0, 0));
            }
            let len = self.in_file.1.min(self.in_memory.1).min(bytes - told);
            if len == 0 {
                // Memory has fewer bytes than were asked for.
                self.left = 0;
                break;
            }
            let piece = Piece {
                offset: self.displacement.wrapping_add_signed(self.in_file.0),
                memory: self.base.wrapping_offset(self.in_memory.0 as isize),
                len,
            };
            let full = out.len() >= most.max(1);
            match out.last_mut() {
                Some(last) if continues(last, &piece) => last.len += len,
                _ if full => break,
                _ => out.push(piece),
            }
            self.in_file = (self.in_file.0 + len as i64, self.in_file.1 - len);
            self.in_memory = (self.in_memory.0.wrapping_add(len as i64), self.in_memory.1 - len);
            self.left -= len;
            told += len;
        }
        told
    }
}

/// Whether a piece begins where another one ends, on both sides.
fn continues(last: &Piece, next: &Piece) -> bool {
    last.offset + last.len == next.offset && last.memory.wrapping_add(last.len as usize) == next.memory
}
