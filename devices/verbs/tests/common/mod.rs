//! The categories of Scalable Communication Endpoints, made by verbs, and what the device says they take.

#![allow(dead_code, reason = "each test uses a part")]

use core::ffi::{c_char, c_int, c_void};
use oxmpi_verbs_abi::mlx5::{OBJ_QP, Obj, QpFacts};
use oxmpi_verbs_abi::numbers::qp_type;
use oxmpi_verbs_abi::*;
use std::collections::BTreeSet;
use std::ptr::null_mut;

// Linked for its entry points.
extern crate oxmpi_verbs_fake as _;

unsafe extern "C" {
    fn ibv_get_device_list(count: *mut c_int) -> *mut *mut Device;
    fn ibv_free_device_list(list: *mut *mut Device);
    fn ibv_open_device(device: *mut Device) -> *mut Context;
    fn ibv_close_device(context: *mut Context) -> c_int;
    fn ibv_alloc_pd(context: *mut Context) -> *mut Pd;
    fn ibv_dealloc_pd(pd: *mut Pd) -> c_int;
    fn ibv_create_cq(c: *mut Context, n: c_int, x: *mut c_void, ch: *mut CompChannel, v: c_int) -> *mut Cq;
    fn ibv_destroy_cq(cq: *mut Cq) -> c_int;
    fn ibv_create_qp(pd: *mut Pd, init: *mut QpInitAttr) -> *mut Qp;
    fn ibv_destroy_qp(qp: *mut Qp) -> c_int;
    fn mlx5dv_init_obj(obj: *mut Obj, kinds: u64) -> c_int;
    fn oxmpi_fake_verbs_counter(name: *const c_char) -> u64;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    MpiEverywhere,
    TwiceDynamic,
    Dynamic,
    SharedDynamic,
    Static,
    MpiThreads,
}

pub const CATEGORIES: [Category; 6] = [
    Category::MpiEverywhere,
    Category::TwiceDynamic,
    Category::Dynamic,
    Category::SharedDynamic,
    Category::Static,
    Category::MpiThreads,
];

/// Counts of the objects that an arrangement takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    pub contexts: u64,
    pub qps: u64,
    pub cqs: u64,
    pub tds: u64,
    pub pages: u64,
    pub registers: u64,
    /// Registers that the threads' pairs ring.
    pub used: u64,
    pub kilobytes: u64,
}

fn counter(name: &core::ffi::CStr) -> u64 {
    // SAFETY: a string.
    let value = unsafe { oxmpi_fake_verbs_counter(name.as_ptr()) };
    assert_ne!(value, u64::MAX, "{name:?}");
    value
}

pub fn now() -> Taken {
    Taken {
        contexts: counter(c"contexts"),
        qps: counter(c"qps"),
        cqs: counter(c"cqs"),
        tds: counter(c"tds"),
        pages: counter(c"uar_pages"),
        registers: counter(c"uuars"),
        used: 0,
        kilobytes: counter(c"bytes") / 1024,
    }
}

/// Everything made, in the order of making.
#[derive(Default)]
pub struct Made {
    contexts: Vec<*mut Context>,
    pub pds: Vec<*mut Pd>,
    tds: Vec<*mut Td>,
    parents: Vec<*mut Pd>,
    cqs: Vec<*mut Cq>,
    pub qps: Vec<*mut Qp>,
}

unsafe fn slot(context: *mut Context, distance: usize) -> *const () {
    // SAFETY: the table lies in front of its context.
    let slot = unsafe { context.byte_sub(distance).cast::<*const ()>().read() };
    assert!(!slot.is_null(), "the table has nothing {distance} in front");
    slot
}

impl Made {
    pub unsafe fn context(&mut self) -> *mut Context {
        // SAFETY: objects of the device, used as the verbs are.
        unsafe {
            let list = ibv_get_device_list(null_mut());
            assert!(!list.is_null() && !(*list).is_null(), "a device");
            let context = ibv_open_device(*list);
            ibv_free_device_list(list);
            assert!(!context.is_null());
            self.contexts.push(context);
            self.pds.push(ibv_alloc_pd(context));
            context
        }
    }

    /// A thread domain with a parent domain over it; `sharing` 0: as upstream.
    pub unsafe fn domain(&mut self, sharing: u32) -> *mut Pd {
        let (context, pd) = (self.contexts[0], self.pds[0]);
        let mut attr = TdInitAttr { comp_mask: if sharing > 0 { TdInitAttr::SHARING } else { 0 }, sharing };
        // SAFETY: the slots have these types.
        unsafe {
            let alloc: unsafe extern "C" fn(*mut Context, *mut TdInitAttr) -> *mut Td =
                core::mem::transmute(slot(context, ext::ALLOC_TD));
            let parent: unsafe extern "C" fn(*mut Context, *mut ParentDomainInitAttr) -> *mut Pd =
                core::mem::transmute(slot(context, ext::ALLOC_PARENT_DOMAIN));
            let td = alloc(context, &mut attr);
            assert!(!td.is_null(), "a thread domain, sharing {sharing}");
            self.tds.push(td);
            let mut attr =
                ParentDomainInitAttr { pd, td, comp_mask: 0, alloc: 0, free: 0, pd_context: null_mut() };
            let pd = parent(context, &mut attr);
            assert!(!pd.is_null());
            self.parents.push(pd);
            pd
        }
    }

    pub unsafe fn pair(&mut self, context: *mut Context, pd: *mut Pd) -> *mut Qp {
        // SAFETY: as above.
        unsafe {
            let cq = self.queue(context);
            self.pair_on(cq, pd)
        }
    }

    pub unsafe fn queue(&mut self, context: *mut Context) -> *mut Cq {
        // SAFETY: as above.
        let cq = unsafe { ibv_create_cq(context, 16, null_mut(), null_mut(), 0) };
        assert!(!cq.is_null());
        self.cqs.push(cq);
        cq
    }

    pub unsafe fn pair_on(&mut self, cq: *mut Cq, pd: *mut Pd) -> *mut Qp {
        // SAFETY: as above.
        unsafe {
            let cap = QpCap { max_send_wr: 8, max_send_sge: 1, ..QpCap::default() };
            let mut init = QpInitAttr {
                qp_context: null_mut(),
                send_cq: cq,
                recv_cq: cq,
                srq: null_mut(),
                cap,
                qp_type: qp_type::RC,
                sq_sig_all: 0,
            };
            let qp = ibv_create_qp(pd, &mut init);
            assert!(!qp.is_null());
            self.qps.push(qp);
            qp
        }
    }

    pub fn free(self) {
        // SAFETY: each object once, those in others before them.
        unsafe {
            self.qps.iter().for_each(|q| assert_eq!(ibv_destroy_qp(*q), 0));
            self.cqs.iter().for_each(|c| assert_eq!(ibv_destroy_cq(*c), 0));
            self.parents.iter().chain(&self.pds).for_each(|p| assert_eq!(ibv_dealloc_pd(*p), 0));
            for td in &self.tds {
                let dealloc: unsafe extern "C" fn(*mut Td) -> c_int =
                    core::mem::transmute(slot(self.contexts[0], ext::DEALLOC_TD));
                assert_eq!(dealloc(*td), 0);
            }
            self.contexts.iter().for_each(|c| assert_eq!(ibv_close_device(*c), 0));
        }
    }
}

unsafe fn register(qp: *mut Qp) -> usize {
    // SAFETY: any bits are facts.
    unsafe {
        let mut facts = core::mem::zeroed::<QpFacts>();
        let mut obj = Obj { qp, qp_out: &mut facts, others: [0; 12] };
        assert_eq!(mlx5dv_init_obj(&mut obj, OBJ_QP), 0);
        facts.bf_reg as usize
    }
}

/// Endpoints of a category for so many threads: all that was made, and the pair of each thread.
/// `patched`: by the attribute `sharing`; else by thread domains that stay idle.
pub fn make(category: Category, threads: usize, patched: bool) -> (Made, Vec<*mut Qp>) {
    let mut made = Made::default();
    // SAFETY: see `Made`.
    let mine: Vec<*mut Qp> = unsafe {
        match category {
            Category::MpiEverywhere => (0..threads)
                .map(|t| {
                    let context = made.context();
                    made.pair(context, made.pds[t])
                })
                .collect(),
            Category::MpiThreads => {
                let context = made.context();
                let qp = made.pair(context, made.pds[0]);
                vec![qp; threads]
            }
            Category::Static => {
                let context = made.context();
                (0..threads).map(|_| made.pair(context, made.pds[0])).collect()
            }
            Category::SharedDynamic | Category::Dynamic | Category::TwiceDynamic => {
                let context = made.context();
                let alone = category != Category::SharedDynamic;
                let pairs = if category == Category::TwiceDynamic { 2 } else { 1 };
                let sharing = if !patched { 0 } else { 2 - u32::from(alone) };
                let mut mine = Vec::new();
                for n in 0..threads * pairs {
                    let pd = made.domain(sharing);
                    if alone && !patched {
                        made.domain(0);
                    }
                    let qp = made.pair(context, pd);
                    if n % pairs == 0 {
                        mine.push(qp);
                    }
                }
                mine
            }
        }
    };
    (made, mine)
}

/// Makes endpoints of a category for so many threads, asks what they take, and frees them.
pub fn measure(category: Category, threads: usize, patched: bool) -> Taken {
    let before = now();
    let (made, mine) = make(category, threads, patched);
    // SAFETY: pairs that are there.
    let used: BTreeSet<usize> = mine.iter().map(|q| unsafe { register(*q) }).collect();
    let after = now();
    made.free();
    assert_eq!(now(), before, "{category:?} of {threads} threads left something");
    Taken {
        contexts: after.contexts - before.contexts,
        qps: after.qps - before.qps,
        cqs: after.cqs - before.cqs,
        tds: after.tds - before.tds,
        pages: after.pages - before.pages,
        registers: after.registers - before.registers,
        used: used.len() as u64,
        kilobytes: after.kilobytes - before.kilobytes,
    }
}

/// The closed forms. `own`: pages of a context at open; `on_demand`: pages that so many pairs without a domain add.
pub fn closed_form(category: Category, t: u64, own: u64, on_demand: fn(u64) -> u64, patched: bool) -> Taken {
    let idle = if patched { 1 } else { 2 };
    let (contexts, pairs, tds, pages, used) = match category {
        Category::MpiEverywhere => (t, t, 0, t * (own + on_demand(1)), t),
        Category::TwiceDynamic => (1, 2 * t, 2 * t * idle, own + 2 * t, t),
        Category::Dynamic => (1, t, t * idle, own + t, t),
        Category::SharedDynamic => (1, t, t, own + t.div_ceil(2), t),
        Category::Static => (1, t, 0, own + on_demand(t), t.min(if own == 8 { 15 } else { 16 })),
        Category::MpiThreads => (1, 1, 0, own + on_demand(1), 1),
    };
    Taken {
        contexts,
        qps: pairs,
        cqs: pairs,
        tds,
        pages,
        registers: 2 * pages,
        used,
        kilobytes: 256 * contexts + 89 * pairs,
    }
}

/// Every category from 1 to 64 threads.
pub fn compare(own: u64, on_demand: fn(u64) -> u64, patched: bool) {
    for category in CATEGORIES {
        for threads in 1..=64 {
            let expected = closed_form(category, threads as u64, own, on_demand, patched);
            assert_eq!(measure(category, threads, patched), expected, "{category:?}, {threads} threads");
        }
    }
}
