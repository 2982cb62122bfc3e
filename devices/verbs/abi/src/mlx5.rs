//! Layouts of `mlx5dv_init_obj`: the doorbell register that a queue pair rings.

use crate::objects::Qp;
use core::ffi::c_void;

/// `enum mlx5dv_obj_type`.
pub const OBJ_QP: u64 = 1;

/// `struct mlx5dv_obj`: pairs of an object and where its facts go; the first is a queue pair's.
#[repr(C)]
pub struct Obj {
    pub qp: *mut Qp,
    pub qp_out: *mut QpFacts,
    pub others: [usize; 12],
}

/// `struct mlx5dv_qp`.
#[repr(C)]
pub struct QpFacts {
    pub dbrec: *mut u32,
    pub sq_buf: *mut c_void,
    pub sq_wqe_cnt: u32,
    pub sq_stride: u32,
    pub rq_buf: *mut c_void,
    pub rq_wqe_cnt: u32,
    pub rq_stride: u32,
    /// The micro UAR: equal addresses are one register, equal 4 KiB pages one UAR.
    pub bf_reg: *mut c_void,
    /// 0: it takes doorbells only.
    pub bf_size: u32,
    pub comp_mask: u64,
    pub uar_mmap_offset: i64,
    pub tirn: u32,
    pub tisn: u32,
    pub rqn: u32,
    pub sqn: u32,
    pub tir_icm_addr: u64,
}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<Obj>() == 112);
    assert!(size_of::<QpFacts>() == 96);
    assert!(offset_of!(QpFacts, bf_reg) == 40 && offset_of!(QpFacts, bf_size) == 48);
    assert!(offset_of!(QpFacts, comp_mask) == 56);
};
