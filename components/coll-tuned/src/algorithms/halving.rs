//! Operands halved and combined in pairs until each rank has one part of the sum, for which a power of two of ranks stands ([`Fold`]).
//!
//! In each step two ranks exchange the halves that the other keeps. By distance 1, 2, 4, … what a rank has combined is always the sum of ranks
//! that follow each other, so the order is kept, and part i ends at the member whose number has the bits of i in reverse. By distance …, 4,
//! 2, 1 part i ends at member i; that is for operations that commute.

use crate::fold::{Fold, Part};
use crate::script::{Area, Me, Piece, Script};

/// Two areas of the operand's length; one of them may hold the operand, if that is in place.
#[derive(Clone, Copy)]
pub struct Halving {
    pub fold: Fold,
    pub areas: [Area; 2],
    /// The order of ranks is kept.
    pub ordered: bool,
}

/// The parts of the sum that a member has.
pub struct Held {
    /// The buffer in which it is, at its place in the operand.
    pub area: Area,
    /// The parts it has, and the pairs by which it came to them: distance and the parts before.
    pub parts: (u32, u32),
    pub steps: Vec<(u32, (u32, u32))>,
}

impl Halving {
    /// `areas[1]` may be where the operand lies.
    pub fn new(me: Me, areas: [Area; 2], ordered: bool) -> Halving {
        Halving { fold: Fold::new(me), areas, ordered }
    }

    /// The member that ends with a part, and the part with which a member ends.
    pub fn end(&self, index: u32) -> u32 {
        if self.ordered { crate::fold::reversed(index, self.fold.members) } else { index }
    }

    fn other(&self, area: Area) -> Area {
        if area == self.areas[0] { self.areas[1] } else { self.areas[0] }
    }

    /// Combines the operands of `count` units; `units` gives first unit and length of parts from..to. `None`: another rank stands for this one,
    /// and has its operand.
    pub fn scatter(
        &self,
        s: &mut dyn Script,
        count: u64,
        units: impl Fn(u32, u32) -> (u64, u64),
    ) -> Option<Held> {
        let all = |area: Area| area.piece(0, count);
        let (index, outsider) = match self.fold.part {
            Part::Outside { member } => {
                s.send(all(Area::Given), member);
                s.wait(0);
                return None;
            }
            Part::Member { index, outsider } => (index, outsider),
        };
        let mut area = Area::Given;
        if let Some(outsider) = outsider {
            let into = self.areas[0];
            s.recv(all(into), outsider);
            s.wait(0);
            s.combine(all(area), all(into));
            area = into;
        }
        let (mut held, mut steps) = ((0, self.fold.members), Vec::new());
        let rounds = self.fold.members.ilog2();
        for round in 0..rounds {
            let distance = 1 << if self.ordered { round } else { rounds - 1 - round };
            let partner = self.fold.rank_of(index ^ distance);
            let middle = (held.0 + held.1) / 2;
            let halves = [(held.0, middle), (middle, held.1)];
            let lower = index & distance == 0;
            let (kept, out) = if lower { (halves[0], halves[1]) } else { (halves[1], halves[0]) };
            let piece = |area: Area, (from, to): (u32, u32)| -> Piece {
                let (first, len) = units(from, to);
                area.piece(first, len)
            };
            let into = self.other(area);
            s.recv(piece(into, kept), partner);
            s.send(piece(area, out), partner);
            s.wait(0);
            if lower {
                s.combine(piece(area, kept), piece(into, kept));
                area = into;
            } else {
                if area == Area::Given {
                    area = self.other(into);
                    s.copy(piece(Area::Given, kept), piece(area, kept));
                }
                s.combine(piece(into, kept), piece(area, kept));
            }
            steps.push((distance, held));
            held = kept;
        }
        Some(Held { area, parts: held, steps })
    }
}
