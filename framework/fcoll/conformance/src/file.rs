//! A file as a list of bytes, which can fail.

use oxmpi_fbtl::Piece;
use oxmpi_fbtl::transfer::{READ, WRITE};
use oxmpi_mca::Status;

/// A transfer as it was written down.
pub struct Transfer {
    pub what: u32,
    pub pieces: Vec<Piece>,
    pub moved: *mut u64,
    pub outcome: *mut i32,
    pub later: bool,
}

/// Bytes, and the faults that are still to come.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The data.
    pub bytes: Vec<u8>,
    /// How often each byte was written.
    pub writes: Vec<u32>,
    /// The transfer of that number, from 0, fails with this.
    pub fails: Option<(u64, Status)>,
    /// Transfers so far.
    pub transfers: u64,
    /// Most pieces of a transfer so far.
    pub most_pieces: usize,
}

impl File {
    /// A file of that data.
    pub fn new(bytes: Vec<u8>) -> File {
        File { bytes, ..File::default() }
    }

    /// Carries a transfer out: its status and the bytes that were moved.
    pub(crate) fn transfer(&mut self, transfer: &Transfer) -> (Status, u64) {
        let number = self.transfers;
        self.transfers += 1;
        self.most_pieces = self.most_pieces.max(transfer.pieces.len());
        if let Some((at, status)) = self.fails
            && at == number
        {
            return (status, 0);
        }
        let mut moved = 0;
        for piece in &transfer.pieces {
            let (from, len) = (piece.offset as usize, piece.len as usize);
            if transfer.what == WRITE {
                let end = self.bytes.len().max(from + len);
                self.bytes.resize(end, 0);
                self.writes.resize(end, 0);
                for i in 0..len {
                    // SAFETY: the component's promise about the memory of its pieces.
                    self.bytes[from + i] = unsafe { *piece.memory.add(i) };
                    self.writes[from + i] += 1;
                }
                moved += piece.len;
                continue;
            }
            debug_assert_eq!(transfer.what, READ);
            let there = self.bytes.len().saturating_sub(from).min(len);
            for i in 0..there {
                // SAFETY: as above.
                unsafe { *piece.memory.add(i) = self.bytes[from + i] };
            }
            moved += there as u64;
            if there < len {
                break;
            }
        }
        (Status::OK, moved)
    }
}
