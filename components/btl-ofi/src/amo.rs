//! Atomics by the provider, where `btl_ofi_atomics` asks for them.
//!
//! A provider does not promise that they are atomic to the processors at the target as well, so by default the host carries atomics out by service
//! requests, which are. All are issued in the form that fetches: operands and the old value lie in a send buffer of the context, which the
//! provider knows already.

use crate::abi::{AtomicMessage, Ioc, RmaIoc, atomic, err};
use crate::buffers::Route;
use crate::context::Context;
use crate::endpoints::Ep;
use crate::issue::{Issue, OLD, Place, refused};
use crate::link::Core;
use crate::memory::Handle;
use crate::rail::Rail;
use core::ffi::{c_int, c_void};
use oxmpi_btl::{AtomicDesc, Completion, Vouched, access, amo};
use oxmpi_mca::Status;

/// Bytes from the beginning of the buffer, where the operand is, to the value to compare with.
const COMPARE: usize = 8;

/// The library's number of an operation.
fn op_of(op: u32) -> Option<c_int> {
    Some(match op {
        amo::ADD => atomic::SUM,
        amo::AND => atomic::BAND,
        amo::OR => atomic::BOR,
        amo::XOR => atomic::BXOR,
        amo::SWAP => atomic::WRITE,
        amo::MIN => atomic::MIN,
        amo::MAX => atomic::MAX,
        amo::COMPARE_SWAP => atomic::CSWAP,
        _ => return None,
    })
}

/// Operations that look at the operand's type; the others take bits.
fn is_typed(op: u32) -> bool {
    matches!(op, amo::ADD | amo::MIN | amo::MAX)
}

/// The library's number of an operand's type.
fn type_of(op: u32, flags: u32) -> c_int {
    let flags = if is_typed(op) { flags } else { flags & amo::WIDTH_32 };
    match (flags & amo::FLOAT != 0, flags & amo::SIGNED != 0, flags & amo::WIDTH_32 != 0) {
        (true, _, false) => atomic::DOUBLE,
        (true, _, true) => atomic::FLOAT,
        (_, true, false) => atomic::INT64,
        (_, true, true) => atomic::INT32,
        (_, _, false) => atomic::UINT64,
        (_, _, true) => atomic::UINT32,
    }
}

const KINDS: [(u32, u32); 6] = [
    (amo::operand::U64, 0),
    (amo::operand::I64, amo::SIGNED),
    (amo::operand::F64, amo::FLOAT),
    (amo::operand::U32, amo::WIDTH_32),
    (amo::operand::I32, amo::WIDTH_32 | amo::SIGNED),
    (amo::operand::F32, amo::WIDTH_32 | amo::FLOAT),
];

/// Operations that an endpoint's provider has on words, and the operands on which it has all of those.
pub fn offered(ep: &Ep) -> (u32, u32) {
    let table = ep.atomics();
    if table.is_null() {
        return (0, 0);
    }
    // SAFETY: the endpoint's table.
    let (fetch, compare, fetches, compares) = unsafe {
        ((*table).readwritevalid, (*table).compwritevalid, (*table).readwritemsg, (*table).compwritemsg)
    };
    if fetches.is_none() || compares.is_none() {
        return (0, 0);
    }
    let has = |op: u32, flags: u32| {
        let valid = if op == amo::COMPARE_SWAP { compare } else { fetch };
        let (Some(valid), Some(number)) = (valid, op_of(op)) else { return false };
        let mut count = 0;
        // SAFETY: the endpoint lives; numbers and a place.
        unsafe { valid(ep.object, type_of(op, flags), number, &mut count) == 0 && count > 0 }
    };
    let all = 0..=amo::COMPARE_SWAP;
    let ops: Vec<u32> = all.filter(|op| has(*op, 0)).collect();
    let whole = |flags: u32| {
        let is_plain = flags & !amo::WIDTH_32 == 0;
        ops.iter().filter(|op| is_plain || is_typed(**op)).all(|op| has(*op, flags))
    };
    let operands = KINDS.iter().filter(|(_, flags)| whole(*flags)).fold(0, |all, (bit, _)| all | bit);
    (ops.iter().fold(0, |all, op| all | 1 << op), operands)
}

impl Rail {
    pub fn update(
        &self,
        cx: &mut Context,
        (to, target): (&Core, u64),
        op: Vouched<'_, AtomicDesc>,
        done: Completion,
    ) -> Status {
        let len: usize = if op.flags & amo::WIDTH_32 != 0 { 4 } else { 8 };
        if op.remote_handle.is_null() || !op.remote.is_multiple_of(len as u64) {
            return Status::BAD_PARAM;
        }
        // SAFETY: the descriptor is vouched for: what it names, and is not null, are the bytes of a peer's handle.
        let remote = Handle::read(unsafe { &*op.remote_handle.cast() });
        if !remote.allows(op.remote, len as u64, access::REMOTE_ATOMIC) {
            return Status::NO_PERMISSION;
        }
        if to.is_out() {
            return Status::PEER_FAILED;
        }
        let Some(number) = op_of(op.op).filter(|_| self.traits.amo_ops & 1 << op.op != 0) else {
            return Status::NOT_SUPPORTED;
        };
        if !cx.operations.again.is_empty() || cx.operations.alone.is_some() {
            return Status::NO_RESOURCE;
        }
        let Some(buffer) = cx.buffers.take() else {
            cx.starves();
            return Status::NO_RESOURCE;
        };
        // An atomic has no link; its buffer names one all the same.
        cx.buffers.is_under_way(buffer, Route::Out(0));
        let there = RmaIoc { addr: self.remote_address(op.remote, &remote), count: 1, key: remote.key };
        let result = op.result.expose_provenance() as u64;
        match issue(cx, buffer, &op, number, target, &there) {
            Ok(()) => {
                let place = Place { buffer, result, len };
                cx.operations.began(to.proc, done, Issue::Atomic(place));
                Status::PENDING
            }
            Err(code) => {
                cx.buffers.give(buffer);
                let status = refused(code);
                if status == Status::NO_RESOURCE {
                    cx.starves();
                }
                status
            }
        }
    }
}

/// Hands an atomic to the provider, with its operands in a send buffer.
fn issue(
    cx: &mut Context,
    buffer: u32,
    op: &AtomicDesc,
    number: c_int,
    target: u64,
    there: &RmaIoc,
) -> Result<(), i32> {
    let (_, record) = cx.operations.next();
    let (base, _) = cx.buffers.send(buffer);
    let word = |at: usize| base.wrapping_add(at).cast::<c_void>();
    // SAFETY: a send buffer of more than 24 bytes, aligned to 16, which is ours since it was taken.
    unsafe {
        base.cast::<u64>().write(op.operand);
        base.wrapping_add(COMPARE).cast::<u64>().write(op.compare);
    }
    let mut desc = cx.buffers.desc();
    let mut other = desc;
    let mut third = desc;
    let operand = Ioc { addr: word(0), count: 1 };
    let compare = Ioc { addr: word(COMPARE), count: 1 };
    let mut old = Ioc { addr: word(OLD), count: 1 };
    let message = AtomicMessage {
        iov: &operand,
        desc: &mut desc,
        iov_count: 1,
        addr: target,
        rma: there,
        rma_count: 1,
        datatype: type_of(op.op, op.flags),
        op: number,
        context: record,
        data: 0,
    };
    let (ep, table) = (cx.ep.object, cx.ep.atomics());
    if table.is_null() {
        return Err(err::NOSYS);
    }
    // SAFETY: the endpoint's table.
    let (fetches, compares) = unsafe { ((*table).readwritemsg, (*table).compwritemsg) };
    let code = if op.op == amo::COMPARE_SWAP {
        let compares = compares.ok_or(err::NOSYS)?;
        // SAFETY: the endpoint lives; the lists are read during the call, the buffer is the operation's until its completion, the record stays.
        unsafe { compares(ep, &message, &compare, &mut other, 1, &mut old, &mut third, 1, 0) }
    } else {
        let fetches = fetches.ok_or(err::NOSYS)?;
        // SAFETY: as above.
        unsafe { fetches(ep, &message, &mut old, &mut third, 1, 0) }
    };
    if code == 0 { Ok(()) } else { Err((-code) as i32) }
}
