//! Reductions of operands that do not fit a cell, through cells: chunk by chunk, of which every rank combines a slice.
//!
//! Chunk `k` takes two steps: in the first every rank posts its operand, but for its own slice, which nobody reads; in the second the combined slice. A rank posts the
//! operand of the next chunk before it waits for those of this one, and reads the slices of the last chunk behind that:
//!
//! ```text
//!  A0 │ A1 B0 │ A2 B1 read 0 │ A3 B2 read 1 │ …
//! ```
//!
//! So there is always something to do while words are under way. Nothing is concluded from done words: a rank that has posted the operand of chunk `k` has combined
//! all chunks before `k - 1` and read those before `k - 2`, so nobody reads steps before `A(k - 1)` when all have been seen to post `Ak`. Between that and the step
//! `B(k + 1)`, the last one before this is known of the next chunk, lie fewer steps than there are slots.

use crate::algorithms::Algorithm;
use crate::call::Call;
use crate::data::{Room, memory};
use crate::fold::{Slices, operand_of};
use crate::protocol::{Desk, Protocol, Result};
use crate::reduction::Reduction;

/// A reduction in chunks.
pub struct Stream<'a> {
    call: &'a Call<'a>,
    op: Reduction<'a>,
    /// This rank's operand.
    own: Room<'a>,
    tag: u32,
    /// Bytes of a chunk, but the last.
    chunk: u64,
}

impl<'a> Stream<'a> {
    /// `None`: an element does not fit a cell.
    pub fn new(call: &'a Call<'a>, op: Reduction<'a>, own: Room<'a>, tag: u32) -> Option<Stream<'a>> {
        let elements = call.area().cell_bytes() as u64 / op.size().max(1);
        (elements > 0).then(|| Stream { call, op, own, tag, chunk: elements * op.size() })
    }

    /// First byte and bytes of a chunk.
    fn of(&self, nth: u64) -> (u64, u64) {
        let from = nth * self.chunk;
        (from, self.chunk.min(self.own.len() - from))
    }

    fn slices(&self, bytes: u64) -> Slices {
        Slices::new(self.op, bytes, self.call.ranks())
    }

    /// Posts this rank's operand of a chunk; returns the step.
    fn post(&self, nth: u64) -> Result<u32> {
        let (call, (at, bytes)) = (self.call, self.of(nth));
        let (from, len) = self.slices(bytes).of(call.rank());
        let step = call.begin();
        call.make_room(step)?;
        let (room, own) = (call.room(step, bytes), self.own.part(at, bytes));
        room.part(0, from).put(own.part(0, from));
        let behind = from + len;
        room.part(behind, bytes - behind).put(own.part(behind, bytes - behind));
        call.post_room(step, self.tag, bytes);
        Ok(step)
    }

    /// Combines this rank's slice of a chunk of which all post the operands in `step`, in `sums`, which has room for it; returns the step in which it posts it.
    fn combine(&self, nth: u64, step: u32, sums: Room<'_>) -> Result<u32> {
        let (call, (at, bytes)) = (self.call, self.of(nth));
        let (from, len) = self.slices(bytes).of(call.rank());
        let posted = call.begin();
        let sums = sums.part(0, len);
        for rank in (0..call.ranks()).rev() {
            let operand = match rank == call.rank() {
                true => self.own.part(at + from, len),
                false => operand_of(call, rank, step, self.tag, bytes)?.part(from, len),
            };
            match rank + 1 == call.ranks() {
                true => sums.copy(operand),
                false => self.op.combine(operand, sums)?,
            }
        }
        call.make_room(posted)?;
        call.room(posted, bytes).part(from, len).put(sums);
        call.post_room(posted, self.tag, bytes);
        Ok(posted)
    }

    /// Reads the slices of a chunk that the others post in `step`.
    fn read(&self, nth: u64, step: u32, result: Room<'_>) -> Result {
        let (call, (at, bytes)) = (self.call, self.of(nth));
        let slices = self.slices(bytes);
        for rank in call.others() {
            let (from, len) = slices.of(rank);
            let sums = operand_of(call, rank, step, self.tag, bytes)?;
            result.part(at + from, len).copy(sums.part(from, len));
        }
        Ok(())
    }

    /// Runs it. `result`: in the ranks that get it.
    pub fn run(&self, result: Option<Room<'_>>) -> Result {
        self.call.takes(Algorithm::Pieces);
        let (call, chunks) = (self.call, self.own.len().div_ceil(self.chunk));
        // A rank without a result, or whose operand is in its place, combines in temporary memory.
        let apart = result.filter(|result| result.start() != self.own.start());
        let mut memory = memory(if apart.is_some() { 0 } else { self.chunk })?;
        let spare = Room::of(&mut memory);
        let mut operands = self.post(0)?;
        let (mut older, mut sums) = (operands, None);
        for nth in 0..chunks {
            let next = if nth + 1 < chunks { self.post(nth + 1)? } else { operands };
            let (at, bytes) = self.of(nth);
            let (from, len) = self.slices(bytes).of(call.rank());
            let place = apart.map_or(spare, |result| result.part(at + from, len));
            let combined = self.combine(nth, operands, place)?;
            if let (None, Some(result)) = (apart, result) {
                result.part(at + from, len).copy(spare.part(0, len));
            }
            call.all_are_beyond(older);
            if let (Some(last), Some(result)) = (sums, result) {
                self.read(nth - 1, last, result)?;
            }
            (older, operands) = (operands, next);
            if nth + 1 == chunks
                && let Some(result) = result
            {
                self.read(nth, combined, result)?;
                // Ranks that have posted the last slice read no operand any more.
                call.all_are_beyond(sums.unwrap_or(combined));
            }
            sums = Some(combined);
        }
        call.finish();
        Ok(())
    }
}
