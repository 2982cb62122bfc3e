//! State of a queue pair in the device, and how its requests and receives end.

use crate::objects::{Entry, Pair, QpCore};
use crate::packet::{Packet, flag};
use crate::requests::{Recv, Wqe, locked};
use oxmpi_verbs_abi::numbers::{
    GRH_BYTES, event, qp_state, qp_type, wc_flags, wc_opcode, wc_status, wr_opcode,
};
use oxmpi_verbs_abi::{QpAttr, Wc};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Answers to atomics that are remembered.
pub(super) const REMEMBERED: usize = 128;

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

    pub(super) fn attr(&self) -> QpAttr {
        *locked(&self.core.attr)
    }

    pub(super) fn complete(&self, wqe: &Wqe, status: u32) {
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

    pub(super) fn received(&self, recv: &Recv, packet: &Packet, status: u32, written: bool) {
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

    pub(super) fn overrun(&self) {
        self.core.state.store(qp_state::ERR, Ordering::Release);
        self.core.context.events.raise(event::QP_FATAL, self.core.handle.load(Ordering::Relaxed));
    }

    /// The first request has failed; the others go with it.
    pub(super) fn fail(&mut self, status: u32) {
        self.core.state.store(qp_state::ERR, Ordering::Release);
        if let Some(wqe) = self.queue.pop_front() {
            self.complete(&wqe, status);
        }
        self.flush();
    }

    pub(super) fn flush(&mut self) {
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
}
