//! The normal form of layouts, and how descriptors hold it.
//!
//! A layout is a sequence of blocks in the order of the type map. Its **normal form** is made in three
//! steps, each a function of what the one before gave:
//!
//! 1. blocks that touch (one ends where the next begins) are one block;
//! 2. from the front, blocks of equal length at equal distances are one run, as long as possible;
//! 3. up to [`PERIOD`] items in a row that come again, all moved by the same distance, are one loop, and
//!    so on with the loops, until nothing comes again.
//!
//! So equal layouts are equally fast whichever constructors made them: a box of an array is a loop of
//! runs from subarray, from a vector of vectors, and from a list of all its blocks. (Where copies of
//! several blocks touch one another, a list may be cut at another place of the period than a nest.)
//!
//! [`Items`] computes it without looking at every block. A run of many blocks is pushed as four single
//! ones, after which the rest can only continue what the fourth began; the last block stays outside
//! (`pending`) until a next one is known not to touch it. Many copies of a list are one loop from the
//! start. Where the last block of a copy touches the first of the next, the loop is turned by one block:
//! `AB AB AB` with `B` touching `A` is `A`, twice the merged `BA`, `B`. Only where blocks touch across
//! the ends of loops they stay apart; no byte is in another place for that.
//!
//! A list of short blocks of one length that has no pattern is kept as the places of its blocks, too.
//!
//! **Size.** An item describes any number of copies, so regular types cost the same whatever their
//! counts. Loops have at least two copies and each doubles the data, so no nest is deeper than 63. At
//! most [`MAX_ITEMS`] items are written out; beyond, constructors answer NOT_SUPPORTED. Equal bodies
//! are shared.
//!
//! Sums of displacements wrap on their way; the bounds of all copies were found to be numbers before
//! (`build.rs`), so their results do not.

use crate::blocks;
use crate::desc::{Nest, Run, TypeDesc};
use oxmpi_mca::Status;
use std::collections::HashMap;
use std::sync::Arc;

/// Most items of one type.
pub const MAX_ITEMS: usize = 1 << 24;
/// Most items in a row that are looked at for coming again.
const PERIOD: usize = 8;
/// So few items are searched from the front; more get the sums that a binary search needs.
const FEW: usize = 8;
/// Items compared before two bodies count as different.
const PATIENCE: u32 = 4096;

/// Blocks at equal distances, or copies of a body: then `len` is the bytes of data of one copy.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub run: Run,
    pub body: Option<Arc<[Item]>>,
}

impl Item {
    fn packed(&self) -> u64 {
        self.run.len * self.run.count
    }

    fn moved(&self, by: i64) -> Item {
        Item { run: Run { disp: self.run.disp.wrapping_add(by), ..self.run }, body: self.body.clone() }
    }

    /// Equal but for the place.
    fn is_like(&self, other: &Item, patience: &mut u32) -> bool {
        let (a, b) = (&self.run, &other.run);
        a.len == b.len
            && a.count == b.count
            && (a.count == 1 || a.stride == b.stride)
            && same_body(&self.body, &other.body, patience)
    }
}

fn same_body(a: &Option<Arc<[Item]>>, b: &Option<Arc<[Item]>>, patience: &mut u32) -> bool {
    let (a, b) = match (a, b) {
        (None, None) => return true,
        (Some(a), Some(b)) if Arc::ptr_eq(a, b) => return true,
        (Some(a), Some(b)) if a.len() == b.len() => (a, b),
        _ => return false,
    };
    a.iter().zip(b.iter()).all(|(a, b)| {
        *patience = patience.saturating_sub(1);
        *patience > 0 && a.run.disp == b.run.disp && a.is_like(b, patience)
    })
}

/// Where the last block or copy of a run begins.
fn last_of(run: &Run) -> i64 {
    run.disp.wrapping_add((run.count as i64 - 1).wrapping_mul(run.stride))
}

/// A layout in the making.
#[derive(Default)]
pub(crate) struct Items {
    done: Vec<Item>,
    /// The last block: start and length.
    pending: Option<(i64, u64)>,
}

impl Items {
    /// `count` copies of `items` (in normal form), `step` apart, moved by `disp`.
    pub fn repeat(&mut self, disp: i64, items: &[Item], count: u64, step: i64) -> Result<(), Status> {
        let (Some(first), Some(last)) = (items.first(), items.last()) else { return Ok(()) };
        match count {
            0 => return Ok(()),
            1 => return items.iter().try_for_each(|item| self.item(item.moved(disp))),
            _ => {}
        }
        if let [one] = items {
            let run = Run { disp: disp.wrapping_add(one.run.disp), ..one.run };
            if run.count == 1 && one.body.is_none() {
                return self.run(Run { count, stride: step, ..run });
            }
            // The copies continue one another.
            if run.stride.checked_mul(run.count as i64) == Some(step) {
                let body = one.body.clone();
                return self.item(Item { run: Run { count: run.count * count, ..run }, body });
            }
        }
        let touches =
            last_of(&last.run).wrapping_add(last.run.len as i64) == step.wrapping_add(first.run.disp);
        if touches && first.body.is_none() && last.body.is_none() {
            return self.repeat_touching(disp, items, count, step);
        }
        let start = first.run.disp;
        let run = Run {
            disp: disp.wrapping_add(start),
            len: items.iter().map(Item::packed).sum(),
            count,
            stride: step,
        };
        let body = items.iter().map(|item| item.moved(start.wrapping_neg())).collect();
        self.item(Item { run, body: Some(body) })
    }

    /// The same where the last block of a copy touches the first one of the next.
    fn repeat_touching(&mut self, disp: i64, items: &[Item], count: u64, step: i64) -> Result<(), Status> {
        let (first, last) = (items[0].run, items[items.len() - 1].run);
        let middle = without_ends(items);
        let mut turned = Items::default();
        middle.iter().try_for_each(|item| turned.item(item.clone()))?;
        turned.block(last_of(&last), last.len + first.len)?;
        self.block(disp.wrapping_add(first.disp), first.len)?;
        self.repeat(disp, &turned.finish()?, count - 1, step)?;
        let end = disp.wrapping_add(step.wrapping_mul(count as i64 - 1));
        middle.iter().try_for_each(|item| self.item(item.moved(end)))?;
        self.block(end.wrapping_add(last_of(&last)), last.len)
    }

    fn item(&mut self, item: Item) -> Result<(), Status> {
        let Some(body) = &item.body else { return self.run(item.run) };
        if item.run.count == 1 {
            return body.iter().try_for_each(|inner| self.item(inner.moved(item.run.disp)));
        }
        self.flush()?;
        if let Some(last) = self.done.last_mut()
            && last.run.len == item.run.len
            && last.run.stride == item.run.stride
            && last_of(&last.run).wrapping_add(last.run.stride) == item.run.disp
            && last.body.is_some()
            && same_body(&last.body, &item.body, &mut { PATIENCE })
        {
            last.run.count += item.run.count;
            return Ok(());
        }
        self.push(item)
    }

    pub fn run(&mut self, run: Run) -> Result<(), Status> {
        if run.count > 1 && run.stride == run.len as i64 {
            return self.block(run.disp, run.len * run.count);
        }
        for i in 0..run.count.min(4) as i64 {
            self.block(run.disp.wrapping_add(run.stride.wrapping_mul(i)), run.len)?;
        }
        if run.count > 4 {
            // Of the four at least the last three are one run by now or begin one.
            self.flush()?;
            let last = &mut self.done.last_mut().ok_or(Status::INTERNAL)?.run;
            debug_assert_eq!((last.len, last.stride), (run.len, run.stride));
            last.count += run.count - 5;
            self.pending = Some((last_of(&run), run.len));
        }
        Ok(())
    }

    fn block(&mut self, disp: i64, len: u64) -> Result<(), Status> {
        if let Some((start, before)) = &mut self.pending
            && start.wrapping_add(*before as i64) == disp
        {
            *before += len;
            return Ok(());
        }
        self.flush()?;
        self.pending = Some((disp, len));
        Ok(())
    }

    /// Puts the pending block behind the others.
    fn flush(&mut self) -> Result<(), Status> {
        let Some((disp, len)) = self.pending.take() else { return Ok(()) };
        if let Some(last) = self.done.last_mut().filter(|last| last.body.is_none() && last.run.len == len) {
            let last = &mut last.run;
            if last.count == 1 {
                last.stride = disp.wrapping_sub(last.disp);
                last.count = 2;
                return Ok(());
            }
            if last_of(last).wrapping_add(last.stride) == disp {
                last.count += 1;
                return Ok(());
            }
        }
        self.push(Item { run: Run { disp, len, count: 1, stride: len as i64 }, body: None })
    }

    fn push(&mut self, item: Item) -> Result<(), Status> {
        if self.done.len() == MAX_ITEMS {
            return Err(Status::NOT_SUPPORTED);
        }
        self.done.push(item);
        Ok(())
    }

    pub fn finish(mut self) -> Result<Vec<Item>, Status> {
        self.flush()?;
        let mut items = self.done;
        loop {
            let before = items.len();
            for period in 1..=PERIOD {
                items = fold(items, period);
            }
            if items.len() == before {
                return Ok(items);
            }
        }
    }
}

/// All blocks but the first and the last one; both ends are runs.
fn without_ends(items: &[Item]) -> Vec<Item> {
    let mut middle = items.to_vec();
    let last = middle.len() - 1;
    middle[last].run.count -= 1;
    let first = &mut middle[0].run;
    if first.count > 0 {
        first.disp = first.disp.wrapping_add(first.stride);
        first.count -= 1;
    }
    middle.retain(|item| item.run.count > 0);
    middle
}

/// How often the `period` items at the front come, one copy after the other.
fn copies_at(items: &[Item], period: usize) -> (usize, i64) {
    let Some(next) = items.get(period) else { return (1, 0) };
    let step = next.run.disp.wrapping_sub(items[0].run.disp);
    let mut copies = 1;
    let mut patience = PATIENCE;
    while let Some(copy) = items.get(copies * period..(copies + 1) * period) {
        let before = &items[(copies - 1) * period..];
        let again = before
            .iter()
            .zip(copy)
            .all(|(a, b)| b.run.disp.wrapping_sub(a.run.disp) == step && a.is_like(b, &mut patience));
        if !again {
            break;
        }
        copies += 1;
        patience = PATIENCE;
    }
    (copies, step)
}

/// Makes loops of what comes again after `period` items.
fn fold(items: Vec<Item>, period: usize) -> Vec<Item> {
    if items.len() < 2 * period {
        return items;
    }
    let mut folded = Vec::new();
    let mut at = 0;
    while at < items.len() {
        let (copies, step) = copies_at(&items[at..], period);
        if copies == 1 {
            folded.push(items[at].clone());
            at += 1;
            continue;
        }
        let copy = &items[at..at + period];
        let start = copy[0].run.disp;
        let run =
            Run { disp: start, len: copy.iter().map(Item::packed).sum(), count: copies as u64, stride: step };
        let body = copy.iter().map(|item| item.moved(start.wrapping_neg())).collect();
        folded.push(Item { run, body: Some(body) });
        at += copies * period;
    }
    folded
}

/// A layout as descriptors hold it.
#[derive(Default)]
pub(crate) struct Store {
    pub runs: Vec<Run>,
    pub nest: Vec<Nest>,
    pub top: u64,
    pub places: Vec<i32>,
}

impl Store {
    pub fn of(items: &[Item]) -> Result<Store, Status> {
        let mut store = Store { top: items.len() as u64, ..Store::default() };
        if items.len() <= FEW && items.iter().all(|item| item.body.is_none()) {
            store.runs = items.iter().map(|item| item.run).collect();
            return Ok(store);
        }
        store.add(items, &mut HashMap::new())?;
        store.places = places(items, store.runs.len()).unwrap_or_default();
        Ok(store)
    }

    /// Writes items out one behind the other, and their bodies behind them; returns where.
    fn add(&mut self, items: &[Item], known: &mut HashMap<*const Item, u32>) -> Result<u32, Status> {
        let first = self.runs.len();
        if first + items.len() > MAX_ITEMS {
            return Err(Status::NOT_SUPPORTED);
        }
        let mut end = 0;
        for item in items {
            end += item.packed();
            self.runs.push(item.run);
            self.nest.push(Nest { end, first: 0, items: 0 });
        }
        for (i, item) in items.iter().enumerate() {
            let Some(body) = &item.body else { continue };
            let at = match known.get(&body.as_ptr()) {
                Some(at) => *at,
                None => {
                    let at = self.add(body, known)?;
                    known.insert(body.as_ptr(), at);
                    at
                }
            };
            let nest = &mut self.nest[first + i];
            (nest.first, nest.items) = (at, body.len() as u32);
        }
        Ok(first as u32)
    }
}

/// Lists of items with fewer blocks than this, on average, are kept as blocks, too.
const SHORT_RUN: u64 = 4;

/// The blocks of a layout without a pattern, one by one: what an item says of two or three of them is longer than to
/// name them, and takes longer to follow. Only where they are short and of one length.
fn places(items: &[Item], written: usize) -> Option<Vec<i32>> {
    fn first_block(items: &[Item]) -> Option<u64> {
        let first = items.first()?;
        first.body.as_ref().map_or(Some(first.run.len), |body| first_block(body))
    }
    fn list(items: &[Item], origin: i64, len: u64, places: &mut Vec<i32>) -> Option<()> {
        for Item { run, body } in items {
            for copy in 0..run.count as i64 {
                let disp = origin.wrapping_add(run.disp).wrapping_add(copy.wrapping_mul(run.stride));
                match body {
                    Some(body) => list(body, disp, len, places)?,
                    None if run.len == len => places.push(i32::try_from(disp).ok()?),
                    None => return None,
                }
            }
        }
        Some(())
    }
    let len = first_block(items)?;
    let bytes = items.iter().try_fold(0u64, |n, item| n.checked_add(item.packed()))?;
    if !blocks::LISTED.contains(&len) || bytes / len / SHORT_RUN >= written as u64 {
        return None;
    }
    let mut places = Vec::with_capacity((bytes / len) as usize);
    list(items, 0, len, &mut places)?;
    Some(places)
}

/// The items of a descriptor.
pub(crate) fn items_of(desc: &TypeDesc) -> Vec<Item> {
    fn list(
        desc: &TypeDesc,
        at: core::ops::Range<usize>,
        known: &mut HashMap<u32, Arc<[Item]>>,
    ) -> Vec<Item> {
        let (runs, nest) = (desc.runs(), desc.nest());
        let item = |i: usize| {
            let body = nest.get(i).filter(|n| n.items > 0).map(|n| {
                if let Some(body) = known.get(&n.first) {
                    return body.clone();
                }
                let inner = n.first as usize..(n.first + n.items) as usize;
                let body: Arc<[Item]> = list(desc, inner, known).into();
                known.insert(n.first, body.clone());
                body
            });
            Item { run: runs[i], body }
        };
        at.map(item).collect()
    }
    list(desc, 0..desc.top(), &mut HashMap::new())
}
