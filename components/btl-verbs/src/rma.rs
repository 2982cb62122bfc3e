//! One-sided operations: put and get as RDMA write and read, addition and comparing exchange of 64 bits, and flush.
//!
//! They go over a link of their own, of which the other end needs no help of its process. They are complete in order, and a put is complete
//! when the peer's device has acknowledged it, so flush waits for those before it and asks nobody. An operation that the peer's device refuses takes its
//! queue pair with it: that one operation has failed, and those behind it, which no device has carried out, are issued again on a new pair.

use crate::lane::{Event, Flush, Held, Lane};
use crate::link::{Link, Op, Peer, VerbsEndpoint};
use crate::memory::Handle;
use crate::outbound::FULL;
use crate::queue::number_of;
use crate::rail::Rail;
use crate::wire::Purpose;
use core::ffi::c_void;
use oxmpi_btl::{AtomicDesc, Done, FlushDesc, RegHandle, RmaDesc, access, amo};
use oxmpi_mca::Status;
use oxmpi_verbs_abi::numbers::{send_flags, wc_status, wr_opcode};
use oxmpi_verbs_abi::{AtomicTarget, RdmaTarget, SendTarget, SendWr, Sge, Wc};
use std::sync::Arc;

/// Which atomics devices have, and on which operands; the host carries out the others.
pub const AMO_OPS: u32 = 1 << amo::ADD | 1 << amo::COMPARE_SWAP;
pub const AMO_OPERANDS: u32 = amo::operand::U64 | amo::operand::I64;

/// Where an operation works, checked against its handles.
struct Places {
    local: u64,
    lkey: u32,
    remote: u64,
    rkey: u32,
    len: u32,
}

/// How the host hears of it.
struct Notice {
    ctx: u16,
    done: Option<Done>,
    done_ctx: *mut c_void,
}

impl Rail {
    fn memory_link<'a>(&self, peer: &'a Peer, lane: usize) -> Option<&'a Arc<Link>> {
        let slot = peer.memory.get(lane)?;
        Some(slot.get_or_init(|| peer.link((Purpose::Memory, lane as u16, 0))))
    }

    /// # Safety
    /// Null, or a handle.
    unsafe fn remote(&self, handle: *const RegHandle, at: u64, len: u64, rights: u32) -> Result<u32, Status> {
        if handle.is_null() {
            return Err(Status::BAD_PARAM);
        }
        // SAFETY: the caller's promise.
        let handle = unsafe { Handle::read(handle.cast()) };
        if handle.allows(at, len, rights) { Ok(handle.rkey) } else { Err(Status::NO_PERMISSION) }
    }

    /// # Safety
    /// As [`Rail::remote`].
    unsafe fn local(
        &self,
        handle: *const RegHandle,
        at: u64,
        len: u64,
        rights: u32,
        lane: usize,
    ) -> Result<u32, Status> {
        if handle.is_null() {
            return Err(Status::BAD_PARAM);
        }
        // SAFETY: the caller's promise.
        let handle = unsafe { Handle::read(handle.cast()) };
        // The process itself may change memory that peers may change.
        let changes = access::LOCAL_WRITE | access::REMOTE_WRITE | access::REMOTE_ATOMIC;
        let may = rights == 0 || handle.rights & changes != 0;
        let key = self.memory.local_key(&handle, lane).filter(|_| handle.allows(at, len, 0) && may);
        key.ok_or(Status::BAD_PARAM)
    }

    /// Put or get.
    pub fn transfer(&self, endpoint: &VerbsEndpoint, ctx: u32, rma: &RmaDesc, is_put: bool) -> Status {
        if rma.len > self.longest() {
            return Status::BAD_PARAM;
        }
        if rma.len == 0 {
            return Status::OK;
        }
        let (right, opcode) = match is_put {
            true => (access::REMOTE_WRITE, wr_opcode::RDMA_WRITE),
            false => (access::REMOTE_READ, wr_opcode::RDMA_READ),
        };
        let (lane, at) = (self.contexts[ctx as usize].lane, rma.local as u64);
        let own = if is_put { 0 } else { access::LOCAL_WRITE };
        // SAFETY: the caller's handles.
        let keys = unsafe {
            self.remote(rma.remote_handle, rma.remote, rma.len, right)
                .and_then(|rkey| Ok((rkey, self.local(rma.local_handle, at, rma.len, own, lane)?)))
        };
        let (rkey, lkey) = match keys {
            Ok(keys) => keys,
            Err(status) => return status,
        };
        let places = Places { local: at, lkey, remote: rma.remote, rkey, len: rma.len as u32 };
        let notice = Notice { ctx: ctx as u16, done: rma.done, done_ctx: rma.done_ctx };
        self.issue(endpoint, opcode, places, [0; 2], notice)
    }

    /// Largest put or get.
    pub fn longest(&self) -> u64 {
        self.port.limits.message.clamp(1, 1 << 30)
    }

    pub fn update(&self, endpoint: &VerbsEndpoint, ctx: u32, op: &AtomicDesc) -> Status {
        let (opcode, operands) = match op.op {
            amo::ADD => (wr_opcode::ATOMIC_FETCH_AND_ADD, [op.operand, 0]),
            amo::COMPARE_SWAP => (wr_opcode::ATOMIC_CMP_AND_SWP, [op.compare, op.operand]),
            _ => return Status::NOT_SUPPORTED,
        };
        if op.flags & (amo::WIDTH_32 | amo::FLOAT) != 0 {
            return Status::NOT_SUPPORTED;
        }
        if !op.remote.is_multiple_of(8) {
            return Status::BAD_PARAM;
        }
        let lane = self.contexts[ctx as usize].lane;
        // SAFETY: the caller's handles.
        let keys = unsafe {
            self.remote(op.remote_handle, op.remote, 8, access::REMOTE_ATOMIC).and_then(|rkey| {
                if op.result.is_null() {
                    return Ok((rkey, self.lanes[lane].pool.scratch()));
                }
                let at = op.result as u64;
                Ok((rkey, (at, self.local(op.local_handle, at, 8, access::LOCAL_WRITE, lane)?)))
            })
        };
        let (rkey, (local, lkey)) = match keys {
            Ok(keys) => keys,
            Err(status) => return status,
        };
        let places = Places { local, lkey, remote: op.remote, rkey, len: 8 };
        let notice = Notice { ctx: ctx as u16, done: op.done, done_ctx: op.done_ctx };
        self.issue(endpoint, opcode, places, operands, notice)
    }

    fn issue(
        &self,
        endpoint: &VerbsEndpoint,
        opcode: u32,
        places: Places,
        operands: [u64; 2],
        notice: Notice,
    ) -> Status {
        let lane = &self.lanes[self.contexts[usize::from(notice.ctx)].lane];
        let Some(link) = self.memory_link(&endpoint.peer, usize::from(lane.number)) else {
            return Status::BAD_PARAM;
        };
        let mut guard = lane.enter();
        let held = &mut *guard.held;
        if link.peer.is_out() {
            return Status::PEER_FAILED;
        }
        {
            let mut side = link.side.borrow_mut();
            let side = &mut *side;
            if side.pair.is_none() {
                // Made by somebody's turn, perhaps, and not taken yet.
                return self.wants(link);
            }
            let most = self.settings.queue_depth.min(self.port.limits.requests) as usize - 2;
            if side.ops.len() >= most
                || held.under_way as usize + side.unposted >= lane.queue.room.most() as usize
            {
                return Status::NO_RESOURCE;
            }
            let number = side.ops.back().map_or(side.posted, |op| op.number) + 1;
            side.ops.push_back(Op {
                number,
                opcode,
                local: places.local,
                lkey: places.lkey,
                len: places.len,
                remote: places.remote,
                rkey: places.rkey,
                operands,
                ctx: notice.ctx,
                done: notice.done,
                done_ctx: notice.done_ctx,
            });
            side.unposted += 1;
            if side.unposted < self.settings.postlist {
                if !core::mem::replace(&mut side.listed, true) {
                    held.listed.push(link.clone());
                }
                return Status::PENDING;
            }
        }
        self.post(lane, held, link);
        Status::PENDING
    }

    /// Posts what has been collected on all links of a lane.
    pub fn post_listed(&self, lane: &Lane, held: &mut Held) {
        for link in core::mem::take(&mut held.listed) {
            link.side.borrow_mut().listed = false;
            self.post(lane, held, &link);
        }
    }

    /// Posts a link's operations that the device does not have, in lists of which the last reports for all. Operations
    /// that find no room are posted in a later turn.
    fn post(&self, lane: &Lane, held: &mut Held, link: &Arc<Link>) {
        let mut guard = link.side.borrow_mut();
        let side = &mut *guard;
        while side.unposted > 0 {
            let Some(pair) = &side.pair else { return };
            let first = side.ops.len() - side.unposted;
            let wanted = side.unposted.min(self.settings.postlist);
            let count = lane.queue.room.reserve(held.under_way, wanted as u32) as usize;
            if count == 0 {
                break;
            }
            let mut sges: Vec<Sge> = Vec::with_capacity(count);
            let mut list: Vec<SendWr> = Vec::with_capacity(count);
            for (n, op) in side.ops.range(first..first + count).enumerate() {
                sges.push(Sge { addr: op.local, length: op.len, lkey: op.lkey });
                list.push(request(lane, op, n + 1 == count));
            }
            for n in 0..count {
                list[n].sg_list = &mut sges[n];
                list[n].next = if n + 1 < count { &raw mut list[n + 1] } else { core::ptr::null_mut() };
            }
            let last = side.ops[first + count - 1].number;
            // SAFETY: the list is read during the call; local memory is the operation's until it is complete.
            match unsafe { pair.post(list.as_mut_ptr()) } {
                Ok(()) => {}
                Err(why) => {
                    lane.queue.room.release(held.under_way + count as u32, held.under_way);
                    if why == FULL && count == 1 {
                        break;
                    }
                    // Of a list we do not know how much was taken.
                    return self.fail(&link.peer, &format!("its queue pair takes no request ({why})"));
                }
            }
            side.unposted -= count;
            side.posted = last;
            held.under_way += count as u32;
        }
        if side.unposted > 0 && !side.listed {
            side.listed = true;
            held.listed.push(link.clone());
        }
    }

    /// A link has a new pair: what is not complete goes out on it.
    pub fn issue_again(&self, lane: &Lane, held: &mut Held, link: &Arc<Link>) {
        {
            let mut side = link.side.borrow_mut();
            side.unposted = side.ops.len();
            side.posted = side.ops.front().map_or(side.posted, |op| op.number - 1);
            side.complete = side.posted;
        }
        if !held.memory.iter().any(|l| Arc::ptr_eq(l, link)) {
            held.memory.push(link.clone());
        }
        self.post(lane, held, link);
    }

    /// The device reports an operation, and with it those before it.
    pub fn operation_report(&self, lane: &Lane, held: &mut Held, link: &Arc<Link>, wc: &Wc) {
        let number = number_of(wc.wr_id, link.side.borrow().posted);
        let good = wc.status == wc_status::SUCCESS;
        self.end_operations(lane, held, link, if good { number } else { number - 1 }, Status::OK);
        let status = match wc.status {
            wc_status::SUCCESS => return,
            wc_status::REM_ACCESS_ERR | wc_status::LOC_PROT_ERR => Status::NO_PERMISSION,
            wc_status::REM_INV_REQ_ERR | wc_status::LOC_LEN_ERR | wc_status::LOC_QP_OP_ERR => {
                Status::BAD_PARAM
            }
            wc_status::REM_OP_ERR => Status::INTERNAL,
            _ => return self.lost(link, wc),
        };
        self.end_operations(lane, held, link, number, status);
        self.replace(lane, held, link);
    }

    /// The pair is of no use any more.
    fn replace(&self, lane: &Lane, held: &mut Held, link: &Arc<Link>) {
        let (pair, again) = {
            let mut side = link.side.borrow_mut();
            let posted = side.posted;
            Rail::complete(lane, held, &mut side, posted);
            side.unposted = side.ops.len();
            (side.pair.take(), !side.ops.is_empty())
        };
        if let Some(pair) = pair {
            held.links.remove(&pair.number());
            lane.end(pair);
        }
        link.reopen();
        if again {
            self.wants(link);
        }
    }

    /// Operations up to this one have ended.
    fn end_operations(&self, lane: &Lane, held: &mut Held, link: &Arc<Link>, number: u64, status: Status) {
        let mut ended = Vec::new();
        {
            let mut side = link.side.borrow_mut();
            while side.ops.front().is_some_and(|op| op.number <= number) {
                ended.extend(side.ops.pop_front());
            }
            let posted = number.min(side.posted);
            Rail::complete(lane, held, &mut side, posted);
        }
        for op in ended {
            self.emit(lane, op.ctx, Event::Done { done: op.done, ctx: op.done_ctx, status });
        }
        if !held.flushes.is_empty() {
            self.end_flushes(lane, held, Arc::as_ptr(link), number, status);
        }
    }

    fn end_flushes(&self, lane: &Lane, held: &mut Held, link: *const Link, number: u64, status: Status) {
        for flush in &mut held.flushes {
            let covered = flush.waits.iter().any(|(l, _)| *l == link);
            if covered && status.is_err() {
                flush.status = status;
            }
            flush.waits.retain(|(l, last)| *l != link || *last > number);
        }
        let (over, rest) = held.flushes.drain(..).partition(|f| f.waits.is_empty());
        held.flushes = rest;
        let over: Vec<Flush> = over;
        for f in over {
            self.emit(lane, f.ctx, Event::Done { done: f.done, ctx: f.done_ctx, status: f.status });
        }
    }

    /// All operations of a lost peer's link end.
    pub fn fail_operations(&self, lane: &Lane, held: &mut Held, link: &Arc<Link>) {
        if link.purpose == Purpose::Memory {
            link.side.borrow_mut().unposted = 0;
            self.end_operations(lane, held, link, u64::MAX, Status::PEER_FAILED);
        }
    }

    /// Into the queue of a context of this lane.
    fn emit(&self, lane: &Lane, ctx: u16, event: Event) {
        let context = &self.contexts[usize::from(ctx)];
        if lane.is_shared() { context.push_foreign(event) } else { context.push_own(event) }
    }

    pub fn flush(&self, endpoint: Option<&VerbsEndpoint>, ctx: u32, desc: &FlushDesc) -> Status {
        let lane = &self.lanes[self.contexts[ctx as usize].lane];
        let mut guard = lane.enter();
        let held = &mut *guard.held;
        if !held.listed.is_empty() {
            self.post_listed(lane, held);
        }
        let core = endpoint.map(|e| &e.peer.core);
        if core.is_some_and(|c| c.is_out()) {
            return Status::PEER_FAILED;
        }
        let meant = held.memory.iter().filter(|l| core.is_none_or(|c| Arc::ptr_eq(c, &l.peer)));
        let waits: Vec<(*const Link, u64)> =
            meant.filter_map(|l| l.side.borrow().ops.back().map(|op| (Arc::as_ptr(l), op.number))).collect();
        if waits.is_empty() {
            return Status::OK;
        }
        let (done, done_ctx) = (desc.done, desc.done_ctx);
        held.flushes.push(Flush { waits, status: Status::OK, ctx: ctx as u16, done, done_ctx });
        Status::PENDING
    }
}

fn request(lane: &Lane, op: &Op, reported: bool) -> SendWr {
    let is_atomic = matches!(op.opcode, wr_opcode::ATOMIC_CMP_AND_SWP | wr_opcode::ATOMIC_FETCH_AND_ADD);
    let wr = match is_atomic {
        true => SendTarget {
            atomic: AtomicTarget {
                remote_addr: op.remote,
                compare_add: op.operands[0],
                swap: op.operands[1],
                rkey: op.rkey,
            },
        },
        false => SendTarget { rdma: RdmaTarget { remote_addr: op.remote, rkey: op.rkey } },
    };
    SendWr {
        wr_id: lane.id(op.number << 1 | 1),
        next: core::ptr::null_mut(),
        sg_list: core::ptr::null_mut(),
        num_sge: 1,
        opcode: op.opcode,
        send_flags: if reported { send_flags::SIGNALED } else { 0 },
        imm_data: 0,
        wr,
        others: [0; 7],
    }
}
