//! Whether the displacements of a layout rise, from the description of the type alone: each list of items is looked at once, however many copies it has.
//!
//! Of each item follows where its first block begins, where its last one does, and where it ends; a list rises if each of its items does and begins where the one before it has
//! ended. Loops share bodies, so what is known of a body is kept.

use core::ops::Range;
use oxmpi_datatype::TypeDesc;
use std::collections::HashMap;

/// How the blocks of a layout follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    /// One begins before one that comes earlier.
    Falls,
    /// None does, but bytes come twice.
    Overlaps,
    /// Each begins where the one before ends, or behind.
    Rises,
}

/// A list of items: order, begin of the first and the last block, end of the one that ends last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub order: Order,
    pub first: i128,
    pub last: i128,
    pub end: i128,
}

/// The order of two neighbors.
fn order(before: &Span, after_first: i128) -> Order {
    if after_first >= before.end {
        Order::Rises
    } else if after_first >= before.last {
        Order::Overlaps
    } else {
        Order::Falls
    }
}

impl Span {
    /// `count` copies, `stride` apart.
    fn repeated(self, count: u64, stride: i64) -> Span {
        let (count, stride) = (count as i128, stride as i128);
        if count <= 1 {
            return self;
        }
        let by = (count - 1) * stride;
        let order = self.order.min(order(&self, self.first + stride));
        Span { order, last: self.last + by, end: self.end + by.max(0), ..self }
    }

    fn moved(self, by: i64) -> Span {
        let by = by as i128;
        Span { first: self.first + by, last: self.last + by, end: self.end + by, ..self }
    }

    fn then(self, next: Span) -> Span {
        let order = self.order.min(next.order).min(order(&self, next.first));
        Span { order, first: self.first, last: next.last, end: self.end.max(next.end) }
    }
}

/// The span of one element; `None`: it has no data.
pub(crate) fn span(desc: &TypeDesc) -> Option<Span> {
    Known { desc, bodies: HashMap::new() }.list(0..desc.top())
}

struct Known<'a> {
    desc: &'a TypeDesc,
    bodies: HashMap<(u32, u32), Option<Span>>,
}

impl Known<'_> {
    fn list(&mut self, items: Range<usize>) -> Option<Span> {
        let mut all: Option<Span> = None;
        for item in items {
            let Some(span) = self.item(item) else { continue };
            all = Some(all.map_or(span, |before| before.then(span)));
        }
        all
    }

    fn item(&mut self, item: usize) -> Option<Span> {
        let run = *self.desc.runs().get(item)?;
        let loops =
            self.desc.nest().get(item).filter(|nest| nest.items > 0).map(|nest| (nest.first, nest.items));
        let one = match loops {
            None => Some(Span { order: Order::Rises, first: 0, last: 0, end: run.len as i128 }),
            Some(body) => match self.bodies.get(&body) {
                Some(known) => *known,
                None => {
                    let found = self.list(body.0 as usize..body.0 as usize + body.1 as usize);
                    self.bodies.insert(body, found);
                    found
                }
            },
        };
        Some(one?.repeated(run.count, run.stride).moved(run.disp))
    }
}
