//! Walking two lists of pieces at once: the stretches that are one piece on both sides.

use crate::table::{Piece, RmaVectorDesc};

impl RmaVectorDesc {
    /// Calls `take` with local address, remote address and length of every stretch that is one piece on
    /// both sides, in order. False: a list has less than `len` bytes, or `take` has answered false.
    ///
    /// # Safety
    /// Both lists point to as many pieces as they say, which nobody writes during the call.
    pub unsafe fn stretches(&self, mut take: impl FnMut(u64, u64, u64) -> bool) -> bool {
        // SAFETY: the caller's promise.
        let (local, remote) = unsafe { (self.local.get(), self.remote.get()) };
        let (mut here, mut there) = (Cursor { list: local, done: 0 }, Cursor { list: remote, done: 0 });
        let mut left = self.len;
        while left > 0 {
            let (Some(l), Some(r)) = (here.rest(), there.rest()) else { return false };
            let len = l.len.min(r.len).min(left);
            if !take(l.addr, r.addr, len) {
                return false;
            }
            here.done += len;
            there.done += len;
            left -= len;
        }
        true
    }
}

/// A place in a list of pieces.
struct Cursor<'a> {
    list: &'a [Piece],
    /// Bytes of the first piece that are dealt with.
    done: u64,
}

impl Cursor<'_> {
    /// The rest of the piece we are in.
    fn rest(&mut self) -> Option<Piece> {
        while self.list.first()?.len <= self.done {
            self.list = &self.list[1..];
            self.done = 0;
        }
        let first = self.list.first()?;
        Some(Piece { addr: first.addr.wrapping_add(self.done), len: first.len - self.done })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use oxmpi_mca::SliceRef;

    fn list(pieces: &[(u64, u64)]) -> Vec<Piece> {
        pieces.iter().map(|&(addr, len)| Piece { addr, len }).collect()
    }

    fn stretches(local: &[Piece], remote: &[Piece], len: u64) -> Option<Vec<(u64, u64, u64)>> {
        let of = |list: &[Piece]| SliceRef { ptr: list.as_ptr(), len: list.len() };
        let desc = RmaVectorDesc { local: of(local), remote: of(remote), len };
        let mut all = Vec::new();
        // SAFETY: the lists are slices.
        let whole = unsafe {
            desc.stretches(|l, r, n| {
                all.push((l, r, n));
                true
            })
        };
        whole.then_some(all)
    }

    #[test]
    fn two_lists_are_cut_where_either_is() {
        let local = list(&[(100, 10), (200, 0), (300, 5), (400, 85)]);
        let remote = list(&[(1000, 4), (2000, 11), (3000, 100)]);
        let expected = vec![(100, 1000, 4), (104, 2000, 6), (300, 2006, 5), (400, 3000, 85)];
        assert_eq!(stretches(&local, &remote, 100), Some(expected));
        assert_eq!(stretches(&local, &remote, 3), Some(vec![(100, 1000, 3)]));
        assert_eq!(stretches(&local, &remote, 0), Some(vec![]));
        assert_eq!(stretches(&local, &remote, 101), None, "the local list is shorter");
        assert_eq!(stretches(&local, &[], 1), None);
    }
}
