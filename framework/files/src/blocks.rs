//! The blocks of a range of packed data, one after the other: an iterator over a type's layout that keeps a small store.
//!
//! `oxmpi_datatype::blocks` tells blocks to a closure and starts at any byte by a few divisions. Here it fills a store of at most [`STORE`] blocks at a time. How many
//! bytes of data one filling asks for follows what the last one gave, so little is walked in vain with blocks of any length. Blocks that touch are told as one as far as they
//! are in one filling.

use oxmpi_datatype::TypeDesc;

/// Most blocks that are kept.
const STORE: usize = 256;
/// Bytes that the first filling asks for, and the most that one does.
const FIRST: u64 = 4096;
const MOST: u64 = 1 << 26;

/// Blocks as (displacement, length), in the order of the packed data. Lengths are not 0.
pub struct Blocks<'a> {
    desc: &'a TypeDesc,
    /// Packed byte that the next filling begins at, and where the range ends.
    at: u64,
    end: u64,
    /// Bytes that the next filling asks for.
    step: u64,
    store: Vec<(i64, u64)>,
    next: usize,
}

impl<'a> Blocks<'a> {
    /// The blocks of packed bytes `from` to `from + len` of as many elements as that needs. Displacements of those must be numbers of `i64`
    /// ([`View::end`](crate::View::end) tells for views); a type without data has no blocks.
    pub fn new(desc: &'a TypeDesc, from: u64, len: u64) -> Blocks<'a> {
        let end = if desc.packed == 0 { from } else { from.saturating_add(len) };
        Blocks { desc, at: from, end, step: FIRST, store: Vec::new(), next: 0 }
    }

    #[cold]
    #[inline(never)]
    fn fill(&mut self) {
        self.store.clear();
        self.next = 0;
        if let Some((disp, _)) = self.desc.one_block(1)
            && self.desc.extent == self.desc.packed as i64
        {
            // Elements that continue one another are one block.
            self.store.push((disp + self.at as i64, self.end - self.at));
            self.at = self.end;
            return;
        }
        let len = self.step.min(self.end - self.at);
        let count = (self.at + len).div_ceil(self.desc.packed);
        let (store, mut told) = (&mut self.store, 0);
        oxmpi_datatype::blocks(self.desc, count, self.at, len, |disp, len| {
            let full = store.len() == STORE;
            match store.last_mut() {
                Some(last) if last.0.wrapping_add_unsigned(last.1) == disp => last.1 += len,
                _ if full => return false,
                _ => store.push((disp, len)),
            }
            told += len;
            true
        });
        self.at += told;
        self.step = match self.store.len() {
            STORE => (told + told / 4).max(1),
            few if few < STORE / 2 => (self.step * 2).min(MOST),
            _ => self.step,
        };
    }
}

impl Iterator for Blocks<'_> {
    type Item = (i64, u64);

    #[inline]
    fn next(&mut self) -> Option<(i64, u64)> {
        if self.next == self.store.len() {
            if self.at >= self.end {
                return None;
            }
            self.fill();
        }
        let block = self.store.get(self.next).copied();
        self.next += 1;
        block
    }
}
