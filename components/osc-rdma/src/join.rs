//! Small operations that join the batch of their context and rank, to go with others as one list: puts, and, where lists are carried out in order
//! ([`crate::peer::Link::lines`]), accumulates, compare-and-swaps and gets.
//!
//! An accumulate joins only if atomics alone carry it out at the target, so that nothing refuses it. An accumulate that is not one block, or has an operation that
//! transports do not know, is a question for the target's listener (`ask.rs`), as all gets are: lists have no entry that reads.

use crate::ask::{self, Deed};
use crate::batch::Member;
use crate::call::Call;
use crate::layout::Block;
use crate::mapped_targets::copy_block;
use crate::order::Touch;
use crate::peer::Route;
use crate::shape::Shape;
use crate::spot::RemoteTarget;
use crate::task::Task;
use crate::writes::Kind;
use core::iter::once;
use oxmpi_btl::{LIST_ASK, LIST_ENTRY, LIST_PUT, amo, cap};
use oxmpi_mca::Status;
use oxmpi_osc::Want;
use oxmpi_osc_support::{Address, Sink, Source};

impl Call<'_> {
    /// Whether an operation of so many bytes on memory of the rank's one registration may wait for others.
    fn is_small(&self, there: &RemoteTarget<'_>, len: u64) -> bool {
        there.is_whole() && len <= self.rdma().settings.aggregation
    }

    /// Adds an operation to the batch of a context, whose data `fill` writes. It fits into an empty batch.
    fn join(
        &mut self,
        route: Route<'_>,
        ctx: u32,
        member: Member,
        touch: Option<Touch>,
        fill: impl FnOnce(&mut [u8]),
    ) {
        let lane = route.lane(ctx);
        loop {
            let mut held = self.enter(ctx);
            let begins = !lane.batch.waits();
            if let Some(to) = lane.batch.add(&mut held, member, touch, route.link().lists) {
                fill(to);
                drop(held);
                return if begins {
                    self.win.resting.begun(route.peer().rank)
                };
            }
            drop(held);
            self.send_batch(route, ctx);
        }
    }

    /// Keeps a small put of one block at its target for the next list to it. False: it is not one, and nothing has been done.
    pub fn join_put(
        &mut self,
        origin: &Source<'_>,
        there: &RemoteTarget<'_>,
        shape: Shape<'_>,
        want: Want,
    ) -> Result<bool, Status> {
        let (route, link, len) = (there.route, there.route.link(), origin.bytes());
        let Some((disp, room)) = shape.dtype.one_block(shape.count) else { return Ok(false) };
        if !self.is_small(there, len) || link.lists < LIST_ENTRY + len.next_multiple_of(8) || room < len {
            return Ok(false);
        }
        let (ctx, at) = (self.context(link), there.base.wrapping_add(disp as u64));
        let lane = route.lane(ctx);
        loop {
            if link.fences.beside(ctx) {
                self.wait_behind(route, ctx, at, len)?;
            }
            let mut held = self.enter(ctx);
            let (member, begins) = (Member::new(LIST_PUT, at, len as usize), !lane.batch.waits());
            if let Some(to) = lane.batch.add(&mut held, member, None, link.lists) {
                match origin.one_block() {
                    // SAFETY: the program's data, of that many bytes, which the batch has room for.
                    Some(from) => unsafe { copy_block(from, to.as_mut_ptr(), to.len()) },
                    None => origin.pack(0, to),
                }
                lane.note_put(&mut held, 1);
                if want == Want::Request {
                    link.fences.batch_waits(&mut held);
                }
                drop(held);
                if begins {
                    self.win.resting.begun(route.peer().rank);
                }
                return Ok(true);
            }
            drop(held);
            self.send_batch(route, ctx);
        }
    }

    /// The same for a get of one block at both sides, without a request.
    pub fn join_get(
        &mut self,
        origin: &Sink<'_>,
        there: &RemoteTarget<'_>,
        shape: Shape<'_>,
    ) -> Result<bool, Status> {
        let (route, link, len) = (there.route, there.route.link(), shape.bytes());
        let (Some((disp, _)), Some(to)) = (shape.dtype.one_block(shape.count), origin.one_block()) else {
            return Ok(false);
        };
        // A get of the transport's own needs nobody.
        let emulated = link.reach.btl().emulated & cap::GET != 0;
        if !emulated || !self.is_small(there, len) || self.ear(route).is_none() || origin.bytes() < len {
            return Ok(false);
        }
        let (ctx, at) = (self.context(link), there.base.wrapping_add(disp as u64));
        if link.fences.beside(ctx) {
            self.wait_behind(route, ctx, at, len)?;
        }
        let mut question = Vec::new();
        ask::write(Deed::Read, &[Block { at, len, packed: 0 }], &mut question);
        // SAFETY: the sink's data, which is written by the operation until that is complete.
        let result = Some((unsafe { Address::of(to) }, len as usize));
        let member = Member { compare: len, result, ..Member::ask(question.len()) };
        self.join(route, ctx, member, None, |to| to.copy_from_slice(&question));
        Ok(true)
    }

    /// The same for an accumulate.
    pub fn join_update(&mut self, task: &Task<'_>, there: &RemoteTarget<'_>) -> Result<bool, Status> {
        let (route, link, update) = (there.route, there.route.link(), &task.update);
        let in_line = link.lines && !self.win.rules.under_lock;
        if !in_line
            || !self.is_small(there, task.len)
            || !task.blocks.iter().all(|block| update.has_atomics_in(block))
        {
            return Ok(false);
        }
        let result = match task.result.map(|result| (result.one_block(), result.bytes())) {
            None => None,
            Some((Some(at), room)) if room >= task.len => {
                // SAFETY: the sink's data, which is written by the operation until that is complete.
                Some((unsafe { Address::of(at) }, task.len as usize))
            }
            Some(_) => return Ok(false),
        };
        let (mut question, len, ctx) = (Vec::new(), task.len as usize, self.context(link));
        let touch = task.touch().in_line(ctx);
        let amo = update.amo().filter(|(amo, kind)| link.has_atomic(amo.op, *kind) && task.blocks.len() == 1);
        let member = match amo {
            Some((amo, _)) => {
                let member = Member::new(amo.op, task.blocks[0].at, len);
                Member { flags: amo.flags, result, ..member }
            }
            None if self.ear(route).is_none() => return Ok(false),
            None => {
                ask::write(task.deed(), &task.blocks, &mut question);
                if let Some(input) = &task.input {
                    question.extend_from_slice(input.bytes(0, task.len));
                }
                let answer = result.map_or(0, |_| task.len);
                let writes = Some((Kind::ACCUMULATE, touch.first, touch.end - touch.first));
                Member { compare: answer, writes, result, ..Member::ask(question.len()) }
            }
        };
        if link.lists < LIST_ENTRY + member.len.next_multiple_of(8) as u64 {
            return Ok(false);
        }
        self.wait_for_writes(route, Kind::ACCUMULATE, Some(ctx), &task.blocks)?;
        self.wait_for_order(task.peer, touch)?;
        self.join(route, ctx, member, Some(touch), |to| match (&task.input, member.op) {
            (_, LIST_ASK) => to.copy_from_slice(&question),
            (Some(input), _) => to.copy_from_slice(input.bytes(0, task.len)),
            // Nothing is added.
            (None, _) => to.fill(0),
        });
        Ok(true)
    }

    /// The same for a compare-and-swap of a word in its natural place, by what is compared and what is new; the old word goes to `result`, when the
    /// operation is complete.
    pub fn join_swap(
        &mut self,
        there: &RemoteTarget<'_>,
        place: Block,
        [compare, new]: [u64; 2],
        result: Address<u8>,
    ) -> Result<bool, Status> {
        let (route, link, width) = (there.route, there.route.link(), place.len as usize);
        if !link.lines || !self.is_small(there, place.len) {
            return Ok(false);
        }
        let ctx = self.context(link);
        self.wait_for_writes(route, Kind::ACCUMULATE, Some(ctx), &[place])?;
        let touch = Touch::BOTH.at(once((place.at, place.len))).in_line(ctx);
        self.wait_for_order(route.met(), touch)?;
        let flags = if width == 4 { amo::WIDTH_32 } else { 0 };
        let member = Member::new(amo::COMPARE_SWAP, place.at, width);
        let member = Member { flags, compare, result: Some((result, width)), ..member };
        self.join(route, ctx, member, Some(touch), |to| to.copy_from_slice(&new.to_ne_bytes()[..width]));
        Ok(true)
    }
}
