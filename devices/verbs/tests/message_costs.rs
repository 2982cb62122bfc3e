//! The message-rate program of Scalable Communication Endpoints as counts: what a message of two bytes costs the device, with all features of the
//! paper (postlists of 32, one completion for 64, data inside requests, BlueFlame) and without each of them, for a queue pair shared
//! by 1 to 16 threads. Counts do not depend on the machine; a rate over this device would say nothing about a card.

use core::ffi::{CStr, c_char, c_int, c_void};
use oxmpi_verbs_abi::numbers::{access, qp_mask, qp_state, qp_type, send_flags, wc_status, wr_opcode};
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
    fn oxmpi_fake_verbs_counter(name: *const c_char) -> u64;
}

/// Requests of a queue pair, and messages of each thread.
const DEPTH: usize = 128;
const EACH: usize = 512;

#[derive(Clone, Copy, Debug)]
struct Features {
    postlist: usize,
    /// One completion for so many messages.
    period: usize,
    inline: bool,
    blue_flame: bool,
}

const ALL: Features = Features { postlist: 32, period: 64, inline: true, blue_flame: true };

/// Per thousand messages.
#[derive(Debug, PartialEq, Eq)]
struct Costs {
    doorbells: u64,
    request_reads: u64,
    payload_reads: u64,
    completions: u64,
    pair_locks: u64,
}

/// The closed forms of DMA operations and doorbells: a request inside a doorbell is not read, and there is one only where postlists have one entry.
fn due(f: Features) -> Costs {
    let thousandth = |n: usize| (1000 / n) as u64;
    let inside = f.blue_flame && f.postlist == 1;
    Costs {
        doorbells: thousandth(f.postlist),
        request_reads: if inside { 0 } else { 1000 },
        payload_reads: if f.inline { 0 } else { 1000 },
        completions: thousandth(f.period),
        pair_locks: thousandth(f.postlist),
    }
}

fn counters() -> [u64; 5] {
    [c"doorbells", c"wqe_reads", c"payload_reads", c"cqe_writes", c"qp_locks"].map(|name: &CStr| {
        // SAFETY: a string.
        unsafe { oxmpi_fake_verbs_counter(name.as_ptr()) }
    })
}

/// A pair with its queue, as many as are asked for, each connected to itself's partner.
struct Rig {
    context: *mut Context,
    pairs: Vec<(*mut Qp, *mut Cq)>,
    memory: Box<[u8; 64]>,
    mr: *mut Mr,
}

// SAFETY: a queue pair has the library's lock, and so has a completion queue.
unsafe impl Sync for Rig {}

impl Rig {
    /// `blue_flame` is what the library reads of the environment when a context is opened.
    fn new(pairs: usize, blue_flame: bool) -> Rig {
        // SAFETY: no other thread runs between two measurements; objects of the device, which live until the test ends.
        unsafe {
            std::env::set_var("MLX5_SHUT_UP_BF", if blue_flame { "0" } else { "1" });
            let list = ibv_get_device_list(null_mut());
            let context = ibv_open_device(*list);
            assert!(!context.is_null());
            let pd = ibv_alloc_pd(context);
            let mut memory = Box::new([7; 64]);
            let rights = access::LOCAL_WRITE | access::REMOTE_WRITE;
            let mr = ibv_reg_mr(pd, memory.as_mut_ptr().cast(), 64, rights as c_int);
            let make = || {
                let cq = ibv_create_cq(context, 1024, null_mut(), null_mut(), 0);
                let cap = QpCap {
                    max_send_wr: DEPTH as u32,
                    max_send_sge: 1,
                    max_inline_data: 60,
                    ..QpCap::default()
                };
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
                assert!(!qp.is_null() && !cq.is_null());
                (qp, cq)
            };
            let pairs: Vec<_> = (0..pairs)
                .map(|_| {
                    let (mine, there) = (make(), make());
                    connect(mine.0, there.0);
                    connect(there.0, mine.0);
                    mine
                })
                .collect();
            Rig { context, pairs, memory, mr }
        }
    }

    /// A thread's messages on a pair that `sharers` threads have: each posts, takes what completions come, and leaves room for the others.
    fn send(&self, (qp, cq): (*mut Qp, *mut Cq), f: Features, first: usize, count: usize) {
        let at = self.memory.as_ptr() as u64;
        // SAFETY: registered, and alive.
        let (lkey, rkey) = unsafe { ((*self.mr).lkey, (*self.mr).rkey) };
        let mut sge = Sge { addr: at, length: 2, lkey };
        let mut done = 0;
        for start in (0..count).step_by(f.postlist) {
            let mut list: Vec<SendWr> = (start..start + f.postlist)
                .map(|n| SendWr {
                    wr_id: (first + n) as u64,
                    next: null_mut(),
                    sg_list: &mut sge,
                    num_sge: 1,
                    opcode: wr_opcode::RDMA_WRITE,
                    send_flags: if (n + 1) % f.period == 0 { send_flags::SIGNALED } else { 0 }
                        | if f.inline { send_flags::INLINE } else { 0 },
                    imm_data: 0,
                    wr: SendTarget { rdma: RdmaTarget { remote_addr: at + 8, rkey } },
                    others: [0; 7],
                })
                .collect();
            for n in 0..f.postlist - 1 {
                list[n].next = &raw mut list[n + 1];
            }
            // SAFETY: the slot of the context's table has this type; the list is read during the call.
            let status = unsafe {
                let post: unsafe extern "C" fn(*mut Qp, *mut SendWr, *mut *mut SendWr) -> c_int =
                    core::mem::transmute((*self.context).ops[op::POST_SEND]);
                post(qp, list.as_mut_ptr(), &mut null_mut())
            };
            assert_eq!(status, 0, "room for a list");
            let posted = start + f.postlist;
            // No more than half of the queue is under way when the next list is posted, and nothing is at the end.
            let least =
                if posted == count { count / f.period } else { posted.saturating_sub(DEPTH / 2) / f.period };
            while done < least {
                done += self.poll(cq);
            }
        }
    }

    fn poll(&self, cq: *mut Cq) -> usize {
        let begun = Instant::now();
        loop {
            let mut wc = Wc::default();
            // SAFETY: as above.
            let got = unsafe {
                let poll: unsafe extern "C" fn(*mut Cq, c_int, *mut Wc) -> c_int =
                    core::mem::transmute((*self.context).ops[op::POLL_CQ]);
                poll(cq, 1, &mut wc)
            };
            assert!(got >= 0 && begun.elapsed() < Duration::from_secs(60), "no completion comes");
            if got == 1 {
                assert_eq!(wc.status, wc_status::SUCCESS);
                return 1;
            }
            std::thread::yield_now();
        }
    }

    fn measure(&self, f: Features) -> Costs {
        let before = counters();
        let sharers = 16 / self.pairs.len();
        for pair in &self.pairs {
            // Threads that share a pair post in turn under its lock; their lists come one behind the other either way.
            (0..sharers).for_each(|thread| self.send(*pair, f, thread * EACH, EACH));
        }
        let after = counters();
        let messages = 16 * EACH as u64;
        let [doorbells, request_reads, payload_reads, completions, pair_locks] =
            core::array::from_fn(|n| (after[n] - before[n]) * 1000 / messages);
        Costs { doorbells, request_reads, payload_reads, completions, pair_locks }
    }
}

fn connect(qp: *mut Qp, to: *mut Qp) {
    let mut a = QpAttr {
        port_num: 1,
        qp_access_flags: access::REMOTE_WRITE,
        path_mtu: 3,
        // SAFETY: alive.
        dest_qp_num: unsafe { (*to).qp_num },
        max_rd_atomic: 1,
        max_dest_rd_atomic: 1,
        min_rnr_timer: 1,
        timeout: 14,
        retry_cnt: 7,
        rnr_retry: 7,
        ah_attr: AhAttr { is_global: 1, port_num: 1, ..AhAttr::default() },
        ..QpAttr::default()
    };
    use qp_mask::*;
    for (state, mask) in [
        (qp_state::INIT, PKEY_INDEX | PORT | ACCESS_FLAGS),
        (qp_state::RTR, AV | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER),
        (qp_state::RTS, TIMEOUT | RETRY_CNT | RNR_RETRY | SQ_PSN | MAX_QP_RD_ATOMIC),
    ] {
        a.qp_state = state;
        // SAFETY: alive, and attributes.
        assert_eq!(unsafe { ibv_modify_qp(qp, &mut a, (STATE | mask) as c_int) }, 0);
    }
}

#[test]
fn costs_equal_the_closed_forms() {
    // SAFETY: this test is alone in its process, before there is a device.
    unsafe { std::env::set_var("OXMPI_FAKE_VERBS", format!("fabric=m{},uar=static", std::process::id())) };
    let without = [
        ALL,
        Features { inline: false, ..ALL },
        Features { blue_flame: false, ..ALL },
        Features { postlist: 1, ..ALL },
        Features { postlist: 1, blue_flame: false, ..ALL },
        Features { period: 1, ..ALL },
        // As an application has it, and nothing at all.
        Features { postlist: 1, period: 1, ..ALL },
        Features { postlist: 1, period: 1, inline: false, blue_flame: false },
    ];
    for f in without {
        for ways in [1, 2, 4, 8, 16] {
            let rig = Rig::new(16 / ways, f.blue_flame);
            assert_eq!(rig.measure(f), due(f), "{f:?}, {ways} threads for each pair");
        }
    }
    // Figure 10: completions by the period, with postlists of 1 and 32.
    for postlist in [1, 32] {
        for period in [1, 4, 16, 64] {
            let f = Features { postlist, period, ..ALL };
            assert_eq!(Rig::new(16, true).measure(f), due(f), "{f:?}");
        }
    }
}
