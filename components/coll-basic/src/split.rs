//! Reductions of large operands: every rank computes the result for a part of the elements.
//!
//! **Halving** (a power of two of members): in every step two members exchange halves of what they
//! still have, so after log2 n steps each has the whole sum of one block. **Ring** (other numbers, if
//! blocks are large enough to be worth n steps): block by block the sums go round. Both move
//! 2 (n-1)/n operands per rank when the blocks are gathered again. Operands change places, so both
//! are for commutative operations alone.
//!
//! **Fold.** Of n ranks that are no power of two, the first 2 (n - members) stand in pairs; the odd
//! one of a pair gives its operand to the even one and gets the result in the end.
//!
//! **Buffers.** `from` is where our operand is and is only read, unless it is `sum`. The operand
//! that arrives first is received straight into `sum` and combined there with `from`; later ones,
//! and the first when `from` is `sum`, are received into `spare`.

use crate::exchange::{Call, Result};
use crate::reduction::Reduction;

/// A power of two of members among the ranks, in the order of ranks.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    pub members: u32,
    pairs: u32,
    /// Number among the members; nothing for those outside.
    pub me: u32,
    /// We are outside, and this member stands for us.
    pub gives_to: Option<u32>,
    /// We stand for this rank too.
    pub takes_from: Option<u32>,
}

impl Fold {
    pub fn of(call: &Call<'_>) -> Fold {
        Fold::new(call.num_ranks(), call.rank())
    }

    fn new(n: u32, rank: u32) -> Fold {
        let members = 1 << n.ilog2();
        let pairs = n - members;
        let paired = rank < 2 * pairs;
        let outside = paired && rank % 2 == 1;
        Fold {
            members,
            pairs,
            me: if paired { rank / 2 } else { rank - pairs },
            gives_to: outside.then(|| rank - 1),
            takes_from: (paired && !outside).then_some(rank + 1),
        }
    }

    /// Rank of a member; of the number of members the number of ranks.
    pub fn rank_of(&self, member: u32) -> u32 {
        if member < self.pairs { 2 * member } else { member + self.pairs }
    }
}

/// The buffers of one reduction; see the top of the file.
pub struct Work {
    pub from: *const u8,
    /// Holds all elements.
    pub sum: *mut u8,
    /// Start of temporary memory that spans [`Split::temporary`] elements.
    pub spare: *mut u8,
}

pub struct Split<'a, 'b> {
    call: &'a Call<'b>,
    reduction: &'a Reduction<'b>,
    tag: i32,
    fold: Fold,
    ring: bool,
    /// Where the blocks of ranks begin, where these are given; else all blocks have about as many elements.
    starts: Option<&'a [i64]>,
}

/// Smallest block for which a ring is worth its many steps.
const RING_BLOCK: u64 = 4096;

impl<'a, 'b> Split<'a, 'b> {
    /// For at least as many elements as ranks.
    pub fn new(call: &'a Call<'b>, reduction: &'a Reduction<'b>, tag: i32) -> Split<'a, 'b> {
        let n = call.num_ranks();
        let ring = !n.is_power_of_two() && reduction.bytes() / n as u64 >= RING_BLOCK;
        Split { call, reduction, tag, fold: Fold::of(call), ring, starts: None }
    }

    /// For blocks of any lengths, one for each rank, by halving. `starts`: where they begin, and where the last one ends. A
    /// member has the block of the rank that it stands for, too.
    pub fn of_blocks(
        call: &'a Call<'b>,
        reduction: &'a Reduction<'b>,
        starts: &'a [i64],
        tag: i32,
    ) -> Split<'a, 'b> {
        Split { call, reduction, tag, fold: Fold::of(call), ring: false, starts: Some(starts) }
    }

    /// The rank that has our block, if we are no member.
    pub fn gives_to(&self) -> Option<u32> {
        self.fold.gives_to
    }

    /// The rank whose block we have, too.
    pub fn takes_from(&self) -> Option<u32> {
        self.fold.takes_from
    }

    pub fn blocks(&self) -> u32 {
        if self.ring { self.call.num_ranks() } else { self.fold.members }
    }

    /// First element and number of elements of the blocks from `first` to before `end`.
    pub fn range(&self, first: u32, end: u32) -> (u64, u64) {
        if let Some(starts) = self.starts {
            let start = |member| starts[self.fold.rank_of(member) as usize] as u64;
            return (start(first), start(end) - start(first));
        }
        let (each, rest) =
            (self.reduction.count / self.blocks() as u64, self.reduction.count % self.blocks() as u64);
        let start = |block: u32| each * block as u64 + rest.min(block as u64);
        (start(first), start(end) - start(first))
    }

    /// The rank that has a block when [`Split::reduce_scatter`] is done.
    pub fn owner(&self, block: u32) -> u32 {
        if self.ring {
            (block + self.call.num_ranks() - 1) % self.call.num_ranks()
        } else {
            self.fold.rank_of(block)
        }
    }

    /// Elements of temporary memory it takes. The blocks in front are the larger ones.
    pub fn temporary(&self, in_place: bool) -> u64 {
        match (self.ring, in_place) {
            (true, true) => self.range(0, 1).1,
            (true, false) => 0,
            (false, true) if self.fold.members < self.call.num_ranks() => self.reduction.count,
            (false, _) => self.range(0, self.blocks() / 2).1,
        }
    }

    /// Leaves in `work.sum` the result of our block; the other blocks there are undefined.
    pub fn reduce_scatter(&self, work: &mut Work) -> Result {
        if self.ring { self.ring_scatter(work) } else { self.halve(work) }
    }

    /// Gives all ranks all blocks, in `sum`.
    pub fn allgather(&self, sum: *mut u8) -> Result {
        if self.ring { self.ring_gather(sum) } else { self.double(sum) }
    }

    /// Where elements `start..start + len` of another rank's sum are to be received.
    fn landing(&self, work: &Work, start: u64, len: u64) -> Result<*mut u8> {
        if work.from == work.sum.cast_const() {
            Ok(self.reduction.span(len)?.place(work.spare))
        } else {
            Ok(self.reduction.at_mut(work.sum, start))
        }
    }

    /// Combines what was received at [`Split::landing`] with our operand.
    ///
    /// # Safety
    /// `landed` must be that place, with `len` elements there.
    unsafe fn absorb(&self, work: &Work, landed: *mut u8, start: u64, len: u64) -> Result {
        let (r, sum) = (self.reduction, self.reduction.at_mut(work.sum, start));
        // SAFETY: all hold `len` elements; what landed lies in `sum` or in the spare memory, ours
        // in the other.
        unsafe {
            if landed == sum { r.apply(r.at(work.from, start), sum, len) } else { r.apply(landed, sum, len) }
        }
    }

    fn halve(&self, work: &mut Work) -> Result {
        let (r, fold) = (self.reduction, &self.fold);
        if let Some(member) = fold.gives_to {
            return self.call.send((work.from, r.count, r.dtype), member, self.tag);
        }
        if let Some(outsider) = fold.takes_from {
            let landed = self.landing(work, 0, r.count)?;
            self.call.recv((landed, r.count, r.dtype), outsider, self.tag)?;
            // SAFETY: just received there.
            unsafe { self.absorb(work, landed, 0, r.count)? };
            work.from = work.sum;
        }
        let mut half = fold.members / 2;
        while half > 0 {
            let partner = fold.rank_of(fold.me ^ half);
            // Our group has 2 * half blocks, ours among them.
            let kept = fold.me & !(half - 1);
            let given = kept ^ half;
            let (start, len) = self.range(kept, kept + half);
            let (out, out_len) = self.range(given, given + half);
            let landed = self.landing(work, start, len)?;
            let sent = (r.at(work.from, out), out_len, r.dtype);
            self.call.exchange(sent, partner, (landed, len, r.dtype), partner, self.tag)?;
            // SAFETY: just received there.
            unsafe { self.absorb(work, landed, start, len)? };
            work.from = work.sum;
            half /= 2;
        }
        Ok(())
    }

    fn double(&self, sum: *mut u8) -> Result {
        let (r, fold) = (self.reduction, &self.fold);
        if let Some(member) = fold.gives_to {
            return self.call.recv((sum, r.count, r.dtype), member, self.tag);
        }
        let mut group = 1;
        while group < fold.members {
            let partner = fold.rank_of(fold.me ^ group);
            let ours = fold.me & !(group - 1);
            let (out, out_len) = self.range(ours, ours + group);
            let (start, len) = self.range(ours ^ group, (ours ^ group) + group);
            let sent = (r.at(sum, out), out_len, r.dtype);
            self.call.exchange(sent, partner, (r.at_mut(sum, start), len, r.dtype), partner, self.tag)?;
            group *= 2;
        }
        match fold.takes_from {
            Some(outsider) => self.call.send((sum, r.count, r.dtype), outsider, self.tag),
            None => Ok(()),
        }
    }

    /// In step s we send block rank - s, as far as it is summed, and get the one before it.
    fn ring_scatter(&self, work: &mut Work) -> Result {
        let (n, rank, r) = (self.call.num_ranks(), self.call.rank(), self.reduction);
        let mut from = work.from;
        for step in 0..n - 1 {
            let given = (rank + n - step) % n;
            let kept = (given + n - 1) % n;
            let (out, out_len) = self.range(given, given + 1);
            let (start, len) = self.range(kept, kept + 1);
            let landed = self.landing(work, start, len)?;
            let sent = (r.at(from, out), out_len, r.dtype);
            self.call.exchange(sent, (rank + 1) % n, (landed, len, r.dtype), (rank + n - 1) % n, self.tag)?;
            // SAFETY: just received there.
            unsafe { self.absorb(work, landed, start, len)? };
            // The sum that we have just made goes on.
            from = work.sum;
        }
        Ok(())
    }

    fn ring_gather(&self, sum: *mut u8) -> Result {
        let (n, rank, r) = (self.call.num_ranks(), self.call.rank(), self.reduction);
        for step in 0..n - 1 {
            let given = (rank + 1 + n - step) % n;
            let (out, out_len) = self.range(given, given + 1);
            let (start, len) = {
                let next = (given + n - 1) % n;
                self.range(next, next + 1)
            };
            self.call.exchange(
                (r.at(sum, out), out_len, r.dtype),
                (rank + 1) % n,
                (r.at_mut(sum, start), len, r.dtype),
                (rank + n - 1) % n,
                self.tag,
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Fold;

    #[test]
    fn every_rank_is_a_member_or_stood_for() {
        for n in 1..70 {
            let folds: Vec<Fold> = (0..n).map(|rank| Fold::new(n, rank)).collect();
            let mut members = vec![];
            for (rank, fold) in folds.iter().enumerate() {
                let rank = rank as u32;
                assert!(fold.members.is_power_of_two() && fold.members <= n && fold.members * 2 > n);
                match fold.gives_to {
                    Some(member) => {
                        assert_eq!(folds[member as usize].takes_from, Some(rank));
                        assert_eq!(member + 1, rank, "neighbours, so that the order is kept");
                    }
                    None => {
                        assert_eq!(fold.rank_of(fold.me), rank);
                        members.push(fold.me);
                    }
                }
            }
            assert!(members.into_iter().eq(0..folds[0].members), "numbered in the order of ranks");
        }
    }
}
