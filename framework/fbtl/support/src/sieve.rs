//! Reads that take holes along: pieces that lie near each other are read as one window, and copied from there.

use crate::batches::Cursor;
use oxmpi_fbtl::Piece;

/// The window of the component's own measure at most: what a processor's cache still holds when the pieces are copied.
const OWN_MEASURE: u64 = 4 << 20;

/// Limits of sieving, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sieving {
    /// Reads may be sieved at all.
    pub reads: bool,
    /// The longest piece that is read along.
    pub max_block: u64,
    /// The longest hole.
    pub max_gap: u64,
    /// The longest window, where the file's hint says nothing.
    pub max_window: u64,
}

/// Pieces to be read at once, with their holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// The first piece's offset.
    pub offset: u64,
    /// Bytes up to the last piece's end.
    pub len: u64,
    /// Number of pieces.
    pub pieces: usize,
}

impl Sieving {
    /// The bytes of a window at most, by the hint of a file (0: none).
    pub(crate) fn measure(&self, hint: u64) -> u64 {
        if hint != 0 { hint } else { self.max_window.min(OWN_MEASURE) }
    }

    /// The window that begins at a cursor; `None`: reading holes along saves no call there.
    pub(crate) fn window(&self, pieces: &[Piece], at: &Cursor, measure: u64) -> Option<Window> {
        let (first, inside) = at.place();
        let head = pieces.get(first)?;
        if !self.reads || inside != 0 || head.len > self.max_block.min(measure) {
            return None;
        }
        let mut window = Window { offset: head.offset, len: head.len, pieces: 1 };
        let mut holes = 0;
        for piece in &pieces[first + 1..] {
            let end = window.offset.saturating_add(window.len);
            let Some(gap) = piece.offset.checked_sub(end) else { break };
            let len = window.len.saturating_add(gap).saturating_add(piece.len);
            if gap > self.max_gap || piece.len > self.max_block || len > measure {
                break;
            }
            holes += usize::from(gap > 0);
            window = Window { len, pieces: window.pieces + 1, ..window };
        }
        (holes > 0).then_some(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIEVING: Sieving = Sieving { reads: true, max_block: 100, max_gap: 10, max_window: 1000 };

    fn pieces(list: &[(u64, u64)]) -> Vec<Piece> {
        list.iter().map(|&(offset, len)| Piece { offset, memory: std::ptr::null_mut(), len }).collect()
    }

    fn window(list: &[(u64, u64)], measure: u64) -> Option<(u64, u64, usize)> {
        let window = SIEVING.window(&pieces(list), &Cursor::default(), measure)?;
        Some((window.offset, window.len, window.pieces))
    }

    #[test]
    fn windows_end_at_long_holes_long_pieces_and_the_measure() {
        assert_eq!(window(&[(5, 4), (12, 4), (20, 2), (40, 1)], 1000), Some((5, 17, 3)));
        assert_eq!(window(&[(5, 4), (12, 4), (20, 101)], 1000), Some((5, 11, 2)));
        assert_eq!(window(&[(0, 10), (15, 10), (30, 10)], 26), Some((0, 25, 2)));
    }

    #[test]
    fn nothing_is_sieved_without_holes_or_backwards() {
        assert_eq!(window(&[(0, 4), (4, 4), (8, 4)], 1000), None);
        assert_eq!(window(&[(10, 4), (0, 4)], 1000), None);
        assert_eq!(window(&[(0, 101), (103, 4)], 1000), None);
        assert_eq!(window(&[(u64::MAX - 1, 4), (3, 4)], 1000), None);
        let off = Sieving { reads: false, ..SIEVING };
        assert_eq!(off.window(&pieces(&[(0, 4), (6, 4)]), &Cursor::default(), 1000), None);
    }

    #[test]
    fn the_hint_decides_the_measure() {
        assert_eq!(SIEVING.measure(7), 7);
        assert_eq!(SIEVING.measure(0), 1000);
        assert_eq!(Sieving { max_window: 64 << 20, ..SIEVING }.measure(0), OWN_MEASURE);
    }
}
