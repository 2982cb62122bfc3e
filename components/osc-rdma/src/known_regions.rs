//! An origin's knowledge of the memory that a rank has attached to a dynamic window: its regions by address, and blocks cut by them.

use crate::layout::Block;
use crate::wire::{Head, Region};
use oxmpi_osc_support::{RemoteRegistration, registration_by};
use std::collections::BTreeMap;

/// The regions of a rank that an origin knows, by their first address.
pub struct KnownRegions {
    head: Head,
    by_base: BTreeMap<u64, Span>,
}

/// A region as it is reached by the transport to its rank.
#[derive(Clone, Copy)]
pub struct Span {
    pub base: u64,
    pub bytes: u64,
    pub registration: RemoteRegistration,
}

impl Span {
    /// Whether all of a block lies in it.
    pub fn has(&self, at: u64, len: u64) -> bool {
        at.checked_sub(self.base)
            .and_then(|offset| offset.checked_add(len))
            .is_some_and(|end| end <= self.bytes)
    }
}

impl Default for KnownRegions {
    fn default() -> KnownRegions {
        // A version that no list has as long as it does not change.
        KnownRegions { head: Head(u64::MAX), by_base: BTreeMap::new() }
    }
}

impl KnownRegions {
    pub fn head(&self) -> Head {
        self.head
    }

    /// Takes what was read: all of the list (`anew`), or what is behind what is known.
    pub fn add(&mut self, head: Head, anew: bool, regions: &[Region], module: Option<u64>) {
        if anew {
            self.by_base.clear();
        }
        self.head = head;
        for Region { base, bytes, registrations } in regions {
            let registration = module
                .and_then(|module| registration_by(registrations, module))
                .copied()
                .unwrap_or(RemoteRegistration::NONE);
            self.by_base.insert(*base, Span { base: *base, bytes: *bytes, registration });
        }
    }

    /// The regions that blocks lie in; `None`: some byte is in none.
    pub fn spans(&self, blocks: &[Block]) -> Option<Vec<Span>> {
        let mut all: Vec<Span> = Vec::new();
        for block in blocks {
            let (mut at, mut left) = (block.at, block.len);
            while left > 0 {
                let (_, span) = self.by_base.range(..=at).next_back()?;
                let inside = (at - span.base < span.bytes).then(|| span.base + span.bytes - at)?;
                if !all.iter().any(|other| other.base == span.base) {
                    all.push(*span);
                }
                let len = left.min(inside);
                (at, left) = (at.wrapping_add(len), left - len);
            }
        }
        Some(all)
    }
}

/// Blocks cut where one region ends and the next begins: memory that is attached in pieces is one to who operates on it. `None`: some of it
/// is in none of them.
pub fn cut(spans: &[Span], blocks: &[Block]) -> Option<Vec<Block>> {
    let mut all = Vec::with_capacity(blocks.len());
    for block in blocks {
        let mut rest = *block;
        while rest.len > 0 {
            let span =
                spans.iter().find(|span| rest.at.checked_sub(span.base).is_some_and(|at| at < span.bytes))?;
            let len = rest.len.min(span.base + span.bytes - rest.at);
            all.push(Block { len, ..rest });
            rest = Block { at: rest.at.wrapping_add(len), len: rest.len - len, packed: rest.packed + len };
        }
    }
    Some(all)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use oxmpi_osc_support::TRANSPORTS;

    fn region(base: u64, bytes: u64) -> Region {
        Region { base, bytes, registrations: [RemoteRegistration::NONE; TRANSPORTS] }
    }
    fn block(at: u64, len: u64, packed: u64) -> Block {
        Block { at, len, packed }
    }

    #[test]
    fn a_region_has_what_lies_in_it() {
        let span = Span { base: 1000, bytes: 100, registration: RemoteRegistration::NONE };
        assert!(span.has(1000, 100) && span.has(1099, 1) && span.has(1100, 0));
        assert!(!span.has(999, 1) && !span.has(1000, 101) && !span.has(u64::MAX, 2));
    }

    #[test]
    fn blocks_are_cut_between_regions() {
        let mut known = KnownRegions::default();
        known.add(Head(3), true, &[region(200, 50), region(100, 100), region(300, 10), region(400, 0)], None);
        let blocks = [block(150, 80, 0), block(305, 5, 80)];
        let spans = known.spans(&blocks).expect("attached");
        assert_eq!(spans.iter().map(|span| span.base).collect::<Vec<_>>(), [100, 200, 300]);
        let pieces = vec![block(150, 50, 0), block(200, 30, 50), block(305, 5, 80)];
        assert_eq!(cut(&spans, &blocks), Some(pieces));
        for outside in
            [block(240, 11, 0), block(99, 1, 0), block(305, 6, 0), block(400, 1, 0), block(u64::MAX, 1, 0)]
        {
            assert!(known.spans(&[outside]).is_none(), "{outside:?}");
            assert_eq!(cut(&spans, &[outside]), None, "{outside:?}");
        }
    }
}
