//! Enumerators and bits, by the enumeration of verbs.h that they come from.

/// `enum ibv_wc_status`.
pub mod wc_status {
    pub const SUCCESS: u32 = 0;
    pub const LOC_LEN_ERR: u32 = 1;
    pub const LOC_QP_OP_ERR: u32 = 2;
    pub const LOC_PROT_ERR: u32 = 4;
    pub const WR_FLUSH_ERR: u32 = 5;
    pub const REM_INV_REQ_ERR: u32 = 9;
    pub const REM_ACCESS_ERR: u32 = 10;
    pub const REM_OP_ERR: u32 = 11;
    pub const RETRY_EXC_ERR: u32 = 12;
    pub const RNR_RETRY_EXC_ERR: u32 = 13;
    pub const FATAL_ERR: u32 = 19;
    pub const GENERAL_ERR: u32 = 21;
}

/// `enum ibv_wc_opcode`.
pub mod wc_opcode {
    pub const SEND: u32 = 0;
    pub const RDMA_WRITE: u32 = 1;
    pub const RDMA_READ: u32 = 2;
    pub const COMP_SWAP: u32 = 3;
    pub const FETCH_ADD: u32 = 4;
    pub const RECV: u32 = 128;
    pub const RECV_RDMA_WITH_IMM: u32 = 129;
}

/// `enum ibv_wc_flags`.
pub mod wc_flags {
    pub const GRH: u32 = 1;
    pub const WITH_IMM: u32 = 2;
}

/// `enum ibv_access_flags`.
pub mod access {
    pub const LOCAL_WRITE: u32 = 1;
    pub const REMOTE_WRITE: u32 = 2;
    pub const REMOTE_READ: u32 = 4;
    pub const REMOTE_ATOMIC: u32 = 8;
    /// Bits that a library may ignore.
    pub const OPTIONAL: u32 = 0x3ff0_0000;
}

/// `enum ibv_qp_type`.
pub mod qp_type {
    pub const RC: u32 = 2;
    pub const UC: u32 = 3;
    pub const UD: u32 = 4;
}

/// `enum ibv_qp_state`.
pub mod qp_state {
    pub const RESET: u32 = 0;
    pub const INIT: u32 = 1;
    pub const RTR: u32 = 2;
    pub const RTS: u32 = 3;
    pub const SQD: u32 = 4;
    pub const SQE: u32 = 5;
    pub const ERR: u32 = 6;
}

/// `enum ibv_qp_attr_mask`.
pub mod qp_mask {
    pub const STATE: u32 = 1;
    pub const CUR_STATE: u32 = 1 << 1;
    pub const ACCESS_FLAGS: u32 = 1 << 3;
    pub const PKEY_INDEX: u32 = 1 << 4;
    pub const PORT: u32 = 1 << 5;
    pub const QKEY: u32 = 1 << 6;
    pub const AV: u32 = 1 << 7;
    pub const PATH_MTU: u32 = 1 << 8;
    pub const TIMEOUT: u32 = 1 << 9;
    pub const RETRY_CNT: u32 = 1 << 10;
    pub const RNR_RETRY: u32 = 1 << 11;
    pub const RQ_PSN: u32 = 1 << 12;
    pub const MAX_QP_RD_ATOMIC: u32 = 1 << 13;
    pub const MIN_RNR_TIMER: u32 = 1 << 15;
    pub const SQ_PSN: u32 = 1 << 16;
    pub const MAX_DEST_RD_ATOMIC: u32 = 1 << 17;
    pub const CAP: u32 = 1 << 19;
    pub const DEST_QPN: u32 = 1 << 20;
}

/// `enum ibv_wr_opcode`.
pub mod wr_opcode {
    pub const RDMA_WRITE: u32 = 0;
    pub const RDMA_WRITE_WITH_IMM: u32 = 1;
    pub const SEND: u32 = 2;
    pub const SEND_WITH_IMM: u32 = 3;
    pub const RDMA_READ: u32 = 4;
    pub const ATOMIC_CMP_AND_SWP: u32 = 5;
    pub const ATOMIC_FETCH_AND_ADD: u32 = 6;
}

/// `enum ibv_send_flags`.
pub mod send_flags {
    pub const FENCE: u32 = 1;
    pub const SIGNALED: u32 = 2;
    pub const SOLICITED: u32 = 4;
    pub const INLINE: u32 = 8;
}

/// `enum ibv_event_type`.
pub mod event {
    pub const CQ_ERR: u32 = 0;
    pub const QP_FATAL: u32 = 1;
    pub const QP_REQ_ERR: u32 = 2;
    pub const QP_ACCESS_ERR: u32 = 3;
    pub const COMM_EST: u32 = 4;
    pub const DEVICE_FATAL: u32 = 8;
    pub const PORT_ACTIVE: u32 = 9;
    pub const PORT_ERR: u32 = 10;
    pub const SRQ_LIMIT_REACHED: u32 = 15;
    pub const QP_LAST_WQE_REACHED: u32 = 16;
}

/// `enum ibv_port_state`.
pub mod port_state {
    pub const DOWN: u32 = 1;
    pub const ACTIVE: u32 = 4;
}

/// `ibv_port_attr.link_layer`.
pub mod link_layer {
    pub const INFINIBAND: u8 = 1;
    pub const ETHERNET: u8 = 2;
}

/// `enum ibv_atomic_cap`.
pub mod atomic_cap {
    pub const NONE: u32 = 0;
    /// Atomic to other operations of this device alone.
    pub const HCA: u32 = 1;
    /// Atomic to the processors, too.
    pub const GLOB: u32 = 2;
}

/// `ibv_gid_entry.gid_type`.
pub mod gid_type {
    pub const IB: u32 = 0;
    pub const ROCE_V1: u32 = 1;
    pub const ROCE_V2: u32 = 2;
}

/// `enum ibv_create_cq_attr_flags` and the mask that says they are there.
pub mod cq_flags {
    pub const MASK_FLAGS: u32 = 1;
    pub const SINGLE_THREADED: u32 = 1;
}

/// `enum ibv_qp_init_attr_mask`.
pub mod qp_init_mask {
    pub const PD: u32 = 1;
    pub const CREATE_FLAGS: u32 = 4;
    pub const SEND_OPS_FLAGS: u32 = 64;
}

/// `ibv_device_attr.device_cap_flags`.
pub mod device_cap {
    pub const RC_RNR_NAK_GEN: u32 = 1 << 12;
    pub const SRQ_RESIZE: u32 = 1 << 13;
}

/// Node and transport types.
pub const NODE_CA: u32 = 1;
pub const TRANSPORT_IB: u32 = 0;
/// Bytes in front of a datagram in the receiver's buffer.
pub const GRH_BYTES: usize = 40;

/// Bytes of `enum ibv_mtu`.
pub fn mtu_bytes(mtu: u32) -> u32 {
    if (1..=5).contains(&mtu) { 128 << mtu } else { 0 }
}
