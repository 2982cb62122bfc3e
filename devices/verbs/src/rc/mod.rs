//! A queue pair in the device: the requester and the responder of a reliable connection, and datagrams.
//!
//! Messages are numbered, packets of a message follow each other by offset. The responder takes what it expects, answers in order, and
//! says where it wants the requester to begin again; the requester goes back to that message. Requests are complete in order, each with its
//! acknowledgement or its answer. A repeated request is answered again, an atomic out of memory. A request counts as unanswered when its time is over and
//! the other process's device has said, asked behind that, that it has taken and answered everything: a process without a core, or stopped,
//! costs no retry. One that has ended fails its requests at once.

mod requester;
mod responder;

use crate::links::Links;
use crate::objects::{Entry, Nic, Pair, QpCore};
use crate::packet::{PSN, Packet, flag};
use crate::requests::{Recv, Wqe, locked};
use oxmpi_verbs_abi::numbers::{
    GRH_BYTES, event, qp_state, qp_type, wc_flags, wc_opcode, wc_status, wr_opcode,
};
use oxmpi_verbs_abi::{QpAttr, Wc};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Answers to atomics that are remembered.
const REMEMBERED: usize = 128;

pub struct Step {
    pub did: usize,
    pub goes_on: bool,
}

impl Pair {
    pub fn new(core: Arc<QpCore>) -> Pair {
        Pair {
            core,
            is_active: false,
            queue: VecDeque::new(),
            current: 0,
            offset: 0,
            next_psn: 0,
            retries: 0,
            rnr_retries: 0,
            rnr_until: None,
            quiet: None,
            expected: 0,
            expected_offset: 0,
            receiving: None,
            told: false,
            replies: VecDeque::new(),
            atomics: VecDeque::new(),
        }
    }

    fn attr(&self) -> QpAttr {
        *locked(&self.core.attr)
    }

    /// A change of state by the program.
    pub fn change(&mut self, state: u32) {
        let attr = self.attr();
        match state {
            qp_state::RESET => *self = Pair { is_active: self.is_active, ..Pair::new(self.core.clone()) },
            qp_state::RTR => self.expected = attr.rq_psn & PSN,
            qp_state::RTS => self.next_psn = attr.sq_psn & PSN,
            qp_state::ERR => self.flush(),
            _ => {}
        }
    }

    fn complete(&self, wqe: &Wqe, status: u32) {
        if !wqe.signaled && status == wc_status::SUCCESS {
            return;
        }
        let opcode = match wqe.opcode {
            wr_opcode::RDMA_WRITE | wr_opcode::RDMA_WRITE_WITH_IMM => wc_opcode::RDMA_WRITE,
            wr_opcode::RDMA_READ => wc_opcode::RDMA_READ,
            wr_opcode::ATOMIC_CMP_AND_SWP => wc_opcode::COMP_SWAP,
            wr_opcode::ATOMIC_FETCH_AND_ADD => wc_opcode::FETCH_ADD,
            _ => wc_opcode::SEND,
        };
        let wc = Wc {
            wr_id: wqe.wr_id,
            status,
            opcode,
            byte_len: wqe.len as u32,
            qp_num: self.core.num,
            ..Wc::default()
        };
        let frees = Some((self.core.clone(), wqe.counter + 1));
        let entry = Entry { wc, frees, solicited: false };
        if !self.core.send_cq.push(entry) {
            self.overrun();
        }
    }

    fn received(&self, recv: &Recv, packet: &Packet, status: u32, written: bool) {
        let opcode = if written { wc_opcode::RECV_RDMA_WITH_IMM } else { wc_opcode::RECV };
        let grh = if self.core.kind == qp_type::UD { GRH_BYTES as u64 } else { 0 };
        let wc = Wc {
            wr_id: recv.wr_id,
            status,
            opcode,
            byte_len: (packet.total + grh) as u32,
            imm_data: packet.immediate,
            qp_num: self.core.num,
            src_qp: packet.from,
            wc_flags: if packet.is(flag::IMMEDIATE) { wc_flags::WITH_IMM } else { 0 }
                | if grh > 0 { wc_flags::GRH } else { 0 },
            ..Wc::default()
        };
        if !self.core.recv_cq.push(Entry { wc, frees: None, solicited: packet.is(flag::SOLICITED) }) {
            self.overrun();
        }
    }

    fn overrun(&self) {
        self.core.state.store(qp_state::ERR, Ordering::Release);
        self.core.context.events.raise(event::QP_FATAL, self.core.handle.load(Ordering::Relaxed));
    }

    /// The first request has failed; the others go with it.
    fn fail(&mut self, status: u32) {
        self.core.state.store(qp_state::ERR, Ordering::Release);
        if let Some(wqe) = self.queue.pop_front() {
            self.complete(&wqe, status);
        }
        self.flush();
    }

    fn flush(&mut self) {
        self.core.state.store(qp_state::ERR, Ordering::Release);
        let mut all = std::mem::take(&mut self.queue);
        all.append(&mut locked(&self.core.incoming));
        all.iter().for_each(|wqe| self.complete(wqe, wc_status::WR_FLUSH_ERR));
        (self.current, self.offset) = (0, 0);
        (self.rnr_until, self.quiet) = (None, None);
        let mut recv = self.receiving.take();
        while let Some(r) = recv.or_else(|| self.core.recv_is_own().then(|| self.core.recv.take()).flatten())
        {
            self.received(&r, &Packet::default(), wc_status::WR_FLUSH_ERR, false);
            recv = None;
        }
    }

    pub fn step(&mut self, nic: &Nic, links: &mut Links, up: bool) -> Step {
        let mut did = self.pay(nic, links);
        let state = self.core.state();
        if state == qp_state::ERR {
            self.flush();
        } else if state == qp_state::RTS {
            let mut incoming = std::mem::take(&mut *locked(&self.core.incoming));
            for wqe in &mut incoming {
                (wqe.psn, self.next_psn) = (self.next_psn, (self.next_psn + 1) & PSN);
                wqe.doomed = is_doomed(nic);
            }
            self.queue.append(&mut incoming);
            if self.core.kind == qp_type::UD {
                did += self.datagrams(nic, links);
            } else {
                did += self.transmit(nic, links, up);
                self.watch(links, up);
            }
        }
        Step { did, goes_on: !self.queue.is_empty() || !self.replies.is_empty() }
    }
}

/// The fault on demand: the n-th request of the process.
fn is_doomed(nic: &Nic) -> bool {
    static REQUESTS: AtomicU64 = AtomicU64::new(0);
    nic.config.error_at != 0 && REQUESTS.fetch_add(1, Ordering::Relaxed) + 1 == nic.config.error_at
}
