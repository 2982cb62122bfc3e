//! Reduction kernels: `inout[i] = in[i] op inout[i]` for predefined operations on basic types.

use crate::desc::{Base, TypeDesc};
use core::ffi::c_void;
use oxmpi_mca::Status;

/// Predefined operations (MPI 5.0 §6.9.2), by number.
#[allow(missing_docs, reason = "the names say it")]
pub mod op {
    pub const USER: u32 = 0;
    pub const SUM: u32 = 1;
    pub const MIN: u32 = 2;
    pub const MAX: u32 = 3;
    pub const PROD: u32 = 4;
    pub const BAND: u32 = 5;
    pub const BOR: u32 = 6;
    pub const BXOR: u32 = 7;
    pub const LAND: u32 = 8;
    pub const LOR: u32 = 9;
    pub const LXOR: u32 = 10;
    pub const MINLOC: u32 = 11;
    pub const MAXLOC: u32 = 12;
    pub const REPLACE: u32 = 13;
    pub const NO_OP: u32 = 14;
}

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

/// Whether `code` is defined on data of type `base`.
pub fn defined(_code: u32, _base: Base) -> bool {
    false
}

/// Applies `op` to `count` elements of `dtype`. `BAD_PARAM` where it is not defined.
///
/// # Safety
/// Both buffers must hold `count` elements of `dtype` and not overlap.
pub unsafe fn reduce(
    _op: &OpDesc,
    _input: *const u8,
    _inout: *mut u8,
    _count: u64,
    _dtype: &TypeDesc,
) -> Status {
    Status::NOT_SUPPORTED
}
