//! One-sided operations: put and get as RDMA write and read, addition and comparing exchange of 64 bits, and flush.
//!
//! They go over a link of their own, of which the other end needs no help of its process. They are complete in order, and a put is complete
//! when the peer's device has acknowledged it, so flush waits for those before it and asks nobody. An operation that the peer's device refuses takes its
//! queue pair with it: that one operation has failed, and those behind it, which no device has carried out, are issued again on a new pair.

use crate::context::{Context, Event, Holder};
use crate::lane::{Flush, Held, Lane};
use crate::link::{Link, Op, Peer, VerbsEndpoint};
use crate::memory::{HANDLE, Handle};
use crate::outbound::FULL;
use crate::queue::number_of;
use crate::rail::Rail;
use crate::wire::Purpose;
use oxmpi_btl::{AtomicDesc, Completion, Entered, RegHandle, RmaDesc, Vouched, access, amo};
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

/// Reads a handle, if there is one.
///
/// # Safety
/// Null, or a handle.
unsafe fn handle(at: *const RegHandle) -> Result<Handle, Status> {
    // SAFETY: the caller's promise; a handle has so many bytes.
    let bytes = unsafe { at.cast::<[u8; HANDLE]>().as_ref() };
    bytes.map(Handle::read).ok_or(Status::BAD_PARAM)
}

/// Returns the key of remote memory.
fn remote(handle: Handle, at: u64, len: u64, rights: u32) -> Result<u32, Status> {
    if handle.allows(at, len, rights) { Ok(handle.rkey) } else { Err(Status::NO_PERMISSION) }
}

impl Rail {
    fn memory_link<'a>(&self, peer: &'a Peer, lane: usize) -> Option<&'a Arc<Link>> {
        let slot = peer.memory.get(lane)?;
        Some(slot.get_or_init(|| peer.link((Purpose::Memory, lane as u16, 0))))
    }

    /// Returns the key of local memory for a lane.
    fn local(&self, handle: Handle, at: u64, len: u64, rights: u32, lane: u16) -> Result<u32, Status> {
        // The process itself may change memory that peers may change.
        let changes = access::LOCAL_WRITE | access::REMOTE_WRITE | access::REMOTE_ATOMIC;
        let may = rights == 0 || handle.rights & changes != 0;
        let key = self.memory.local_key(&handle, lane.into()).filter(|_| handle.allows(at, len, 0) && may);
        key.ok_or(Status::BAD_PARAM)
    }

    /// Issues a put or a get.
    pub fn transfer(
        &self,
        at: &mut Entered<'_, Context>,
        to: &VerbsEndpoint,
        rma: Vouched<'_, RmaDesc>,
        done: Completion,
        is_put: bool,
    ) -> Status {
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
        let (lane, local) = (at.lane.number, rma.local as u64);
        let own = if is_put { 0 } else { access::LOCAL_WRITE };
        // SAFETY: the descriptor is vouched for, and with it its handles.
        let (theirs, ours) = unsafe { (handle(rma.remote_handle), handle(rma.local_handle)) };
        let keys = theirs
            .and_then(|theirs| remote(theirs, rma.remote, rma.len, right))
            .and_then(|rkey| Ok((rkey, self.local(ours?, local, rma.len, own, lane)?)));
        let (rkey, lkey) = match keys {
            Ok(keys) => keys,
            Err(status) => return status,
        };
        let places = Places { local, lkey, remote: rma.remote, rkey, len: rma.len as u32 };
        self.issue(at, to, opcode, places, [0; 2], done)
    }

    /// Largest put or get.
    pub fn longest(&self) -> u64 {
        self.port.limits.message.clamp(1, 1 << 30)
    }

    /// Issues an addition or a comparing exchange.
    pub fn update(
        &self,
        at: &mut Entered<'_, Context>,
        to: &VerbsEndpoint,
        op: Vouched<'_, AtomicDesc>,
        done: Completion,
    ) -> Status {
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
        // SAFETY: the descriptor is vouched for, and with it this handle.
        let theirs = unsafe { handle(op.remote_handle) };
        let keys =
            theirs.and_then(|theirs| remote(theirs, op.remote, 8, access::REMOTE_ATOMIC)).and_then(|rkey| {
                if op.result.is_null() {
                    return Ok((rkey, at.lane.pool.scratch()));
                }
                let result = op.result as u64;
                // SAFETY: the descriptor is vouched for, and with it the handle of a result.
                let ours = unsafe { handle(op.local_handle) }?;
                Ok((rkey, (result, self.local(ours, result, 8, access::LOCAL_WRITE, at.lane.number)?)))
            });
        let (rkey, (local, lkey)) = match keys {
            Ok(keys) => keys,
            Err(status) => return status,
        };
        let places = Places { local, lkey, remote: op.remote, rkey, len: 8 };
        self.issue(at, to, opcode, places, operands, done)
    }

    fn issue(
        &self,
        at: &mut Entered<'_, Context>,
        to: &VerbsEndpoint,
        opcode: u32,
        places: Places,
        operands: [u64; 2],
        done: Completion,
    ) -> Status {
        let ctx = at.number() as u16;
        let Some(link) = self.memory_link(&to.peer, at.lane.number.into()) else { return Status::BAD_PARAM };
        at.hold(|holder| {
            if link.peer.is_out() {
                return Status::PEER_FAILED;
            }
            let (lane, held) = (holder.lane, &mut *holder.held);
            let number = held.number(link);
            let side = &mut held.sides[number];
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
            let Places { local, lkey, remote, rkey, len } = places;
            let last = side.ops.back().map_or(side.posted, |op| op.number);
            side.ops.push_back(Op {
                number: last + 1,
                opcode,
                local,
                lkey,
                len,
                remote,
                rkey,
                operands,
                ctx,
                done,
            });
            side.unposted += 1;
            if side.unposted < self.settings.postlist {
                if !core::mem::replace(&mut side.listed, true) {
                    held.listed.push(number);
                }
                return Status::PENDING;
            }
            self.post(holder, number);
            Status::PENDING
        })
    }

    /// Posts what has been collected on all links of a lane.
    pub fn post_listed(&self, holder: &mut Holder<'_>) {
        for link in core::mem::take(&mut holder.held.listed) {
            holder.held.sides[link].listed = false;
            self.post(holder, link);
        }
    }

    /// Posts a link's operations that the device does not have, in lists of which the last reports for all. Operations
    /// that find no room are posted in a later turn.
    fn post(&self, holder: &mut Holder<'_>, link: usize) {
        let (lane, held) = (holder.lane, &mut *holder.held);
        let side = &mut held.sides[link];
        while side.unposted > 0 {
            let Some(pair) = &mut side.pair else { return };
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
                    return self.fail(&side.link.peer, &format!("its queue pair takes no request ({why})"));
                }
            }
            side.unposted -= count;
            side.posted = last;
            held.under_way += count as u32;
        }
        if side.unposted > 0 && !side.listed {
            side.listed = true;
            held.listed.push(link);
        }
    }

    /// A link has a new pair: what is not complete goes out on it.
    pub fn issue_again(&self, holder: &mut Holder<'_>, link: usize) {
        let Held { sides, memory, .. } = &mut *holder.held;
        let side = &mut sides[link];
        side.unposted = side.ops.len();
        side.posted = side.ops.front().map_or(side.posted, |op| op.number - 1);
        side.complete = side.posted;
        if !memory.contains(&link) {
            memory.push(link);
        }
        self.post(holder, link);
    }

    /// The device reports an operation, and with it those before it.
    pub fn operation_report(&self, holder: &mut Holder<'_>, link: usize, wc: &Wc) {
        let number = number_of(wc.wr_id, holder.held.sides[link].posted);
        let good = wc.status == wc_status::SUCCESS;
        self.end_operations(holder, link, if good { number } else { number - 1 }, Status::OK);
        let status = match wc.status {
            wc_status::SUCCESS => return,
            wc_status::REM_ACCESS_ERR | wc_status::LOC_PROT_ERR => Status::NO_PERMISSION,
            wc_status::REM_INV_REQ_ERR | wc_status::LOC_LEN_ERR | wc_status::LOC_QP_OP_ERR => {
                Status::BAD_PARAM
            }
            wc_status::REM_OP_ERR => Status::INTERNAL,
            _ => return self.lost(&holder.held.sides[link].link, wc),
        };
        self.end_operations(holder, link, number, status);
        self.replace(holder, link);
    }

    /// The pair is of no use any more.
    fn replace(&self, holder: &mut Holder<'_>, link: usize) {
        Rail::complete(holder, link, holder.held.sides[link].posted);
        let Held { sides, links, reports, .. } = &mut *holder.held;
        let side = &mut sides[link];
        side.unposted = side.ops.len();
        if let Some(pair) = side.pair.take() {
            links.remove(&pair.number());
            holder.lane.end(reports, pair);
        }
        side.link.reopen();
        if !side.ops.is_empty() {
            self.wants(&side.link);
        }
    }

    /// Operations up to this one have ended.
    fn end_operations(&self, holder: &mut Holder<'_>, link: usize, number: u64, status: Status) {
        while let Some(op) = holder.held.sides[link].ops.pop_front_if(|op| op.number <= number) {
            self.emit(holder, op.ctx, Event::Done { done: op.done, status });
        }
        Rail::complete(holder, link, number.min(holder.held.sides[link].posted));
        if !holder.held.flushes.is_empty() {
            self.end_flushes(holder, link, number, status);
        }
    }

    fn end_flushes(&self, holder: &mut Holder<'_>, link: usize, number: u64, status: Status) {
        let flushes = &mut holder.held.flushes;
        for flush in &mut *flushes {
            let covered = flush.waits.iter().any(|(l, _)| *l == link);
            if covered && status.is_err() {
                flush.status = status;
            }
            flush.waits.retain(|(l, last)| *l != link || *last > number);
        }
        let over: Vec<Flush> = flushes.extract_if(.., |f| f.waits.is_empty()).collect();
        for Flush { status, ctx, done, .. } in over {
            self.emit(holder, ctx, Event::Done { done, status });
        }
    }

    /// All operations of a lost peer's link end.
    pub fn fail_operations(&self, holder: &mut Holder<'_>, link: usize) {
        let side = &mut holder.held.sides[link];
        if side.link.purpose == Purpose::Memory {
            side.unposted = 0;
            self.end_operations(holder, link, u64::MAX, Status::PEER_FAILED);
        }
    }

    /// Into the queue of a context of the lane.
    fn emit(&self, holder: &mut Holder<'_>, ctx: u16, event: Event) {
        if holder.lane.is_shared {
            self.inboxes[usize::from(ctx)].push(event);
        } else {
            holder.own.push_back(event);
        }
    }

    /// Waits for what was issued before. `to` `None`: to anybody.
    pub fn flush(
        &self,
        at: &mut Entered<'_, Context>,
        to: Option<&VerbsEndpoint>,
        done: Completion,
    ) -> Status {
        let ctx = at.number() as u16;
        at.hold(|holder| {
            if !holder.held.listed.is_empty() {
                self.post_listed(holder);
            }
            let core = to.map(|to| &to.peer.core);
            if core.is_some_and(|c| c.is_out()) {
                return Status::PEER_FAILED;
            }
            let Held { sides, memory, flushes, .. } = &mut *holder.held;
            let meant = |link: &usize| core.is_none_or(|c| Arc::ptr_eq(c, &sides[*link].link.peer));
            let last = |link: usize| sides[link].ops.back().map(|op| (link, op.number));
            let waits: Vec<(usize, u64)> = memory.iter().copied().filter(meant).filter_map(last).collect();
            if waits.is_empty() {
                return Status::OK;
            }
            flushes.push(Flush { waits, status: Status::OK, ctx, done });
            Status::PENDING
        })
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
