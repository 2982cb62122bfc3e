//! MPI_Put and MPI_Get: copies where the target is mapped, else put and get of a transport.
//!
//! Data of one block on both sides goes from or to the program's memory, or through a slot if it is short. Data in pieces is packed into
//! local memory, and each block of the target is a piece of the operation.

use crate::call::Call;
use crate::issue::Issue;
use crate::layout::{Block, blocks_at};
use crate::local::{Local, SLOT};
use crate::mapped_targets::copy_block;
use crate::op::{FinalStep, Op};
use crate::peer::{Link, Peer};
use crate::spot::{RemoteTarget, Spot};
use crate::writes::Kind;
use oxmpi_btl::{LIST_ENTRY, RegHandle};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{RequestHeader, Status};
use oxmpi_osc::RmaArgs;
use oxmpi_osc_support::Elements;

impl<'a> Call<'a> {
    pub fn put(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        let peer = self.target(args.target)?;
        // SAFETY: the host's arguments.
        let (origin, target) = unsafe {
            let origin = Elements::new(args.origin, args.origin_count, args.origin_type);
            (origin.ok_or(Status::BAD_PARAM)?, args.target_type.as_ref().ok_or(Status::BAD_PARAM)?)
        };
        if origin.bytes() == 0 {
            return self.request(wanted).map(|request| self.complete(request));
        }
        let spot = match self.spot(peer, args.disp, args.target_count, target) {
            Ok(spot) => spot,
            Err(status) => return self.refused(status, wanted),
        };
        if let Spot::There(there) = &spot
            && self.gather(peer, &origin, there, (args.target_count, target), wanted)?
        {
            return self.request(wanted).map(|request| self.complete(request));
        }
        let request = self.request(wanted)?;
        match spot {
            Spot::Here(at) => {
                let there = Elements { at, count: args.target_count, dtype: target };
                // SAFETY: the origin's memory is the program's, the target's mapped and of the window.
                unsafe { copy(origin, there) };
                Ok(self.complete(request))
            }
            Spot::There(there) => {
                let op = Op { request, ..Op::new(self.rdma(), peer) };
                let started = self.put_there(op, origin, &there, args.target_count, target);
                self.started(started, request)
            }
        }
    }

    /// The same for a notified operation, without a request: true where it is under way as `op`, false where it is done.
    pub fn transfer(&self, args: &RmaArgs, put: bool, op: Op) -> Result<bool, Status> {
        let peer = self.peer(args.target)?;
        // SAFETY: the host's arguments.
        let (origin, target) = unsafe {
            let origin = Elements::new(args.origin, args.origin_count, args.origin_type);
            (origin.ok_or(Status::BAD_PARAM)?, args.target_type.as_ref().ok_or(Status::BAD_PARAM)?)
        };
        let count = args.target_count;
        let bytes = if put { origin.bytes() } else { target.packed.saturating_mul(count) };
        if bytes == 0 {
            return Ok(false);
        }
        match self.spot(peer, args.disp, count, target)? {
            Spot::Here(at) => {
                let there = Elements { at, count, dtype: target };
                let (from, to) = if put { (origin, there) } else { (there, origin) };
                // SAFETY: as in `put`.
                unsafe { copy(from, to) };
                Ok(false)
            }
            Spot::There(there) if put => self.put_there(op, origin, &there, count, target).map(|()| true),
            Spot::There(there) => self.get_there(op, origin, &there, count, target).map(|()| true),
        }
    }

    pub fn get(&self, args: &RmaArgs, wanted: bool) -> Result<*mut RequestHeader, Status> {
        let peer = self.target(args.target)?;
        // SAFETY: the host's arguments.
        let (origin, target) = unsafe {
            let origin = Elements::new(args.origin, args.origin_count, args.origin_type);
            (origin.ok_or(Status::BAD_PARAM)?, args.target_type.as_ref().ok_or(Status::BAD_PARAM)?)
        };
        if target.packed.saturating_mul(args.target_count) == 0 {
            return self.request(wanted).map(|request| self.complete(request));
        }
        let spot = match self.spot(peer, args.disp, args.target_count, target) {
            Ok(spot) => spot,
            Err(status) => return self.refused(status, wanted),
        };
        let request = self.request(wanted)?;
        match spot {
            Spot::Here(at) => {
                let there = Elements { at, count: args.target_count, dtype: target };
                // SAFETY: as in `put`.
                unsafe { copy(there, origin) };
                Ok(self.complete(request))
            }
            Spot::There(there) => {
                let op = Op { request, ..Op::new(self.rdma(), peer) };
                let started = self.get_there(op, origin, &there, args.target_count, target);
                self.started(started, request)
            }
        }
    }

    /// Keeps a small put of one block at its target for the next list to it. False: it is not one, and nothing has been done.
    fn gather(
        &self,
        peer: &Peer,
        origin: &Elements<'_>,
        there: &RemoteTarget<'_>,
        (count, target): (u64, &TypeDesc),
        wanted: bool,
    ) -> Result<bool, Status> {
        let (link, len) = (there.link, origin.bytes());
        let (Some(handle), Some((disp, room))) = (there.only_handle(), target.one_block(count)) else {
            return Ok(false);
        };
        if len > self.rdma().settings.aggregation
            || link.lists < LIST_ENTRY + len.next_multiple_of(8)
            || room < len
        {
            return Ok(false);
        }
        let (ctx, at) = (self.context(link), there.base.wrapping_add(disp as u64));
        let batch = &link.lanes[ctx as usize].batch;
        loop {
            if link.fences.beside(ctx) {
                self.wait_behind(peer, link, ctx, at, len)?;
            }
            let inside = self.enter(ctx);
            // SAFETY: the context is entered; the batch has room for what it was asked for.
            unsafe {
                if let Some(to) = batch.put(at, handle, len as usize, link.lists) {
                    match origin.one_block() {
                        Some(from) => copy_block(from, to, len as usize),
                        None => origin.pack(0, to, len),
                    }
                    link.lanes[ctx as usize].note_put(1);
                    if wanted {
                        link.fences.batch_waits(ctx);
                    }
                    return Ok(true);
                }
            }
            Issue::send_batch(*self, link, peer, ctx, inside);
        }
    }

    fn put_there(
        &self,
        mut op: Op,
        origin: Elements<'_>,
        there: &RemoteTarget<'_>,
        count: u64,
        target: &TypeDesc,
    ) -> Result<(), Status> {
        let len = origin.bytes();
        let local = match origin.one_block() {
            Some(at) if len as usize > SLOT => self.theirs(there.link, at, len)?,
            _ => {
                let local = self.scratch(there.link, len as usize)?;
                // SAFETY: the program's data; local memory has room for it.
                unsafe { origin.pack(0, local.at(), len) };
                local
            }
        };
        (op.local, op.is_put) = (Some(local), true);
        self.issue(op, there, count, target, |pieces, local, block, handle| {
            pieces.put(local, block.packed, block.at, block.len, handle)
        })
    }

    pub fn get_there(
        &self,
        mut op: Op,
        origin: Elements<'_>,
        there: &RemoteTarget<'_>,
        count: u64,
        target: &TypeDesc,
    ) -> Result<(), Status> {
        let len = count * target.packed;
        let (local, final_step) = match origin.one_block() {
            Some(at) if len as usize > SLOT => (self.theirs(there.link, at, len)?, FinalStep::Nothing),
            _ => (self.scratch(there.link, len as usize)?, FinalStep::to(&origin, len)),
        };
        (op.local, op.final_step) = (Some(local), final_step);
        self.issue(op, there, count, target, |pieces, local, block, handle| {
            pieces.get(local, block.packed, block.at, block.len, handle)
        })
    }

    fn theirs(&self, link: &Link, at: *mut u8, len: u64) -> Result<Local, Status> {
        self.rdma().pools.theirs(self.win.btl, link.reach.btl(), at, len)
    }

    /// Issues an operation whose pieces are the target's blocks.
    fn issue(
        &self,
        op: Op,
        there: &RemoteTarget<'_>,
        count: u64,
        target: &TypeDesc,
        verb: impl Fn(&mut Issue<'a, '_>, &Local, Block, *const RegHandle) -> bool,
    ) -> Result<(), Status> {
        let blocks = match target.one_block(count) {
            Some((disp, len)) => vec![Block { at: there.base.wrapping_add(disp as u64), len, packed: 0 }],
            None => blocks_at(there.base, count, target),
        };
        let blocks = there.cut(blocks).ok_or(Status::RMA_RANGE)?;
        let mut handles = Vec::with_capacity(blocks.len());
        for block in &blocks {
            handles.push(there.handle(block.at, block.len).ok_or(Status::RMA_RANGE)?);
        }
        // SAFETY: the operation's peer outlives it.
        self.wait_for_writes(unsafe { &*op.peer }, there.link, Kind::TRANSFER, None, &blocks)?;
        let ends_early = op.is_put && !there.link.remote_done;
        let wanted = !op.request.is_null();
        let mut pieces = Issue::begin(*self, there.link, op);
        pieces.with_own(|pieces, local| {
            for (block, handle) in blocks.iter().zip(handles) {
                if !verb(pieces, local, *block, handle) {
                    break;
                }
            }
        });
        if ends_early {
            pieces.record(Kind::TRANSFER, false, wanted, blocks.iter().map(|block| (block.at, block.len)));
        }
        pieces.end();
        Ok(())
    }
}

impl FinalStep {
    /// To elements of the program's.
    pub fn to(elements: &Elements<'_>, len: u64) -> FinalStep {
        match elements.one_block() {
            Some(to) => FinalStep::Copy { to, len: len as usize },
            None => {
                let (to, count) = (elements.at, elements.count);
                FinalStep::Unpack { to, count, dtype: elements.retain(), len }
            }
        }
    }
}

/// Copies data between two places of this address space, whose packed bytes are the same.
///
/// # Safety
/// All of `from` can be read, all of `to` written.
pub unsafe fn copy(from: Elements<'_>, to: Elements<'_>) {
    let len = from.bytes().min(to.bytes());
    // SAFETY: the caller's promise.
    unsafe {
        match (from.one_block(), to.one_block()) {
            (Some(from), Some(to)) => copy_block(from, to, len as usize),
            (Some(from), None) => to.unpack(0, from, len),
            (None, Some(to)) => from.pack(0, to, len),
            (None, None) => to.unpack(0, from.packed().as_ptr(), len),
        }
    }
}
