//! The `vector` and `fuzzy` indices: blocks of lanes that are compared a cache line at a time.
//!
//! A **block** has up to 64 nodes in the order in which they came. The key that a node is found by is
//! squeezed into lanes ([`Form`]): `vector` keeps the source and the tag in two lines of 32-bit lanes
//! and is exact; the fuzzy forms keep one small lane made of both ([`Windows`] of their low bits side by side, or both
//! over each other), so that a line says more, and every
//! hit is **verified** against the node, because different keys share a lane's value. A wildcard is a
//! mask over the bits it leaves out: posted receives carry theirs in lines beside the lanes, for
//! waiting messages the search brings it.
//!
//! **Order.** Lanes are filled in order and never again, blocks are chained in order, and a search goes
//! through them in order: the first verified hit is the oldest.
//!
//! **Holes.** `live` says which lanes hold a node. A block without one leaves the chain at once, to be
//! used again. When fewer than a quarter of the lanes in at least four blocks are live, the nodes are
//! moved together, in place and in order: so the chain is at most four times as long as it must be,
//! and a move is paid for by at least as many removals.

use super::block::{Block, LanePosition, SearchPattern, Walk};
use super::choice::{Setting, Windows};
use super::entry::{Index, Node, Pattern};
use super::line::Line;
use super::simd::Simd;
use core::marker::PhantomData;
use core::ptr::{NonNull, null_mut};

/// A rule by which a pattern is squeezed into lanes, one in each line of a block.
pub(crate) trait Form: 'static {
    /// Squeezes a pattern into lanes: a value and a mask for each line, of which the lowest `W` bits of [`Lanes`]
    /// count. A form with one line leaves the second unused.
    fn lanes(pattern: Pattern, windows: Windows) -> [(u64, u64); 2];
}

/// The form of `vector`: the source whole in one line, the tag whole in the other.
pub struct ExactForm;
impl Form for ExactForm {
    #[inline(always)]
    fn lanes(p: Pattern, _: Windows) -> [(u64, u64); 2] {
        [(p.want, p.mask), (p.want >> 32, p.mask >> 32)]
    }
}

/// A window of the source's low bits, and one of the tag's above them, as many as the lane has left. Each
/// wildcard leaves the other's window to compare.
pub struct WindowedForm;
impl Form for WindowedForm {
    #[inline(always)]
    fn lanes(p: Pattern, windows: Windows) -> [(u64, u64); 2] {
        let squeeze = |word: u64| word & windows.source() | (word >> 32) << windows.source_bits();
        let mask = if p.has_tag() { p.mask } else { p.mask & Pattern::SOURCE };
        [(squeeze(p.want), squeeze(mask)), (0, 0)]
    }
}

/// Windows if they were asked for; otherwise source and tag over each other, whole, so that with a wildcard nothing
/// is left to compare.
pub struct FoldedForm;
impl Form for FoldedForm {
    #[inline(always)]
    fn lanes(p: Pattern, windows: Windows) -> [(u64, u64); 2] {
        if windows.are_asked() {
            return WindowedForm::lanes(p, windows);
        }
        [(p.want ^ p.want >> 32, if p.is_exact() { !0 } else { 0 }), (0, 0)]
    }
}

/// The `vector` or a fuzzy index: a chain of blocks (see the module's head). `W`: bits of a lane; `LANES` is 512 / `W`.
pub(crate) struct Lanes<N, F, const W: usize, const LINES: usize, const MASKS: usize, const LANES: usize> {
    head: *mut Block<N, LINES, MASKS, LANES>,
    tail: *mut Block<N, LINES, MASKS, LANES>,
    /// Blocks that are not used now.
    spare: *mut Block<N, LINES, MASKS, LANES>,
    spares: usize,
    blocks: usize,
    len: usize,
    simd: Simd,
    windows: Windows,
    form: PhantomData<F>,
}

impl<N: Node, F: Form, const W: usize, const LINES: usize, const MASKS: usize, const LANES: usize>
    Lanes<N, F, W, LINES, MASKS, LANES>
{
    /// Makes an index without blocks, with the setting's instruction set and windows.
    pub fn new(setting: Setting) -> Self {
        const { assert!(W * LANES == 512 && (MASKS == 0 || MASKS == LINES) && LINES >= 1 && LINES <= 2) };
        Lanes {
            head: null_mut(),
            tail: null_mut(),
            spare: null_mut(),
            spares: 0,
            blocks: 0,
            len: 0,
            simd: setting.simd,
            windows: setting.windows,
            form: PhantomData,
        }
    }

    /// Appends an empty block to the chain: a spare one, or a new one if there is none.
    fn append(&mut self) -> NonNull<Block<N, LINES, MASKS, LANES>> {
        let block = match NonNull::new(self.spare) {
            Some(block) => {
                // SAFETY: spare blocks are ours and chained like others.
                self.spare = unsafe { block.as_ref() }.next;
                self.spares -= 1;
                block
            }
            None => NonNull::from(Box::leak(Box::new(Block {
                wants: [Line::default(); LINES],
                masks: [Line::default(); MASKS],
                next: null_mut(),
                live: 0,
                end: 0,
                nodes: [null_mut(); LANES],
            }))),
        };
        // SAFETY: ours alone; the tail of a chain that is not empty is a block of it.
        unsafe {
            let this = block.as_ptr();
            ((*this).next, (*this).live, (*this).end) = (null_mut(), 0, 0);
            if self.head.is_null() {
                self.head = this;
            } else {
                (*self.tail).next = this;
            }
        }
        self.tail = block.as_ptr();
        self.blocks += 1;
        block
    }

    /// Takes a block out of the chain and keeps it as a spare. `before`: the block before it, or null.
    fn drop_block(
        &mut self,
        before: *mut Block<N, LINES, MASKS, LANES>,
        block: NonNull<Block<N, LINES, MASKS, LANES>>,
    ) {
        // SAFETY: neighbours of the chain.
        unsafe {
            let next = (*block.as_ptr()).next;
            match NonNull::new(before) {
                None => self.head = next,
                Some(before) => (*before.as_ptr()).next = next,
            }
            if next.is_null() {
                self.tail = before;
            }
            (*block.as_ptr()).next = self.spare;
        }
        self.spare = block.as_ptr();
        self.spares += 1;
        self.blocks -= 1;
    }

    /// Takes the node out of its lane. A block that has no node left leaves the chain, and a chain with few nodes is
    /// moved together.
    fn empty(&mut self, place: LanePosition<Block<N, LINES, MASKS, LANES>>) {
        // SAFETY: found in the chain since it last changed.
        let live = unsafe {
            let live = &mut (*place.block.as_ptr()).live;
            *live &= !(1 << place.lane);
            *live
        };
        self.len -= 1;
        if live == 0 {
            self.drop_block(place.before, place.block);
        }
        if self.blocks >= 4 && self.len * 4 < self.blocks * LANES {
            self.move_together();
        }
    }

    /// Moves all nodes to the front of the chain, in order and in place, and takes the blocks that become empty out of
    /// the chain.
    fn move_together(&mut self) {
        let mut from = self.head;
        let (mut before, mut to, mut lane) = (null_mut(), self.head, 0);
        // SAFETY: blocks of the chain; the lane that is written never comes after the one that is read,
        // and a block's `live` is taken out before anything is written to the block.
        unsafe {
            while !from.is_null() {
                let mut live = core::mem::replace(&mut (*from).live, 0);
                (*from).end = 0;
                while live != 0 {
                    let source = live.trailing_zeros() as usize;
                    live &= live - 1;
                    if lane == LANES {
                        (before, to, lane) = (to, (*to).next, 0);
                    }
                    for line in 0..LINES {
                        let want = (&(*from).wants)[line].get::<W>(source);
                        (&mut (*to).wants)[line].set::<W>(lane, want);
                    }
                    for line in 0..MASKS {
                        let mask = (&(*from).masks)[line].get::<W>(source);
                        (&mut (*to).masks)[line].set::<W>(lane, mask);
                    }
                    (*to).nodes[lane] = (*from).nodes[source];
                    (*to).live |= 1 << lane;
                    (*to).end = lane + 1;
                    lane += 1;
                }
                from = (*from).next;
            }
            if lane > 0 {
                before = to;
            }
            while let Some(rest) = NonNull::new(if before.is_null() { self.head } else { (*before).next }) {
                self.drop_block(before, rest);
            }
        }
    }
}

impl<N: Node, F: Form, const W: usize, const LINES: usize, const MASKS: usize, const LANES: usize> Index<N>
    for Lanes<N, F, W, LINES, MASKS, LANES>
{
    unsafe fn push(&mut self, node: NonNull<N>) {
        let block = match NonNull::new(self.tail) {
            // SAFETY: the tail of a chain that is not empty is a block of it.
            Some(tail) if unsafe { tail.as_ref() }.end < LANES => tail,
            _ => self.append(),
        };
        let windows = self.windows;
        // SAFETY: the block is ours, the node valid by the caller's promise.
        unsafe {
            let this = &mut *block.as_ptr();
            let lane = this.end;
            let squeezed = F::lanes(node.as_ref().pattern(), windows);
            for (line, (want, _)) in this.wants.iter_mut().zip(squeezed) {
                line.set::<W>(lane, want);
            }
            for (line, (_, mask)) in this.masks.iter_mut().zip(squeezed) {
                line.set::<W>(lane, mask);
            }
            this.nodes[lane] = node.as_ptr();
            this.live |= 1 << lane;
            this.end += 1;
        }
        self.len += 1;
    }

    fn find(&mut self, ask: N::Ask, take: bool) -> Option<NonNull<N>> {
        let squeezed = F::lanes(N::asked(ask), self.windows);
        let pattern = SearchPattern {
            wants: core::array::from_fn(|line| Line::splat::<W>(squeezed[line].0)),
            masks: core::array::from_fn(|line| Line::splat::<W>(squeezed[line].1)),
        };
        let place =
            self.simd.run(Walk::<N, W, LINES, MASKS, LANES> { head: self.head, pattern: &pattern, ask })?;
        // SAFETY: just found.
        let node = NonNull::new(unsafe { (*place.block.as_ptr()).nodes[place.lane] });
        if take {
            self.empty(place);
        }
        node
    }

    unsafe fn remove(&mut self, node: NonNull<N>) -> bool {
        let (mut before, mut at) = (null_mut(), self.head);
        while let Some(block) = NonNull::new(at) {
            // SAFETY: a block of the chain.
            let this = unsafe { block.as_ref() };
            let is_it = |lane: &usize| this.live >> lane & 1 != 0 && this.nodes[*lane] == node.as_ptr();
            if let Some(lane) = (0..this.end).find(is_it) {
                self.empty(LanePosition { before, block, lane });
                return true;
            }
            before = at;
            at = this.next;
        }
        false
    }

    fn take_all(&mut self) -> Vec<NonNull<N>> {
        let mut all = Vec::with_capacity(self.len);
        while let Some(block) = NonNull::new(self.head) {
            // SAFETY: a block of the chain, which leaves it.
            let this = unsafe { block.as_ref() };
            let live = (0..this.end).filter(|lane| this.live >> lane & 1 != 0);
            all.extend(live.filter_map(|lane| NonNull::new(this.nodes[lane])));
            self.drop_block(null_mut(), block);
        }
        self.len = 0;
        all
    }

    fn len(&self) -> usize {
        self.len
    }
    fn bytes(&self) -> usize {
        size_of::<Self>() + (self.blocks + self.spares) * size_of::<Block<N, LINES, MASKS, LANES>>()
    }
}

impl<N, F, const W: usize, const LINES: usize, const MASKS: usize, const LANES: usize> Drop
    for Lanes<N, F, W, LINES, MASKS, LANES>
{
    fn drop(&mut self) {
        for mut at in [self.head, self.spare] {
            while !at.is_null() {
                // SAFETY: made by Box, in one of the two chains, and used by nobody any more.
                at = unsafe { Box::from_raw(at) }.next;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::harness::setting;
    use super::super::{Choice, Key};
    use super::*;
    use crate::wire::source_tag;

    /// How many of the keys a lane of `W` bits cannot tell from what is asked.
    fn candidates<F: Form, const W: usize>(windows: Windows, keys: &[Key], asked: Pattern) -> usize {
        let (want, mask) = F::lanes(asked, windows)[0];
        let mask = mask & (!0 >> (64 - W));
        let is_one = |&&key: &&Key| (F::lanes(Pattern::exact(key), windows)[0].0 ^ want) & mask == 0;
        keys.iter().filter(is_one).count()
    }

    fn keys(sources: impl Iterator<Item = i32>, tag: impl Fn(i32) -> i32) -> Vec<Key> {
        sources.map(|i| source_tag(i, tag(i))).collect()
    }

    /// Few ranks leave the tag what they do not need; many take it.
    #[test]
    fn windows_follow_the_size() {
        let of = |ranks| Windows::default().for_ranks(ranks).source_bits();
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 1024, 1025, 1 << 24, u32::MAX].map(of),
            [1, 1, 1, 2, 2, 3, 10, 11, 24, 24]
        );
        let few: Vec<Key> = (0..64).map(|i| source_tag(3, i << 8)).collect();
        let asked = Pattern::exact(few[5]);
        assert_eq!(
            candidates::<WindowedForm, 32>(Windows::of(24), &few, asked),
            64,
            "8 bits of these tags are equal"
        );
        assert_eq!(candidates::<WindowedForm, 32>(Windows::default().for_ranks(16), &few, asked), 1);
        let many = keys((0..64).map(|i| i << 16), |_| 7);
        let asked = Pattern::exact(many[5]);
        assert_eq!(
            candidates::<WindowedForm, 32>(Windows::of(16), &many, asked),
            64,
            "16 bits of these ranks are equal"
        );
        assert_eq!(candidates::<WindowedForm, 32>(Windows::default().for_ranks(1 << 22), &many, asked), 1);
    }

    /// In narrow lanes, windows that are asked for tell what both over each other cannot.
    #[test]
    fn narrow_lanes_have_windows_too() {
        // Rank 1 with tag 2 and rank 2 with tag 1; and a wildcard leaves the tag.
        let mixed = [source_tag(1, 2), source_tag(2, 1), source_tag(1, 3)];
        let asked = Pattern::exact(mixed[0]);
        let any_source = Pattern::new(oxmpi_pml::ANY_SOURCE, 2);
        let (folded, windows) = (Windows::default().for_ranks(4), Windows::of(2).for_ranks(4));
        assert_eq!(candidates::<FoldedForm, 8>(folded, &mixed, asked), 2);
        assert_eq!(candidates::<FoldedForm, 8>(windows, &mixed, asked), 1);
        assert_eq!(candidates::<FoldedForm, 16>(folded, &mixed, any_source), 3);
        assert_eq!(candidates::<FoldedForm, 16>(windows, &mixed, any_source), 1);
        // All of a lane for the rank: the tag is not compared.
        assert_eq!(candidates::<FoldedForm, 8>(Windows::of(24), &mixed, asked), 2);
    }

    /// MPI_ANY_TAG looks at the sign, which no window has: nothing of the tag is compared.
    #[test]
    fn any_tag_leaves_the_source() {
        let keys = keys(0..16, |i| i << 3);
        let asked = Pattern::new(9, oxmpi_pml::ANY_TAG);
        assert_eq!(candidates::<WindowedForm, 32>(Windows::of(4), &keys, asked), 1);
        let lanes = Lanes::<super::super::Posted, WindowedForm, 32, 1, 1, 16>::new(setting(Choice::Fuzzy32));
        assert_eq!(lanes.windows, Windows::default());
    }
}
