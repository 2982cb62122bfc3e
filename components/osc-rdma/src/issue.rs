//! Issuing the pieces of an operation on one context, under its CRI.
//!
//! A piece that finds no room waits, with the CRI given back, until there is: progress of the same context ends that. The first failure
//! ends the operation: what is not issued by then is not going to be.

use crate::call::Call;
use crate::local::Local;
use crate::op::{Op, done};
use crate::peer::{Link, Peer};
use crate::writes::Kind;
use core::ffi::c_void;
use oxmpi_btl::{AtomicDesc, FlushDesc, LIST_ENTRY, ListDesc, ListEntry, RegHandle, RmaDesc, cap};
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{CriGuard, SliceRef, Status};

/// A batch of so many puts is not worth a request to the target.
const BY_THEMSELVES: usize = 2;

pub struct Issue<'a, 'p> {
    call: Call<'a>,
    link: &'p Link,
    ctx: u32,
    op: *mut Op,
    inside: Option<CriGuard<'a>>,
    /// How often the context was entered.
    entries: u64,
}

/// An atomic on a word of a rank.
#[derive(Clone, Copy)]
pub struct Amo {
    pub op: u32,
    pub flags: u32,
    pub operand: u64,
    pub compare: u64,
}

impl<'a, 'p> Issue<'a, 'p> {
    /// On the calling thread's context.
    pub fn begin(call: Call<'a>, link: &'p Link, op: Op) -> Issue<'a, 'p> {
        let ctx = call.context(link);
        let mut inside = call.enter(ctx);
        if link.lanes[ctx as usize].batch.waits() {
            // SAFETY: the operation's peer outlives it.
            Issue::send_batch(call, link, unsafe { &*op.peer }, ctx, inside);
            inside = call.enter(ctx);
        }
        Issue::begin_on_context(call, link, ctx, inside, op)
    }

    /// On a context that is entered.
    pub fn begin_on_context(
        call: Call<'a>,
        link: &'p Link,
        ctx: u32,
        inside: CriGuard<'a>,
        op: Op,
    ) -> Issue<'a, 'p> {
        let flow = &link.lanes[ctx as usize].flow;
        let token = flow.next();
        flow.count(token);
        op.token.set(Some(token));
        Issue { call, link, ctx, op: Box::into_raw(Box::new(op)), inside: Some(inside), entries: 1 }
    }

    /// Sends the puts that wait on an entered context.
    pub fn send_batch(call: Call<'a>, link: &'p Link, peer: &Peer, ctx: u32, inside: CriGuard<'a>) {
        let (batch, btl) = (&link.lanes[ctx as usize].batch, link.reach.btl());
        // SAFETY: the context is entered.
        let puts = unsafe { batch.take() };
        let mut op = Op { is_put: true, ..Op::new(call.rdma(), peer) };
        // So few are written by the transport itself, where it can.
        if puts.all().len() <= BY_THEMSELVES && btl.emulated & cap::PUT == 0 && puts.are_apart() {
            op.local = call.scratch(link, puts.data().len()).ok();
        }
        let alone = op.local.is_some();
        let mut pieces = Issue::begin_on_context(call, link, ctx, inside, op);
        let (settled, ends_there) = (link.fences.has_batch(ctx), !alone || link.remote_done);
        // A flush of another thread's comes before those that find no room, so they are recorded again when all are issued.
        let record = |pieces: &Issue<'_, '_>| {
            if settled || !ends_there {
                let places = puts.all().iter().map(|put| (put.remote, put.len as u64));
                pieces.record(Kind::TRANSFER, ends_there, settled, places);
            }
        };
        record(&pieces);
        batch.sent();
        link.fences.batch_is_sent_if(settled, ctx);
        if alone {
            pieces.with_own(|pieces, local| {
                // SAFETY: as much room as data.
                unsafe {
                    core::ptr::copy_nonoverlapping(puts.data().as_ptr(), local.at(), puts.data().len());
                }
                for put in puts.all() {
                    if !pieces.put(local, put.at as u64, put.remote, put.len as u64, put.handle) {
                        return;
                    }
                }
                if !ends_there {
                    record(pieces);
                }
            });
        } else {
            pieces.list(&puts.entries());
        }
        // SAFETY: it is still entered, or again.
        unsafe { batch.give_back(puts) };
        pieces.end();
    }

    /// Notes writes that operations of other kinds may have to wait for. `ends_there`: their end says that they are at the target; `settled`: they are, or will be,
    /// complete for the program without a wait for that.
    pub fn record(
        &self,
        kind: Kind,
        ends_there: bool,
        settled: bool,
        places: impl Iterator<Item = (u64, u64)>,
    ) {
        if self.call.win.rules.unordered() {
            return;
        }
        let lane = &self.link.lanes[self.ctx as usize];
        for (at, len) in places {
            // SAFETY: the context is entered between pieces.
            unsafe { lane.record.add(&lane.flow, kind, ends_there, at, len) };
        }
        if settled {
            self.link.fences.lane_wrote(self.ctx);
        }
    }

    /// Carries entries out by lists, of which each is as long as may be; no entry is longer than one.
    pub fn list(&mut self, mut entries: &[ListEntry]) -> bool {
        let (btl, endpoint) = (self.link.reach.btl(), self.link.reach.endpoint);
        while !entries.is_empty() {
            let mut room = self.link.lists;
            let mut n = 0;
            while let Some(entry) = entries.get(n)
                && let Some(left) = room.checked_sub(LIST_ENTRY + entry.len.next_multiple_of(8))
            {
                (room, n) = (left, n + 1);
            }
            // One that is too long is refused.
            let n = n.max(1);
            let (now, later) = entries.split_at(n);
            let list = |done_ctx| ListDesc {
                entries: SliceRef { ptr: now.as_ptr(), len: now.len() },
                done: Some(done),
                done_ctx,
            };
            // SAFETY: the endpoint stays as long as the instance; entries are read in the call, and results go to memory that the operation keeps.
            if !self.piece(|held, op| unsafe { btl.list(held, endpoint, &list(op)) }) {
                return false;
            }
            entries = later;
        }
        true
    }

    fn op(&self) -> &Op {
        // SAFETY: it stays until its last piece has ended, and one is ours.
        unsafe { &*self.op }
    }

    /// Issues a piece on the context, which is entered, with the operation as the first argument of `done`; false: the operation has failed.
    fn piece(&mut self, mut verb: impl FnMut(&CriGuard<'_>, *mut c_void) -> Status) -> bool {
        if self.op().status.get().is_err() {
            return false;
        }
        let op: *mut c_void = self.op.cast();
        let mut inside = self.inside.take().unwrap_or_else(|| self.call.enter(self.ctx));
        let mut status = verb(&inside, op);
        while status == Status::NO_RESOURCE {
            drop(inside);
            let waited = self.call.turn(self.ctx);
            inside = self.call.enter(self.ctx);
            self.entries += 1;
            status = if waited.is_err() { waited } else { verb(&inside, op) };
        }
        self.inside = Some(inside);
        if status == Status::PENDING {
            self.count();
        }
        if status.is_err() {
            self.op().fail(status);
        }
        !status.is_err()
    }

    fn count(&self) {
        let left = &self.op().left;
        left.set(left.get() + 1);
    }

    /// Writes `len` bytes from `from` on of local memory.
    pub fn put(&mut self, local: &Local, from: u64, remote: u64, len: u64, handle: *const RegHandle) -> bool {
        self.link.lanes[self.ctx as usize].written.store(1, Ordering::Relaxed);
        let limit = self.link.reach.btl().attrs().put_limit;
        let (btl, endpoint) = (self.link.reach.btl(), self.link.reach.endpoint);
        // SAFETY: the endpoint stays as long as the instance, local memory and handles until the operation's last piece has ended.
        self.cut(local, (from, remote, len), limit, handle, |held, rma| unsafe {
            btl.put(held, endpoint, rma)
        })
    }

    /// Reads `len` bytes to local memory from `to` on.
    pub fn get(&mut self, local: &Local, to: u64, remote: u64, len: u64, handle: *const RegHandle) -> bool {
        let limit = self.link.reach.btl().attrs().get_limit;
        let (btl, endpoint) = (self.link.reach.btl(), self.link.reach.endpoint);
        // SAFETY: the endpoint stays as long as the instance, local memory and handles until the operation's last piece has ended.
        self.cut(local, (to, remote, len), limit, handle, |held, rma| unsafe { btl.get(held, endpoint, rma) })
    }

    fn cut(
        &mut self,
        local: &Local,
        (at, remote, len): (u64, u64, u64),
        limit: u64,
        handle: *const RegHandle,
        verb: impl Fn(&CriGuard<'_>, &RmaDesc) -> Status,
    ) -> bool {
        let most = if limit == 0 { u64::MAX } else { limit };
        let mut begun = 0;
        while begun < len {
            let n = most.min(len - begun);
            let rma = |done_ctx| RmaDesc {
                local: local.at().wrapping_add((at + begun) as usize),
                remote: remote.wrapping_add(begun),
                len: n,
                local_handle: local.handle(),
                remote_handle: handle,
                done: Some(done),
                done_ctx,
            };
            if !self.piece(|held, op| verb(held, &rma(op))) {
                return false;
            }
            begun += n;
        }
        true
    }

    /// Updates a word; its old value goes to `result`, in local memory from there on, if there is any.
    pub fn atomic(
        &mut self,
        amo: Amo,
        remote: u64,
        handle: *const RegHandle,
        result: Option<(&Local, u64)>,
    ) -> bool {
        self.link.lanes[self.ctx as usize].written.store(1, Ordering::Relaxed);
        let (btl, endpoint) = (self.link.reach.btl(), self.link.reach.endpoint);
        let place = result.map(|(local, at)| (local.at().wrapping_add(at as usize), local.handle()));
        let (to, local_handle) = place.unwrap_or((core::ptr::null_mut(), core::ptr::null()));
        self.piece(|held, done_ctx| {
            let desc = AtomicDesc {
                result: to.cast(),
                local_handle,
                remote,
                remote_handle: handle,
                op: amo.op,
                flags: amo.flags,
                operand: amo.operand,
                compare: amo.compare,
                done: Some(done),
                done_ctx,
            };
            // SAFETY: the endpoint stays as long as the instance, the place of the old value until the operation's last piece has ended.
            unsafe { btl.atomic(held, endpoint, &desc) }
        })
    }

    /// Completes what was put before at the rank.
    pub fn flush(&mut self) -> bool {
        let (btl, endpoint) = (self.link.reach.btl(), self.link.reach.endpoint);
        if !btl.can(cap::FLUSH) {
            return true;
        }
        self.piece(|held, done_ctx| {
            let flush = FlushDesc { done: Some(done), done_ctx };
            // SAFETY: the endpoint stays as long as the instance.
            unsafe { btl.flush(held, endpoint, &flush) }
        })
    }

    /// Local memory of the operation's own, which goes with it.
    pub fn with_own(&mut self, issue: impl FnOnce(&mut Self, &Local)) {
        // SAFETY: the operation stays until its last piece has ended, and one is ours; nobody changes this field before that.
        if let Some(local) = unsafe { &(*self.op).local } {
            issue(self, local);
        }
    }

    /// All pieces are issued; on which context.
    pub fn end(mut self) -> u32 {
        self.end_on_context();
        self.inside = None;
        self.ctx
    }

    fn end_on_context(&mut self) {
        if self.op().is_put {
            let pool = self.op().local.as_ref().map_or(0, Local::locks);
            self.link.lanes[self.ctx as usize].note_put(self.entries + pool);
        }
        // SAFETY: issued, with our piece left; the CRI is held.
        unsafe { Op::end_piece(self.op) };
    }
}
