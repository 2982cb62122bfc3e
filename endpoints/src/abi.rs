//! Types and constants of the MPI 5.0 standard ABI that this crate uses. Handles are words.

pub use core::ffi::{c_char, c_int, c_void};

/// MPI_Status (MPI 5.0 §20.3).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Status {
    pub source: c_int,
    pub tag: c_int,
    pub error: c_int,
    pub internal: [c_int; 5],
}

pub type Comm = usize;
pub type Group = usize;
pub type Datatype = usize;
pub type Request = usize;
pub type Message = usize;
pub type Info = usize;
pub type Errhandler = usize;
pub type Op = usize;
pub type Win = usize;

pub const COMM_NULL: Comm = 0x100;
pub const COMM_WORLD: Comm = 0x101;
pub const COMM_SELF: Comm = 0x102;
pub const GROUP_NULL: Group = 0x108;
pub const MESSAGE_NULL: Message = 0x128;
pub const MESSAGE_NO_PROC: Message = 0x129;
pub const WIN_NULL: Win = 0x110;
pub const INFO_NULL: Info = 0x130;
pub const ERRORS_ARE_FATAL: Errhandler = 0x141;
pub const ERRORS_ABORT: Errhandler = 0x142;
pub const ERRORS_RETURN: Errhandler = 0x143;
pub const REQUEST_NULL: Request = 0x180;
pub const DATATYPE_NULL: Datatype = 0x200;
pub const PACKED: Datatype = 0x207;
pub const BYTE: Datatype = 0x247;
pub const INT: Datatype = 0x209;
pub const INT64: Datatype = 0x258;
/// Predefined datatypes lie between DATATYPE_NULL and this.
pub const DATATYPE_END: Datatype = 0x300;
pub const OP_NULL: Op = 0x20;
pub const SUM: Op = 0x21;
pub const MIN: Op = 0x22;
pub const MAX: Op = 0x23;
pub const REPLACE: Op = 0x3c;
pub const NO_OP: Op = 0x3d;
/// Predefined operations lie between OP_NULL and this.
pub const OP_END: Op = 0x40;

pub const IN_PLACE: usize = 1;

pub const ANY_SOURCE: c_int = -1;
pub const ANY_TAG: c_int = -2;
pub const PROC_NULL: c_int = -3;
pub const ROOT: c_int = -4;
pub const UNDEFINED: c_int = -32766;

pub const THREAD_SINGLE: c_int = 0;
pub const COMM_TYPE_SHARED: c_int = 221;
pub const IDENT: c_int = 201;
pub const CONGRUENT: c_int = 202;
pub const SIMILAR: c_int = 203;
pub const UNEQUAL: c_int = 204;
pub const CART: c_int = 211;
pub const GRAPH: c_int = 212;
pub const DIST_GRAPH: c_int = 213;
pub const TAG_UB: c_int = 501;

pub const SUCCESS: c_int = 0;
pub const ERR_BUFFER: c_int = 1;
pub const ERR_COUNT: c_int = 2;
pub const ERR_TYPE: c_int = 3;
pub const ERR_TAG: c_int = 4;
pub const ERR_COMM: c_int = 5;
pub const ERR_RANK: c_int = 6;
pub const ERR_REQUEST: c_int = 7;
pub const ERR_ROOT: c_int = 8;
pub const ERR_GROUP: c_int = 9;
pub const ERR_OP: c_int = 10;
pub const ERR_TOPOLOGY: c_int = 11;
pub const ERR_ARG: c_int = 13;
pub const ERR_TRUNCATE: c_int = 15;
pub const ERR_OTHER: c_int = 16;
pub const ERR_INTERN: c_int = 17;
pub const ERR_PENDING: c_int = 18;
pub const ERR_IN_STATUS: c_int = 19;
pub const ERR_INFO: c_int = 34;
pub const ERR_KEYVAL: c_int = 36;
pub const ERR_NO_MEM: c_int = 39;
pub const ERR_ASSERT: c_int = 22;
pub const ERR_DISP: c_int = 26;
pub const ERR_LOCKTYPE: c_int = 37;
pub const ERR_RMA_ATTACH: c_int = 46;
pub const ERR_RMA_SHARED: c_int = 49;
pub const ERR_RMA_SYNC: c_int = 50;
pub const ERR_SIZE: c_int = 52;
pub const ERR_UNSUPPORTED_OPERATION: c_int = 55;
pub const ERR_WIN: c_int = 56;
pub const ERR_RMA_FLAVOR: c_int = 57;
/// Class of MPIX_Comm_create_endpoints: more endpoints than proxies (`mpi-ext.h`).
pub const ERR_ENDPOINTS: c_int = 16001;

pub const WIN_BASE: c_int = 601;
pub const WIN_DISP_UNIT: c_int = 602;
pub const WIN_SIZE: c_int = 603;
pub const WIN_CREATE_FLAVOR: c_int = 604;
pub const WIN_MODEL: c_int = 605;
pub const FLAVOR_CREATE: c_int = 311;
pub const FLAVOR_ALLOCATE: c_int = 312;
pub const FLAVOR_DYNAMIC: c_int = 313;
pub const FLAVOR_SHARED: c_int = 314;
pub const WIN_UNIFIED: c_int = 321;
pub const LOCK_EXCLUSIVE: c_int = 301;
pub const LOCK_SHARED: c_int = 302;
pub const MODE_NOCHECK: c_int = 1024;
pub const MODE_NOPRECEDE: c_int = 2048;
pub const MODE_NOPUT: c_int = 4096;
pub const MODE_NOSTORE: c_int = 8192;
pub const MODE_NOSUCCEED: c_int = 16384;

pub const MAX_INFO_KEY: usize = 256;
pub const MAX_INFO_VAL: usize = 1024;
pub const MAX_ERROR_STRING: usize = 512;
pub const MAX_OBJECT_NAME: usize = 128;

pub fn is_predefined(dtype: Datatype) -> bool {
    dtype > DATATYPE_NULL && dtype < DATATYPE_END
}
