//! Reduction operations: the predefined ones, and functions of the user (MPI 5.0 §6.9).

use crate::call::gate;
use crate::call::handle::{Kind, Table};
use crate::call::memory::{Address, Out, read, write};
use crate::call::operands::check_buffer;
use crate::constants::*;
use crate::datatype;
use crate::error::{Failure, Res, call};
use crate::types::{Count, Datatype, Op};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use oxmpi_datatype::kernel::{self, OpDesc, op};
use oxmpi_datatype::{Base, TypeDesc};

/// A function of the user; the two types differ in what the length points to.
#[derive(Clone, Copy)]
pub struct OpObject {
    function: usize,
    /// Made by MPI_Op_create_c: the function takes a large count.
    large: bool,
    commute: bool,
}

type UserFn = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *mut c_int, *mut Datatype);
type UserFnLarge = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, *mut Count, *mut Datatype);

pub static TABLE: Table<OpObject> = Table::new(Kind::Op);

/// Data of a reduction that calls the user's function; of a blocking one it lives on the stack of the MPI call. The
/// function's facts are a copy, so the program may free the operation.
#[derive(Clone, Copy)]
pub struct Call {
    object: Option<OpObject>,
    code: u32,
    datatype: Datatype,
}

/// The same for a reduction that goes on after the call; its address must not change. The function gets a handle of
/// the type that is good as long as this lives, even if the program has freed its own.
pub struct Held(Box<Call>);

fn predefined(handle: usize) -> Option<u32> {
    Some(match handle {
        MPI_SUM => op::SUM,
        MPI_MIN => op::MIN,
        MPI_MAX => op::MAX,
        MPI_PROD => op::PROD,
        MPI_BAND => op::BAND,
        MPI_BOR => op::BOR,
        MPI_BXOR => op::BXOR,
        MPI_LAND => op::LAND,
        MPI_LOR => op::LOR,
        MPI_LXOR => op::LXOR,
        MPI_MINLOC => op::MINLOC,
        MPI_MAXLOC => op::MAXLOC,
        MPI_REPLACE => op::REPLACE,
        MPI_NO_OP => op::NO_OP,
        _ => return None,
    })
}

fn wrong(handle: Op) -> Failure {
    match handle.0 {
        MPI_OP_NULL => Failure::new(MPI_ERR_OP, "op is MPI_OP_NULL"),
        other => Failure::new(MPI_ERR_OP, format!("op {other:#x} is no operation, or was freed")),
    }
}

/// The operation on data of a type, if it is defined there.
#[inline]
pub fn resolve(handle: Op, desc: &TypeDesc, datatype: Datatype) -> Res<Call> {
    let Some(code) = predefined(handle.0) else {
        let object = *TABLE.get(handle.0).ok_or_else(|| wrong(handle))?;
        return Ok(Call { object: Some(object), code: op::USER, datatype });
    };
    // The standard defines the last two for one-sided communication only, and predefined operations
    // on predefined types only.
    let one_sided = matches!(code, op::REPLACE | op::NO_OP);
    if one_sided || !datatype::is_predefined(datatype) || !kernel::defined(code, desc.base) {
        return Err(is_undefined(handle, datatype));
    }
    Ok(Call { object: None, code, datatype })
}

#[cold]
#[inline(never)]
fn is_undefined(handle: Op, datatype: Datatype) -> Failure {
    let name = crate::predefined::name(datatype.0).unwrap_or("a derived datatype");
    Failure::new(MPI_ERR_OP, format!("op {:#x} is not defined on {name}", handle.0))
}

/// An operation of one-sided communication: a predefined one on the basic type (MPI 5.0 §12.3.4). `fetches`: the old value is
/// wanted, without which MPI_NO_OP has no meaning. `base` `None`: there is no data.
pub fn one_sided(handle: Op, base: Option<Base>, fetches: bool) -> Res<OpDesc> {
    let Some(code) = predefined(handle.0) else {
        TABLE.get(handle.0).ok_or_else(|| wrong(handle))?;
        return Failure::err(MPI_ERR_OP, format!("op {:#x} is a function of the user", handle.0));
    };
    if code == op::NO_OP && !fetches {
        return Failure::err(MPI_ERR_OP, "op is MPI_NO_OP, and the call gets no value");
    }
    if base.is_some_and(|base| !kernel::defined(code, base)) {
        return Failure::err(MPI_ERR_OP, format!("op {:#x} is not defined on the datatype", handle.0));
    }
    let commutative = code != op::REPLACE;
    Ok(OpDesc {
        size: size_of::<OpDesc>() as u32,
        code,
        commutative: commutative.into(),
        reserved: 0,
        user: None,
        ctx: null_mut(),
    })
}

impl Held {
    pub fn desc(&self) -> OpDesc {
        self.0.desc()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Predefined types are in no table.
        drop(datatype::TABLE.remove(self.0.datatype.0));
    }
}

impl Call {
    /// For after the call; `None`: a predefined operation, which needs nothing.
    pub fn hold(&self) -> Res<Option<Held>> {
        if self.object.is_none() {
            return Ok(None);
        }
        let datatype = match datatype::TABLE.get(self.datatype.0) {
            Some(object) => datatype::again(object.derived.clone())?,
            None => self.datatype,
        };
        Ok(Some(Held(Box::new(Call { datatype, ..*self }))))
    }

    /// The operation as components take it; valid as long as `self`.
    pub fn desc(&self) -> OpDesc {
        OpDesc {
            size: size_of::<OpDesc>() as u32,
            code: self.code,
            commutative: self.object.is_none_or(|o| o.commute) as u32,
            reserved: 0,
            user: self.object.map(|_| run as _),
            ctx: if self.object.is_some() { self as *const Call as *mut c_void } else { null_mut() },
        }
    }
}

/// Calls the user's function, in pieces if the count does not fit into its integer.
extern "C" fn run(ctx: *mut c_void, input: *const u8, inout: *mut u8, count: u64, dtype: *const TypeDesc) {
    // SAFETY: `ctx` is the `Call` that `desc` was made of, which outlives the reduction.
    let call = unsafe { &*(ctx as *const Call) };
    let Some(object) = &call.object else { return };
    // SAFETY: components pass the descriptor of the data.
    let extent = unsafe { (*dtype).extent };
    let mut datatype = call.datatype;
    let mut done = 0;
    while done < count {
        let offset = (done as i64 * extent) as isize;
        let (input, inout) =
            (input.wrapping_offset(offset) as *mut c_void, inout.wrapping_offset(offset).cast());
        if object.large {
            let mut n = (count - done) as Count;
            // SAFETY: the user gave it as a function of this type; buffers hold `n` elements.
            gate::run_outside_without_entry(|| unsafe {
                core::mem::transmute::<usize, UserFnLarge>(object.function)(
                    input,
                    inout,
                    &mut n,
                    &mut datatype,
                )
            });
            return;
        }
        let piece = (count - done).min(c_int::MAX as u64);
        let mut n = piece as c_int;
        // SAFETY: the user gave it as a function of this type, with such a count; buffers hold `n` elements.
        gate::run_outside_without_entry(|| unsafe {
            core::mem::transmute::<usize, UserFn>(object.function)(input, inout, &mut n, &mut datatype)
        });
        done += piece;
    }
}

fn create(function: usize, large: bool, commute: c_int, out: Out<Op>) -> Res {
    if function < 0x1000 {
        return Failure::err(MPI_ERR_ARG, format!("user_fn {function:#x} is no function"));
    }
    if out.is_null() {
        return Failure::err(MPI_ERR_ARG, "op is a null pointer");
    }
    match TABLE.insert(Box::new(OpObject { function, large, commute: commute != 0 })) {
        Some(handle) => write(out, "op", Op(handle)),
        None => Failure::err(MPI_ERR_NO_MEM, "too many operations"),
    }
}

mpi_fn! {
    fn MPI_Op_create(user_fn: usize, commute: c_int, op: Out<Op>) -> c_int |here| {
        call(here, NAME, None, |_, _| create(user_fn, false, commute, op))
    }
}
mpi_fn! {
    fn MPI_Op_create_c(user_fn: usize, commute: c_int, op: Out<Op>) -> c_int |here| {
        call(here, NAME, None, |_, _| create(user_fn, true, commute, op))
    }
}
mpi_fn! {
    fn MPI_Op_free(op: Out<Op>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let handle = read(op, "op")?;
            if predefined(handle.0).is_some() {
                return Failure::err(MPI_ERR_OP, format!("op {:#x} is predefined and cannot be freed", handle.0));
            }
            TABLE.remove(handle.0).ok_or_else(|| wrong(handle))?;
            write(op, "op", Op(MPI_OP_NULL))
        })
    }
}
mpi_fn! {
    fn MPI_Op_commutative(op: Op, commute: Out<c_int>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let value = match predefined(op.0) {
                // Replacing depends on who comes last.
                Some(code) => code != crate::op::op::REPLACE,
                None => TABLE.get(op.0).ok_or_else(|| wrong(op))?.commute,
            };
            write(commute, "commute", value as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_Reduce_local[c_int], MPI_Reduce_local_c[Count]<N>(inbuf: Address, inoutbuf: Address, count: N, datatype: Datatype, op: Op) -> c_int |here| {
        call(here, NAME, None, |process, _| {
            let Ok(n) = u64::try_from(count) else {
                return Failure::err(MPI_ERR_COUNT, format!("count is {count}"));
            };
            let desc = datatype::require_committed(datatype, "datatype")?;
            let operation = resolve(op, desc, datatype)?;
            check_buffer(process, inbuf, n as i64, desc, "inbuf")?;
            check_buffer(process, inoutbuf, n as i64, desc, "inoutbuf")?;
            for (buf, name) in [(inbuf.addr(), "inbuf"), (inoutbuf.addr(), "inoutbuf")] {
                if buf == MPI_IN_PLACE {
                    return Failure::err(MPI_ERR_BUFFER, format!("{name} is MPI_IN_PLACE"));
                }
            }
            if n == 0 {
                return Ok(());
            }
            if inbuf == inoutbuf {
                return Failure::err(MPI_ERR_BUFFER, "inbuf and inoutbuf are the same");
            }
            // SAFETY: the user promises the buffers.
            let status = unsafe {
                process.instance.reduce(&operation.desc(), inbuf.as_ptr(), inoutbuf.as_mut_ptr(), n, desc)
            };
            crate::error::check(status)
        })
    }
}
