//! Structs that a caller fills, or has filled. Those that grew have their newest size.

use crate::objects::{Ah, CompChannel, Cq, Pd, Srq, Td};
use core::ffi::c_void;

/// `union ibv_gid`.
pub type Gid = [u8; 16];

/// `struct ibv_device_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DeviceAttr {
    pub fw_ver: [u8; 64],
    /// Big-endian.
    pub node_guid: u64,
    pub sys_image_guid: u64,
    pub max_mr_size: u64,
    pub page_size_cap: u64,
    pub vendor_id: u32,
    pub vendor_part_id: u32,
    pub hw_ver: u32,
    pub max_qp: i32,
    pub max_qp_wr: i32,
    pub device_cap_flags: u32,
    pub max_sge: i32,
    pub max_sge_rd: i32,
    pub max_cq: i32,
    pub max_cqe: i32,
    pub max_mr: i32,
    pub max_pd: i32,
    pub max_qp_rd_atom: i32,
    pub max_ee_rd_atom: i32,
    pub max_res_rd_atom: i32,
    pub max_qp_init_rd_atom: i32,
    pub max_ee_init_rd_atom: i32,
    pub atomic_cap: u32,
    pub max_ee: i32,
    pub max_rdd: i32,
    pub max_mw: i32,
    pub max_raw_ipv6_qp: i32,
    pub max_raw_ethy_qp: i32,
    pub max_mcast_grp: i32,
    pub max_mcast_qp_attach: i32,
    pub max_total_mcast_qp_attach: i32,
    pub max_ah: i32,
    pub max_fmr: i32,
    pub max_map_per_fmr: i32,
    pub max_srq: i32,
    pub max_srq_wr: i32,
    pub max_srq_sge: i32,
    pub max_pkeys: u16,
    pub local_ca_ack_delay: u8,
    pub phys_port_cnt: u8,
}

/// `struct ibv_port_attr` as of rdma-core 56.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct PortAttr {
    pub state: u32,
    pub max_mtu: u32,
    pub active_mtu: u32,
    pub gid_tbl_len: i32,
    pub port_cap_flags: u32,
    pub max_msg_sz: u32,
    pub bad_pkey_cntr: u32,
    pub qkey_viol_cntr: u32,
    pub pkey_tbl_len: u16,
    pub lid: u16,
    pub sm_lid: u16,
    pub lmc: u8,
    pub max_vl_num: u8,
    pub sm_sl: u8,
    pub subnet_timeout: u8,
    pub init_type_reply: u8,
    pub active_width: u8,
    pub active_speed: u8,
    pub phys_state: u8,
    pub link_layer: u8,
    pub flags: u8,
    pub port_cap_flags2: u16,
    pub active_speed_ex: u32,
}

impl PortAttr {
    /// Bytes that the symbol `ibv_query_port` fills, which knows an old struct.
    pub const OLD_BYTES: usize = 48;
}

/// `struct ibv_gid_entry`.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct GidEntry {
    pub gid: Gid,
    pub gid_index: u32,
    pub port_num: u32,
    pub gid_type: u32,
    pub ndev_ifindex: u32,
}

/// `struct ibv_td_init_attr`, with the field `sharing` of the scalable endpoints' extension (2018) behind it, which
/// upstream's struct does not have and whose mask bit upstream refuses.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct TdInitAttr {
    pub comp_mask: u32,
    pub sharing: u32,
}

impl TdInitAttr {
    /// In `comp_mask`: `sharing` is there.
    pub const SHARING: u32 = 1;
}

/// `struct ibv_parent_domain_init_attr`.
#[repr(C)]
pub struct ParentDomainInitAttr {
    pub pd: *mut Pd,
    pub td: *mut Td,
    pub comp_mask: u32,
    pub alloc: usize,
    pub free: usize,
    pub pd_context: *mut c_void,
}

/// `struct ibv_cq_init_attr_ex`.
#[repr(C)]
pub struct CqInitAttrEx {
    pub cqe: u32,
    pub cq_context: *mut c_void,
    pub channel: *mut CompChannel,
    pub comp_vector: u32,
    pub wc_flags: u64,
    pub comp_mask: u32,
    pub flags: u32,
    pub parent_domain: *mut Pd,
}

/// `struct ibv_qp_cap`.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct QpCap {
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline_data: u32,
}

/// `struct ibv_qp_init_attr`.
#[repr(C)]
pub struct QpInitAttr {
    pub qp_context: *mut c_void,
    pub send_cq: *mut Cq,
    pub recv_cq: *mut Cq,
    pub srq: *mut Srq,
    pub cap: QpCap,
    pub qp_type: u32,
    pub sq_sig_all: i32,
}

/// The first part of `struct ibv_qp_init_attr_ex`, and the size of all of it. It begins like [`QpInitAttr`], whose padding at
/// the end is a field here.
#[repr(C)]
pub struct QpInitAttrEx {
    pub qp_context: *mut c_void,
    pub send_cq: *mut Cq,
    pub recv_cq: *mut Cq,
    pub srq: *mut Srq,
    pub cap: QpCap,
    pub qp_type: u32,
    pub sq_sig_all: i32,
    pub comp_mask: u32,
    pub pd: *mut Pd,
    pub others: [u64; 8],
}

/// `struct ibv_global_route`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct GlobalRoute {
    /// Aligned to 8 in C.
    pub dgid: [u64; 2],
    pub flow_label: u32,
    pub sgid_index: u8,
    pub hop_limit: u8,
    pub traffic_class: u8,
}

/// `struct ibv_ah_attr`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct AhAttr {
    pub grh: GlobalRoute,
    pub dlid: u16,
    pub sl: u8,
    pub src_path_bits: u8,
    pub static_rate: u8,
    pub is_global: u8,
    pub port_num: u8,
}

/// `struct ibv_qp_attr`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct QpAttr {
    pub qp_state: u32,
    pub cur_qp_state: u32,
    pub path_mtu: u32,
    pub path_mig_state: u32,
    pub qkey: u32,
    pub rq_psn: u32,
    pub sq_psn: u32,
    pub dest_qp_num: u32,
    pub qp_access_flags: u32,
    pub cap: QpCap,
    pub ah_attr: AhAttr,
    pub alt_ah_attr: AhAttr,
    pub pkey_index: u16,
    pub alt_pkey_index: u16,
    pub en_sqd_async_notify: u8,
    pub sq_draining: u8,
    pub max_rd_atomic: u8,
    pub max_dest_rd_atomic: u8,
    pub min_rnr_timer: u8,
    pub port_num: u8,
    pub timeout: u8,
    pub retry_cnt: u8,
    pub rnr_retry: u8,
    pub alt_port_num: u8,
    pub alt_timeout: u8,
    pub rate_limit: u32,
}

/// `struct ibv_srq_attr`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct SrqAttr {
    pub max_wr: u32,
    pub max_sge: u32,
    pub srq_limit: u32,
}

/// `struct ibv_srq_init_attr`.
#[repr(C)]
pub struct SrqInitAttr {
    pub srq_context: *mut c_void,
    pub attr: SrqAttr,
}

/// `struct ibv_sge`.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct Sge {
    pub addr: u64,
    pub length: u32,
    pub lkey: u32,
}

/// `struct ibv_recv_wr`.
#[repr(C)]
pub struct RecvWr {
    pub wr_id: u64,
    pub next: *mut RecvWr,
    pub sg_list: *mut Sge,
    pub num_sge: i32,
}

/// `wr.rdma`, `wr.atomic` and `wr.ud` of a send request.
#[repr(C)]
#[derive(Clone, Copy)]
pub union SendTarget {
    pub rdma: RdmaTarget,
    pub atomic: AtomicTarget,
    pub ud: UdTarget,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RdmaTarget {
    pub remote_addr: u64,
    pub rkey: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct AtomicTarget {
    pub remote_addr: u64,
    pub compare_add: u64,
    pub swap: u64,
    pub rkey: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct UdTarget {
    pub ah: *mut Ah,
    pub remote_qpn: u32,
    pub remote_qkey: u32,
}

/// `struct ibv_send_wr`.
#[repr(C)]
pub struct SendWr {
    pub wr_id: u64,
    pub next: *mut SendWr,
    pub sg_list: *mut Sge,
    pub num_sge: i32,
    pub opcode: u32,
    pub send_flags: u32,
    pub imm_data: u32,
    pub wr: SendTarget,
    /// Of types and operations that nobody here uses.
    pub others: [u64; 7],
}

/// `struct ibv_wc`.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct Wc {
    pub wr_id: u64,
    pub status: u32,
    pub opcode: u32,
    pub vendor_err: u32,
    pub byte_len: u32,
    pub imm_data: u32,
    pub qp_num: u32,
    pub src_qp: u32,
    pub wc_flags: u32,
    pub pkey_index: u16,
    pub slid: u16,
    pub sl: u8,
    pub dlid_path_bits: u8,
}

/// `struct ibv_async_event`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct AsyncEvent {
    /// A pointer to the object, or a port's number.
    pub element: u64,
    pub event_type: u32,
}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<DeviceAttr>() == 232);
    assert!(size_of::<PortAttr>() == 56 && offset_of!(PortAttr, lid) == 34);
    assert!(offset_of!(PortAttr, link_layer) == 46);
    assert!(size_of::<GidEntry>() == 32);
    assert!(size_of::<ParentDomainInitAttr>() == 48);
    assert!(size_of::<CqInitAttrEx>() == 56);
    assert!(size_of::<QpInitAttr>() == 64);
    assert!(size_of::<QpInitAttrEx>() == 136 && offset_of!(QpInitAttrEx, pd) == 64);
    assert!(offset_of!(QpInitAttrEx, sq_sig_all) == offset_of!(QpInitAttr, sq_sig_all));
    assert!(size_of::<AhAttr>() == 32);
    assert!(size_of::<QpAttr>() == 144 && offset_of!(QpAttr, ah_attr) == 56);
    assert!(offset_of!(QpAttr, pkey_index) == 120 && offset_of!(QpAttr, rate_limit) == 136);
    assert!(size_of::<SrqInitAttr>() == 24);
    assert!(size_of::<Sge>() == 16 && size_of::<RecvWr>() == 32);
    assert!(size_of::<SendWr>() == 128);
    assert!(offset_of!(SendWr, opcode) == 28 && offset_of!(SendWr, wr) == 40);
    assert!(size_of::<Wc>() == 48);
    assert!(size_of::<AsyncEvent>() == 16);
};
