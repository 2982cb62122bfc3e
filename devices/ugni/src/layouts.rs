//! Structures that pass between program and library, laid out as on x86-64. Sizes and offsets are asserted below.

use core::ffi::c_void;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemHandle {
    pub qword1: u64,
    pub qword2: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct SmsgAttr {
    pub msg_type: i32,
    pub msg_buffer: *mut c_void,
    pub buff_size: u32,
    pub mem_hndl: MemHandle,
    pub mbox_offset: u32,
    pub mbox_maxcredit: u16,
    pub msg_maxsize: u32,
}

#[repr(C)]
pub struct PostDescriptor {
    pub next_descr: *mut c_void,
    pub prev_descr: *mut c_void,
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
    pub src_cq_hndl: *mut c_void,
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

/// Element of a chain of puts behind the first.
#[repr(C)]
pub struct CtPut {
    pub next_descr: *mut c_void,
    pub ep_hndl: *mut c_void,
    pub length: u64,
    pub remote_addr: u64,
    pub remote_mem_hndl: MemHandle,
    pub local_addr: u64,
}

/// Element of a chain of gets behind the first.
#[repr(C)]
pub struct CtGet {
    pub put: CtPut,
    pub local_mem_hndl: MemHandle,
}

/// Element of a chain of atomics behind the first.
#[repr(C)]
pub struct CtAmo {
    pub get: CtGet,
    pub amo_cmd: i32,
    pub first_operand: u64,
    pub second_operand: u64,
}

/// Element of a chain of writes into queues behind the first.
#[repr(C)]
pub struct CtCqWrite {
    pub next_descr: *mut c_void,
    pub ep_hndl: *mut c_void,
    pub remote_mem_hndl: MemHandle,
    pub cqwrite_value: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct DevRes {
    pub available: u64,
    pub reserved: u64,
    pub held: u64,
    pub total: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct JobRes {
    pub used: u64,
    pub limit: u64,
}

#[repr(C)]
pub struct VersionInfo {
    pub ugni_version: u32,
    pub ugni_svn_revision: u32,
    pub ugni_build_string: [u8; 80],
    pub kgni_version: u32,
    pub kgni_svn_revision: u32,
    pub kgni_build_string: [u8; 80],
}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<MemHandle>() == 16);
    assert!(size_of::<SmsgAttr>() == 56 && offset_of!(SmsgAttr, msg_buffer) == 8);
    assert!(offset_of!(SmsgAttr, buff_size) == 16 && offset_of!(SmsgAttr, mem_hndl) == 24);
    assert!(offset_of!(SmsgAttr, mbox_offset) == 40 && offset_of!(SmsgAttr, mbox_maxcredit) == 44);
    assert!(offset_of!(SmsgAttr, msg_maxsize) == 48);
    assert!(size_of::<PostDescriptor>() == 184 && offset_of!(PostDescriptor, post_id) == 16);
    assert!(offset_of!(PostDescriptor, cq_mode_complete) == 32 && offset_of!(PostDescriptor, kind) == 36);
    assert!(offset_of!(PostDescriptor, cq_mode) == 40 && offset_of!(PostDescriptor, dlvr_mode) == 42);
    assert!(
        offset_of!(PostDescriptor, local_mem_hndl) == 56 && offset_of!(PostDescriptor, remote_addr) == 72
    );
    assert!(offset_of!(PostDescriptor, remote_mem_hndl) == 80 && offset_of!(PostDescriptor, length) == 96);
    assert!(
        offset_of!(PostDescriptor, src_cq_hndl) == 112 && offset_of!(PostDescriptor, sync_flag_value) == 120
    );
    assert!(offset_of!(PostDescriptor, sync_flag_addr) == 128 && offset_of!(PostDescriptor, amo_cmd) == 136);
    assert!(
        offset_of!(PostDescriptor, first_operand) == 144 && offset_of!(PostDescriptor, cqwrite_value) == 160
    );
    assert!(offset_of!(PostDescriptor, ce_cmd) == 168 && offset_of!(PostDescriptor, ce_red_id) == 176);
    assert!(size_of::<CtPut>() == 56 && size_of::<CtGet>() == 72 && size_of::<CtAmo>() == 96);
    assert!(size_of::<CtCqWrite>() == 40 && offset_of!(CtCqWrite, cqwrite_value) == 32);
    assert!(offset_of!(CtPut, local_addr) == 48 && offset_of!(CtAmo, amo_cmd) == 72);
    assert!(size_of::<DevRes>() == 32 && size_of::<JobRes>() == 16);
    assert!(size_of::<VersionInfo>() == 176 && offset_of!(VersionInfo, kgni_version) == 88);
};
