//! Structures and numbers of libugni's interface, as on x86-64. `tests/header.rs` holds them to the header of the emulation.

use core::ffi::c_void;

/// `gni_return_t`.
pub type Return = i32;
/// Every handle of the library.
pub type Object = *mut c_void;

/// Return codes, GNI_RC_*.
pub mod rc {
    use super::Return;
    pub const SUCCESS: Return = 0;
    pub const NOT_DONE: Return = 1;
    pub const INVALID_PARAM: Return = 2;
    pub const ERROR_RESOURCE: Return = 3;
    pub const PERMISSION_ERROR: Return = 5;
    pub const INVALID_STATE: Return = 8;
    pub const TRANSACTION_ERROR: Return = 11;
    pub const ERROR_NOMEM: Return = 13;
}

/// Modes of a communication domain, GNI_CDM_MODE_*.
pub mod mode {
    pub const FORK_NOCOPY: u32 = 0x1;
    pub const FORK_FULLCOPY: u32 = 0x2;
    pub const FORK_PARTCOPY: u32 = 0x4;
    pub const ERR_NO_KILL: u32 = 0x8;
    pub const ERR_ALL_KILL: u32 = 0x10;
    pub const FAST_DATAGRAM_POLL: u32 = 0x20;
    pub const BTE_SINGLE_CHANNEL: u32 = 0x40;
    pub const USE_PCI_IOMMU: u32 = 0x80;
    pub const MDD_DEDICATED: u32 = 0x100;
    pub const MDD_SHARED: u32 = 0x200;
    pub const FMA_DEDICATED: u32 = 0x10000;
    pub const FMA_SHARED: u32 = 0x20000;
    pub const CACHED_AMO_ENABLED: u32 = 0x40000;
    pub const CQ_NIC_LOCAL_PLACEMENT: u32 = 0x80000;
    pub const FMA_SMALL_WINDOW: u32 = 0x200000;
}

/// States of a datagram, GNI_POST_*.
pub mod post_state {
    pub const COMPLETED: i32 = 1;
}

/// Types of a device, GNI_DEVICE_*.
pub mod device {
    pub const GEMINI: i32 = 0;
    pub const ARIES: i32 = 1;
}

/// Flags of a registration, GNI_MEM_*.
pub mod mem {
    pub const READWRITE: u32 = 0;
    pub const READ_ONLY: u32 = 0x1;
    pub const RELAXED_PI_ORDERING: u32 = 0x100;
}

/// Modes of a completion queue, GNI_CQ_*.
pub mod cq_mode {
    pub const NOBLOCK: u32 = 0;
    pub const BLOCKING: u32 = 1;
}

/// Types of an event, GNI_CQ_EVENT_TYPE_*.
pub mod event {
    pub const SMSG: u64 = 1;
}

/// Types of a post, GNI_POST_*.
pub mod post {
    pub const RDMA_PUT: i32 = 1;
    pub const RDMA_GET: i32 = 2;
    pub const FMA_PUT: i32 = 3;
    pub const FMA_GET: i32 = 5;
    pub const AMO: i32 = 6;
}

/// Events that a post asks for, GNI_CQMODE_*.
pub mod cqmode {
    pub const GLOBAL_EVENT: u16 = 2;
}

/// Commands of atomics that fetch, GNI_FMA_ATOMIC*: of the first generation, and of Aries' second one; those with S have 32 bits.
pub mod amo {
    pub const AT_FADD: i32 = 0x008;
    pub const AT_FAND: i32 = 0x009;
    pub const AT_FOR: i32 = 0x00a;
    pub const AT_FXOR: i32 = 0x00b;
    pub const AT_FAX: i32 = 0x00c;
    pub const AT_CSWAP: i32 = 0x00d;
    pub const AT2_FAND_S: i32 = 0x240;
    pub const AT2_FOR_S: i32 = 0x242;
    pub const AT2_FXOR_S: i32 = 0x244;
    pub const AT2_FSWAP: i32 = 0x047;
    pub const AT2_FSWAP_S: i32 = 0x246;
    pub const AT2_FCSWAP_S: i32 = 0x24a;
    pub const AT2_FIADD_S: i32 = 0x254;
    pub const AT2_FFPADD_S: i32 = 0x25c;
}

/// Types of a mailbox, GNI_SMSG_TYPE_*.
pub const MBOX_AUTO_RETRANSMIT: i32 = 2;
pub const SMSG_ANY_TAG: u8 = 0xff;
/// Bytes of a datagram at most.
pub const DATAGRAM: usize = 128;
/// `gni_job_res_t` of registrations.
pub const JOB_RES_MDD: i32 = 1;

/// `gni_mem_handle_t`: opaque, and the same for every process of the job.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemHandle {
    pub qword1: u64,
    pub qword2: u64,
}

/// `gni_smsg_attr_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SmsgAttr {
    pub msg_type: i32,
    pub msg_buffer: *mut c_void,
    pub buff_size: u32,
    pub mem_hndl: MemHandle,
    pub mbox_offset: u32,
    pub mbox_maxcredit: u16,
    pub msg_maxsize: u32,
}

/// `gni_post_descriptor_t`. Its pointers are numbers here: the links are the library's own, and no queue is named.
#[repr(C)]
#[derive(Debug)]
pub struct PostDescriptor {
    pub next_descr: usize,
    pub prev_descr: usize,
    pub post_id: u64,
    pub status: u64,
    pub cq_mode_complete: u16,
    pub kind: i32,
    pub cq_mode: u16,
    pub dlvr_mode: u16,
    pub local_addr: u64,
    pub local_mem_hndl: MemHandle,
    pub remote_addr: u64,
    pub remote_mem_hndl: MemHandle,
    pub length: u64,
    pub rdma_mode: u16,
    pub src_cq_hndl: usize,
    pub sync_flag_value: u64,
    pub sync_flag_addr: u64,
    pub amo_cmd: i32,
    pub first_operand: u64,
    pub second_operand: u64,
    pub cqwrite_value: u64,
    pub ce_cmd: i32,
    pub ce_mode: u32,
    pub ce_red_id: u64,
}

impl PostDescriptor {
    /// One that asks for nothing.
    pub const fn empty() -> PostDescriptor {
        PostDescriptor {
            next_descr: 0,
            prev_descr: 0,
            post_id: 0,
            status: 0,
            cq_mode_complete: 0,
            kind: 0,
            cq_mode: 0,
            dlvr_mode: 0,
            local_addr: 0,
            local_mem_hndl: MemHandle { qword1: 0, qword2: 0 },
            remote_addr: 0,
            remote_mem_hndl: MemHandle { qword1: 0, qword2: 0 },
            length: 0,
            rdma_mode: 0,
            src_cq_hndl: 0,
            sync_flag_value: 0,
            sync_flag_addr: 0,
            amo_cmd: 0,
            first_operand: 0,
            second_operand: 0,
            cqwrite_value: 0,
            ce_cmd: 0,
            ce_mode: 0,
            ce_red_id: 0,
        }
    }
}

/// `gni_job_res_desc_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct JobRes {
    pub used: u64,
    pub limit: u64,
}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<MemHandle>() == 16 && size_of::<JobRes>() == 16);
    assert!(size_of::<SmsgAttr>() == 56 && offset_of!(SmsgAttr, msg_buffer) == 8);
    assert!(offset_of!(SmsgAttr, buff_size) == 16 && offset_of!(SmsgAttr, mem_hndl) == 24);
    assert!(offset_of!(SmsgAttr, mbox_offset) == 40 && offset_of!(SmsgAttr, mbox_maxcredit) == 44);
    assert!(offset_of!(SmsgAttr, msg_maxsize) == 48);
    assert!(size_of::<PostDescriptor>() == 184 && offset_of!(PostDescriptor, post_id) == 16);
    assert!(offset_of!(PostDescriptor, status) == 24 && offset_of!(PostDescriptor, kind) == 36);
    assert!(offset_of!(PostDescriptor, cq_mode) == 40 && offset_of!(PostDescriptor, dlvr_mode) == 42);
    assert!(offset_of!(PostDescriptor, local_addr) == 48 && offset_of!(PostDescriptor, local_mem_hndl) == 56);
    assert!(offset_of!(PostDescriptor, remote_addr) == 72 && offset_of!(PostDescriptor, length) == 96);
    assert!(
        offset_of!(PostDescriptor, remote_mem_hndl) == 80 && offset_of!(PostDescriptor, rdma_mode) == 104
    );
    assert!(offset_of!(PostDescriptor, src_cq_hndl) == 112 && offset_of!(PostDescriptor, amo_cmd) == 136);
    assert!(offset_of!(PostDescriptor, first_operand) == 144);
    assert!(offset_of!(PostDescriptor, second_operand) == 152);
    assert!(offset_of!(PostDescriptor, cqwrite_value) == 160);
};
