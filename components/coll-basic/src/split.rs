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
use oxmpi_coll_support::{Place, Room, Source};

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
pub struct Work<'a> {
    pub from: Source<'a>,
    /// Holds all elements.
    pub sum: Place<'a>,
    /// Temporary memory that spans [`Split::temporary`] elements.
    pub spare: Room<'a>,
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

    /// Whether sums go round a ring, and are not exchanged by halves.
    pub fn is_ring(&self) -> bool {
        self.ring
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
    pub fn reduce_scatter(&self, work: &mut Work<'_>) -> Result {
        if self.ring { self.ring_scatter(work) } else { self.halve(work) }
    }

    /// Gives all ranks all blocks, in `sum`.
    pub fn allgather(&self, sum: Place<'_>) -> Result {
        if self.ring { self.ring_gather(sum) } else { self.double(sum) }
    }

    /// Where elements `start..start + len` of another rank's sum are to be received.
    fn landing<'w>(&self, work: &Work<'w>, start: u64, len: u64) -> Result<Place<'w>>
    where
        'b: 'w,
    {
        if work.from.is(work.sum) {
            Ok(work.spare.elements(0, &self.reduction.span(len)?))
        } else {
            Ok(work.sum.part(start, len))
        }
    }

    /// Combines what was received at [`Split::landing`] with our operand.
    ///
    /// # Safety
    /// `landed` is that place, of the elements from `start` on.
    unsafe fn absorb(&self, work: &Work<'_>, landed: Place<'_>, start: u64) -> Result {
        let (r, len) = (self.reduction, landed.count());
        let sum = work.sum.part(start, len);
        let left = if landed.is(sum) { work.from.part(start, len) } else { landed.source() };
        // SAFETY: both are as many elements of the operand. The one that landed lies in `sum`, and our operand apart from it, or it lies in the spare memory, and our
        // operand in `sum` (`landing`).
        unsafe { r.apply(left, sum) }
    }

    fn halve(&self, work: &mut Work<'_>) -> Result {
        let (r, fold) = (self.reduction, &self.fold);
        if let Some(member) = fold.gives_to {
            return self.call.send(work.from, member, self.tag);
        }
        if let Some(outsider) = fold.takes_from {
            let landed = self.landing(work, 0, r.count)?;
            self.call.recv(landed, outsider, self.tag)?;
            // SAFETY: just received there.
            unsafe { self.absorb(work, landed, 0)? };
            work.from = work.sum.source();
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
            let sent = work.from.part(out, out_len);
            self.call.exchange(sent, partner, landed, partner, self.tag)?;
            // SAFETY: just received there.
            unsafe { self.absorb(work, landed, start)? };
            work.from = work.sum.source();
            half /= 2;
        }
        Ok(())
    }

    fn double(&self, sum: Place<'_>) -> Result {
        let fold = &self.fold;
        if let Some(member) = fold.gives_to {
            return self.call.recv(sum, member, self.tag);
        }
        let mut group = 1;
        while group < fold.members {
            let partner = fold.rank_of(fold.me ^ group);
            let ours = fold.me & !(group - 1);
            let (out, out_len) = self.range(ours, ours + group);
            let (start, len) = self.range(ours ^ group, (ours ^ group) + group);
            let sent = sum.part(out, out_len).source();
            self.call.exchange(sent, partner, sum.part(start, len), partner, self.tag)?;
            group *= 2;
        }
        match fold.takes_from {
            Some(outsider) => self.call.send(sum.source(), outsider, self.tag),
            None => Ok(()),
        }
    }

    /// In step s we send block rank - s, as far as it is summed, and get the one before it.
    fn ring_scatter(&self, work: &mut Work<'_>) -> Result {
        let (n, rank) = (self.call.num_ranks(), self.call.rank());
        let mut from = work.from;
        for step in 0..n - 1 {
            let given = (rank + n - step) % n;
            let kept = (given + n - 1) % n;
            let (out, out_len) = self.range(given, given + 1);
            let (start, len) = self.range(kept, kept + 1);
            let landed = self.landing(work, start, len)?;
            let sent = from.part(out, out_len);
            self.call.exchange(sent, (rank + 1) % n, landed, (rank + n - 1) % n, self.tag)?;
            // SAFETY: just received there.
            unsafe { self.absorb(work, landed, start)? };
            // The sum that we have just made goes on.
            from = work.sum.source();
        }
        Ok(())
    }

    fn ring_gather(&self, sum: Place<'_>) -> Result {
        let (n, rank) = (self.call.num_ranks(), self.call.rank());
        for step in 0..n - 1 {
            let given = (rank + 1 + n - step) % n;
            let (out, out_len) = self.range(given, given + 1);
            let (start, len) = {
                let next = (given + n - 1) % n;
                self.range(next, next + 1)
            };
            self.call.exchange(
                sum.part(out, out_len).source(),
                (rank + 1) % n,
                sum.part(start, len),
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
