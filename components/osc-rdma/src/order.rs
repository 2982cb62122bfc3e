//! Accumulates to a rank that are under way. A transport carries them out in any order, so one that has to come behind them waits.
//!
//! Which pairs are ordered is the window's `accumulate_ordering` (MPI 5.0 §12.7.2): an accumulate writes, one with a result reads, too, MPI_NO_OP
//! reads alone. Accumulates that are alike and integers, and have no result, go together whatever that says: nobody can tell their order. So do those that
//! have no byte in common, as far as is known: of those under way the first and the last address are kept.
//!
//! **Lines.** Where a transport carries the lists of a context out in the order of the calls ([`oxmpi_btl::BtlAttrs::LISTS_ORDERED`]), accumulates that go by
//! lists of one context are *in line* and never wait for each other; those of different lines, and those in none, do as above. So there is a group for each line
//! that has any under way.

use oxmpi_osc::ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How an accumulate deals with its target's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub reads: bool,
    pub writes: bool,
    /// Those of one kind go together; [`Touch::ALONE`]: of none.
    pub kind: u64,
    /// The context whose lists carry it out in order; `None`: nothing says when it is carried out.
    pub line: Option<u32>,
    /// Addresses of its first byte and behind its last one.
    pub first: u64,
    pub end: u64,
}

impl Touch {
    pub const ALONE: u64 = 0;
    /// Reads and writes, wherever.
    pub const BOTH: Touch =
        Touch { reads: true, writes: true, kind: Touch::ALONE, line: None, first: 0, end: u64::MAX };
    /// Reads alone, wherever.
    pub const READ: Touch = Touch { writes: false, ..Touch::BOTH };

    /// The same in a line.
    pub fn in_line(self, ctx: u32) -> Touch {
        Touch { line: Some(ctx), ..self }
    }

    /// The same at some places alone, each an address and a length.
    pub fn at(self, places: impl Iterator<Item = (u64, u64)>) -> Touch {
        let hull = places.fold(None, |hull: Option<(u64, u64)>, (at, len)| {
            let (first, end) = hull.unwrap_or((at, at));
            Some((first.min(at), end.max(at.saturating_add(len))))
        });
        let (first, end) = hull.unwrap_or((0, u64::MAX));
        Touch { first, end, ..self }
    }
}

/// Accumulates of one line, or those in none, that end together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    line: Option<u32>,
    all: u64,
    reads: u64,
    writes: u64,
}

impl Ending {
    /// One more of the same line.
    pub fn add(&mut self, touch: Touch) {
        debug_assert!(self.all == 0 || self.line == touch.line);
        self.line = touch.line;
        self.all += 1;
        self.reads += u64::from(touch.reads);
        self.writes += u64::from(touch.writes);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all == 0
    }
}

impl From<Touch> for Ending {
    fn from(touch: Touch) -> Ending {
        let mut ending = Ending::default();
        ending.add(touch);
        ending
    }
}

/// Those under way of one line, or in none.
struct Group {
    under_way: Ending,
    /// Of all of them.
    kind: u64,
    first: u64,
    end: u64,
}

impl Group {
    /// Whether an accumulate has to come behind some of these. `orders`: bits of [`ordering`].
    fn is_before(&self, touch: &Touch, orders: u32) -> bool {
        let behind = |bit, own: bool, others: u64| orders & bit != 0 && own && others > 0;
        let now = &self.under_way;
        let ordered = behind(ordering::RAR, touch.reads, now.reads)
            || behind(ordering::RAW, touch.reads, now.writes)
            || behind(ordering::WAR, touch.writes, now.reads)
            || behind(ordering::WAW, touch.writes, now.writes);
        let alike = touch.kind != Touch::ALONE && self.kind == touch.kind;
        let in_line = touch.line.is_some() && touch.line == now.line;
        ordered && !alike && !in_line && touch.first < self.end && self.first < touch.end
    }

    fn add(&mut self, touch: Touch) {
        self.under_way.add(touch);
        self.kind = if self.kind == touch.kind { touch.kind } else { Touch::ALONE };
        (self.first, self.end) = (self.first.min(touch.first), self.end.max(touch.end));
    }
}

/// Of one origin and target: the lines that have any under way.
#[derive(Default)]
pub struct Ordered(Mutex<Vec<Group>>);

impl Ordered {
    fn lock(&self) -> MutexGuard<'_, Vec<Group>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes ahead, or has to wait. `orders`: bits of [`ordering`].
    pub fn begin(&self, touch: Touch, orders: u32) -> bool {
        let mut groups = self.lock();
        if groups.iter().any(|group| group.is_before(&touch, orders)) {
            return false;
        }
        match groups.iter_mut().find(|group| group.under_way.line == touch.line) {
            Some(group) => group.add(touch),
            None => {
                let Touch { kind, first, end, .. } = touch;
                groups.push(Group { under_way: touch.into(), kind, first, end });
            }
        }
        true
    }

    /// Those have ended, each of which has begun.
    pub fn end(&self, ending: Ending) {
        let mut groups = self.lock();
        let Some(i) = groups.iter().position(|group| group.under_way.line == ending.line) else { return };
        let now = &mut groups[i].under_way;
        now.all -= ending.all;
        now.reads -= ending.reads;
        now.writes -= ending.writes;
        if now.all == 0 {
            groups.swap_remove(i);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SUM: Touch = Touch { reads: false, kind: 7, ..Touch::BOTH };
    const OTHER: Touch = Touch { kind: 8, ..SUM };

    #[test]
    fn accumulates_that_are_alike_go_together() {
        let ordered = Ordered::default();
        let begin = |touch| ordered.begin(touch, ordering::ALL);
        assert!(begin(SUM) && begin(SUM) && !begin(OTHER) && !begin(Touch::BOTH) && !begin(Touch::READ));
        ordered.end(SUM.into());
        assert!(!begin(OTHER));
        ordered.end(SUM.into());
        assert!(begin(Touch::BOTH) && !begin(Touch::BOTH) && !begin(SUM));
        ordered.end(Touch::BOTH.into());
        assert!(begin(OTHER));
    }

    #[test]
    fn only_pairs_that_are_ordered_wait() {
        let waits = |first, second, orders| {
            let ordered = Ordered::default();
            assert!(ordered.begin(first, orders));
            !ordered.begin(second, orders)
        };
        for (first, second, bit) in [
            (Touch::READ, Touch::READ, ordering::RAR),
            (SUM, Touch::READ, ordering::RAW),
            (Touch::READ, SUM, ordering::WAR),
            (SUM, OTHER, ordering::WAW),
        ] {
            assert!(waits(first, second, bit), "{bit}");
            assert!(!waits(first, second, ordering::ALL & !bit) && !waits(first, second, 0), "{bit}");
        }
        assert!([ordering::RAR, ordering::WAW].iter().all(|bit| waits(Touch::BOTH, Touch::BOTH, *bit)));
    }

    #[test]
    fn mixed_kinds_are_no_kind() {
        let ordered = Ordered::default();
        assert!(ordered.begin(SUM, 0) && ordered.begin(OTHER, 0));
        assert!(!ordered.begin(SUM, ordering::WAW) && !ordered.begin(OTHER, ordering::WAW));
        ordered.end(OTHER.into());
        ordered.end(SUM.into());
        assert!(ordered.begin(SUM, ordering::WAW) && ordered.begin(SUM, ordering::WAW));
    }

    #[test]
    fn a_line_keeps_its_order_by_itself() {
        let ordered = Ordered::default();
        let begin = |touch: Touch| ordered.begin(touch, ordering::ALL);
        assert!(begin(Touch::BOTH.in_line(0)) && begin(SUM.in_line(0)) && begin(Touch::READ.in_line(0)));
        assert!(!begin(Touch::BOTH.in_line(1)), "another line");
        assert!(!begin(Touch::BOTH), "in no line");
        let mut ending = Ending::default();
        for touch in [Touch::BOTH, SUM, Touch::READ] {
            ending.add(touch.in_line(0));
        }
        ordered.end(ending);
        assert!(begin(Touch::BOTH) && !begin(SUM.in_line(0)), "behind one in no line");
        ordered.end(Touch::BOTH.into());
        assert!(begin(SUM.in_line(0)) && begin(SUM.in_line(1)), "alike");
    }

    #[test]
    fn what_has_no_byte_in_common_is_not_ordered() {
        let ordered = Ordered::default();
        let begin =
            |at, line| ordered.begin(Touch::BOTH.at([(at, 8)].into_iter()).in_line(line), ordering::ALL);
        assert!(begin(100, 0) && begin(108, 1) && begin(120, 2));
        assert!(!begin(107, 3) && !begin(127, 3) && begin(92, 3));
        assert!(!begin(100, 1), "of another line");
        assert_eq!(SUM.at(std::iter::empty()), SUM, "nothing is known of its places");
    }
}
