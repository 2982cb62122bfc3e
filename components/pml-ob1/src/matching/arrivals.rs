//! Waiting messages in the order of their arrival, with a look-up: the `hash` and `perpeer` indices
//! of the unexpected side.
//!
//! Every message has a **slot**; slots are filled in order and never again before they are moved
//! together, so a slot's number is its age. Slots of one key (`hash`) or one source (`perpeer`) are
//! chained, oldest first. A receive that the look-up serves walks its chain; with `hash` the first
//! slot is the one. Any other (wildcards) compares the keys in order, eight or more at a time.
//!
//! A slot that was emptied stays a hole. When the slots are used up and at least half are holes, they
//! are moved together and chained anew; otherwise there will be twice as many. Either way each message
//! pays for a fixed number of moves.

use super::entry::{Index, Key, Pattern, Unexpected};
use super::line::Line;
use super::perpeer::Peers;
use super::simd::Simd;
use super::table::Table;
use core::ptr::{NonNull, null_mut};

/// No slot. There are never so many: their records would take half a terabyte.
const NONE: u32 = u32::MAX;
const PER_LINE: usize = 8;

/// The first and last slot of a chain, oldest first, to which a look-up leads; [`NONE`] in both if it is empty.
#[derive(Clone, Copy)]
pub struct Chain {
    head: u32,
    tail: u32,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain { head: NONE, tail: NONE }
    }
}

/// A look-up from a message's key to the chain of the slots that have that key, or that source.
pub(crate) trait LookUp {
    /// Whether all messages that fit the pattern are in one chain, so that walking it is enough.
    fn serves(pattern: Pattern) -> bool;
    /// Finds the chain of a key. `None`: there is none. A chain that is found may be empty.
    fn get(&mut self, key: Key) -> Option<&mut Chain>;
    /// Finds the chain of a key, and makes an empty one if there is none.
    fn make(&mut self, key: Key) -> &mut Chain;
    /// Drops the chain of a key if the look-up can; the chain has just lost its last slot.
    fn emptied(&mut self, key: Key);
    /// Empties or drops all chains.
    fn clear(&mut self);
    /// Gives the bytes of memory that the look-up has allocated.
    fn bytes(&self) -> usize;
}

/// The look-up of `hash`: a chain for each source and tag, in a hash table.
pub struct ByKey(Table<Chain>);

impl ByKey {
    /// Makes a look-up without chains.
    pub fn new() -> ByKey {
        ByKey(Table::new())
    }
}

impl LookUp for ByKey {
    fn serves(pattern: Pattern) -> bool {
        pattern.is_exact()
    }
    #[inline(always)]
    fn get(&mut self, key: Key) -> Option<&mut Chain> {
        self.0.find(key, 1).map(|at| self.0.at(at))
    }
    fn make(&mut self, key: Key) -> &mut Chain {
        self.0.make(key, 1)
    }
    fn emptied(&mut self, key: Key) {
        if let Some(at) = self.0.find(key, 1) {
            self.0.remove(at);
        }
    }
    fn clear(&mut self) {
        self.0.clear();
    }
    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

/// The look-up of `perpeer`: a chain for each source, in pages by rank.
pub struct BySource(Peers<Chain>);

impl BySource {
    /// Makes a look-up without chains.
    pub fn new() -> BySource {
        BySource(Peers::new())
    }
}

impl LookUp for BySource {
    fn serves(pattern: Pattern) -> bool {
        pattern.source().is_some()
    }
    fn get(&mut self, key: Key) -> Option<&mut Chain> {
        self.0.get(key as u32)
    }
    fn make(&mut self, key: Key) -> &mut Chain {
        self.0.make(key as u32)
    }
    fn emptied(&mut self, _key: Key) {}
    fn clear(&mut self) {
        self.0.iter_mut().for_each(|chain| *chain = Chain::default());
    }
    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

/// The place of one waiting message in the order of arrival.
#[derive(Clone, Copy)]
struct Slot {
    /// Null: a hole.
    node: *mut Unexpected,
    /// The next in its chain.
    next: u32,
}

/// The index of waiting messages: slots in the order of arrival, chained by the look-up `L` (see the module's head).
pub struct Arrivals<L> {
    look_up: L,
    /// Keys by slot, [`PER_LINE`] to a line; a hole's is stale.
    keys: Vec<Line>,
    slots: Vec<Slot>,
    /// Slots before it are holes, from `end` on never used since the last move.
    first: usize,
    end: usize,
    live: usize,
    simd: Simd,
}

impl<L: LookUp> Arrivals<L> {
    /// Makes an index without slots. `simd`: the instruction set that compares keys where the look-up does not serve.
    pub fn new(look_up: L, simd: Simd) -> Arrivals<L> {
        Arrivals { look_up, keys: Vec::new(), slots: Vec::new(), first: 0, end: 0, live: 0, simd }
    }

    /// Gives the source and tag of the message in a slot; for a hole, those of a message that has left.
    #[inline(always)]
    fn key(&self, slot: usize) -> Key {
        self.keys[slot / PER_LINE].0[slot % PER_LINE]
    }

    /// Writes a message into a free slot and appends the slot to the chain of its key. The caller moves `end` and
    /// counts the message.
    fn place(&mut self, slot: usize, key: Key, node: *mut Unexpected) {
        self.keys[slot / PER_LINE].0[slot % PER_LINE] = key;
        self.slots[slot] = Slot { node, next: NONE };
        let chain = self.look_up.make(key);
        let tail = core::mem::replace(&mut chain.tail, slot as u32);
        if chain.head == NONE {
            chain.head = slot as u32;
        } else {
            self.slots[tail as usize].next = slot as u32;
        }
    }

    /// Makes a slot free behind the last: doubles the slots, or, where at least half of them are holes, moves the
    /// messages together and chains them anew.
    #[cold]
    fn make_room(&mut self) {
        if self.slots.is_empty() || self.live * 2 > self.end {
            let len = (self.slots.len() * 2).max(2 * PER_LINE);
            assert!(len < NONE as usize, "more waiting messages than slots have numbers");
            self.slots.resize(len, Slot { node: null_mut(), next: NONE });
            self.keys.resize(len / PER_LINE, Line::default());
            return;
        }
        self.look_up.clear();
        let (first, end) = (self.first, self.end);
        (self.first, self.end) = (0, 0);
        for slot in first..end {
            let node = core::mem::replace(&mut self.slots[slot].node, null_mut());
            if !node.is_null() {
                let key = self.key(slot);
                self.place(self.end, key, node);
                self.end += 1;
            }
        }
    }

    /// Finds the oldest message that fits: its slot, and the slot before it in its chain ([`NONE`]: it is the first).
    /// `None`: no message fits.
    #[inline(always)]
    fn locate(&mut self, pattern: Pattern) -> Option<(usize, u32)> {
        if L::serves(pattern) {
            let mut before = NONE;
            let mut at = self.look_up.get(pattern.want)?.head;
            while at != NONE {
                if pattern.fits(self.key(at as usize)) {
                    return Some((at as usize, before));
                }
                before = at;
                at = self.slots[at as usize].next;
            }
            return None;
        }
        let slot = self.scan(pattern)?;
        let mut before = NONE;
        let mut at = self.look_up.get(self.key(slot))?.head;
        while at != slot as u32 {
            before = at;
            at = self.slots[at as usize].next;
        }
        Some((slot, before))
    }

    /// Finds the slot of the oldest message that fits by comparing the keys of all slots in order, a line at a time.
    /// `None`: no message fits.
    fn scan(&self, pattern: Pattern) -> Option<usize> {
        let lines = &self.keys[self.first / PER_LINE..self.end.div_ceil(PER_LINE)];
        let base = self.first / PER_LINE * PER_LINE;
        // Slots outside of `first..end` are holes.
        let slots = &self.slots;
        let is_live = |slot: usize| !slots[base + slot].node.is_null();
        self.simd.find64(lines, pattern.want, pattern.mask, is_live).map(|slot| base + slot)
    }

    /// Takes the message out of a slot, which becomes a hole, and the slot out of its chain. `before`: the slot before
    /// it in the chain, or [`NONE`].
    fn empty(&mut self, slot: usize, before: u32) {
        let key = self.key(slot);
        let next = core::mem::replace(&mut self.slots[slot], Slot { node: null_mut(), next: NONE }).next;
        if before != NONE {
            self.slots[before as usize].next = next;
        }
        if let Some(chain) = self.look_up.get(key) {
            if before == NONE {
                chain.head = next;
            }
            if next == NONE {
                chain.tail = before;
            }
            if chain.head == NONE {
                self.look_up.emptied(key);
            }
        }
        self.live -= 1;
        if self.live == 0 {
            (self.first, self.end) = (0, 0);
        } else if slot == self.first {
            while self.slots[self.first].node.is_null() {
                self.first += 1;
            }
        }
    }
}

impl<L: LookUp> Index<Unexpected> for Arrivals<L> {
    unsafe fn push(&mut self, node: NonNull<Unexpected>) {
        if self.end == self.slots.len() {
            self.make_room();
        }
        // SAFETY: valid by the caller's promise.
        let key = unsafe { node.as_ref() }.key;
        self.place(self.end, key, node.as_ptr());
        self.end += 1;
        self.live += 1;
    }

    fn find(&mut self, pattern: Pattern, take: bool) -> Option<NonNull<Unexpected>> {
        let (slot, before) = self.locate(pattern)?;
        let node = NonNull::new(self.slots[slot].node);
        if take {
            self.empty(slot, before);
        }
        node
    }

    unsafe fn remove(&mut self, node: NonNull<Unexpected>) -> bool {
        let Some(slot) = (self.first..self.end).find(|&s| self.slots[s].node == node.as_ptr()) else {
            return false;
        };
        let mut before = NONE;
        let mut at = self.look_up.get(self.key(slot)).map_or(NONE, |chain| chain.head);
        while at != slot as u32 && at != NONE {
            before = at;
            at = self.slots[at as usize].next;
        }
        self.empty(slot, before);
        true
    }

    fn take_all(&mut self) -> Vec<NonNull<Unexpected>> {
        let used = &mut self.slots[self.first..self.end];
        let all =
            used.iter_mut().filter_map(|slot| NonNull::new(core::mem::replace(&mut slot.node, null_mut())));
        let all = all.collect();
        self.look_up.clear();
        (self.first, self.end, self.live) = (0, 0, 0);
        all
    }

    fn len(&self) -> usize {
        self.live
    }
    fn bytes(&self) -> usize {
        let slots = self.slots.capacity() * size_of::<Slot>() + self.keys.capacity() * size_of::<Line>();
        size_of::<Self>() + slots + self.look_up.bytes()
    }
}
