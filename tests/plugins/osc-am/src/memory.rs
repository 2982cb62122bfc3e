//! The memory that a rank exposes: one piece, or what is attached to a dynamic window.

use oxmpi_datatype::Run;
use oxmpi_mca::Status;

/// Exposed memory of this process. Displacements in messages are from its base: the piece's, or address 0.
pub struct Exposed {
    dynamic: bool,
    /// Address and bytes.
    pieces: Vec<(usize, u64)>,
}

impl Exposed {
    pub fn whole(base: *mut u8, bytes: u64) -> Exposed {
        Exposed { dynamic: false, pieces: vec![(base.addr(), bytes)] }
    }

    pub fn dynamic() -> Exposed {
        Exposed { dynamic: true, pieces: Vec::new() }
    }

    fn base(&self) -> usize {
        if self.dynamic { 0 } else { self.pieces.first().map_or(0, |piece| piece.0) }
    }

    pub fn attach(&mut self, base: usize, bytes: u64) -> Status {
        let Some(end) = (base as u64).checked_add(bytes) else { return Status::RMA_ATTACH };
        let overlaps = |&(at, len): &(usize, u64)| {
            let (at, piece_end) = (at as u64, at as u64 + len);
            (base as u64) < piece_end && at < end || at == base as u64
        };
        if self.pieces.iter().any(overlaps) {
            return Status::RMA_ATTACH;
        }
        self.pieces.push((base, bytes));
        Status::OK
    }

    pub fn detach(&mut self, base: usize) -> Status {
        match self.pieces.iter().position(|(at, _)| *at == base) {
            Some(at) => {
                self.pieces.swap_remove(at);
                Status::OK
            }
            None => Status::RMA_ATTACH,
        }
    }

    /// Where the blocks lie, if all of them are exposed.
    pub fn find(&self, runs: &[Run]) -> Option<*mut u8> {
        let base = self.base();
        let inside = |disp: i64, len: u64| {
            let at = (base as i64).checked_add(disp).filter(|_| self.dynamic || disp >= 0);
            // Addresses are numbers without a sign.
            at.is_some_and(|at| {
                let at = at as u64;
                let Some(end) = at.checked_add(len) else { return false };
                self.pieces.iter().any(|&(piece, bytes)| piece as u64 <= at && end <= piece as u64 + bytes)
            })
        };
        let all = runs.iter().all(|run| {
            let last = (run.count as i64 - 1).checked_mul(run.stride).and_then(|by| run.disp.checked_add(by));
            // In one piece first and last are enough; several may have gaps between them.
            let ends = inside(run.disp, run.len) && last.is_some_and(|disp| inside(disp, run.len));
            ends && (!self.dynamic
                || (0..run.count as i64).all(|i| inside(run.disp + i * run.stride, run.len)))
        });
        all.then(|| core::ptr::with_exposed_provenance_mut(base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(disp: i64, len: u64, count: u64, stride: i64) -> [Run; 1] {
        [Run { disp, len, count, stride }]
    }

    #[test]
    fn a_piece_has_two_ends() {
        let mut block = [0u8; 100];
        let exposed = Exposed::whole(block.as_mut_ptr(), 100);
        assert!(exposed.find(&run(0, 10, 10, 10)).is_some());
        assert!(exposed.find(&run(90, 10, 2, -90)).is_some());
        for bad in [
            run(0, 10, 10, 11),
            run(-1, 1, 1, 0),
            run(5, 1, 2, -6),
            run(i64::MAX, 1, 1, 0),
            run(0, 101, 1, 0),
        ] {
            assert!(exposed.find(&bad).is_none(), "{bad:?}");
        }
        assert!(exposed.find(&run(0, 1, u64::MAX, i64::MAX)).is_none());
    }

    #[test]
    fn attached_pieces_do_not_overlap() {
        let mut exposed = Exposed::dynamic();
        assert_eq!(exposed.attach(1000, 100), Status::OK);
        assert_eq!(exposed.attach(1100, 50), Status::OK);
        for (base, bytes) in [(1050, 10), (950, 51), (1000, 0), (usize::MAX, 2)] {
            assert_eq!(exposed.attach(base, bytes), Status::RMA_ATTACH, "{base}");
        }
        assert!(exposed.find(&run(1000, 10, 15, 10)).is_some());
        assert_eq!(exposed.detach(1100), Status::OK);
        assert_eq!(exposed.detach(1100), Status::RMA_ATTACH);
        assert!(exposed.find(&run(1000, 10, 15, 10)).is_none());
        assert!(exposed.find(&run(-8, 4, 1, 0)).is_none());
    }
}
