//! Put, get, the accumulating operations, and their forms with requests.
//!
//! Each is a command that the proxy starts by the library's request-based function. Data goes to the proxy as that of
//! messages does (`place`). Accumulating operations name their elements: what was packed keeps the datatype that its elements have,
//! of which there must be one.

use super::buffers::Buffer;
use super::epoch::must;
use super::message::start;
use super::place::{Lists, Use};
use super::request::{self, Kind, Slot};
use super::window::{self, Window};
use super::{datatype, error, lock};
use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{Part, Record, access, op};

/// Data of the origin.
#[derive(Clone, Copy)]
struct Data {
    at: *mut c_void,
    count: i64,
    dtype: Datatype,
}

/// The place at the target.
#[derive(Clone, Copy)]
struct Target {
    rank: c_int,
    disp: isize,
    count: i64,
    dtype: Datatype,
}

fn data(at: *const c_void, count: i64, dtype: Datatype) -> Data {
    Data { at: at.cast_mut(), count, dtype }
}

fn target(rank: c_int, disp: isize, count: i64, dtype: Datatype) -> Target {
    Target { rank, disp, count, dtype }
}

impl Data {
    fn check(&self) -> Result<(), c_int> {
        if self.count < 0 {
            return Err(ERR_COUNT);
        }
        if self.dtype == DATATYPE_NULL {
            return Err(ERR_TYPE);
        }
        if self.at.is_null()
            && self.count > 0
            && datatype::info(self.dtype)?.size > 0
            && is_predefined(self.dtype)
        {
            return Err(ERR_BUFFER);
        }
        Ok(())
    }
}

impl Window {
    /// The classes of wrong arguments. Says whether there is anything to do.
    fn check(&self, target: Target) -> Result<bool, c_int> {
        if target.count < 0 {
            return Err(ERR_COUNT);
        }
        if target.dtype == DATATYPE_NULL {
            return Err(ERR_TYPE);
        }
        if target.rank == PROC_NULL {
            return Ok(false);
        }
        if !(0..self.comm.size).contains(&target.rank) {
            return Err(ERR_RANK);
        }
        if target.disp < 0 && self.facts.flavor != FLAVOR_DYNAMIC {
            return Err(ERR_DISP);
        }
        must(lock(&self.epoch).allows(target.rank))?;
        Ok(true)
    }

    /// The operation's request, with everything but its data.
    fn prepare(&self, name: &'static str, code: u32, target: Target) -> Result<&'static mut Slot, c_int> {
        let comm = self.comm;
        let Some(dtype) = datatype::there(comm.client, comm.proxy, target.dtype) else {
            report!("{name} is not built for target datatypes with large counts on windows of endpoints");
            return Err(ERR_UNSUPPORTED_OPERATION);
        };
        self.tidy()?;
        let slot = request::new(comm, name, code, Kind::Transfer)?;
        let record = slot.record();
        record.root = target.rank;
        record.args[..4].copy_from_slice(&[target.disp as i64, target.count, dtype as i64, self.number]);
        Ok(slot)
    }

    /// Starts an operation: `place` makes its data reachable. The program gets a request where it has a place for one.
    fn operate(
        &self,
        name: &'static str,
        code: u32,
        target: Target,
        place: impl FnOnce(&mut Slot) -> Result<(), c_int>,
        request: Option<*mut Request>,
    ) -> Result<(), c_int> {
        if request.is_some_and(<*mut Request>::is_null) {
            return Err(ERR_ARG);
        }
        if !self.check(target)? {
            if let Some(request) = request {
                let slot = request::new(self.comm, name, op::NOTHING, Kind::Transfer)?;
                // SAFETY: the program's place.
                unsafe { start(slot, request) };
            }
            return Ok(());
        }
        let slot = self.prepare(name, code, target)?;
        if let Err(class) = place(slot) {
            slot.free();
            return Err(class);
        }
        let entered = self.enter(slot, target.rank, request.is_none());
        match request {
            // SAFETY: the program's place.
            Some(request) => unsafe { start(slot, request) },
            None => slot.issue(),
        }
        entered
    }
}

/// Makes the data of a transfer reachable, as bytes.
fn transfer(slot: &mut Slot, data: Data, access: u32) -> Result<(), c_int> {
    let used = Use { which: 0, access, typed: false, copied: false };
    slot.place(Buffer::plain(data.at, data.count, data.dtype), used, &mut Lists::default())
}

/// Makes the data of an accumulating operation reachable, as elements of one predefined datatype.
fn elements(slot: &mut Slot, which: usize, data: Data, access: u32) -> Result<(), c_int> {
    let plain = is_predefined(data.dtype);
    let element = datatype::element(data.dtype).ok_or(ERR_TYPE)?;
    let info = datatype::info(element)?;
    if !plain && !info.dense {
        report!("accumulating data of derived datatypes of pairs is not built for windows of endpoints");
        return Err(ERR_UNSUPPORTED_OPERATION);
    }
    let used = Use { which, access, typed: plain, copied: false };
    slot.place(Buffer::plain(data.at, data.count, data.dtype), used, &mut Lists::default())?;
    let record = slot.record();
    let part = if which == 0 { &mut record.first } else { &mut record.second };
    if !plain && part.dtype == BYTE as u64 {
        let bytes = part.bytes as i64;
        *part = Part { dtype: element as u64, count: bytes / info.size, ..*part };
    }
    Ok(())
}

/// The operation must be a predefined one.
fn check_op(op: Op, no_op: bool) -> Result<(), c_int> {
    if op <= OP_NULL || op >= OP_END || op == NO_OP && !no_op { Err(ERR_OP) } else { Ok(()) }
}

/// Defines both widths of an operation, without and with a request.
macro_rules! operation {
    (fn [$now:ident, $now_c:ident, $later:ident, $later_c:ident] ($($a:ident: $t:ty),* $(,)?) |$w:ident, $request:ident| $body:block) => {
        on_windows! {
            fn [$now [c_int, c_int], $now_c [i64, isize]] ($($a: $t,)* win: Win) on win, $w {
                let $request = None;
                $body
            }
        }
        on_windows! {
            fn [$later [c_int, c_int], $later_c [i64, isize]] ($($a: $t,)* win: Win, request: *mut Request) on win, $w {
                let $request = Some(request);
                $body
            }
        }
    };
}

operation! {
    fn [MPI_Put, MPI_Put_c, MPI_Rput, MPI_Rput_c]
    (origin_addr: *const c_void, origin_count: N, origin_datatype: Datatype, target_rank: c_int, target_disp: isize,
     target_count: N, target_datatype: Datatype) |w, request| {
        let from = data(origin_addr, origin_count as i64, origin_datatype);
        from.check()?;
        let to = target(target_rank, target_disp, target_count as i64, target_datatype);
        w.operate(NAME, op::PUT, to, |slot| transfer(slot, from, access::READ), request)
    }
}

operation! {
    fn [MPI_Get, MPI_Get_c, MPI_Rget, MPI_Rget_c]
    (origin_addr: *mut c_void, origin_count: N, origin_datatype: Datatype, target_rank: c_int, target_disp: isize,
     target_count: N, target_datatype: Datatype) |w, request| {
        let into = data(origin_addr, origin_count as i64, origin_datatype);
        into.check()?;
        let from = target(target_rank, target_disp, target_count as i64, target_datatype);
        w.operate(NAME, op::GET, from, |slot| transfer(slot, into, access::WRITE), request)
    }
}

operation! {
    fn [MPI_Accumulate, MPI_Accumulate_c, MPI_Raccumulate, MPI_Raccumulate_c]
    (origin_addr: *const c_void, origin_count: N, origin_datatype: Datatype, target_rank: c_int, target_disp: isize,
     target_count: N, target_datatype: Datatype, op: Op) |w, request| {
        let from = data(origin_addr, origin_count as i64, origin_datatype);
        from.check()?;
        check_op(op, false)?;
        let to = target(target_rank, target_disp, target_count as i64, target_datatype);
        let place = |slot: &mut Slot| {
            slot.record().mpi_op = op as u64;
            elements(slot, 0, from, access::READ)
        };
        w.operate(NAME, op::ACCUMULATE, to, place, request)
    }
}

operation! {
    fn [MPI_Get_accumulate, MPI_Get_accumulate_c, MPI_Rget_accumulate, MPI_Rget_accumulate_c]
    (origin_addr: *const c_void, origin_count: N, origin_datatype: Datatype, result_addr: *mut c_void, result_count: N,
     result_datatype: Datatype, target_rank: c_int, target_disp: isize, target_count: N, target_datatype: Datatype,
     op: Op) |w, request| {
        check_op(op, true)?;
        let from = data(origin_addr, origin_count as i64, origin_datatype);
        let into = data(result_addr, result_count as i64, result_datatype);
        into.check()?;
        let to = target(target_rank, target_disp, target_count as i64, target_datatype);
        w.operate(NAME, op::GET_ACCUMULATE, to, |slot| fetching(slot, from, into, op), request)
    }
}

/// Both buffers of an operation that fetches; MPI_NO_OP has none to send.
fn fetching(slot: &mut Slot, from: Data, into: Data, op: Op) -> Result<(), c_int> {
    slot.record().mpi_op = op as u64;
    if op != NO_OP {
        from.check()?;
        elements(slot, 0, from, access::READ)?;
    } else {
        slot.record().first = Part { dtype: BYTE as u64, ..Part::default() };
    }
    elements(slot, 1, into, access::WRITE)
}

on_windows! {
    fn [MPI_Fetch_and_op] (
        origin_addr: *const c_void, result_addr: *mut c_void, datatype: Datatype, target_rank: c_int, target_disp: isize,
        op: Op, win: Win,
    ) on win, w {
        check_op(op, true)?;
        if !is_predefined(datatype) {
            return Err(ERR_TYPE);
        }
        let (from, into) = (data(origin_addr, 1, datatype), data(result_addr, 1, datatype));
        let to = target(target_rank, target_disp, 1, datatype);
        w.operate(NAME, op::GET_ACCUMULATE, to, |slot| fetching(slot, from, into, op), None)
    }
}

/// The operands of a compare-and-swap lie in the record, at these distances.
const OPERAND: usize = 16;

on_windows! {
    fn [MPI_Compare_and_swap] (
        origin_addr: *const c_void, compare_addr: *const c_void, result_addr: *mut c_void, datatype: Datatype,
        target_rank: c_int, target_disp: isize, win: Win,
    ) on win, w {
        let size = datatype::info(datatype)?.size as usize;
        if !is_predefined(datatype) || size > OPERAND {
            return Err(ERR_TYPE);
        }
        if !w.check(target(target_rank, target_disp, 1, datatype))? {
            return Ok(());
        }
        let fill = |r: &mut Record| {
            r.root = target_rank;
            r.args[0] = target_disp as i64;
            r.args[2] = datatype as i64;
            let inline = r.inline.as_mut_ptr();
            core::ptr::copy_nonoverlapping(origin_addr.cast(), inline, size);
            core::ptr::copy_nonoverlapping(compare_addr.cast(), inline.add(OPERAND), size);
        };
        w.command(op::COMPARE_AND_SWAP, fill, |r| {
            core::ptr::copy_nonoverlapping(r.inline[2 * OPERAND..].as_ptr(), result_addr.cast(), size);
            Ok(())
        })
    }
}
