//! Numbers of the interface: return codes, modes, states, types and limits, as in gni_pub.h 0x5d and later.

/// `gni_return_t`.
pub type Return = i32;

/// Return codes, GNI_RC_*.
pub mod rc {
    use super::Return;
    pub const SUCCESS: Return = 0;
    pub const NOT_DONE: Return = 1;
    pub const INVALID_PARAM: Return = 2;
    pub const ERROR_RESOURCE: Return = 3;
    pub const TIMEOUT: Return = 4;
    pub const PERMISSION_ERROR: Return = 5;
    pub const DESCRIPTOR_ERROR: Return = 6;
    pub const ALIGNMENT_ERROR: Return = 7;
    pub const INVALID_STATE: Return = 8;
    pub const NO_MATCH: Return = 9;
    pub const SIZE_ERROR: Return = 10;
    pub const TRANSACTION_ERROR: Return = 11;
    pub const ILLEGAL_OP: Return = 12;
    pub const ERROR_NOMEM: Return = 13;
}

/// Modes of a communication domain, GNI_CDM_MODE_*.
pub mod mode {
    pub const ERR_NO_KILL: u32 = 0x8;
    pub const ERR_ALL_KILL: u32 = 0x10;
    pub const BTE_SINGLE_CHANNEL: u32 = 0x40;
    pub const DUAL_EVENTS: u32 = 0x1000;
    pub const FMA_SHARED: u32 = 0x20000;
    pub const CACHED_AMO_ENABLED: u32 = 0x40000;
}

/// States of a datagram, GNI_POST_*.
pub mod post_state {
    pub const PENDING: i32 = 0;
    pub const COMPLETED: i32 = 1;
    pub const TIMEOUT: i32 = 3;
    pub const TERMINATED: i32 = 4;
    pub const REMOTE_DATA: i32 = 5;
}

/// Types of a device, GNI_DEVICE_*.
pub mod device {
    pub const GEMINI: i32 = 0;
    pub const ARIES: i32 = 1;
}

/// Flags of a registration, GNI_MEM_*.
pub mod mem {
    pub const READ_ONLY: u32 = 0x1;
    /// Every bit that has a meaning.
    pub const KNOWN: u32 = 0x1fff | 0x0100_0000;
}

/// Modes of a completion queue, GNI_CQ_*.
pub mod cq_mode {
    pub const BLOCKING: u32 = 1;
    pub const KNOWN: u32 = 0x1f;
}

/// Types of an event, GNI_CQ_EVENT_TYPE_*.
pub mod event {
    pub const POST: u64 = 0;
    pub const SMSG: u64 = 1;
}

/// Types of a post, GNI_POST_*.
pub mod post {
    pub const RDMA_PUT: i32 = 1;
    pub const RDMA_GET: i32 = 2;
    pub const FMA_PUT: i32 = 3;
    pub const FMA_PUT_W_SYNCFLAG: i32 = 4;
    pub const FMA_GET: i32 = 5;
    pub const AMO: i32 = 6;
    pub const CQWRITE: i32 = 7;
}

/// Events that a post asks for, GNI_CQMODE_*.
pub mod cqmode {
    pub const LOCAL_EVENT: u16 = 1;
    pub const GLOBAL_EVENT: u16 = 2;
    pub const REMOTE_EVENT: u16 = 4;
}

/// Delivery modes, GNI_DLVMODE_*.
pub mod dlvmode {
    pub const IN_ORDER: u16 = 3;
    pub const ORDERED_TAIL: u16 = 0x100;
}

/// Modes of a bulk transfer, GNI_RDMAMODE_*.
pub mod rdmamode {
    pub const PHYS_ADDR: u16 = 1;
    pub const FENCE: u16 = 2;
}

/// Types of a mailbox, GNI_SMSG_TYPE_*.
pub mod smsg_type {
    pub const MBOX: i32 = 1;
    pub const MBOX_AUTO_RETRANSMIT: i32 = 2;
}

/// Bytes of a datagram.
pub const DATAGRAM_MAXSIZE: usize = 128;
/// Header and data of a message.
pub const SMSG_MAX_SIZE: u32 = 65535;
pub const SMSG_ANY_TAG: u8 = 0xff;
/// The driver finds the protection tag by the cookie.
pub const FIND_ALLOC_PTAG: u8 = 255;
/// Bytes of a fast transfer: one window.
pub const FMA_MAX: u64 = 1 << 30;
/// Bytes of a bulk transfer.
pub const BTE_MAX: u64 = (1 << 32) - 1;
pub const NICS_PER_CDM: usize = 32;
pub const PAGE: u64 = 4096;

/// Statuses in a completion entry of Aries. Gemini's are fewer; `entry.rs` maps them.
pub mod status {
    pub const OKAY: u8 = 0;
    pub const AT_MDD_INV: u8 = 0x0f;
    pub const AT_MDD_WR_PERMISSION: u8 = 0x11;
    pub const AT_BOUNDS: u8 = 0x12;
    pub const AT_PROTECTION: u8 = 0x14;
    pub const SSID_TIMEOUT: u8 = 0x27;
    pub const CQ_OVERRUN: u8 = 0x2f;
    pub const AMO_CACHE: u8 = 0x38;
    pub const ENDPOINT_UNREACHABLE: u8 = 0x3d;
}

/// Statistics of a device, `gni_statistic_t`.
pub mod statistic {
    pub const MBOX_CREDITS_STALL: usize = 2;
    pub const REQ_STALL: usize = 3;
    pub const RETRANS_COUNT: usize = 4;
    pub const COUNT: usize = 7;
}
