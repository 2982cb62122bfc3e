//! The form of what ranks send to aggregators: a header of fixed size for each round that they share, and the list of where the data lies.
//!
//! A list is a sequence of runs: `count` blocks of `len` bytes, `stride` from begin to begin. Its numbers have as many bytes as they need (7 bits each): the distance from the end of the run
//! before, `len`, `count`, and where that is more than 1 the gap between blocks. A list that fits is in the header itself. Regular accesses have few runs in a window.
//!
//! Headers come from peers and are checked: a list names bytes of its window, in order, as many as the header says.

use crate::domains::{Domains, NEVER};

/// Bytes of a header.
pub const HEADER: u64 = 128;
/// Bytes of a list that a header has room for.
pub const INLINE: usize = 96;
/// First number of every header; another one is none.
const MAGIC: u64 = 0x6f78_6663_6f6c_6c31;

/// The announcement of a round.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    magic: u64,
    /// Number of the round, [`NEVER`]: there is no more.
    pub round: u64,
    /// Bytes of data.
    pub bytes: u64,
    /// Bytes of the list; more than [`INLINE`]: it comes as a message of its own.
    pub list: u64,
    pub inline: [u8; INLINE],
}

impl Header {
    /// The last one of a rank.
    pub const LAST: Header = Header { magic: MAGIC, round: NEVER, bytes: 0, list: 0, inline: [0; INLINE] };

    /// Announces a round.
    pub fn new(round: u64, bytes: u64, list: &[u8]) -> Header {
        let mut header = Header { round, bytes, list: list.len() as u64, ..Header::LAST };
        if let Some(room) = header.inline.get_mut(..list.len()) {
            room.copy_from_slice(list);
        }
        header
    }

    /// Whether a peer's header can be: of a round behind `last`, with no more than a window holds.
    pub fn is_valid(&self, last: Option<u64>, image: u64) -> bool {
        // A list has at most four numbers of ten bytes for each byte of data.
        let fits =
            self.bytes <= image && self.bytes > 0 && self.list > 0 && self.list <= image.saturating_mul(40);
        self.magic == MAGIC && (self.round == NEVER || fits && last.is_none_or(|last| self.round > last))
    }

    /// Whether the list is in the header.
    pub fn is_inline(&self) -> bool {
        self.list <= INLINE as u64
    }
}

/// Equal blocks at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Offset of the first one in the file.
    pub offset: u64,
    pub len: u64,
    pub count: u64,
    /// From begin to begin; not less than `len`.
    pub stride: u64,
}

impl Run {
    /// Offset behind its last byte.
    pub fn end(&self) -> u64 {
        self.offset + self.stride * (self.count - 1) + self.len
    }
}

/// A list in the making.
#[derive(Debug, Default)]
pub struct List {
    bytes: Vec<u8>,
    /// End of the last run that was written.
    end: u64,
    run: Option<Run>,
    block: Option<(u64, u64)>,
}

impl List {
    /// Adds a block behind all others.
    pub fn block(&mut self, offset: u64, len: u64) {
        match &mut self.block {
            Some((start, before)) if *start + *before == offset => *before += len,
            _ => {
                let last = self.block.replace((offset, len));
                last.into_iter().for_each(|(offset, len)| self.whole(offset, len));
            }
        }
    }

    /// A block that nothing touches: it continues the run, or begins one.
    fn whole(&mut self, offset: u64, len: u64) {
        if let Some(run) = &mut self.run
            && run.len == len
        {
            let distance = offset - (run.offset + run.stride * (run.count - 1));
            if run.count == 1 || run.stride == distance {
                run.stride = distance;
                run.count += 1;
                return;
            }
        }
        self.flush();
        self.run = Some(Run { offset, len, count: 1, stride: len });
    }

    fn flush(&mut self) {
        let Some(run) = self.run.take() else { return };
        number(&mut self.bytes, run.offset - self.end);
        number(&mut self.bytes, run.len);
        number(&mut self.bytes, run.count);
        if run.count > 1 {
            number(&mut self.bytes, run.stride - run.len);
        }
        self.end = run.end();
    }

    /// Ends a range of the file: no run reaches over its end.
    pub fn cut(&mut self) {
        let last = self.block.take();
        last.into_iter().for_each(|(offset, len)| self.whole(offset, len));
        self.flush();
    }

    /// The list, after a [`List::cut`].
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn read(list: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = list.split_first()?;
        *list = rest;
        let part = (first & 0x7f) as u64;
        value |= part.checked_shl(shift).filter(|shifted| shifted >> shift == part)?;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// The runs of a list, if it names `bytes` bytes of that round and nothing else.
pub fn runs(mut list: &[u8], bytes: u64, domains: &Domains, round: u64, owner: u64) -> Option<Vec<Run>> {
    let mut segments = domains.segments(round, owner);
    let (mut from, mut to) = segments.next()?;
    let (mut all, mut end, mut named) = (Vec::new(), 0u64, 0u64);
    while !list.is_empty() {
        let (offset, len, count) = (read(&mut list)?.checked_add(end)?, read(&mut list)?, read(&mut list)?);
        let gap = if count > 1 { read(&mut list)? } else { 0 };
        let stride = gap.checked_add(len)?;
        let data = len.checked_mul(count).filter(|data| *data > 0)?;
        end = stride.checked_mul(count - 1)?.checked_add(len)?.checked_add(offset)?;
        named = named.checked_add(data).filter(|named| *named <= bytes)?;
        while offset >= to {
            (from, to) = segments.next()?;
        }
        if offset < from || end > to {
            return None;
        }
        all.push(Run { offset, len, count, stride });
    }
    (named == bytes).then_some(all)
}

const _: () = assert!(size_of::<Header>() == HEADER as usize);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listed(blocks: &[(u64, u64)], domains: &Domains, round: u64) -> (Vec<u8>, u64, Vec<u64>) {
        let (mut list, mut all) = (List::default(), vec![]);
        for (from, to) in domains.segments(round, 0) {
            for (offset, len) in blocks {
                let (start, end) = ((*offset).max(from), (offset + len).min(to));
                if start < end {
                    list.block(start, end - start);
                    all.extend(start..end);
                }
            }
            list.cut();
        }
        let bytes = all.len() as u64;
        (list.into_bytes(), bytes, all)
    }

    proptest! {
        #[test]
        fn lists_come_back(gaps in prop::collection::vec((0u64..9, 1u64..9), 1..60), n in 1u32..3, unit in 5u64..40, round in 0u64..3) {
            let mut at = 0;
            let blocks: Vec<_> = gaps.iter().map(|(gap, len)| { at += gap + len; (at - len, *len) }).collect();
            let domains = Domains::new(n, unit, 64);
            let (list, bytes, expected) = listed(&blocks, &domains, round);
            let found = runs(&list, bytes, &domains, round, 0).unwrap();
            let found: Vec<u64> = found.iter().flat_map(|run| {
                (0..run.count).flat_map(move |i| (0..run.len).map(move |b| run.offset + i * run.stride + b))
            }).collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(runs(&list, bytes + 1, &domains, round, 0), None);
            if !list.is_empty() {
                prop_assert_eq!(runs(&list[..list.len() - 1], bytes, &domains, round, 0), None);
                prop_assert_eq!(runs(&list, bytes, &domains, round + 1, 0), None);
            }
        }

        #[test]
        fn nonsense_is_refused_or_in_the_window(list in prop::collection::vec(any::<u8>(), 0..40), bytes in 0u64..64) {
            let domains = Domains::new(2, 16, 64);
            for run in runs(&list, bytes, &domains, 1, 1).into_iter().flatten() {
                for block in 0..run.count {
                    let offset = run.offset + block * run.stride;
                    prop_assert_eq!((domains.owner(offset), domains.round(offset)), (1, 1));
                    prop_assert!(domains.in_image(offset) + run.len <= domains.image_bytes());
                }
            }
        }
    }

    #[test]
    fn regular_lists_are_short() {
        let domains = Domains::new(1, 1 << 20, 1 << 20);
        let blocks: Vec<_> = (0..10_000).map(|i| (i * 100, 8)).collect();
        let (list, bytes, _) = listed(&blocks, &domains, 0);
        assert!(list.len() <= 8 && bytes == 80_000);
        let header = Header::new(4, bytes, &list);
        assert!(header.is_inline() && header.is_valid(Some(3), 1 << 20));
        assert!(!header.is_valid(Some(4), 1 << 20) && !header.is_valid(None, 10));
        assert!(Header::LAST.is_valid(Some(9), 1));
    }
}
