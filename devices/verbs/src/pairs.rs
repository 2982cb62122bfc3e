//! Queue pairs and shared receive queues: making, states, posting.

use crate::context::{FakeContext, FakePd};
use crate::counters::{self, Counter};
use crate::objects::{FakeCq, QpCore};
use crate::qp::{FakeQp, FakeSrq};
use crate::qp_core::Made;
use crate::requests::{EINVAL, RecvQueue, locked};
use core::ffi::{c_int, c_void};
use oxmpi_verbs_abi::numbers::{qp_init_mask, qp_mask, qp_state, qp_type};
use oxmpi_verbs_abi::{
    Context, Pd, Qp, QpAttr, QpCap, QpInitAttr, QpInitAttrEx, RecvWr, SendWr, Srq, SrqAttr, SrqInitAttr,
};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Entries of a list.
pub const MOST_SGE: u32 = 30;

/// # Safety
/// A domain and attributes, which come back with what was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_create_qp(pd: *mut Pd, init: *mut QpInitAttr) -> *mut Qp {
    // SAFETY: the caller's objects, all of ours.
    unsafe {
        let (fake, context, a) = (FakePd::of(pd), FakeContext::of((*pd).context).core.clone(), &mut *init);
        let config = &context.nic.config;
        let c = a.cap;
        let fits = c.max_send_wr <= config.max_qp_wr
            && c.max_recv_wr <= config.max_qp_wr
            && c.max_send_sge.max(c.max_recv_sge) <= MOST_SGE
            && c.max_inline_data <= config.inline;
        let known = matches!(a.qp_type, qp_type::RC | qp_type::UD);
        if !fits || !known || a.send_cq.is_null() || a.recv_cq.is_null() {
            return core::ptr::null_mut();
        }
        let srq = (!a.srq.is_null()).then(|| (*a.srq.cast::<FakeSrq>()).queue.clone());
        let assigned = fake.register.is_none();
        let uuar = fake.register.clone().unwrap_or_else(|| locked(&context.uars).assign());
        // A register may take what was not asked for.
        let cap = QpCap { max_send_sge: c.max_send_sge.max(1), max_recv_sge: c.max_recv_sge.max(1), ..c };
        let made = |num| {
            let recv = srq.clone();
            QpCore::new(Made {
                num,
                pd: fake.number,
                kind: a.qp_type,
                send_cq: FakeCq::of(a.send_cq).core.clone(),
                recv_cq: FakeCq::of(a.recv_cq).core.clone(),
                has_srq: recv.is_some(),
                recv: recv.unwrap_or_else(|| Arc::new(RecvQueue::new(cap.max_recv_wr, cap.max_recv_sge))),
                cap,
                sig_all: a.sq_sig_all != 0,
                uuar: uuar.clone(),
                locked: assigned,
                context: context.clone(),
            })
        };
        let Some(core) = context.nic.enter(made) else {
            if assigned {
                locked(&context.uars).release(&uuar);
            }
            return core::ptr::null_mut();
        };
        a.cap = cap;
        let raw = Qp {
            context: (*pd).context,
            qp_context: a.qp_context,
            pd,
            send_cq: a.send_cq,
            recv_cq: a.recv_cq,
            srq: a.srq,
            handle: core.num,
            qp_num: core.num,
            state: qp_state::RESET,
            qp_type: a.qp_type,
            mutex: [0; 5],
            cond: [0; 6],
            events_completed: 0,
        };
        let made = Box::into_raw(Box::new(FakeQp { raw, core: core.clone(), assigned }));
        core.handle.store(made as u64, Ordering::Relaxed);
        made.cast()
    }
}

/// Without the functions `ibv_wr_*`.
pub unsafe extern "C" fn create_qp_ex(_: *mut Context, init: *mut QpInitAttrEx) -> *mut Qp {
    // SAFETY: the caller's attributes.
    unsafe {
        let a = &mut *init;
        if a.comp_mask != qp_init_mask::PD || a.pd.is_null() {
            return core::ptr::null_mut();
        }
        let mut basic = QpInitAttr {
            qp_context: a.qp_context,
            send_cq: a.send_cq,
            recv_cq: a.recv_cq,
            srq: a.srq,
            cap: a.cap,
            qp_type: a.qp_type,
            sq_sig_all: a.sq_sig_all,
        };
        let qp = ibv_create_qp(a.pd, &mut basic);
        a.cap = basic.cap;
        qp
    }
}

/// # Safety
/// A pair, which is gone then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_destroy_qp(qp: *mut Qp) -> c_int {
    // SAFETY: made by `ibv_create_qp`.
    let fake = unsafe { Box::from_raw(qp.cast::<FakeQp>()) };
    let core = &fake.core;
    core.context.nic.remove(core.num);
    core.uuar.pairs.fetch_sub(1, Ordering::Relaxed);
    core.send_cq.clean(core.num);
    core.recv_cq.clean(core.num);
    if fake.assigned {
        locked(&core.context.uars).release(&core.uuar);
    }
    0
}

/// Without extended functions there is no other view of a pair.
#[unsafe(no_mangle)]
pub extern "C" fn ibv_qp_to_qp_ex(_: *mut Qp) -> *mut c_void {
    core::ptr::null_mut()
}

/// The attributes that a change of state needs; `None`: it is not possible.
fn needed(kind: u32, from: u32, to: u32) -> Option<u32> {
    use qp_mask::*;
    let reliable = kind == qp_type::RC;
    match (from, to) {
        (_, qp_state::RESET | qp_state::ERR) => Some(0),
        (qp_state::RESET, qp_state::INIT) => {
            Some(PKEY_INDEX | PORT | if reliable { ACCESS_FLAGS } else { QKEY })
        }
        (qp_state::INIT, qp_state::INIT) => Some(0),
        (qp_state::INIT, qp_state::RTR) if reliable => {
            Some(AV | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER)
        }
        (qp_state::RTR, qp_state::RTS) if reliable => {
            Some(TIMEOUT | RETRY_CNT | RNR_RETRY | SQ_PSN | MAX_QP_RD_ATOMIC)
        }
        (qp_state::INIT, qp_state::RTR) => Some(0),
        (qp_state::RTR, qp_state::RTS) => Some(SQ_PSN),
        (qp_state::RTS, qp_state::RTS) => Some(0),
        _ => None,
    }
}

fn merge(attr: &mut QpAttr, new: &QpAttr, mask: u32) {
    macro_rules! take {
        ($($bit:ident: $($field:ident),+;)*) => { $(
            if mask & qp_mask::$bit != 0 { $(attr.$field = new.$field;)+ }
        )* };
    }
    take! {
        STATE: qp_state;
        ACCESS_FLAGS: qp_access_flags;
        PKEY_INDEX: pkey_index;
        PORT: port_num;
        QKEY: qkey;
        AV: ah_attr;
        PATH_MTU: path_mtu;
        TIMEOUT: timeout;
        RETRY_CNT: retry_cnt;
        RNR_RETRY: rnr_retry;
        RQ_PSN: rq_psn;
        SQ_PSN: sq_psn;
        MAX_QP_RD_ATOMIC: max_rd_atomic;
        MAX_DEST_RD_ATOMIC: max_dest_rd_atomic;
        MIN_RNR_TIMER: min_rnr_timer;
        DEST_QPN: dest_qp_num;
    }
}

fn is_sound(core: &QpCore, new: &QpAttr, mask: u32) -> bool {
    let config = &core.context.nic.config;
    let has = |bit| mask & bit != 0;
    !(has(qp_mask::PORT) && new.port_num != 1
        || has(qp_mask::PKEY_INDEX) && new.pkey_index != 0
        || has(qp_mask::PATH_MTU) && !(1..=config.mtu).contains(&new.path_mtu)
        // An Ethernet device routes by GIDs alone.
        || has(qp_mask::AV) && config.ethernet && new.ah_attr.is_global == 0
        || has(qp_mask::MAX_QP_RD_ATOMIC) && u32::from(new.max_rd_atomic) > config.max_rd_atomic
        || has(qp_mask::MAX_DEST_RD_ATOMIC) && u32::from(new.max_dest_rd_atomic) > config.max_rd_atomic
        || has(qp_mask::RETRY_CNT) && new.retry_cnt > 7
        || has(qp_mask::RNR_RETRY) && new.rnr_retry > 7
        || has(qp_mask::TIMEOUT) && new.timeout > 31
        || has(qp_mask::CAP))
}

/// # Safety
/// A pair and attributes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_modify_qp(qp: *mut Qp, attr: *mut QpAttr, mask: c_int) -> c_int {
    // SAFETY: the caller's pair and attributes.
    let (core, new) = unsafe { ((*qp.cast::<FakeQp>()).core.clone(), &*attr) };
    let mask = mask as u32;
    let nic = core.context.nic.clone();
    let mut engine = nic.engine();
    let from = core.state();
    let to = if mask & qp_mask::STATE != 0 { new.qp_state } else { from };
    let Some(needed) = needed(core.kind, from, to) else { return EINVAL };
    if mask & needed != needed || !is_sound(&core, new, mask) {
        return EINVAL;
    }
    if to == qp_state::RESET {
        *locked(&core.attr) = QpAttr::default();
    } else {
        merge(&mut locked(&core.attr), new, mask);
    }
    if to != from {
        core.state.store(to, Ordering::Release);
        if let Some(pair) = engine.pairs.all.get_mut(&core.num) {
            pair.change(to);
        }
        if to == qp_state::RESET {
            core.forget();
        }
    }
    // SAFETY: as above; the field is changed under the engine's lock alone.
    unsafe { (*qp).state = to };
    0
}

/// # Safety
/// A pair and two places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_query_qp(
    qp: *mut Qp,
    attr: *mut QpAttr,
    _: c_int,
    init: *mut QpInitAttr,
) -> c_int {
    // SAFETY: the caller's pair and places.
    unsafe {
        let core = &(*qp.cast::<FakeQp>()).core;
        let mut a = *locked(&core.attr);
        a.qp_state = core.state();
        a.cur_qp_state = a.qp_state;
        a.cap = core.cap;
        *attr = a;
        *init = QpInitAttr {
            qp_context: (*qp).qp_context,
            send_cq: (*qp).send_cq,
            recv_cq: (*qp).recv_cq,
            srq: (*qp).srq,
            cap: core.cap,
            qp_type: core.kind,
            sq_sig_all: core.sig_all.into(),
        };
        (*qp).state = a.qp_state;
    }
    0
}

pub unsafe extern "C" fn post_send(qp: *mut Qp, wr: *mut SendWr, bad: *mut *mut SendWr) -> c_int {
    // SAFETY: the caller's pair and list.
    unsafe {
        let core = &(*qp.cast::<FakeQp>()).core;
        let status = core.post(wr, bad);
        core.context.nic.ring(core.num);
        status
    }
}

pub unsafe extern "C" fn post_recv(qp: *mut Qp, wr: *mut RecvWr, bad: *mut *mut RecvWr) -> c_int {
    // SAFETY: the caller's pair and list.
    unsafe {
        let core = &(*qp.cast::<FakeQp>()).core;
        let state = core.state();
        if state == qp_state::RESET || core.has_srq {
            *bad = wr;
            return EINVAL;
        }
        let status = core.recv.post(wr, bad);
        if state == qp_state::ERR {
            core.context.nic.ring(core.num);
        }
        status
    }
}

pub unsafe extern "C" fn post_srq_recv(srq: *mut Srq, wr: *mut RecvWr, bad: *mut *mut RecvWr) -> c_int {
    // SAFETY: the caller's queue and list.
    unsafe { (*srq.cast::<FakeSrq>()).queue.post(wr, bad) }
}

/// # Safety
/// A domain and attributes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_create_srq(pd: *mut Pd, init: *mut SrqInitAttr) -> *mut Srq {
    // SAFETY: the caller's domain and attributes.
    unsafe {
        let (a, context) = (&mut *init, (*pd).context);
        let nic = &FakeContext::of(context).core.nic;
        if a.attr.max_wr == 0 || a.attr.max_wr > nic.config.max_srq_wr || a.attr.max_sge > MOST_SGE {
            return core::ptr::null_mut();
        }
        a.attr.max_sge = a.attr.max_sge.max(1);
        counters::add(Counter::Srqs, 1);
        let raw = Srq {
            context,
            srq_context: a.srq_context,
            pd,
            handle: nic.number() as u32,
            mutex: [0; 5],
            cond: [0; 6],
            events_completed: 0,
        };
        let queue = Arc::new(RecvQueue::new(a.attr.max_wr, a.attr.max_sge));
        Box::into_raw(Box::new(FakeSrq { raw, queue, attr: Mutex::new(a.attr) })).cast()
    }
}

/// # Safety
/// A queue and a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_query_srq(srq: *mut Srq, out: *mut SrqAttr) -> c_int {
    // SAFETY: the caller's queue and place.
    unsafe { *out = *locked(&(*srq.cast::<FakeSrq>()).attr) };
    0
}

/// Neither limits nor sizes change.
#[unsafe(no_mangle)]
pub extern "C" fn ibv_modify_srq(_: *mut Srq, _: *mut SrqAttr, mask: c_int) -> c_int {
    if mask == 0 { 0 } else { EINVAL }
}

/// # Safety
/// A queue that no pair has any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_destroy_srq(srq: *mut Srq) -> c_int {
    // SAFETY: made by `ibv_create_srq`.
    drop(unsafe { Box::from_raw(srq.cast::<FakeSrq>()) });
    counters::sub(Counter::Srqs, 1);
    0
}
