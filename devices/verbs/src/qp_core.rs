//! Parts of a queue pair that program and device share.

use crate::counters::Counter;
use crate::lock::ModelLock;
use crate::objects::{ContextCore, CqCore, QpCore};
use crate::requests::RecvQueue;
use crate::uar::Uuar;
use oxmpi_verbs_abi::numbers::qp_state;
use oxmpi_verbs_abi::{QpAttr, QpCap};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Parts of a new pair.
pub struct Made {
    pub num: u32,
    pub pd: u64,
    pub kind: u32,
    pub send_cq: Arc<CqCore>,
    pub recv_cq: Arc<CqCore>,
    pub recv: Arc<RecvQueue>,
    pub has_srq: bool,
    pub cap: QpCap,
    pub sig_all: bool,
    pub uuar: Uuar,
    /// Under a thread domain there is no lock.
    pub locked: bool,
    pub context: Arc<ContextCore>,
}

impl QpCore {
    pub fn new(made: Made) -> QpCore {
        let counted = made.locked.then_some(Counter::QpLocks);
        made.uuar.pairs.fetch_add(1, Ordering::Relaxed);
        QpCore {
            num: made.num,
            pd: made.pd,
            kind: made.kind,
            send_cq: made.send_cq,
            recv_cq: made.recv_cq,
            recv: made.recv,
            has_srq: made.has_srq,
            cap: made.cap,
            sig_all: made.sig_all,
            state: AtomicU32::new(qp_state::RESET),
            attr: Mutex::new(QpAttr::default()),
            posted: AtomicU64::new(0),
            freed: AtomicU64::new(0),
            incoming: Mutex::default(),
            uuar: made.uuar,
            lock: ModelLock::new(counted, made.context.nic.config.lenient),
            context: made.context,
            handle: AtomicU64::new(0),
        }
    }

    pub fn state(&self) -> u32 {
        self.state.load(Ordering::Acquire)
    }

    /// The program has seen that requests before this number are done.
    pub fn free_up_to(&self, counter: u64) {
        self.freed.fetch_max(counter, Ordering::AcqRel);
    }

    pub fn recv_is_own(&self) -> bool {
        !self.has_srq
    }
}
