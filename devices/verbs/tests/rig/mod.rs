//! Reliable connections by the verbs alone: a context with a protection domain and a completion queue, and what makes and uses pairs there.

#![allow(dead_code, reason = "each test uses a part")]

use core::ffi::{c_char, c_int, c_void};
use oxmpi_verbs_abi::numbers::{access, qp_mask, qp_state, qp_type, send_flags, wr_opcode};
use oxmpi_verbs_abi::*;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

// Linked for its entry points.
extern crate oxmpi_verbs_fake as _;

unsafe extern "C" {
    fn ibv_get_device_list(count: *mut c_int) -> *mut *mut Device;
    fn ibv_open_device(device: *mut Device) -> *mut Context;
    fn ibv_alloc_pd(context: *mut Context) -> *mut Pd;
    fn ibv_create_cq(c: *mut Context, n: c_int, x: *mut c_void, ch: *mut CompChannel, v: c_int) -> *mut Cq;
    fn ibv_create_qp(pd: *mut Pd, init: *mut QpInitAttr) -> *mut Qp;
    fn ibv_modify_qp(qp: *mut Qp, attr: *mut QpAttr, mask: c_int) -> c_int;
    fn ibv_reg_mr(pd: *mut Pd, addr: *mut c_void, len: usize, access: c_int) -> *mut Mr;
    pub fn ibv_dereg_mr(mr: *mut Mr) -> c_int;
    pub fn ibv_get_async_event(context: *mut Context, out: *mut AsyncEvent) -> c_int;
    pub fn oxmpi_fake_verbs_port(up: c_int) -> c_int;
    pub fn oxmpi_fake_verbs_counter(name: *const c_char) -> u64;
}

pub const DEPTH: u32 = 8;
pub const ENOMEM: i32 = 12;
pub const EINVAL: i32 = 22;
/// Nobody: a process number that no test takes.
pub const NOBODY: u32 = 0xff_f001;

pub struct Rig {
    pub context: *mut Context,
    pub pd: *mut Pd,
    pub cq: *mut Cq,
}

impl Rig {
    pub fn new() -> Rig {
        // SAFETY: objects of the device, used as the verbs are; they live until the test ends.
        unsafe {
            let list = ibv_get_device_list(null_mut());
            let context = ibv_open_device(*list);
            assert!(!context.is_null());
            let cq = ibv_create_cq(context, 64, null_mut(), null_mut(), 0);
            Rig { context, pd: ibv_alloc_pd(context), cq }
        }
    }

    pub fn memory(&self, bytes: &mut [u64], rights: u32) -> *mut Mr {
        let at = bytes.as_mut_ptr().cast();
        // SAFETY: the caller's memory outlives its registration.
        let mr = unsafe { ibv_reg_mr(self.pd, at, size_of_val(bytes), rights as c_int) };
        assert!(!mr.is_null());
        mr
    }

    pub fn pair(&self) -> *mut Qp {
        let cap = QpCap {
            max_send_wr: DEPTH,
            max_recv_wr: 8,
            max_send_sge: 2,
            max_recv_sge: 2,
            max_inline_data: 64,
        };
        let (send_cq, recv_cq) = (self.cq, self.cq);
        let mut init = QpInitAttr {
            qp_context: null_mut(),
            send_cq,
            recv_cq,
            srq: null_mut(),
            cap,
            qp_type: qp_type::RC,
            sq_sig_all: 0,
        };
        // SAFETY: as above.
        let qp = unsafe { ibv_create_qp(self.pd, &mut init) };
        assert!(!qp.is_null());
        qp
    }

    pub fn connect(&self, qp: *mut Qp, to: u32) {
        self.connect_for(qp, to, 10, 2);
    }

    /// With a time-out, in the encoding of verbs, and repetitions.
    pub fn connect_for(&self, qp: *mut Qp, to: u32, timeout: u8, retry_cnt: u8) {
        let ah_attr = AhAttr { is_global: 1, port_num: 1, ..AhAttr::default() };
        let all = access::LOCAL_WRITE | access::REMOTE_WRITE | access::REMOTE_READ | access::REMOTE_ATOMIC;
        let mut a = QpAttr {
            port_num: 1,
            qp_access_flags: all,
            path_mtu: 3,
            dest_qp_num: to,
            max_rd_atomic: 4,
            max_dest_rd_atomic: 4,
            min_rnr_timer: 1,
            timeout,
            retry_cnt,
            rnr_retry: 2,
            ah_attr,
            ..QpAttr::default()
        };
        use qp_mask::*;
        for (state, mask) in [
            (qp_state::INIT, PKEY_INDEX | PORT | ACCESS_FLAGS),
            (qp_state::RTR, AV | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER),
            (qp_state::RTS, TIMEOUT | RETRY_CNT | RNR_RETRY | SQ_PSN | MAX_QP_RD_ATOMIC),
        ] {
            a.qp_state = state;
            // SAFETY: as above.
            unsafe {
                // Without what the state needs it is refused.
                assert_eq!(ibv_modify_qp(qp, &mut a, STATE as c_int), EINVAL);
                assert_eq!(ibv_modify_qp(qp, &mut a, (STATE | mask) as c_int), 0);
            }
        }
    }

    /// Two pairs, connected.
    pub fn two(&self) -> (*mut Qp, *mut Qp) {
        let (a, b) = (self.pair(), self.pair());
        // SAFETY: as above.
        let (na, nb) = unsafe { ((*a).qp_num, (*b).qp_num) };
        self.connect(a, nb);
        self.connect(b, na);
        (a, b)
    }

    pub fn post(&self, qp: *mut Qp, wr: &mut SendWr) -> i32 {
        // SAFETY: the slot of the context's table has this type.
        unsafe {
            let f: unsafe extern "C" fn(*mut Qp, *mut SendWr, *mut *mut SendWr) -> c_int =
                core::mem::transmute((*self.context).ops[op::POST_SEND]);
            f(qp, wr, &mut null_mut())
        }
    }

    pub fn receive(&self, qp: *mut Qp, sge: &mut Sge, id: u64) {
        let mut wr = RecvWr { wr_id: id, next: null_mut(), sg_list: sge, num_sge: 1 };
        // SAFETY: as above.
        unsafe {
            let f: unsafe extern "C" fn(*mut Qp, *mut RecvWr, *mut *mut RecvWr) -> c_int =
                core::mem::transmute((*self.context).ops[op::POST_RECV]);
            assert_eq!(f(qp, &mut wr, &mut null_mut()), 0);
        }
    }

    /// A completion, if there is one.
    pub fn poll(&self) -> Option<Wc> {
        self.poll_several(1).pop()
    }

    /// The completions that one call gives.
    pub fn poll_several(&self, most: usize) -> Vec<Wc> {
        let mut all = vec![Wc::default(); most];
        // SAFETY: as above.
        let got = unsafe {
            let f: unsafe extern "C" fn(*mut Cq, c_int, *mut Wc) -> c_int =
                core::mem::transmute((*self.context).ops[op::POLL_CQ]);
            f(self.cq, most as c_int, all.as_mut_ptr())
        };
        assert!(got >= 0, "the completion queue is lost");
        all.truncate(got as usize);
        all
    }

    pub fn next(&self) -> Wc {
        let begun = Instant::now();
        loop {
            if let Some(wc) = self.poll() {
                return wc;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no completion comes");
            std::thread::yield_now();
        }
    }

    /// Posts one and takes its completion.
    pub fn run(&self, qp: *mut Qp, wr: &mut SendWr) -> u32 {
        assert_eq!(self.post(qp, wr), 0);
        let wc = self.next();
        assert_eq!(wc.wr_id, wr.wr_id);
        wc.status
    }
}

pub fn request(opcode: u32, sge: &mut Sge, remote_addr: u64, rkey: u32, operands: [u64; 2]) -> SendWr {
    SendWr {
        wr_id: 1000 + u64::from(opcode),
        next: null_mut(),
        sg_list: sge,
        num_sge: 1,
        opcode,
        send_flags: send_flags::SIGNALED,
        imm_data: 0,
        wr: SendTarget {
            atomic: if opcode >= wr_opcode::ATOMIC_CMP_AND_SWP {
                AtomicTarget { remote_addr, compare_add: operands[0], swap: operands[1], rkey }
            } else {
                // The key of a read or a write lies behind its address.
                AtomicTarget { remote_addr, compare_add: u64::from(rkey), swap: 0, rkey: 0 }
            },
        },
        others: [0; 7],
    }
}

pub const LOCAL: u32 = access::LOCAL_WRITE;
pub const ALL: u32 = LOCAL | access::REMOTE_WRITE | access::REMOTE_READ | access::REMOTE_ATOMIC;
