//! Accumulates: atomics on elements that have them, and read-combine-write under the target's lock for the others.
//!
//! An operation's blocks are of two sorts (`elements.rs`): those whose elements are updated one by one, and those that go under the lock. Under
//! the lock, `ACCUMULATE` of the target's state words (`claim.rs`), is the whole call from reading to writing; it is taken and given back within one
//! call, so nobody who has it is outside of MPI. With a granularity of more than eight bytes (MPI 5.0 §12.3.4) all blocks of all
//! operations on the window go under the lock, each operation alone. They go under the lock by default, too, where some rank's memory is reached by a transport
//! and lists of atomics are not there or slower, since an atomic for each element of a long accumulate costs a hundred times as much;
//! then a few elements are updated by atomics, beside others that do the same, and more than a few alone. Where the transport copies by itself and asks the
//! target for atomics (`Link::copies`), few elements have the lock alone, too: nobody has to be woken.
//!
//! **Order.** On mapped memory an accumulate is done when its call returns, and under the lock, too, unless what it writes is on its way to another node
//! (`combine.rs`). Atomics of a transport may overtake each
//! other, so an accumulate waits for those before it to the same rank, unless they are alike and integers, or the window's info
//! says that nobody asks (`order.rs`).

use crate::call::Call;
use crate::claim::Claim;
use crate::elements::Update;
use crate::issue::{Amo, Issue};
use crate::layout::{Block, blocks_at};
use crate::local::Local;
use crate::op::{FinalStep, Op};
use crate::order::Touch;
use crate::peer::Peer;
use crate::spot::{RemoteTarget, Spot};
use crate::task::{FEW, OldElements, Packed, Task, element};
use crate::transfer::copy;
use crate::writes::Kind;
use core::ptr::{null, null_mut};
use oxmpi_btl::{ListEntry, amo};
use oxmpi_datatype::kernel::op;
use oxmpi_mca::{RequestHeader, Status};
use oxmpi_osc::RmaArgs;
use oxmpi_osc_support::Elements;

impl<'a> Call<'a> {
    pub fn accumulate(
        &self,
        args: &'a RmaArgs,
        fetch: bool,
        wanted: bool,
    ) -> Result<*mut RequestHeader, Status> {
        let peer = self.target(args.target)?;
        // SAFETY: the host's arguments; accumulating calls have an operation.
        let (origin, target, result, code) = unsafe {
            (
                Elements::new(args.origin, args.origin_count, args.origin_type),
                args.target_type.as_ref().ok_or(Status::BAD_PARAM)?,
                Elements::new(args.result, args.result_count, args.result_type).filter(|_| fetch),
                args.op.as_ref().ok_or(Status::BAD_PARAM)?.code,
            )
        };
        let (count, len) = (args.target_count, args.target_count.saturating_mul(target.packed));
        if len == 0 || (code == op::NO_OP && !fetch) {
            return self.request(wanted).map(|request| self.complete(request));
        }
        let update = Update::new(code, target.base)?;
        let spot = match self.spot(peer, args.disp, count, target) {
            Ok(spot) => spot,
            Err(status) => return self.refused(status, wanted),
        };
        if let (op::NO_OP, true, Some(into)) = (code, self.win.rules.same_op(), result) {
            return self.read_only(peer, &spot, args, into, wanted);
        }
        if let Spot::Here(at) = spot {
            let here = Elements { at, count, dtype: target };
            let apply = || Ok::<_, Status>(apply_at_once(update, here, origin, result));
            let applied = match (self.win.rules.under_lock, self.win.rules.coarse) {
                (false, _) => apply()?,
                (true, false) if len <= FEW * update.width => self.holding(peer, Claim::SHARED, apply)?,
                _ => false,
            };
            if applied {
                return self.request(wanted).map(|request| self.complete(request));
            }
        }
        let input = match origin.filter(|_| code != op::NO_OP) {
            // SAFETY: the program's elements.
            Some(origin) => Some(unsafe { packed(&origin) }),
            None if code == op::NO_OP => None,
            None => return Err(Status::BAD_PARAM),
        };
        let base = match &spot {
            Spot::Here(at) => *at as u64,
            Spot::There(there) => there.base,
        };
        let blocks = match target.one_block(count) {
            Some((disp, len)) => vec![Block { at: base.wrapping_add(disp as u64), len, packed: 0 }],
            None => blocks_at(base, count, target),
        };
        let blocks = match &spot {
            Spot::Here(_) => blocks,
            Spot::There(there) => there.cut(blocks).ok_or(Status::RMA_RANGE)?,
        };
        if let Spot::There(there) = &spot {
            self.wait_for_writes(peer, there.link, Kind::ACCUMULATE, None, &blocks)?;
        }
        let task = Task { peer, update, blocks, len, input, result, wanted };
        let request = self.request(wanted)?;
        let started = self.carry_out(&task, &spot, request);
        match started {
            Ok(true) => Ok(request.cast()),
            Ok(false) => Ok(self.complete(request)),
            Err(status) => self.started(Err(status), request),
        }
    }

    /// True: it is under way, and completes its request.
    fn carry_out(
        &self,
        task: &Task<'_>,
        spot: &Spot<'_>,
        request: *mut oxmpi_osc_support::Request,
    ) -> Result<bool, Status> {
        let one_by_one = |block: &&Block| !self.win.rules.under_lock && task.update.has_atomics_in(block);
        let (single, locked): (Vec<&Block>, Vec<&Block>) = task.blocks.iter().partition(one_by_one);
        let there = match spot {
            Spot::Here(_) => None,
            Spot::There(there) => Some(there),
        };
        if let Some(there) = there
            && locked.is_empty()
            && let Some((amo, kind)) = task.update.amo()
            && there.link.has_atomic(amo.op, kind)
        {
            return self.start_atomics(task, there, amo, request).map(|()| true);
        }
        let mut old = match &task.result {
            None => OldElements::Nobody,
            Some(result) => match result.one_block() {
                Some(at) => OldElements::Theirs(at),
                None => OldElements::Ours(vec![0; task.len as usize]),
            },
        };
        if there.is_some() {
            let touch = Touch { kind: Touch::ALONE, ..task.touch() };
            self.wait_for_order(task.peer, touch)?;
            task.peer.ordered.end(touch);
        }
        for block in &single {
            match there {
                None => task.apply_here(block, &mut old),
                Some(there) => self.swap_there(task, there, block, &mut old)?,
            }
        }
        if !locked.is_empty() && task.only_reads_bytes() && !self.win.rules.coarse {
            // Nothing is written.
            self.combined(task, there, &locked, &mut old)?;
        } else if !locked.is_empty() {
            let copies = there.is_some_and(|there| there.link.copies);
            let shared = !self.win.rules.coarse && task.is_few() && !copies;
            let claim = if shared { Claim::SHARED } else { Claim::ALONE };
            match (there, task.few_atomics(there)) {
                (Some(there), Some(amo)) => {
                    self.holding(task.peer, claim, || self.atomics_now(task, there, amo, &mut old))
                }
                (Some(there), None) if shared => self.holding(task.peer, claim, || {
                    locked.iter().try_for_each(|block| self.swap_there(task, there, block, &mut old))
                }),
                (None, _) if shared => self.holding(task.peer, claim, || {
                    locked.iter().for_each(|block| task.apply_here(block, &mut old));
                    Ok(())
                }),
                _ => self.combine_alone(task, there, &locked, &mut old),
            }?;
        }
        if let (OldElements::Ours(bytes), Some(result)) = (&old, &task.result) {
            // SAFETY: the program's memory for the result.
            unsafe { result.unpack(0, bytes.as_ptr(), task.len) };
        }
        Ok(false)
    }

    /// Elements that no accumulate changes meanwhile, since all that go on are alike (`accumulate_ops` is `same_op`): read as by MPI_Get, without
    /// a lock, behind and before others as `accumulate_ordering` says.
    fn read_only(
        &self,
        peer: &Peer,
        spot: &Spot<'_>,
        args: &RmaArgs,
        into: Elements<'_>,
        wanted: bool,
    ) -> Result<*mut RequestHeader, Status> {
        // SAFETY: the host's argument.
        let target = unsafe { args.target_type.as_ref() }.ok_or(Status::BAD_PARAM)?;
        let request = self.request(wanted)?;
        let Spot::There(there) = spot else {
            let Spot::Here(at) = *spot else { return Err(Status::INTERNAL) };
            // SAFETY: mapped memory of the window; the program's result has as many elements.
            unsafe { copy(Elements { at, count: args.target_count, dtype: target }, into) };
            return Ok(self.complete(request));
        };
        let started = self.wait_for_order(peer, Touch::READ).and_then(|()| {
            let op = Op { request, ordered: Some(Touch::READ), ..Op::new(self.rdma(), peer) };
            let started = self.get_there(op, into, there, args.target_count, target);
            started.inspect_err(|_| peer.ordered.end(Touch::READ))
        });
        self.started(started, request)
    }

    /// Each element by an atomic of the transport; the operation is under way.
    fn start_atomics(
        &self,
        task: &Task<'_>,
        there: &RemoteTarget<'_>,
        amo: Amo,
        request: *mut oxmpi_osc_support::Request,
    ) -> Result<(), Status> {
        let (link, width) = (there.link, task.update.width);
        let touch = task.touch();
        let mut op = Op { request, ordered: Some(touch), ..Op::new(self.rdma(), task.peer) };
        if let Some(result) = &task.result {
            op.local = Some(self.scratch(link, task.len as usize)?);
            op.final_step = FinalStep::to(result, task.len);
        }
        let mut handles = Vec::with_capacity(task.blocks.len());
        for block in &task.blocks {
            handles.push(there.handle(block.at, block.len).ok_or(Status::RMA_RANGE)?);
        }
        self.wait_for_order(task.peer, touch)?;
        let mut pieces = Issue::begin(*self, link, op);
        if link.lists > 0 && task.len > width {
            let zeros = vec![0; if task.input.is_none() { link.lists as usize } else { 0 }];
            match task.result {
                Some(_) => pieces.with_own(|pieces, local| {
                    pieces.list(&task.entries(amo, &handles, link.lists, &zeros, Some(local)));
                }),
                None => {
                    pieces.list(&task.entries(amo, &handles, link.lists, &zeros, None));
                }
            }
            pieces.end();
            return Ok(());
        }
        let each = |pieces: &mut Issue<'a, '_>, local: Option<&Local>| {
            for (block, handle) in task.blocks.iter().zip(&handles) {
                for at in (0..block.len).step_by(width as usize) {
                    let amo = Amo { operand: task.operand(block.packed + at), ..amo };
                    let result = local.map(|local| (local, block.packed + at));
                    if !pieces.atomic(amo, block.at + at, *handle, result) {
                        return;
                    }
                }
            }
        };
        match task.result {
            Some(_) => pieces.with_own(|pieces, local| each(pieces, Some(local))),
            None => each(&mut pieces, None),
        }
        if !link.remote_done {
            pieces.record(Kind::ACCUMULATE, false, task.wanted, task.places());
        }
        pieces.end();
        Ok(())
    }

    /// A few elements by the transport's atomics, while the lock is held.
    fn atomics_now(
        &self,
        task: &Task<'_>,
        there: &RemoteTarget<'_>,
        amo: Amo,
        old: &mut OldElements,
    ) -> Result<(), Status> {
        let (link, width) = (there.link, task.update.width as usize);
        let local = self.scratch(link, task.len as usize)?;
        for block in &task.blocks {
            there.handle(block.at, block.len).ok_or(Status::RMA_RANGE)?;
        }
        self.run(task.peer, link, |pieces| {
            for block in &task.blocks {
                let Some(handle) = there.handle(block.at, block.len) else { return };
                for at in (0..block.len).step_by(width) {
                    let amo = Amo { operand: task.operand(block.packed + at), ..amo };
                    if !pieces.atomic(amo, block.at + at, handle, Some((&local, block.packed + at))) {
                        return;
                    }
                }
            }
        })?;
        let to = old.at(0);
        if !to.is_null() {
            // SAFETY: the result has as many packed bytes.
            unsafe { core::ptr::copy_nonoverlapping(local.at(), to, task.len as usize) };
        }
        Ok(())
    }

    /// Elements for whose update the transport has no atomic: by compare-and-swap, all at once, and again those that somebody changed.
    fn swap_there(
        &self,
        task: &Task<'_>,
        there: &RemoteTarget<'_>,
        block: &Block,
        old: &mut OldElements,
    ) -> Result<(), Status> {
        let (link, width) = (there.link, task.update.width as usize);
        let handle = there.handle(block.at, block.len).ok_or(Status::RMA_RANGE)?;
        let flags = if width == 4 { amo::WIDTH_32 } else { 0 };
        let mut now = vec![0u8; block.len as usize];
        self.fetch(task.peer, link, block.at, handle, &mut now)?;
        let mut left: Vec<usize> = (0..now.len()).step_by(width).collect();
        while !left.is_empty() {
            let local = self.scratch(link, 8 * left.len())?;
            let changes = left.iter().map(|at| {
                let compare = element(&now[*at..*at + width]);
                let operand = task.update.next(compare, task.operand(block.packed + *at as u64));
                Amo { op: amo::COMPARE_SWAP, flags, operand, compare }
            });
            let changes: Vec<Amo> = changes.collect();
            let entry = |(i, amo): (usize, &Amo)| ListEntry {
                remote: block.at + left[i] as u64,
                remote_handle: handle,
                len: width as u64,
                data: core::ptr::from_ref(&amo.operand).cast(),
                result: local.at().wrapping_add(8 * i),
                result_handle: local.handle(),
                op: amo.op,
                flags: amo.flags,
                compare: amo.compare,
            };
            self.run(task.peer, link, |pieces| {
                if link.lists > 0 {
                    pieces.list(&changes.iter().enumerate().map(entry).collect::<Vec<_>>());
                    return;
                }
                for (i, (at, amo)) in left.iter().zip(&changes).enumerate() {
                    let place = Some((&local, 8 * i as u64));
                    if !pieces.atomic(*amo, block.at + *at as u64, handle, place) {
                        break;
                    }
                }
            })?;
            let mut again = Vec::new();
            for (i, at) in left.iter().enumerate() {
                // SAFETY: as wide as the element, in local memory of eight bytes for each.
                let found = unsafe { core::slice::from_raw_parts(local.at().add(8 * i), width) };
                if now[*at..*at + width] != *found {
                    now[*at..*at + width].copy_from_slice(found);
                    again.push(*at);
                }
            }
            left = again;
        }
        let to = old.at(block.packed);
        if !to.is_null() {
            // SAFETY: the result has as many packed bytes.
            unsafe { core::ptr::copy(now.as_ptr(), to, now.len()) };
        }
        Ok(())
    }
}

/// # Safety
/// The elements can be read during the call.
unsafe fn packed(elements: &Elements<'_>) -> Packed {
    match elements.one_block() {
        Some(at) => Packed::Theirs(at),
        // SAFETY: the caller's promise.
        None => Packed::Ours(unsafe { elements.packed() }),
    }
}

/// Elements side by side in mapped memory, one by one: the usual case, which needs no lists. False: it is another case.
fn apply_at_once(
    update: Update,
    target: Elements<'_>,
    origin: Option<Elements<'_>>,
    result: Option<Elements<'_>>,
) -> bool {
    let Some(at) = target.one_block().filter(|at| update.is_atomic_at(*at as u64)) else { return false };
    let input = match (update.code, origin) {
        (op::NO_OP, _) => null(),
        (_, Some(origin)) if origin.one_block().is_some() => origin.one_block().unwrap_or(null_mut()),
        _ => return false,
    };
    let old = match result {
        None => null_mut(),
        Some(result) => match result.one_block() {
            Some(at) => at,
            None => return false,
        },
    };
    // SAFETY: mapped memory of the window in its natural place; the program's operands and results have as many elements.
    unsafe { update.apply(at, target.bytes() / update.width, input, old) };
    true
}
