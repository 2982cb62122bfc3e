//! Reductions on endpoints.
//!
//! A predefined operation on predefined datatypes is the proxy's. An operation of the program's is a function in the client's address
//! space: the contributions are gathered in the segment, and every process that gets a result folds them here in the order of ranks, by
//! MPI_Reduce_local, when its request is completed.

use super::buffers::Buffer;
use super::collective::{NOTHING, Plan, collective, not_negative, role};
use super::collective_v::list;
use super::comm::{self, EpComm};
use super::request::FollowUpWork;
use super::{datatype, error, heap, lock};
use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{access, op};
use std::collections::HashMap;
use std::sync::Mutex;

const READ: u32 = access::READ;

/// Arguments of a reduction.
struct Reduction {
    code: u32,
    send: *const c_void,
    recv: *mut c_void,
    count: i64,
    dtype: Datatype,
    op: Op,
}

/// The part of the result that this endpoint gets.
struct Share {
    /// Elements before it, and its own.
    skip: i64,
    count: i64,
    /// Contributions of ranks from 0 up to here.
    ranks: c_int,
}

impl Reduction {
    /// `receives`: the receive buffer is significant here. Says whether the operation is the program's.
    fn check(&self, receives: bool) -> Result<bool, c_int> {
        not_negative(&[self.count])?;
        if receives && self.count > 0 && self.send == self.recv.cast_const() {
            return Err(ERR_BUFFER);
        }
        if self.op <= OP_NULL {
            return Err(ERR_OP);
        }
        let own = self.op >= OP_END;
        if !own && !is_predefined(self.dtype) {
            return Err(if self.dtype == DATATYPE_NULL { ERR_TYPE } else { ERR_OP });
        }
        Ok(own)
    }

    /// By the proxy. `receives` and `sends`: whether these buffers are significant here.
    fn plain(self, sends: bool, receives: bool, count: i64) -> Plan {
        let in_place = self.send as usize == IN_PLACE;
        let first =
            if sends { Buffer::plain(self.send, self.count, self.dtype) } else { Buffer::None(0, BYTE) };
        let second = match receives {
            true => Buffer::plain(self.recv, count, self.dtype),
            // The count and the datatype are significant everywhere.
            false => Buffer::None(self.count, self.dtype),
        };
        // MPI_Exscan leaves rank 0's buffer alone.
        let reads = in_place || self.code == op::EXSCAN;
        let used = if reads { access::READ | access::WRITE } else { access::WRITE };
        let plan = Plan::new(self.code, (first, READ), (second, used));
        Plan { mpi_op: self.op, typed: true, ..plan }
    }

    /// At the client. `to` is the root of a reduction with one.
    fn folded(self, comm: &EpComm, to: Option<(c_int, bool, bool)>, share: Share) -> Result<Plan, c_int> {
        let info = datatype::info(self.dtype)?;
        let (root, is_root, sends) = to.unwrap_or((0, true, true));
        let bytes = self.count * info.size;
        let from = if self.send as usize == IN_PLACE { self.recv.cast_const() } else { self.send };
        let first = if sends { Buffer::plain(from, self.count, self.dtype) } else { NOTHING.0 };
        let code = if to.is_some() { op::GATHER } else { op::ALLGATHER };
        if !is_root {
            return Ok(Plan::new(code, (first, READ), NOTHING).root(root));
        }
        let gathered = Gathered::new(bytes as usize * comm.peers() as usize, self.dtype, self.op)?;
        let second = Buffer::times(gathered.memory.cast(), bytes, comm.peers(), BYTE);
        let recv = self.recv;
        let fold = move || gathered.fold(recv, bytes, &share, &info);
        let follow_up = FollowUpWork::Run(Box::new(fold));
        Ok(Plan { follow_up, ..Plan::new(code, (first, READ), (second, access::WRITE)).root(root) })
    }
}

/// Reductions under way by operation, and whether the program has freed it.
static USED: Mutex<Option<HashMap<Op, (usize, bool)>>> = Mutex::new(None);

fn hold(op: Op) {
    lock(&USED).get_or_insert_default().entry(op).or_default().0 += 1;
}

fn let_go(mut op: Op) {
    let mut used = lock(&USED);
    let Some(entry) = used.as_mut().and_then(|u| u.get_mut(&op)) else { return };
    entry.0 -= 1;
    let (left, freed) = *entry;
    if left == 0 {
        used.as_mut().and_then(|u| u.remove(&op));
    }
    drop(used);
    if left == 0 && freed {
        // SAFETY: the program's call of MPI_Op_free, which was put off.
        unsafe { pmpi::MPI_Op_free(&raw mut op) };
    }
}

mpi! {
    fn MPI_Op_free(op: *mut Op) {
        if let Some(entry) = lock(&USED).as_mut().and_then(|u| u.get_mut(&*op)) {
            entry.1 = true;
            *op = OP_NULL;
            return SUCCESS;
        }
        pmpi::MPI_Op_free(op)
    }
}

/// Everybody's contributions, packed, in the segment; and the datatype and the operation, which the program may free
/// meanwhile.
struct Gathered {
    memory: *mut u8,
    dtype: Datatype,
    op: Op,
}

impl Drop for Gathered {
    fn drop(&mut self) {
        // SAFETY: `new` allocated the one and duplicated the other.
        unsafe {
            heap::free(self.memory);
            let_go(self.op);
            if !is_predefined(self.dtype) {
                pmpi::MPI_Type_free(&raw mut self.dtype);
            }
        }
    }
}

impl Gathered {
    fn new(bytes: usize, dtype: Datatype, op: Op) -> Result<Gathered, c_int> {
        let memory = heap::allocate(bytes.max(1), 64);
        if memory.is_null() {
            return Err(ERR_NO_MEM);
        }
        let mut own = dtype;
        // SAFETY: the program's datatype.
        if !is_predefined(dtype) && unsafe { pmpi::MPI_Type_dup(dtype, &raw mut own) } != SUCCESS {
            // SAFETY: allocated above.
            unsafe { heap::free(memory) };
            return Err(ERR_TYPE);
        }
        hold(op);
        Ok(Gathered { memory, dtype: own, op })
    }

    /// `result = c[0] op (c[1] op (… op c[n-1]))`: a function of the program's computes `inout = in op inout`.
    fn fold(
        &self,
        result: *mut c_void,
        bytes: i64,
        share: &Share,
        info: &datatype::Info,
    ) -> Result<(), c_int> {
        if share.ranks == 0 || share.count == 0 || info.size == 0 {
            return Ok(());
        }
        let (dtype, op) = (self.dtype, self.op);
        let span = (share.count - 1) * info.extent + info.true_extent;
        let mut room = vec![0u8; span.max(0) as usize];
        let element: *mut c_void = room.as_mut_ptr().wrapping_offset(-(info.true_lb as isize)).cast();
        for rank in (0..share.ranks).rev() {
            let last = rank == share.ranks - 1;
            let to = if last { result } else { element };
            let mut at = 0i64;
            // SAFETY: the contribution lies in the block; the room and the program's buffer hold the share. No lock is held
            // when the program's function runs.
            let error = unsafe {
                let from = self.memory.add((i64::from(rank) * bytes + share.skip * info.size) as usize);
                let packed = share.count * info.size;
                let error =
                    pmpi::MPI_Unpack_c(from.cast(), packed, &raw mut at, to, share.count, dtype, COMM_SELF);
                match error {
                    SUCCESS if !last => pmpi::MPI_Reduce_local_c(element, result, share.count, dtype, op),
                    error => error,
                }
            };
            if error != SUCCESS {
                let mut class = ERR_OTHER;
                // SAFETY: a local.
                unsafe { pmpi::MPI_Error_class(error, &raw mut class) };
                return Err(class);
            }
        }
        Ok(())
    }
}

collective! {
    fn [MPI_Reduce, MPI_Reduce_c, MPI_Ireduce, MPI_Ireduce_c, MPI_Reduce_init, MPI_Reduce_init_c]
    (sendbuf: *const c_void, recvbuf: *mut c_void, count: N, datatype: Datatype, op: Op, root: c_int) |ep| {
        let (is_root, sends) = role(ep, root)?;
        let count = count as i64;
        let reduction = Reduction { code: op::REDUCE, send: sendbuf, recv: recvbuf, count, dtype: datatype, op };
        match is_root || sends {
            false => Plan { mpi_op: SUM, ..Plan::new(op::REDUCE, NOTHING, NOTHING).root(root) },
            true if reduction.check(is_root)? => {
                let share = Share { skip: 0, count, ranks: ep.peers() };
                reduction.folded(ep, Some((root, is_root, sends)), share)?
            }
            true => reduction.plain(sends, is_root, count).root(root),
        }
    }
}

collective! {
    fn [MPI_Allreduce, MPI_Allreduce_c, MPI_Iallreduce, MPI_Iallreduce_c, MPI_Allreduce_init, MPI_Allreduce_init_c]
    (sendbuf: *const c_void, recvbuf: *mut c_void, count: N, datatype: Datatype, op: Op) |ep| {
        let count = count as i64;
        let reduction = Reduction { code: op::ALLREDUCE, send: sendbuf, recv: recvbuf, count, dtype: datatype, op };
        match reduction.check(true)? {
            true => reduction.folded(ep, None, Share { skip: 0, count, ranks: ep.peers() })?,
            false => reduction.plain(true, true, count),
        }
    }
}

collective! {
    fn [MPI_Scan, MPI_Scan_c, MPI_Iscan, MPI_Iscan_c, MPI_Scan_init, MPI_Scan_init_c]
    (sendbuf: *const c_void, recvbuf: *mut c_void, count: N, datatype: Datatype, op: Op) |ep| {
        let count = count as i64;
        let reduction = Reduction { code: op::SCAN, send: sendbuf, recv: recvbuf, count, dtype: datatype, op };
        match reduction.check(true)? {
            true => reduction.folded(ep, None, Share { skip: 0, count, ranks: ep.rank + 1 })?,
            false => reduction.plain(true, true, count),
        }
    }
}

collective! {
    fn [MPI_Exscan, MPI_Exscan_c, MPI_Iexscan, MPI_Iexscan_c, MPI_Exscan_init, MPI_Exscan_init_c]
    (sendbuf: *const c_void, recvbuf: *mut c_void, count: N, datatype: Datatype, op: Op) |ep| {
        let count = count as i64;
        let reduction = Reduction { code: op::EXSCAN, send: sendbuf, recv: recvbuf, count, dtype: datatype, op };
        match reduction.check(true)? {
            true => reduction.folded(ep, None, Share { skip: 0, count, ranks: ep.rank })?,
            false => reduction.plain(true, true, count),
        }
    }
}

collective! {
    fn [MPI_Reduce_scatter_block, MPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block, MPI_Ireduce_scatter_block_c,
        MPI_Reduce_scatter_block_init, MPI_Reduce_scatter_block_init_c]
    (sendbuf: *const c_void, recvbuf: *mut c_void, recvcount: N, datatype: Datatype, op: Op) |ep| {
        let (own, size) = (recvcount as i64, i64::from(ep.size));
        let count = own * size;
        let reduction =
            Reduction { code: op::REDUCE_SCATTER_BLOCK, send: sendbuf, recv: recvbuf, count, dtype: datatype, op };
        match reduction.check(true)? {
            true => reduction.folded(ep, None, Share { skip: own * i64::from(ep.rank), count: own, ranks: ep.peers() })?,
            false => {
                // In place, the whole vector is in the receive buffer; the proxy takes the count of a block.
                let whole = sendbuf as usize == IN_PLACE;
                let mut plan = reduction.plain(true, true, own);
                if whole {
                    plan.second.0 = Buffer::times(recvbuf, own, ep.size, datatype);
                }
                plan
            }
        }
    }
}

collective! {
    fn [MPI_Reduce_scatter, MPI_Reduce_scatter_c, MPI_Ireduce_scatter, MPI_Ireduce_scatter_c, MPI_Reduce_scatter_init,
        MPI_Reduce_scatter_init_c]
    (sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: *const N, datatype: Datatype, op: Op) |ep| {
        let counts = list(recvcounts, ep.size);
        not_negative(&counts)?;
        let count: i64 = counts.iter().sum();
        let (skip, own) = (counts[..ep.rank as usize].iter().sum(), counts[ep.rank as usize]);
        let reduction = Reduction { code: op::REDUCE_SCATTER, send: sendbuf, recv: recvbuf, count, dtype: datatype, op };
        match reduction.check(true)? {
            true => reduction.folded(ep, None, Share { skip, count: own, ranks: ep.peers() })?,
            false => {
                let room = if sendbuf as usize == IN_PLACE { count } else { own };
                let plan = reduction.plain(true, true, room);
                Plan { counts: Some(counts), ..plan }
            }
        }
    }
}
