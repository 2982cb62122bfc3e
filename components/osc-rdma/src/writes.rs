//! Order of an operation behind writes that are complete for the program and may not be at the target yet.
//!
//! A transport carries operations out in any order. An operation has to come behind writes that the program knows to be complete at the
//! origin, by MPI_Win_flush_local or by a request: a put that waits in its batch, a list of such puts under way, a write whose completion
//! says nothing of the target. All others have been waited for by whoever completed them. So a write is *settled at the origin* in one of two sets of the link,
//! a bit for each lane: [`Fences::unsent`], the batch has such puts; [`Fences::sent`], the lane's [`Record`] has such writes. While no bit is set an
//! operation is issued behind one look at both; else the lanes are looked at, each under its CRI, and what overlaps is sent, flushed and waited for.
//!
//! Bits are set before a call returns. Those of `unsent` are set and cleared under the lane's CRI, where a batch that is sent goes to the record and sets
//! `sent` before it clears `unsent`; readers look at them in that order. `sent` is cleared under the CRI when the record is empty.
//!
//! `predecessors.rs` looks at them for a call. Writes that fail are complete for the flow as others are, so nobody waits for them.
//!
//! A record has up to [`MOST`] ranges as they are. Beyond that neighbours become one, and what lies between them is taken for written.

use crate::layout::Block;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use oxmpi_mca::{CriGuard, OfCri};
use oxmpi_osc::Flow;

/// Ranges that a record keeps apart.
const MOST: usize = 256;

/// How a write, or what comes behind it, deals with memory: a put or get waits for all, an accumulate for puts; the order of
/// accumulates is `order.rs`'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(u8);

impl Kind {
    pub const TRANSFER: Kind = Kind(1);
    pub const ACCUMULATE: Kind = Kind(2);

    /// Whether such an operation has to come behind a write of kind `before`.
    fn waits_for(self, before: Kind) -> bool {
        self == Kind::TRANSFER || before.0 & Kind::TRANSFER.0 != 0
    }
}

/// A set of lanes, a bit each.
pub type LaneSet = u128;

/// The set of one lane.
#[inline(always)]
pub fn set_of(ctx: u32) -> LaneSet {
    1 << ctx
}

/// A set of lanes that all threads see, in two words.
#[derive(Default)]
struct SharedSet([AtomicU64; 2]);

impl SharedSet {
    #[inline(always)]
    fn load(&self) -> LaneSet {
        let [low, high] = &self.0;
        LaneSet::from(low.load(Ordering::Acquire)) | LaneSet::from(high.load(Ordering::Acquire)) << u64::BITS
    }

    /// The word with a lane's bit, and that bit.
    #[inline(always)]
    fn bit(&self, ctx: u32) -> (&AtomicU64, u64) {
        (&self.0[(ctx / u64::BITS) as usize], 1 << (ctx % u64::BITS))
    }

    #[inline(always)]
    fn has(&self, ctx: u32) -> bool {
        let (word, bit) = self.bit(ctx);
        word.load(Ordering::Acquire) & bit != 0
    }

    fn add(&self, ctx: u32) {
        let (word, bit) = self.bit(ctx);
        if word.load(Ordering::Acquire) & bit == 0 {
            word.fetch_or(bit, Ordering::AcqRel);
        }
    }

    fn remove(&self, ctx: u32) {
        let (word, bit) = self.bit(ctx);
        word.fetch_and(!bit, Ordering::AcqRel);
    }
}

/// Lanes of a link that have writes which are settled at the origin.
#[derive(Default)]
pub struct Fences {
    unsent: SharedSet,
    sent: SharedSet,
}

impl Fences {
    /// Lanes whose batch has such puts, and lanes that have sent such writes.
    #[inline(always)]
    pub fn lanes(&self) -> (LaneSet, LaneSet) {
        // SYNC POINT with `batch_is_sent_if`: in this order.
        let unsent = self.unsent.load();
        (unsent, self.sent.load())
    }

    /// Whether there are any but in the batch of one lane.
    #[inline(always)]
    pub fn beside(&self, ctx: u32) -> bool {
        let (unsent, sent) = self.lanes();
        unsent & !set_of(ctx) | sent != 0
    }

    /// The batch of the lane whose CRI is held has puts that are settled at the origin.
    pub fn batch_waits(&self, held: &mut CriGuard<'_>) {
        self.unsent.add(held.ctx());
    }

    pub fn has_batch(&self, ctx: u32) -> bool {
        self.unsent.has(ctx)
    }

    /// Writes of a lane that are in its record, or `written` and not flushed, are settled at the origin.
    pub fn lane_wrote(&self, ctx: u32) {
        self.sent.add(ctx);
    }

    /// The batch of the lane whose CRI is held, if it was `settled`, is in the record, and that has been told.
    pub fn batch_is_sent_if(&self, settled: bool, held: &mut CriGuard<'_>) {
        if settled {
            // SYNC POINT with `lanes`.
            self.unsent.remove(held.ctx());
        }
    }

    /// The record of the lane whose CRI is held is empty.
    pub fn lane_is_clean(&self, held: &mut CriGuard<'_>) {
        self.sent.remove(held.ctx());
    }
}

/// Places at a target: by address, apart from each other.
pub struct Places(Vec<(u64, u64)>);

impl Places {
    pub fn of(blocks: &[Block]) -> Places {
        let mut all: Vec<(u64, u64)> =
            blocks.iter().map(|block| (block.at, block.at.saturating_add(block.len))).collect();
        all.sort_unstable();
        let mut apart: Vec<(u64, u64)> = Vec::with_capacity(all.len());
        for (first, end) in all {
            match apart.last_mut() {
                Some(last) if first <= last.1 => last.1 = last.1.max(end),
                _ => apart.push((first, end)),
            }
        }
        Places(apart)
    }

    /// Whether any byte from `first` to before `end` is among them.
    pub fn meet(&self, first: u64, end: u64) -> bool {
        let behind = self.0.partition_point(|place| place.1 <= first);
        self.0.get(behind).is_some_and(|place| place.0 < end)
    }
}

/// Bytes that were written by operations which may be under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: u64,
    end: u64,
    /// Of the lane's flow: with what it covers the bytes are there, if `flushed`.
    mark: u64,
    /// The end of the operation, or of a flush that is under way, says that they are at the target.
    flushed: bool,
    kind: Kind,
}

/// Writes of one lane that may not be at the target, though the program may take them for complete. Used under the lane's CRI.
pub struct Record(OfCri<Vec<Range>>);

impl Record {
    /// Of the lane of a context.
    pub fn new(ctx: u32) -> Record {
        Record(OfCri::new(ctx, Vec::new()))
    }

    /// Panics where another context than the lane's is held.
    pub fn check(&self, held: &mut CriGuard<'_>) {
        let _ = self.0.get(held);
    }

    /// Adds a write that is counted in the flow.
    pub fn add(
        &self,
        held: &mut CriGuard<'_>,
        flow: &Flow,
        kind: Kind,
        flushed: bool,
        (first, len): (u64, u64),
    ) {
        let all = self.0.get(held);
        let new = Range { first, end: first.saturating_add(len), mark: flow.mark(), flushed, kind };
        if let Some(last) = all.last_mut()
            && (last.kind, last.flushed, last.end) == (kind, flushed, first)
        {
            (last.end, last.mark) = (new.end, new.mark);
            return;
        }
        if all.len() >= MOST {
            prune(all, flow);
            merge(all);
        }
        all.push(new);
    }

    /// A flush is counted in the flow behind all that was written.
    pub fn flush(&self, held: &mut CriGuard<'_>, flow: &Flow) {
        let all = self.0.get(held);
        prune(all, flow);
        let mark = flow.mark();
        for range in all.iter_mut().filter(|range| !range.flushed) {
            (range.flushed, range.mark) = (true, mark);
        }
    }

    /// The writes that an operation of a kind on places meets.
    pub fn find(&self, held: &mut CriGuard<'_>, flow: &Flow, kind: Kind, places: &Places) -> Found {
        let all = self.0.get(held);
        prune(all, flow);
        let mut found = Found { empty: all.is_empty(), waits: false, unflushed: false };
        for range in all {
            if kind.waits_for(range.kind) && places.meet(range.first, range.end) {
                found.waits = true;
                found.unflushed |= !range.flushed;
            }
        }
        found
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub empty: bool,
    /// Some of it has to be waited for, and
    pub waits: bool,
    /// flushed before that.
    pub unflushed: bool,
}

/// Leaves out what is at the target.
fn prune(all: &mut Vec<Range>, flow: &Flow) {
    all.retain(|range| !(range.flushed && flow.is_complete(range.mark)));
}

/// Makes room: ranges that touch become one, and, where that is not enough, neighbours.
fn merge(all: &mut Vec<Range>) {
    all.sort_unstable_by_key(|range| range.first);
    let both = |a: &mut Range, b: &Range| {
        a.end = a.end.max(b.end);
        a.mark = a.mark.max(b.mark);
        a.flushed &= b.flushed;
        a.kind.0 |= b.kind.0;
    };
    let mut apart: Vec<Range> = Vec::with_capacity(all.len());
    for range in all.iter() {
        match apart.last_mut() {
            Some(last) if range.first <= last.end => both(last, range),
            _ => apart.push(*range),
        }
    }
    if apart.len() > MOST / 2 {
        let pair = |pair: &[Range]| {
            let mut one = pair[0];
            pair[1..].iter().for_each(|next| both(&mut one, next));
            one
        };
        apart = apart.chunks(2).map(pair).collect();
    }
    *all = apart;
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use oxmpi_mca::Status;
    use oxmpi_osc::Token;

    fn places(all: &[(u64, u64)]) -> Places {
        Places::of(&all.iter().map(|&(at, len)| Block { at, len, packed: 0 }).collect::<Vec<_>>())
    }

    fn issue(flow: &Flow) -> Token {
        let token = flow.next();
        flow.count(token);
        token
    }

    fn end(token: Token) {
        // SAFETY: the flow is the test's, which ends each token once.
        unsafe { Flow::done(token.done_ctx(), Status::OK) }
    }

    fn record() -> Record {
        Record::new(3)
    }

    fn held<'a>() -> CriGuard<'a> {
        // SAFETY: a test is one thread, and has one at a time.
        unsafe { CriGuard::inherited(3, false, None) }
    }

    fn find(record: &Record, flow: &Flow, kind: Kind, at: u64, len: u64) -> Found {
        record.find(&mut held(), flow, kind, &places(&[(at, len)]))
    }

    fn add(record: &Record, flow: &Flow, kind: Kind, flushed: bool, at: u64, len: u64) {
        record.add(&mut held(), flow, kind, flushed, (at, len))
    }

    #[test]
    fn places_meet_where_they_share_a_byte() {
        let all = places(&[(40, 8), (10, 5), (15, 5), (12, 2), (100, 1)]);
        assert_eq!(all.0, [(10, 20), (40, 48), (100, 101)]);
        for (first, end, meets) in [
            (0, 10, false),
            (0, 11, true),
            (19, 20, true),
            (20, 40, false),
            (47, 99, true),
            (101, 200, false),
        ] {
            assert_eq!(all.meet(first, end), meets, "{first} {end}");
        }
        assert!(!places(&[]).meet(0, u64::MAX));
    }

    #[test]
    fn writes_are_found_until_they_are_complete() {
        let (record, flow) = (record(), Flow::new());
        let op = issue(&flow);
        add(&record, &flow, Kind::TRANSFER, true, 100, 8);
        let waits = |at| find(&record, &flow, Kind::TRANSFER, at, 8).waits;
        assert!(waits(100) && waits(107) && !waits(108) && !waits(92));
        end(op);
        assert_eq!(
            find(&record, &flow, Kind::TRANSFER, 100, 8),
            Found { empty: true, waits: false, unflushed: false }
        );
    }

    #[test]
    fn writes_that_end_early_are_found_until_a_flush_is_complete() {
        let (record, flow) = (record(), Flow::new());
        let op = issue(&flow);
        add(&record, &flow, Kind::TRANSFER, false, 0, 4);
        end(op);
        let found = || find(&record, &flow, Kind::TRANSFER, 0, 1);
        assert_eq!(found(), Found { empty: false, waits: true, unflushed: true });
        let flush = issue(&flow);
        record.flush(&mut held(), &flow);
        assert_eq!(found(), Found { empty: false, waits: true, unflushed: false });
        end(flush);
        assert!(found().empty);
    }

    #[test]
    fn accumulates_wait_for_puts_alone() {
        let (record, flow) = (record(), Flow::new());
        let _op = issue(&flow);
        add(&record, &flow, Kind::ACCUMULATE, true, 0, 8);
        add(&record, &flow, Kind::TRANSFER, true, 8, 8);
        let waits = |kind, at| find(&record, &flow, kind, at, 8).waits;
        assert!(waits(Kind::TRANSFER, 0) && waits(Kind::TRANSFER, 8));
        assert!(!waits(Kind::ACCUMULATE, 0) && waits(Kind::ACCUMULATE, 8));
    }

    /// However many there are: none is lost, and while there is room none is found where nothing was written.
    #[test]
    fn a_record_is_bounded_and_loses_nothing() {
        let (record, flow) = (record(), Flow::new());
        let _op = issue(&flow);
        let mut random = 1u64;
        let mut written = Vec::new();
        for n in 0..2000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (random >> 40) & !15;
            add(&record, &flow, Kind::TRANSFER, n % 3 == 0, at, 8);
            written.push(at);
            assert!(record.0.get(&mut held()).len() <= MOST);
            for at in written.iter().rev().take(50).chain(written.iter().take(50)) {
                assert!(find(&record, &flow, Kind::TRANSFER, *at, 1).waits, "{at} of {n}");
            }
            let between = written.iter().all(|at| !find(&record, &flow, Kind::TRANSFER, at + 8, 8).waits);
            assert!(n >= MOST || between, "{n}");
        }
    }

    #[test]
    fn puts_side_by_side_are_one_range() {
        let (record, flow) = (record(), Flow::new());
        let _op = issue(&flow);
        (0..10_000).for_each(|n| add(&record, &flow, Kind::TRANSFER, true, 8 * n, 8));
        assert_eq!(record.0.get(&mut held()).len(), 1);
    }

    #[test]
    fn bits_are_of_lanes() {
        let fences = Fences::default();
        fences.batch_waits(&mut held());
        assert!(fences.has_batch(3) && !fences.has_batch(2));
        fences.lane_wrote(3);
        fences.batch_is_sent_if(true, &mut held());
        assert_eq!(fences.lanes(), (0, 8));
        fences.lane_is_clean(&mut held());
        assert_eq!(fences.lanes(), (0, 0));
        [3, 67, 127].into_iter().for_each(|ctx| fences.lane_wrote(ctx));
        assert_eq!(fences.lanes(), (0, set_of(3) | set_of(67) | set_of(127)));
        assert!(fences.beside(67));
    }
}
