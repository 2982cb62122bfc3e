//! Layouts and numbers of libfabric, as far as this driver uses them.
//!
//! They are facts of the library's interface from 1.17 on. Every structure of the library has only grown at its end since; those that the library makes are read
//! through pointers as far as they stand here, and behind those that the driver makes and that have grown since there is room, all zero. The sizes below are those of 1.17 and were compared with the headers of 2.6.

use core::ffi::{c_char, c_int, c_void};

/// A function of one of the library's tables; absent where a provider has none.
macro_rules! op {
    (($($arg:ty),*) -> $result:ty) => { Option<unsafe extern "C" fn($($arg),*) -> $result> };
}

/// The head of every object.
#[repr(C)]
pub struct Fid {
    pub class: usize,
    pub context: *mut c_void,
    pub ops: *const FidOps,
}

#[repr(C)]
pub struct FidOps {
    pub size: usize,
    pub close: op!((*mut Fid) -> c_int),
    pub bind: op!((*mut Fid, *mut Fid, u64) -> c_int),
    pub control: op!((*mut Fid, c_int, *mut c_void) -> c_int),
}

#[repr(C)]
pub struct FabricObject {
    pub fid: Fid,
    pub ops: *const FabricOps,
}

#[repr(C)]
pub struct FabricOps {
    pub size: usize,
    pub domain: op!((*mut FabricObject, *mut FiInfo, *mut *mut DomainObject, *mut c_void) -> c_int),
    pub passive_ep: *const c_void,
    pub eq_open: *const c_void,
    pub wait_open: *const c_void,
    pub trywait: op!((*mut FabricObject, *mut *mut Fid, c_int) -> c_int),
}

#[repr(C)]
pub struct DomainObject {
    pub fid: Fid,
    pub ops: *const DomainOps,
    pub mr: *const MrOps,
}

#[repr(C)]
pub struct DomainOps {
    pub size: usize,
    pub av_open: op!((*mut DomainObject, *mut AvAttr, *mut *mut AvObject, *mut c_void) -> c_int),
    pub cq_open: op!((*mut DomainObject, *mut CqAttr, *mut *mut CqObject, *mut c_void) -> c_int),
    pub endpoint: op!((*mut DomainObject, *mut FiInfo, *mut *mut EpObject, *mut c_void) -> c_int),
    pub scalable_ep: op!((*mut DomainObject, *mut FiInfo, *mut *mut EpObject, *mut c_void) -> c_int),
}

#[repr(C)]
pub struct MrOps {
    pub size: usize,
    pub reg: op!(
        (*mut Fid, *const c_void, usize, u64, u64, u64, u64, *mut *mut MrObject, *mut c_void) -> c_int
    ),
}

#[repr(C)]
pub struct AvObject {
    pub fid: Fid,
    pub ops: *const AvOps,
}

#[repr(C)]
pub struct AvOps {
    pub size: usize,
    pub insert: op!((*mut AvObject, *const c_void, usize, *mut u64, u64, *mut c_void) -> c_int),
    pub insertsvc: *const c_void,
    pub insertsym: *const c_void,
    pub remove: op!((*mut AvObject, *mut u64, usize, u64) -> c_int),
}

#[repr(C)]
pub struct CqObject {
    pub fid: Fid,
    pub ops: *const CqOps,
}

#[repr(C)]
pub struct CqOps {
    pub size: usize,
    pub read: op!((*mut CqObject, *mut c_void, usize) -> isize),
    pub readfrom: *const c_void,
    pub readerr: op!((*mut CqObject, *mut CqErrEntry, u64) -> isize),
    pub sread: *const c_void,
    pub sreadfrom: *const c_void,
    pub signal: *const c_void,
    pub strerror: op!((*mut CqObject, c_int, *const c_void, *mut c_char, usize) -> *const c_char),
}

#[repr(C)]
pub struct MrObject {
    pub fid: Fid,
    pub desc: *mut c_void,
    pub key: u64,
}

#[repr(C)]
pub struct EpObject {
    pub fid: Fid,
    pub ops: *const EpOps,
    pub cm: *const CmOps,
    pub msg: *const MsgOps,
    pub rma: *const RmaOps,
    pub tagged: *const c_void,
    pub atomic: *const AtomicOps,
}

#[repr(C)]
pub struct EpOps {
    pub size: usize,
    pub cancel: *const c_void,
    pub getopt: *const c_void,
    pub setopt: *const c_void,
    pub tx_ctx: op!((*mut EpObject, c_int, *mut TxAttr, *mut *mut EpObject, *mut c_void) -> c_int),
    pub rx_ctx: op!((*mut EpObject, c_int, *mut RxAttr, *mut *mut EpObject, *mut c_void) -> c_int),
}

#[repr(C)]
pub struct CmOps {
    pub size: usize,
    pub setname: *const c_void,
    pub getname: op!((*mut Fid, *mut c_void, *mut usize) -> c_int),
}

pub type RecvCall =
    unsafe extern "C" fn(*mut EpObject, *mut c_void, usize, *mut c_void, u64, *mut c_void) -> isize;
pub type SendCall =
    unsafe extern "C" fn(*mut EpObject, *const c_void, usize, *mut c_void, u64, *mut c_void) -> isize;
pub type InjectCall = unsafe extern "C" fn(*mut EpObject, *const c_void, usize, u64) -> isize;

#[repr(C)]
pub struct MsgOps {
    pub size: usize,
    pub recv: Option<RecvCall>,
    pub recvv: *const c_void,
    pub recvmsg: *const c_void,
    pub send: Option<SendCall>,
    pub sendv: *const c_void,
    pub sendmsg: *const c_void,
    pub inject: Option<InjectCall>,
}

pub type ReadCall =
    unsafe extern "C" fn(*mut EpObject, *mut c_void, usize, *mut c_void, u64, u64, u64, *mut c_void) -> isize;
pub type WriteMsg = unsafe extern "C" fn(*mut EpObject, *const RmaMessage, u64) -> isize;

#[repr(C)]
pub struct RmaOps {
    pub size: usize,
    pub read: Option<ReadCall>,
    pub readv: *const c_void,
    pub readmsg: *const c_void,
    pub write: *const c_void,
    pub writev: *const c_void,
    pub writemsg: Option<WriteMsg>,
}

pub type FetchMsg = unsafe extern "C" fn(
    *mut EpObject,
    *const AtomicMessage,
    *mut Ioc,
    *mut *mut c_void,
    usize,
    u64,
) -> isize;
pub type CompareMsg = unsafe extern "C" fn(
    *mut EpObject,
    *const AtomicMessage,
    *const Ioc,
    *mut *mut c_void,
    usize,
    *mut Ioc,
    *mut *mut c_void,
    usize,
    u64,
) -> isize;
pub type Valid = unsafe extern "C" fn(*mut EpObject, c_int, c_int, *mut usize) -> c_int;

#[repr(C)]
pub struct AtomicOps {
    pub size: usize,
    pub write: [*const c_void; 4],
    pub readwrite: [*const c_void; 2],
    pub readwritemsg: Option<FetchMsg>,
    pub compwrite: [*const c_void; 2],
    pub compwritemsg: Option<CompareMsg>,
    pub writevalid: *const c_void,
    pub readwritevalid: Option<Valid>,
    pub compwritevalid: Option<Valid>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct IoVec {
    pub base: *mut c_void,
    pub len: usize,
}

#[repr(C)]
pub struct RmaIov {
    pub addr: u64,
    pub len: usize,
    pub key: u64,
}

#[repr(C)]
pub struct RmaMessage {
    pub iov: *const IoVec,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
    pub addr: u64,
    pub rma: *const RmaIov,
    pub rma_count: usize,
    pub context: *mut c_void,
    pub data: u64,
}

/// Elements in memory of this process.
#[repr(C)]
pub struct Ioc {
    pub addr: *mut c_void,
    pub count: usize,
}

#[repr(C)]
pub struct RmaIoc {
    pub addr: u64,
    pub count: usize,
    pub key: u64,
}

#[repr(C)]
pub struct AtomicMessage {
    pub iov: *const Ioc,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
    pub addr: u64,
    pub rma: *const RmaIoc,
    pub rma_count: usize,
    pub datatype: c_int,
    pub op: c_int,
    pub context: *mut c_void,
    pub data: u64,
}

#[repr(C)]
pub struct AvAttr {
    pub kind: c_int,
    pub rx_ctx_bits: c_int,
    pub count: usize,
    pub ep_per_node: usize,
    pub name: *const c_char,
    pub map_addr: *mut c_void,
    pub flags: u64,
}

#[repr(C)]
pub struct CqAttr {
    pub size: usize,
    pub flags: u64,
    pub format: c_int,
    pub wait_obj: c_int,
    pub signaling_vector: c_int,
    pub wait_cond: c_int,
    pub wait_set: *mut c_void,
    pub beyond: [u64; 4],
}

/// A completion, in the format [`CQ_FORMAT_MSG`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CqEntry {
    pub context: *mut c_void,
    pub flags: u64,
    pub len: usize,
}

/// The report of an error, with room for what later versions append.
#[repr(C)]
pub struct CqErrEntry {
    pub context: *mut c_void,
    pub flags: u64,
    pub len: usize,
    pub buf: *mut c_void,
    pub data: u64,
    pub tag: u64,
    pub olen: usize,
    pub err: c_int,
    pub prov_errno: c_int,
    pub err_data: *mut c_void,
    pub err_data_size: usize,
    pub src_addr: u64,
    pub beyond: [u64; 20],
}

#[repr(C)]
pub struct FiInfo {
    pub next: *mut FiInfo,
    pub caps: u64,
    pub mode: u64,
    pub addr_format: u32,
    pub src_addrlen: usize,
    pub dest_addrlen: usize,
    pub src_addr: *mut c_void,
    pub dest_addr: *mut c_void,
    pub handle: *mut Fid,
    pub tx: *mut TxAttr,
    pub rx: *mut RxAttr,
    pub ep: *mut EpAttr,
    pub domain: *mut DomainAttr,
    pub fabric: *mut FabricAttr,
    pub nic: *mut Nic,
}

#[repr(C)]
pub struct TxAttr {
    pub caps: u64,
    pub mode: u64,
    pub op_flags: u64,
    pub msg_order: u64,
    pub comp_order: u64,
    pub inject_size: usize,
    pub size: usize,
    pub iov_limit: usize,
    pub rma_iov_limit: usize,
    pub tclass: u32,
}

#[repr(C)]
pub struct RxAttr {
    pub caps: u64,
    pub mode: u64,
    pub op_flags: u64,
    pub msg_order: u64,
    pub comp_order: u64,
    pub total_buffered_recv: usize,
    pub size: usize,
    pub iov_limit: usize,
}

#[repr(C)]
pub struct EpAttr {
    pub kind: c_int,
    pub protocol: u32,
    pub protocol_version: u32,
    pub max_msg_size: usize,
    pub msg_prefix_size: usize,
    pub max_order_raw_size: usize,
    pub max_order_war_size: usize,
    pub max_order_waw_size: usize,
    pub mem_tag_format: u64,
    pub tx_ctx_cnt: usize,
    pub rx_ctx_cnt: usize,
}

#[repr(C)]
pub struct DomainAttr {
    pub domain: *mut DomainObject,
    pub name: *mut c_char,
    pub threading: c_int,
    pub control_progress: c_int,
    pub data_progress: c_int,
    pub resource_mgmt: c_int,
    pub av_type: c_int,
    pub mr_mode: c_int,
    pub mr_key_size: usize,
    pub cq_data_size: usize,
    pub cq_cnt: usize,
    pub ep_cnt: usize,
    pub tx_ctx_cnt: usize,
    pub rx_ctx_cnt: usize,
    pub max_ep_tx_ctx: usize,
    pub max_ep_rx_ctx: usize,
}

#[repr(C)]
pub struct FabricAttr {
    pub fabric: *mut FabricObject,
    pub name: *mut c_char,
    pub prov_name: *mut c_char,
    pub prov_version: u32,
    pub api_version: u32,
}

#[repr(C)]
pub struct Nic {
    pub fid: Fid,
    pub device: *mut c_void,
    pub bus: *mut c_void,
    pub link: *mut LinkAttr,
}

#[repr(C)]
pub struct LinkAttr {
    pub address: *mut c_char,
    pub mtu: usize,
    /// Bits per second.
    pub speed: usize,
}

/// A version, as the library counts: the major above the minor.
pub const fn version(major: u32, minor: u32) -> u32 {
    major << 16 | minor
}

/// Capabilities and flags of operations.
pub const MSG: u64 = 1 << 1;
pub const RMA: u64 = 1 << 2;
pub const ATOMIC: u64 = 1 << 4;
pub const READ: u64 = 1 << 8;
pub const WRITE: u64 = 1 << 9;
pub const RECV: u64 = 1 << 10;
pub const SEND: u64 = 1 << 11;
pub const REMOTE_READ: u64 = 1 << 12;
pub const REMOTE_WRITE: u64 = 1 << 13;
pub const DELIVERY_COMPLETE: u64 = 1 << 28;
/// Peers can name a context of a scalable endpoint.
pub const NAMED_RX_CTX: u64 = 1 << 58;

/// Modes that this driver serves: it lends the library room in every operation's context.
pub const CONTEXT: u64 = 1 << 59;
pub const CONTEXT2: u64 = 1 << 52;
/// Bytes of that room.
pub const CONTEXT_BYTES: usize = 64;

pub const ORDER_SAS: u64 = 1 << 8;
pub const EP_RDM: c_int = 3;

pub const MR_LOCAL: c_int = 1 << 2;
pub const MR_VIRT_ADDR: c_int = 1 << 4;
pub const MR_ALLOCATED: c_int = 1 << 5;
pub const MR_PROV_KEY: c_int = 1 << 6;
pub const MR_ENDPOINT: c_int = 1 << 9;

pub const PROGRESS_AUTO: c_int = 1;
pub const THREAD_SAFE: c_int = 1;
pub const RM_ENABLED: c_int = 2;
pub const AV_MAP: c_int = 1;
pub const AV_TABLE: c_int = 2;
pub const CQ_FORMAT_MSG: c_int = 2;
pub const WAIT_NONE: c_int = 0;
pub const WAIT_FD: c_int = 3;
pub const GETWAIT: c_int = 5;
pub const ENABLE: c_int = 6;
pub const ADDR_UNSPEC: u64 = u64::MAX;

pub const SOCKADDR_IN: u32 = 2;
pub const SOCKADDR_IN6: u32 = 3;

/// Error numbers; those below 256 are the system's.
pub mod err {
    pub const AGAIN: i32 = 11;
    pub const NOMEM: i32 = 12;
    pub const ACCES: i32 = 13;
    pub const INVAL: i32 = 22;
    pub const NOSYS: i32 = 38;
    pub const NODATA: i32 = 61;
    pub const OPNOTSUPP: i32 = 95;
    pub const NOTCONN: i32 = 107;
    pub const CANCELED: i32 = 125;
    pub const AVAIL: i32 = 259;
    pub const TRUNC: i32 = 265;
    pub const NOKEY: i32 = 266;
}

/// Types of the operands of atomics, and operations.
pub mod atomic {
    use core::ffi::c_int;
    pub const INT32: c_int = 4;
    pub const UINT32: c_int = 5;
    pub const INT64: c_int = 6;
    pub const UINT64: c_int = 7;
    pub const FLOAT: c_int = 8;
    pub const DOUBLE: c_int = 9;
    pub const MIN: c_int = 0;
    pub const MAX: c_int = 1;
    pub const SUM: c_int = 2;
    pub const BOR: c_int = 6;
    pub const BAND: c_int = 7;
    pub const BXOR: c_int = 9;
    pub const WRITE: c_int = 11;
    pub const CSWAP: c_int = 12;
}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<Fid>() == 24 && offset_of!(FidOps, control) == 24);
    assert!(offset_of!(FabricOps, trywait) == 40 && offset_of!(DomainOps, endpoint) == 24);
    assert!(offset_of!(DomainObject, mr) == 32 && offset_of!(MrObject, key) == 32);
    assert!(offset_of!(CqOps, readerr) == 24 && offset_of!(CqOps, strerror) == 56);
    assert!(offset_of!(EpObject, msg) == 40 && offset_of!(EpObject, atomic) == 64);
    assert!(offset_of!(CmOps, getname) == 16 && offset_of!(AvOps, remove) == 32);
    assert!(offset_of!(MsgOps, send) == 32 && offset_of!(MsgOps, inject) == 56);
    assert!(offset_of!(RmaOps, writemsg) == 48);
    assert!(offset_of!(AtomicOps, readwritemsg) == 56 && offset_of!(AtomicOps, compwritemsg) == 80);
    assert!(offset_of!(AtomicOps, readwritevalid) == 96 && offset_of!(AtomicOps, compwritevalid) == 104);
    assert!(size_of::<RmaMessage>() == 64 && size_of::<AtomicMessage>() == 72);
    assert!(size_of::<RmaIov>() == 24 && size_of::<RmaIoc>() == 24 && size_of::<Ioc>() == 16);
    assert!(size_of::<AvAttr>() == 48 && offset_of!(CqAttr, wait_set) == 32 && size_of::<CqEntry>() == 24);
    assert!(offset_of!(CqErrEntry, err) == 56 && offset_of!(CqErrEntry, err_data) == 64);
    assert!(size_of::<FiInfo>() == 120 && offset_of!(FiInfo, tx) == 72);
    assert!(size_of::<TxAttr>() == 80 && size_of::<RxAttr>() == 64);
    assert!(offset_of!(EpAttr, max_msg_size) == 16 && offset_of!(EpAttr, rx_ctx_cnt) == 72);
    assert!(offset_of!(DomainAttr, max_ep_rx_ctx) == 96 && offset_of!(EpOps, rx_ctx) == 40);
    assert!(offset_of!(DomainOps, scalable_ep) == 32);
    assert!(offset_of!(DomainAttr, threading) == 16 && offset_of!(DomainAttr, mr_key_size) == 40);
    assert!(
        size_of::<FabricAttr>() == 32 && offset_of!(Nic, link) == 40 && offset_of!(LinkAttr, speed) == 16
    );
};
