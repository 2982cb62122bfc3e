//! Entry points of libmlx5: which doorbell register a queue pair rings.

use crate::qp::FakeQp;
use crate::requests::EINVAL;
use core::ffi::c_int;
use oxmpi_verbs_abi::Device;
use oxmpi_verbs_abi::mlx5::{OBJ_QP, Obj};

#[unsafe(no_mangle)]
pub extern "C" fn mlx5dv_is_supported(_: *mut Device) -> bool {
    true
}

/// Tells of queue pairs alone. Nothing is mapped at a register's address, which only serves to be compared.
///
/// # Safety
/// An object and its places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlx5dv_init_obj(obj: *mut Obj, kinds: u64) -> c_int {
    if kinds != OBJ_QP {
        return EINVAL;
    }
    // SAFETY: the caller's pair and place.
    unsafe {
        let (core, out) = (&(*(*obj).qp.cast::<FakeQp>()).core, &mut *(*obj).qp_out);
        out.dbrec = core::ptr::null_mut();
        out.sq_wqe_cnt = core.cap.max_send_wr;
        out.sq_stride = 64;
        out.rq_wqe_cnt = core.cap.max_recv_wr;
        out.rq_stride = 16;
        out.bf_reg = core.uuar.address() as *mut _;
        out.bf_size = if core.uuar.plain || core.context.no_blue_flame { 0 } else { 256 };
        out.comp_mask = 0;
    }
    0
}
