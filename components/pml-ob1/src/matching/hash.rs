//! The `hash` index of posted receives: a chain for each pattern.
//!
//! There are four classes of patterns, by which of source and tag are wildcards, and a message can
//! fit one pattern of each: its own source and tag with the wildcards left out. So an arrival looks
//! at most four times, once in a program without wildcards, and among the oldest receives of the
//! chains it finds, the stamp says which was posted first.

use super::entry::{Index, Key, Node, Pattern, Posted};
use super::table::Table;
use core::ptr::{NonNull, null_mut};

/// Receives with the same pattern, oldest first.
#[derive(Clone, Copy)]
struct ReceiveChain {
    head: *mut Posted,
    tail: *mut Posted,
}

impl Default for ReceiveChain {
    fn default() -> ReceiveChain {
        ReceiveChain { head: null_mut(), tail: null_mut() }
    }
}

/// Masks of the four classes.
const CLASSES: [u64; 4] = [!0, Pattern::TAG, 1 << 63 | Pattern::SOURCE, 1 << 63];

/// Gives the class of a pattern, an index of [`CLASSES`]: bit 0 says that its source is a wildcard, bit 1 that its tag
/// is.
fn class_of(pattern: Pattern) -> usize {
    pattern.source().is_none() as usize | (!pattern.has_tag() as usize) << 1
}

/// The `hash` index of posted receives: a table of chains by pattern and class.
pub struct PostedHash {
    table: Table<ReceiveChain>,
    /// Receives of each class.
    counts: [usize; 4],
}

impl PostedHash {
    /// Makes an index without receives.
    pub fn new() -> PostedHash {
        PostedHash { table: Table::new(), counts: [0; 4] }
    }

    /// Finds the chain whose oldest receive a message matches: its place in the table, and its class. `None`: no
    /// receive fits.
    #[inline(always)]
    fn chain_for(&mut self, key: Key) -> Option<(usize, usize)> {
        let mut best = None;
        let mut oldest = u64::MAX;
        for (class, mask) in CLASSES.iter().enumerate() {
            if self.counts[class] == 0 {
                continue;
            }
            if let Some(at) = self.table.find(key & mask, class as u32 + 1) {
                // SAFETY: a chain in the table is not empty, and its nodes are valid.
                let stamp = unsafe { (*self.table.at(at).head).stamp };
                if stamp < oldest {
                    (best, oldest) = (Some((at, class)), stamp);
                }
            }
        }
        best
    }
}

impl Index<Posted> for PostedHash {
    unsafe fn push(&mut self, node: NonNull<Posted>) {
        // SAFETY: valid by the caller's promise; a tail that is not null is a node of the chain.
        unsafe {
            let pattern = node.as_ref().pattern;
            let class = class_of(pattern);
            let chain = self.table.make(pattern.want & pattern.mask, class as u32 + 1);
            *Posted::link(node.as_ptr()) = null_mut();
            if chain.head.is_null() {
                chain.head = node.as_ptr();
            } else {
                *Posted::link(chain.tail) = node.as_ptr();
            }
            chain.tail = node.as_ptr();
            self.counts[class] += 1;
        }
    }

    fn find(&mut self, key: Key, take: bool) -> Option<NonNull<Posted>> {
        let (at, class) = self.chain_for(key)?;
        let chain = self.table.at(at);
        let node = NonNull::new(chain.head)?;
        if take {
            // SAFETY: a node of the chain.
            chain.head = unsafe { *Posted::link(node.as_ptr()) };
            if chain.head.is_null() {
                self.table.remove(at);
            }
            self.counts[class] -= 1;
        }
        Some(node)
    }

    unsafe fn remove(&mut self, node: NonNull<Posted>) -> bool {
        // SAFETY: valid by the caller's promise, and nobody writes the pattern.
        let pattern = unsafe { node.as_ref() }.pattern;
        let class = class_of(pattern);
        let Some(place) = self.table.find(pattern.want & pattern.mask, class as u32 + 1) else {
            return false;
        };
        let chain = self.table.at(place);
        let (mut before, mut at) = (null_mut(), chain.head);
        // SAFETY: nodes of a chain are valid.
        unsafe {
            while at != node.as_ptr() {
                if at.is_null() {
                    return false;
                }
                before = at;
                at = *Posted::link(at);
            }
            let next = *Posted::link(at);
            match NonNull::new(before) {
                None => chain.head = next,
                Some(before) => *Posted::link(before.as_ptr()) = next,
            }
            if next.is_null() {
                chain.tail = before;
            }
        }
        if chain.head.is_null() {
            self.table.remove(place);
        }
        self.counts[class] -= 1;
        true
    }

    fn take_all(&mut self) -> Vec<NonNull<Posted>> {
        let mut all = Vec::with_capacity(self.len());
        for chain in self.table.iter() {
            let mut at = chain.head;
            while let Some(node) = NonNull::new(at) {
                all.push(node);
                // SAFETY: nodes of a chain are valid.
                at = unsafe { *Posted::link(at) };
            }
        }
        self.table.clear();
        self.counts = [0; 4];
        all
    }

    fn len(&self) -> usize {
        self.counts.iter().sum()
    }
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.table.bytes()
    }
}
