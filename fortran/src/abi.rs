//! Types and numbers of the standard ABI (MPI 5.0 §20) that the procedures need, from the C side.

use core::ffi::{c_int, c_void};

/// INTEGER.
pub type Fint = c_int;
/// A handle of C. Those of Fortran are its number.
pub type Handle = usize;

pub const SUCCESS: c_int = 0;
pub const ERR_ARG: c_int = 13;
pub const ERR_ABI: c_int = 62;
pub const ERR_UNSUPPORTED_OPERATION: c_int = 55;
pub const ERR_NO_MEM: c_int = 39;
pub const UNDEFINED: c_int = -32766;
pub const BOTTOM: *mut c_void = core::ptr::without_provenance_mut(0);
pub const IN_PLACE: *mut c_void = core::ptr::without_provenance_mut(1);
pub const BUFFER_AUTOMATIC: *mut c_void = core::ptr::without_provenance_mut(2);
pub const UNWEIGHTED: *mut c_int = core::ptr::without_provenance_mut(10);
pub const WEIGHTS_EMPTY: *mut c_int = core::ptr::without_provenance_mut(11);
