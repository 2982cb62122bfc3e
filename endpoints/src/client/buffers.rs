//! Buffers of MPI functions, and copies of their data in the segment (`place.rs` says what is copied).

use super::heap;
use crate::abi::*;
use crate::pmpi;

/// A buffer argument of an MPI function.
pub enum Buffer {
    /// Not significant here; the count and the datatype may be.
    None(i64, Datatype),
    InPlace,
    /// `count` elements, `times` over.
    Plain {
        at: *mut u8,
        count: i64,
        times: i64,
        dtype: Datatype,
    },
    /// Blocks of one datatype, displacements in extents.
    Blocks {
        at: *mut u8,
        counts: Vec<i64>,
        displs: Vec<i64>,
        dtype: Datatype,
    },
    /// Blocks with datatypes of their own, displacements in bytes.
    Types {
        at: *mut u8,
        counts: Vec<i64>,
        displs: Vec<i64>,
        types: Vec<Datatype>,
    },
}

impl Buffer {
    pub fn plain(at: *const c_void, count: i64, dtype: Datatype) -> Buffer {
        Buffer::times(at, count, 1, dtype)
    }

    pub fn times(at: *const c_void, count: i64, times: c_int, dtype: Datatype) -> Buffer {
        if at as usize == IN_PLACE {
            return Buffer::InPlace;
        }
        Buffer::Plain { at: at.cast_mut().cast(), count, times: times.into(), dtype }
    }
}

/// One piece of staged data.
pub(super) struct Piece {
    /// Where it is in the staging memory.
    pub(super) offset: usize,
    pub(super) user: *mut u8,
    pub(super) count: i64,
    pub(super) dtype: Datatype,
    pub(super) bytes: usize,
    /// The datatype has gaps: packed and unpacked by the library, with a handle of our own.
    pub(super) packed: bool,
    pub(super) size: i64,
    pub(super) extent: i64,
}

/// Data that was copied into the segment.
pub struct Staged {
    pub(super) memory: *mut u8,
    /// The memory is a block of the heap, not the record's.
    pub(super) block: bool,
    pub goes: bool,
    pub comes: bool,
    pub(super) one: Option<Piece>,
    pub(super) many: Vec<Piece>,
}

impl Drop for Staged {
    fn drop(&mut self) {
        for piece in self.one.iter().chain(&self.many).filter(|p| p.packed) {
            let mut dtype = piece.dtype;
            // SAFETY: a duplicate that was made with the piece.
            unsafe { pmpi::MPI_Type_free(&raw mut dtype) };
        }
        if self.block {
            // SAFETY: a block of the heap that nobody else has.
            unsafe { heap::free(self.memory) };
        }
    }
}

impl Staged {
    fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.one.iter().chain(&self.many)
    }

    /// Copies or packs into the staging memory.
    pub fn collect(&self) {
        if !self.goes {
            return;
        }
        for piece in self.pieces() {
            // SAFETY: the user's data, and as many bytes of the staging memory.
            unsafe {
                let to = self.memory.add(piece.offset);
                if piece.packed {
                    let mut at = 0i64;
                    let (user, to) = (piece.user.cast(), to.cast());
                    pmpi::MPI_Pack_c(
                        user,
                        piece.count,
                        piece.dtype,
                        to,
                        piece.bytes as i64,
                        &raw mut at,
                        COMM_SELF,
                    );
                } else {
                    core::ptr::copy_nonoverlapping(piece.user, to, piece.bytes);
                }
            }
        }
    }

    /// Copies or unpacks out of it; of a message no more than came.
    pub fn deliver(&self, status: Option<&Status>) {
        let mut left = usize::MAX;
        if let Some(status) = status {
            let mut count = 0i64;
            // SAFETY: locals.
            unsafe { pmpi::MPI_Get_count_c(status, BYTE, &raw mut count) };
            left = count.max(0) as usize;
        }
        for piece in self.pieces() {
            let bytes = piece.bytes.min(left);
            left -= bytes;
            // SAFETY: the staging memory's data, and as many bytes of the user's.
            unsafe {
                let from = self.memory.add(piece.offset);
                if piece.packed {
                    unpack(piece, from, bytes);
                } else {
                    core::ptr::copy_nonoverlapping(from, piece.user, bytes);
                }
            }
        }
    }
}

/// Unpacks that many bytes; the last element may be there in part.
///
/// # Safety
/// `from` has that many bytes, and the piece's datatype describes the user's memory.
unsafe fn unpack(piece: &Piece, from: *mut u8, bytes: usize) {
    let size = piece.size;
    let whole = bytes as i64 / size;
    let rest = bytes - (whole * size) as usize;
    let mut at = 0i64;
    // SAFETY: the caller's promise; the element in part is completed with what the user has there.
    unsafe {
        let (user, dtype) = (piece.user.cast(), piece.dtype);
        pmpi::MPI_Unpack_c(from.cast(), whole * size, &raw mut at, user, whole, dtype, COMM_SELF);
        if rest > 0 {
            let last = piece.user.offset((whole * piece.extent) as isize).cast();
            let mut element = vec![0u8; size as usize];
            let (mut at, to) = (0i64, element.as_mut_ptr());
            pmpi::MPI_Pack_c(last, 1, dtype, to.cast(), size, &raw mut at, COMM_SELF);
            core::ptr::copy_nonoverlapping(from.add(bytes - rest), to, rest);
            at = 0;
            pmpi::MPI_Unpack_c(to.cast(), size, &raw mut at, last, 1, dtype, COMM_SELF);
        }
    }
}
