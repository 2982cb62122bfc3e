//! The window of a sieved write: pieces at the head of a list that are written as one range of the file, with the holes between them.

use oxmpi_fbtl::Piece;

/// Pieces that are written at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The first piece's offset.
    pub offset: u64,
    /// Bytes up to the last piece's end.
    pub len: u64,
    /// Number of pieces.
    pub pieces: usize,
    /// There are bytes between them.
    pub has_holes: bool,
}

/// The window at the head of a list that is not empty. It has pieces in the order of the file, of `measure` bytes together at most, holes included; the first piece is in it
/// however long it is, and those that begin where the one before ends are, too, as long as there is no hole. `measure` 0: there are no holes in it.
pub fn window(pieces: &[Piece], measure: u64) -> Window {
    let Some(first) = pieces.first() else { return Window::default() };
    let mut window = Window { offset: first.offset, len: first.len, pieces: 1, has_holes: false };
    for piece in &pieces[1..] {
        let end = window.offset.saturating_add(window.len);
        let Some(gap) = piece.offset.checked_sub(end) else { break };
        let len = window.len.saturating_add(gap).saturating_add(piece.len);
        let has_holes = window.has_holes || gap > 0;
        if has_holes && len > measure {
            break;
        }
        window = Window { len, pieces: window.pieces + 1, has_holes, ..window };
    }
    window
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[(u64, u64)], measure: u64) -> (u64, u64, usize, bool) {
        let pieces: Vec<Piece> =
            list.iter().map(|&(offset, len)| Piece { offset, memory: std::ptr::null_mut(), len }).collect();
        let Window { offset, len, pieces, has_holes } = window(&pieces, measure);
        (offset, len, pieces, has_holes)
    }

    #[test]
    fn holes_are_taken_up_to_the_measure() {
        let list = [(10, 4), (16, 4), (30, 4)];
        assert_eq!(of(&list, 100), (10, 24, 3, true));
        assert_eq!(of(&list, 23), (10, 10, 2, true));
        assert_eq!(of(&list, 9), (10, 4, 1, false));
        assert_eq!(of(&list, 0), (10, 4, 1, false));
    }

    #[test]
    fn neighbours_need_no_measure_until_there_is_a_hole() {
        let list = [(0, 10), (10, 10), (20, 10), (31, 1)];
        assert_eq!(of(&list, 0), (0, 30, 3, false));
        assert_eq!(of(&list, 31), (0, 30, 3, false));
        assert_eq!(of(&list, 32), (0, 32, 4, true));
    }

    #[test]
    fn a_piece_before_the_last_one_ends_it() {
        assert_eq!(of(&[(20, 5), (0, 5)], 100), (20, 5, 1, false));
        assert_eq!(of(&[(20, 5), (24, 5)], 100), (20, 5, 1, false));
        assert_eq!(of(&[], 9), (0, 0, 0, false));
    }
}
