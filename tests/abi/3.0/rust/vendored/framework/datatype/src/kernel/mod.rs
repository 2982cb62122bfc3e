//! Reduction kernels: `inout[i] = in[i] op inout[i]` for predefined operations on basic types
//! (MPI 5.0 §6.9.2).
//!
//! One loop per operation and type, over cells without alignment (user buffers may lie anywhere), in
//! a form the compiler makes vectors of. A predefined type's elements lie as C lays them out; a
//! derived type's are gathered in packed form first, which one-sided accumulates need
//! (MPI 5.0 §12.3.4: any layout of one basic type).
//!
//! long double is x87's on x86-64 and no arithmetic is defined on it elsewhere.

mod apply;
mod arith;
mod half;
mod loc;
mod logic;
#[cfg(target_arch = "x86_64")]
mod long_double;
mod quad;

pub use apply::op;

use crate::desc::{Base, TypeDesc, flag};
use crate::walk::{copy, pack, unpack};
use apply::{Form, Kernel};
use core::ffi::c_void;
use oxmpi_mca::Status;

/// An operation as it crosses to components.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OpDesc {
    pub size: u32,
    /// One of [`op`].
    pub code: u32,
    /// 1 if operands may change places.
    pub commutative: u32,
    pub reserved: u32,
    /// For `op::USER`: runs the user's function; never called under a lock.
    pub user: Option<
        extern "C" fn(ctx: *mut c_void, input: *const u8, inout: *mut u8, count: u64, dtype: *const TypeDesc),
    >,
    pub ctx: *mut c_void,
}

/// Whether `code` is defined on data of type `base`. REPLACE and NO_OP are on everything; that
/// they belong to one-sided communication alone is the caller's to check.
pub fn defined(code: u32, base: Base) -> bool {
    matches!(code, op::USER | op::REPLACE | op::NO_OP) || kernel(code, base, Form::Native).is_some()
}

/// Applies `op` to `count` elements of `dtype`. `BAD_PARAM` where it is not defined.
///
/// # Safety
/// Both buffers must hold `count` elements of `dtype` and not overlap.
pub unsafe fn reduce(op: &OpDesc, input: *const u8, inout: *mut u8, count: u64, dtype: &TypeDesc) -> Status {
    match op.code {
        op::USER => match op.user {
            Some(function) => function(op.ctx, input, inout, count, dtype),
            None => return Status::BAD_PARAM,
        },
        op::NO_OP => {}
        // SAFETY: the caller's promise.
        op::REPLACE => unsafe { copy(dtype, count, input, inout) },
        // SAFETY: the caller's promise.
        code => return unsafe { predefined(code, input, inout, count, dtype) },
    }
    Status::OK
}

/// # Safety
/// As [`reduce`].
unsafe fn predefined(code: u32, input: *const u8, inout: *mut u8, count: u64, dtype: &TypeDesc) -> Status {
    if dtype.flags & flag::PREDEFINED != 0 {
        let Some(run) = kernel(code, dtype.base, Form::Native) else { return Status::BAD_PARAM };
        // SAFETY: the caller's promise.
        unsafe { run(input, inout, count as usize) };
        return Status::OK;
    }
    let (Some(run), Some(basic)) = (kernel(code, dtype.base, Form::Packed), dtype.base.layout()) else {
        return Status::BAD_PARAM;
    };
    if !dtype.packed.is_multiple_of(basic.packed) {
        return Status::BAD_PARAM;
    }
    let total = dtype.packed * count;
    if dtype.is_contiguous() {
        // SAFETY: the caller's promise; contiguous data is packed data.
        unsafe { run(input, inout, (total / basic.packed) as usize) };
        return Status::OK;
    }
    let (mut left, mut right) = ([0u8; CHUNK], [0u8; CHUNK]);
    let step = CHUNK as u64 / basic.packed * basic.packed;
    let mut from = 0;
    while from < total {
        // SAFETY: the caller's promise; the chunks hold `step` bytes, and as many as were packed.
        unsafe {
            let len = pack(dtype, count, input, from, left.as_mut_ptr(), step);
            pack(dtype, count, inout, from, right.as_mut_ptr(), len);
            run(left.as_ptr(), right.as_mut_ptr(), (len / basic.packed) as usize);
            unpack(dtype, count, inout, from, right.as_ptr(), len);
            from += len;
        }
    }
    Status::OK
}

/// Packed bytes of a derived type that are reduced at once, on the stack.
const CHUNK: usize = 4096;

fn kernel(code: u32, base: Base, form: Form) -> Option<Kernel> {
    match code {
        op::SUM | op::PROD | op::MIN | op::MAX => arith::kernel(code, base),
        op::BAND | op::BOR | op::BXOR => logic::bitwise(code, base),
        op::LAND | op::LOR | op::LXOR => logic::logical(code, base),
        op::MINLOC | op::MAXLOC => loc::kernel(code == op::MINLOC, base, form),
        _ => None,
    }
}
