//! Objects that a library hands out, and the tables of functions that belong to a context.
//!
//! The extended table lies *in front of* its context and grew at its front, so slots are named by their distance from the context,
//! backwards. A slot is there if the table is long enough and it is not null.

use core::ffi::{c_char, c_int, c_void};

/// Room of a C library's mutex and condition, which objects carry and nobody here uses.
pub type Unused<const N: usize> = [u64; N];

/// `struct ibv_device`.
#[repr(C)]
pub struct Device {
    pub ops: [usize; 2],
    pub node_type: u32,
    pub transport_type: u32,
    pub name: [c_char; 64],
    pub dev_name: [c_char; 64],
    pub dev_path: [c_char; 256],
    pub ibdev_path: [c_char; 256],
}

/// `struct ibv_context`.
#[repr(C)]
pub struct Context {
    pub device: *mut Device,
    /// `struct ibv_context_ops`, by [`op`].
    pub ops: [usize; 32],
    pub cmd_fd: c_int,
    pub async_fd: c_int,
    pub num_comp_vectors: c_int,
    pub mutex: Unused<5>,
    /// All bits set: there is an extended table.
    pub abi_compat: usize,
}

/// Slots of [`Context::ops`].
pub mod op {
    pub const POLL_CQ: usize = 11;
    pub const REQ_NOTIFY_CQ: usize = 12;
    pub const POST_SRQ_RECV: usize = 20;
    pub const POST_SEND: usize = 25;
    pub const POST_RECV: usize = 26;
}

/// Slots of the extended table, by distance in front of the context.
pub mod ext {
    /// The size of table and context.
    pub const SZ: usize = 8;
    pub const CREATE_SRQ_EX: usize = 40;
    pub const CREATE_QP_EX: usize = 56;
    pub const QUERY_DEVICE_EX: usize = 104;
    pub const CREATE_CQ_EX: usize = 120;
    pub const ALLOC_TD: usize = 192;
    pub const DEALLOC_TD: usize = 200;
    pub const ALLOC_PARENT_DOMAIN: usize = 208;
    pub const QUERY_PORT: usize = 320;
    /// Bytes of the table as of rdma-core 44.
    pub const BYTES: usize = 320;
}

/// `struct ibv_pd`.
#[repr(C)]
pub struct Pd {
    pub context: *mut Context,
    pub handle: u32,
}

/// `struct ibv_td`.
#[repr(C)]
pub struct Td {
    pub context: *mut Context,
}

/// `struct ibv_mr`.
#[repr(C)]
pub struct Mr {
    pub context: *mut Context,
    pub pd: *mut Pd,
    pub addr: *mut c_void,
    pub length: usize,
    pub handle: u32,
    pub lkey: u32,
    pub rkey: u32,
}

/// `struct ibv_comp_channel`.
#[repr(C)]
pub struct CompChannel {
    pub context: *mut Context,
    pub fd: c_int,
    pub refcnt: c_int,
}

/// `struct ibv_cq`.
#[repr(C)]
pub struct Cq {
    pub context: *mut Context,
    pub channel: *mut CompChannel,
    pub cq_context: *mut c_void,
    pub handle: u32,
    pub cqe: c_int,
    pub mutex: Unused<5>,
    pub cond: Unused<6>,
    pub comp_events_completed: u32,
    pub async_events_completed: u32,
}

/// `struct ibv_cq_ex`: a [`Cq`] in front, functions behind.
#[repr(C)]
pub struct CqEx {
    pub cq: Cq,
    pub comp_mask: u32,
    pub status: u32,
    pub wr_id: u64,
    pub start_poll: Option<unsafe extern "C" fn(*mut CqEx, *mut c_void) -> c_int>,
    pub next_poll: Option<unsafe extern "C" fn(*mut CqEx) -> c_int>,
    pub end_poll: Option<unsafe extern "C" fn(*mut CqEx)>,
    pub read_opcode: Option<unsafe extern "C" fn(*mut CqEx) -> u32>,
    pub read_vendor_err: Option<unsafe extern "C" fn(*mut CqEx) -> u32>,
    pub read_byte_len: Option<unsafe extern "C" fn(*mut CqEx) -> u32>,
    pub read_imm_data: Option<unsafe extern "C" fn(*mut CqEx) -> u32>,
    pub read_qp_num: Option<unsafe extern "C" fn(*mut CqEx) -> u32>,
    pub read_src_qp: Option<unsafe extern "C" fn(*mut CqEx) -> u32>,
    pub read_wc_flags: Option<unsafe extern "C" fn(*mut CqEx) -> u32>,
    /// Functions that nobody here calls.
    pub others: [usize; 8],
}

/// `struct ibv_qp`.
#[repr(C)]
pub struct Qp {
    pub context: *mut Context,
    pub qp_context: *mut c_void,
    pub pd: *mut Pd,
    pub send_cq: *mut Cq,
    pub recv_cq: *mut Cq,
    pub srq: *mut Srq,
    pub handle: u32,
    pub qp_num: u32,
    pub state: u32,
    pub qp_type: u32,
    pub mutex: Unused<5>,
    pub cond: Unused<6>,
    pub events_completed: u32,
}

/// `struct ibv_srq`.
#[repr(C)]
pub struct Srq {
    pub context: *mut Context,
    pub srq_context: *mut c_void,
    pub pd: *mut Pd,
    pub handle: u32,
    pub mutex: Unused<5>,
    pub cond: Unused<6>,
    pub events_completed: u32,
}

/// `struct ibv_ah`.
#[repr(C)]
pub struct Ah {
    pub context: *mut Context,
    pub pd: *mut Pd,
    pub handle: u32,
}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<Device>() == 664);
    assert!(offset_of!(Device, name) == 24);
    assert!(offset_of!(Device, dev_name) == 88);
    assert!(size_of::<Context>() == 328);
    assert!(offset_of!(Context, cmd_fd) == 264);
    assert!(offset_of!(Context, async_fd) == 268);
    assert!(offset_of!(Context, num_comp_vectors) == 272);
    assert!(offset_of!(Context, abi_compat) == 320);
    assert!(offset_of!(Context, ops) + 8 * op::POLL_CQ == 96);
    assert!(offset_of!(Context, ops) + 8 * op::REQ_NOTIFY_CQ == 104);
    assert!(offset_of!(Context, ops) + 8 * op::POST_SRQ_RECV == 168);
    assert!(offset_of!(Context, ops) + 8 * op::POST_SEND == 208);
    assert!(offset_of!(Context, ops) + 8 * op::POST_RECV == 216);
    assert!(size_of::<Pd>() == 16 && size_of::<Td>() == 8);
    assert!(size_of::<Mr>() == 48 && offset_of!(Mr, lkey) == 36 && offset_of!(Mr, rkey) == 40);
    assert!(size_of::<CompChannel>() == 16 && offset_of!(CompChannel, fd) == 8);
    assert!(size_of::<Cq>() == 128 && offset_of!(Cq, cqe) == 28);
    assert!(size_of::<CqEx>() == 288);
    assert!(offset_of!(CqEx, wr_id) == 136 && offset_of!(CqEx, start_poll) == 144);
    assert!(size_of::<Qp>() == 160 && offset_of!(Qp, qp_num) == 52);
    assert!(offset_of!(Qp, state) == 56 && offset_of!(Qp, qp_type) == 60);
    assert!(offset_of!(Qp, mutex) == 64);
    assert!(size_of::<Srq>() == 128);
    assert!(size_of::<Ah>() == 24);
};
