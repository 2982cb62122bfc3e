//! Pieces cut into batches: bytes that lie together in the file and that one vectored call of the system transfers.
//!
//! A [`Cursor`] is a place in a list of pieces; bytes before it are done. [`Cursor::batch`] looks from there on and takes pieces that follow each other in the file without a
//! hole, up to what a call may take ([`MOST_EXTENTS`], [`MOST_BYTES`]). A call may do less than it was asked for; the cursor then goes on by what was done, in the
//! middle of a piece or not, and cuts the next batch from there.
//!
//! **Past the cache** only what is aligned can go, in the file, in memory and by length. So a piece has up to three spans: what comes before its first aligned byte, aligned bytes, and
//! the rest; a batch is of spans of one kind. Where offset and address differ by no multiple of the unit nothing of the piece is aligned.

use oxmpi_fbtl::Piece;

/// Extents of a call at most (Linux: UIO_MAXIOV).
pub const MOST_EXTENTS: usize = 1024;
/// Bytes of a call at most (Linux: MAX_RW_COUNT).
pub const MOST_BYTES: u64 = 0x7fff_f000;

/// Memory of a call, laid out as the system's `iovec`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first byte.
    pub memory: *mut u8,
    /// Number of bytes.
    pub len: usize,
}

// SAFETY: an address and a length; who follows the address says why that is right.
unsafe impl Send for Extent {}

/// A place in a list of pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The piece that it is in, or that follows.
    piece: usize,
    /// Bytes of that piece before it.
    inside: u64,
    /// Bytes of all pieces before it.
    total: u64,
}

/// Bytes that one call transfers; its memory is in the list that was filled with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
    /// It goes past the cache.
    pub direct: bool,
}

impl Cursor {
    /// Bytes before it.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes of pieces that are before it as a whole.
    pub fn whole(&self) -> u64 {
        self.total - self.inside
    }

    /// The piece that it is in, unless all are done, and the bytes of that before it.
    pub fn place(&self) -> (usize, u64) {
        (self.piece, self.inside)
    }

    /// Goes on by so many bytes; not beyond the last piece.
    pub fn advance(&mut self, pieces: &[Piece], bytes: u64) {
        let mut left = bytes;
        while let Some(piece) = pieces.get(self.piece) {
            let here = (piece.len - self.inside).min(left);
            self.inside += here;
            self.total += here;
            left -= here;
            if self.inside < piece.len {
                return;
            }
            (self.piece, self.inside) = (self.piece + 1, 0);
        }
    }

    /// The next batch of at most `limit` bytes, with its memory in `extents`, whose content before is gone; `None`: nothing is left, or the limit is 0. `unit`: the alignment
    /// of transfers past the cache, where there are any. The cursor stays.
    pub fn batch(
        &self,
        pieces: &[Piece],
        unit: Option<u64>,
        limit: u64,
        extents: &mut Vec<Extent>,
    ) -> Option<Batch> {
        extents.clear();
        let most = limit.min(MOST_BYTES);
        let mut batch: Option<Batch> = None;
        let mut at = *self;
        while let Some(piece) = pieces.get(at.piece) {
            if piece.len == at.inside {
                at.advance(pieces, 0);
                continue;
            }
            let span = Span::of(piece, at.inside, unit);
            let so_far = batch.map_or(0, |batch| batch.len);
            let mut len = span.len.min(most - so_far);
            if span.direct {
                len -= len % unit.unwrap_or(1);
            }
            let goes_on = batch.is_none_or(|batch| {
                batch.offset.wrapping_add(batch.len) == span.offset && batch.direct == span.direct
            });
            if !goes_on || len == 0 || extents.len() == MOST_EXTENTS {
                break;
            }
            extents.push(Extent { memory: piece.memory.wrapping_add(at.inside as usize), len: len as usize });
            let batch = batch.get_or_insert(Batch { offset: span.offset, len: 0, direct: span.direct });
            batch.len += len;
            at.advance(pieces, len);
            if len < span.len {
                break;
            }
        }
        batch
    }
}

/// Bytes of a piece from some place on that go the same way.
struct Span {
    offset: u64,
    len: u64,
    direct: bool,
}

impl Span {
    fn of(piece: &Piece, inside: u64, unit: Option<u64>) -> Span {
        let (offset, left) = (piece.offset.wrapping_add(inside), piece.len - inside);
        let buffered = |len| Span { offset, len, direct: false };
        let Some(unit) = unit else { return buffered(left) };
        let address = piece.memory.wrapping_add(inside as usize).addr() as u64;
        let past = offset % unit;
        if past != address % unit {
            return buffered(left);
        }
        let before = if past == 0 { 0 } else { unit - past };
        match left.checked_sub(before) {
            Some(rest) if rest >= unit && before == 0 => {
                Span { offset, len: rest - rest % unit, direct: true }
            }
            Some(rest) if rest >= unit => buffered(before),
            _ => buffered(left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(offset: u64, memory: usize, len: u64) -> Piece {
        Piece { offset, memory: std::ptr::without_provenance_mut(memory), len }
    }

    /// All batches, each call doing what `done` makes of its length.
    fn batches(pieces: &[Piece], unit: Option<u64>, done: impl Fn(u64) -> u64) -> Vec<(Batch, Vec<Extent>)> {
        let (mut cursor, mut extents, mut all) = (Cursor::default(), Vec::new(), Vec::new());
        while let Some(batch) = cursor.batch(pieces, unit, u64::MAX, &mut extents) {
            all.push((batch, extents.clone()));
            cursor.advance(pieces, done(batch.len));
        }
        assert_eq!(cursor.total(), pieces.iter().map(|p| p.len).sum::<u64>());
        all
    }

    #[test]
    fn pieces_that_touch_are_one_call() {
        let pieces = [piece(10, 0x1000, 5), piece(15, 0x3000, 0), piece(15, 0x2000, 7), piece(23, 0x4000, 1)];
        let all = batches(&pieces, None, |len| len);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].0, Batch { offset: 10, len: 12, direct: false });
        assert_eq!(all[0].1.len(), 2);
        assert_eq!(all[1].0.offset, 23);
    }

    #[test]
    fn limits_of_a_call_are_kept() {
        let many: Vec<_> = (0..3000).map(|i| piece(i, 0x1000, 1)).collect();
        assert_eq!(
            batches(&many, None, |len| len).iter().map(|b| b.0.len).collect::<Vec<_>>(),
            [1024, 1024, 952]
        );
        let long = [piece(1, 0x1000, 5 << 30)];
        let all = batches(&long, None, |len| len);
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|b| b.0.len <= MOST_BYTES));
    }

    #[test]
    fn only_what_is_aligned_goes_past_the_cache() {
        // Before, aligned, behind.
        let all = batches(&[piece(4096 - 6, 0x20000 - 6, 6 + 8192 + 9)], Some(4096), |len| len);
        let kinds: Vec<_> = all.iter().map(|b| (b.0.offset, b.0.len, b.0.direct)).collect();
        assert_eq!(kinds, [(4090, 6, false), (4096, 8192, true), (12288, 9, false)]);
        // Offset and address do not fit together.
        let all = batches(&[piece(4096, 0x20001, 8192)], Some(4096), |len| len);
        assert!(all.len() == 1 && !all[0].0.direct);
        // Two aligned pieces are one call.
        let all = batches(&[piece(0, 0x8000, 4096), piece(4096, 0x4000, 4096)], Some(4096), |len| len);
        assert!(all.len() == 1 && all[0].0.direct && all[0].1.len() == 2);
    }

    proptest! {
        /// Calls may do a part of what they were asked for; each byte is asked for in its turn and at its offset.
        #[test]
        fn each_byte_is_transferred(
            lens in proptest::collection::vec((0u64..40, 0u64..3, 0u64..24), 0..40),
            unit in proptest::option::of(Just(8u64)),
            part in 1u64..20,
        ) {
            let mut offset = 0;
            let pieces: Vec<_> = lens.iter().enumerate().map(|(i, (len, gap, shift))| {
                offset += gap;
                let piece = piece(offset, 0x10000 * (i + 1) + *shift as usize, *len);
                offset += len;
                piece
            }).collect();
            let expected: Vec<(u64, usize)> = pieces.iter()
                .flat_map(|p| (0..p.len).map(|i| (p.offset + i, p.memory.addr() + i as usize))).collect();
            let mut seen = Vec::new();
            for (batch, extents) in batches(&pieces, unit, |len| part.min(len)) {
                prop_assert_eq!(extents.iter().map(|e| e.len as u64).sum::<u64>(), batch.len);
                if let (true, Some(unit)) = (batch.direct, unit) {
                    prop_assert_eq!(batch.offset % unit, 0);
                    for e in &extents {
                        prop_assert!((e.memory.addr() as u64).is_multiple_of(unit) && (e.len as u64).is_multiple_of(unit) && e.len > 0);
                    }
                }
                let bytes = extents.iter().flat_map(|e| (0..e.len).map(|i| e.memory.addr() + i));
                seen.extend(bytes.enumerate().take(part.min(batch.len) as usize)
                    .map(|(i, address)| (batch.offset + i as u64, address)));
            }
            prop_assert_eq!(seen, expected);
        }
    }
}
