//! An aggregator's image of a round: which bytes of it have data, as types for messages and as pieces for the file.
//!
//! Each rank's runs become a type on the image, so its message is packed or unpacked there at once. The pieces of the transfer come from a bit for each byte: several ranks' runs,
//! however they interleave or overlap, are as few pieces as can be, and bytes that nobody names are in none.

use crate::domains::Domains;
use crate::wire::Run;
use oxmpi_datatype::TypeRef;
use oxmpi_datatype::build::{Part, hvector, structure};
use oxmpi_mca::Status;

/// The type of a rank's data in the image, of which memory holds what lies at `base` and behind.
pub fn type_of(runs: &[Run], domains: &Domains, base: u64, byte: &TypeRef) -> Result<TypeRef, Status> {
    let rows = runs.iter().filter(|run| run.count > 1);
    let rows: Vec<TypeRef> =
        rows.map(|run| hvector(run.count, run.len, run.stride as i64, byte)).collect::<Result<_, _>>()?;
    let mut next = rows.iter();
    let parts = runs.iter().filter_map(|run| {
        let disp = (domains.in_image(run.offset) - base) as i64;
        match run.count {
            1 => Some(Part { disp, count: run.len, old: byte }),
            _ => next.next().map(|old| Part { disp, count: 1, old }),
        }
    });
    structure(&parts.collect::<Vec<_>>())
}

/// Bytes that lie together in the file and in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Offset in the file.
    pub offset: u64,
    /// Place in the memory of the image.
    pub at: u64,
    pub len: u64,
}

/// A bit for each byte of the part of an image that has data: an access of a few bytes costs neither bits nor memory for a whole image.
pub struct Covered {
    /// Where the part begins; a multiple of 64.
    base: u64,
    words: Vec<u64>,
}

impl Covered {
    /// The bytes of all those runs.
    pub fn of<'a>(runs: impl Iterator<Item = &'a Run> + Clone, domains: &Domains) -> Covered {
        let place = |run: &Run| {
            let first = domains.in_image(run.offset);
            (first, first + run.end() - run.offset)
        };
        let hull = |(first, end): (u64, u64), run| (first.min(place(run).0), end.max(place(run).1));
        let (first, end) = runs.clone().fold((u64::MAX, 0), hull);
        let base = first.min(end) & !63;
        let mut covered = Covered { base, words: vec![0; (end - base).div_ceil(64) as usize + 1] };
        for run in runs {
            let first = place(run).0 - base;
            for block in 0..run.count {
                covered.set(first + block * run.stride, run.len);
            }
        }
        covered
    }

    /// Where in the image the part begins that has data.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Bytes of memory that hold it.
    pub fn bytes(&self) -> u64 {
        (self.words.len() as u64 - 1) * 64
    }

    fn set(&mut self, from: u64, len: u64) {
        let (mut at, end) = (from, from + len);
        while at < end {
            let (word, bit) = ((at / 64) as usize, at % 64);
            let bits = (64 - bit).min(end - at);
            self.words[word] |= (u64::MAX >> (64 - bits)) << bit;
            at += bits;
        }
    }

    /// The first byte at `from` or behind whose bit is `bit`; the end of all words if there is none.
    fn find(&self, from: u64, bit: bool) -> u64 {
        let flip = |word: u64| if bit { word } else { !word };
        let (mut word, inside) = ((from / 64) as usize, from % 64);
        let end = self.words.len();
        if word >= end {
            return from;
        }
        let mut left = flip(self.words[word]) & u64::MAX << inside;
        while left == 0 {
            word += 1;
            if word == end {
                return end as u64 * 64;
            }
            left = flip(self.words[word]);
        }
        word as u64 * 64 + left.trailing_zeros() as u64
    }

    /// The bytes that were added, in the order of the file.
    pub fn extents(&self, domains: &Domains, round: u64, owner: u64) -> Vec<Extent> {
        let (mut all, mut at) = (Vec::<Extent>::new(), 0);
        let end = self.words.len() as u64 * 64;
        loop {
            let from = self.find(at, true);
            if from >= end {
                return all;
            }
            at = self.find(from, false);
            let mut from = from;
            while from < at {
                let (offset, together) = domains.in_file(round, owner, self.base + from);
                let len = together.min(at - from);
                all.push(Extent { offset, at: from, len });
                from += len;
            }
        }
    }
}

/// The offset of the first byte that was not moved, where `moved` bytes of those were; `None`: all were.
pub fn first_missing(extents: &[Extent], moved: u64) -> Option<u64> {
    let mut left = moved;
    for piece in extents {
        if left < piece.len {
            return Some(piece.offset + left);
        }
        left -= piece.len;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_datatype::{Base, TypeDesc};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_are_the_bytes_that_were_added(blocks in prop::collection::vec((0u64..100, 1u64..30), 0..9), n in 1u32..3, unit in 10u64..80) {
            let domains = Domains::new(n, unit, 200);
            let image = domains.image_bytes();
            let mut model = vec![false; image as usize];
            let mut runs = vec![];
            for (at, len) in blocks {
                let (offset, together) = domains.in_file(2, 0, at.min(image - 1));
                let at = domains.in_image(offset);
                let len = len.min(together);
                runs.push(Run { offset, len, count: 1, stride: len });
                (at..at + len).for_each(|byte| model[byte as usize] = true);
            }
            let covered = Covered::of(runs.iter(), &domains);
            let mut found = vec![false; model.len()];
            let mut last = None;
            for piece in covered.extents(&domains, 2, 0) {
                prop_assert!(piece.at + piece.len <= covered.bytes());
                for i in 0..piece.len {
                    let at = covered.base() + piece.at + i;
                    prop_assert_eq!(domains.in_image(piece.offset + i), at);
                    prop_assert!(!found[at as usize] && last.is_none_or(|last| last < piece.offset + i));
                    last = Some(piece.offset + i);
                    found[at as usize] = true;
                }
            }
            prop_assert_eq!(found, model);
        }
    }

    #[test]
    fn a_few_bytes_of_a_large_image_take_a_few_words() {
        let domains = Domains::new(1, 1 << 20, 8 << 20);
        let run = Run { offset: (5 << 20) + 100, len: 20, count: 3, stride: 50 };
        let covered = Covered::of([run].iter(), &domains);
        assert!(covered.bytes() <= 256 && covered.words.len() <= 5);
        static BYTE: TypeDesc = match TypeDesc::basic(Base::BYTE) {
            Some(desc) => desc,
            None => panic!("a basic type"),
        };
        // SAFETY: it lives for ever.
        let byte = unsafe { TypeRef::retain(&BYTE) };
        let kind = type_of(&[run], &domains, covered.base(), &byte).expect("a type");
        assert_eq!((kind.packed, covered.extents(&domains, 0, 0).len()), (60, 3));
        assert!(Covered::of([].iter(), &domains).extents(&domains, 0, 0).is_empty());
    }

    #[test]
    fn the_end_of_the_file_is_where_bytes_are_missing() {
        let piece = |offset, len| Extent { offset, at: 0, len };
        let pieces = [piece(10, 5), piece(20, 5)];
        let ends = [(0, Some(10)), (4, Some(14)), (5, Some(20)), (9, Some(24)), (10, None)];
        for (moved, missing) in ends {
            assert_eq!(first_missing(&pieces, moved), missing);
        }
    }
}
