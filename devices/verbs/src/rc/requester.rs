//! The requester: sends what the program has posted, and takes the answers.

use crate::counters::{self, Counter};
use crate::links::{Attention, Links, Quiet, Sent};
use crate::memory::Denied;
use crate::objects::Nic;
use crate::objects::Pair;
use crate::packet::{Packet, flag, kind, nak};
use crate::requests::Wqe;
use oxmpi_verbs_abi::numbers::{mtu_bytes, wc_status, wr_opcode};
use std::time::{Duration, Instant};

impl Pair {
    pub(super) fn answer(&mut self, nic: &Nic, packet: &Packet, bytes: &[u8]) {
        (self.quiet, self.retries) = (None, 0);
        let Some(at) = self.queue.iter().position(|w| w.psn == packet.psn) else { return };
        if at > self.current || at == self.current && self.offset == 0 && packet.kind != kind::NAK {
            return;
        }
        match packet.kind {
            kind::ACK => {
                self.rnr_retries = 0;
                for wqe in self.queue.iter_mut().take(at + 1).filter(|w| !needs_data(w.opcode)) {
                    wqe.answered = true;
                }
            }
            kind::ATOMIC_DATA => self.place(nic, at, 0, &packet.a.to_ne_bytes(), true),
            kind::READ_DATA if packet.offset == self.queue[at].got => {
                self.place(nic, at, packet.offset, bytes, packet.is(flag::LAST))
            }
            kind::NAK => self.refused(at, packet),
            _ => {}
        }
        self.retire();
    }

    fn place(&mut self, nic: &Nic, at: usize, offset: u64, bytes: &[u8], last: bool) {
        let wqe = &mut self.queue[at];
        if nic.memory.scatter(self.core.pd, &wqe.sges, offset, bytes).is_err() {
            if let Some(wqe) = self.queue.remove(at) {
                self.complete(&wqe, wc_status::LOC_PROT_ERR);
            }
            return self.flush();
        }
        counters::carried(self.core.context.device, bytes.len() as u64);
        wqe.got += bytes.len() as u64;
        wqe.answered = last;
    }

    fn refused(&mut self, at: usize, packet: &Packet) {
        // The responder has taken all requests before this one.
        for wqe in self.queue.iter_mut().take(at).filter(|w| !needs_data(w.opcode)) {
            wqe.answered = true;
        }
        let attr = self.attr();
        match packet.code {
            nak::SEQUENCE => self.rewind(),
            nak::RNR => {
                if attr.rnr_retry != 7 && self.rnr_retries >= attr.rnr_retry {
                    self.retire();
                    return self.fail(wc_status::RNR_RETRY_EXC_ERR);
                }
                self.rnr_retries = self.rnr_retries.saturating_add(1);
                self.rnr_until = Some(Instant::now() + Duration::from_micros(packet.a));
                self.rewind();
            }
            code => {
                self.retire();
                self.fail(match code {
                    nak::ACCESS => wc_status::REM_ACCESS_ERR,
                    nak::INVALID => wc_status::REM_INV_REQ_ERR,
                    _ => wc_status::REM_OP_ERR,
                })
            }
        }
    }

    /// Sends again from the first request that is not answered; a read asks for what has not come yet.
    pub(super) fn rewind(&mut self) {
        self.retire();
        (self.current, self.offset) = (0, 0);
    }

    /// Completes requests in order.
    pub(super) fn retire(&mut self) {
        while self.queue.front().is_some_and(|w| w.answered) && self.current > 0 {
            let wqe = self.queue.pop_front().expect("there");
            self.current -= 1;
            self.complete(&wqe, wc_status::SUCCESS);
        }
    }

    pub(super) fn datagrams(&mut self, nic: &Nic, links: &mut Links) -> usize {
        let mut did = 0;
        while let Some(wqe) = self.queue.front() {
            let (to, qkey) = wqe.datagram;
            let packet = Packet { kind: kind::DATAGRAM, to, qkey, ..self.packet_of(wqe, 0, wqe.len) };
            match links.send(&packet, |out| payload(nic, self.core.pd, wqe, 0, out)) {
                Ok(Sent::No) => break,
                Ok(_) => {
                    let wqe = self.queue.pop_front().expect("there");
                    self.complete(&wqe, wc_status::SUCCESS);
                    did += 1;
                }
                Err(Denied) => {
                    self.fail(wc_status::LOC_PROT_ERR);
                    break;
                }
            }
        }
        did
    }

    fn packet_of(&self, wqe: &Wqe, offset: u64, n: u64) -> Packet {
        let kind = match wqe.opcode {
            wr_opcode::RDMA_WRITE | wr_opcode::RDMA_WRITE_WITH_IMM => kind::WRITE,
            wr_opcode::RDMA_READ => kind::READ,
            wr_opcode::ATOMIC_CMP_AND_SWP => kind::COMPARE_SWAP,
            wr_opcode::ATOMIC_FETCH_AND_ADD => kind::FETCH_ADD,
            _ => kind::SEND,
        };
        let immediate = matches!(wqe.opcode, wr_opcode::RDMA_WRITE_WITH_IMM | wr_opcode::SEND_WITH_IMM);
        let data = !needs_data(wqe.opcode);
        let offset = if wqe.opcode == wr_opcode::RDMA_READ { wqe.got } else { offset };
        let mut flags = 0;
        for (bit, is) in [
            (flag::LAST, !data || offset + n == wqe.len),
            (flag::SOLICITED, wqe.solicited),
            (flag::IMMEDIATE, immediate),
            (flag::REPORTED, wqe.signaled),
        ] {
            flags |= if is { bit } else { 0 };
        }
        Packet {
            kind,
            flags,
            code: 0,
            len: if data { n as u32 } else { 0 },
            to: self.attr().dest_qp_num,
            from: self.core.num,
            psn: wqe.psn,
            immediate: wqe.immediate,
            rkey: wqe.rkey,
            qkey: 0,
            offset,
            total: wqe.len,
            addr: wqe.remote,
            a: wqe.operands[0],
            b: wqe.operands[1],
        }
    }

    pub(super) fn transmit(&mut self, nic: &Nic, links: &mut Links, up: bool) -> usize {
        if self.rnr_until.is_some_and(|until| Instant::now() < until) || !up {
            return 0;
        }
        self.rnr_until = None;
        let (mut did, attr) = (0, self.attr());
        let mtu = u64::from(mtu_bytes(attr.path_mtu).max(256));
        while self.current < self.queue.len() {
            let wqe = &self.queue[self.current];
            if wqe.doomed {
                // Those before it come first.
                if self.current == 0 {
                    self.fail(nic.config.error_status);
                }
                break;
            }
            let asking = needs_data(wqe.opcode);
            let asked = self.queue.iter().take(self.current).filter(|w| needs_data(w.opcode) && !w.answered);
            if asking && asked.count() >= usize::from(attr.max_rd_atomic.max(1)) {
                break;
            }
            let n = if asking { 0 } else { (wqe.len - self.offset).min(mtu) };
            let packet = self.packet_of(wqe, self.offset, n);
            let offset = self.offset;
            match links.send(&packet, |out| payload(nic, self.core.pd, wqe, offset, out)) {
                Ok(Sent::No) => break,
                Ok(_) => {
                    counters::carried(self.core.context.device, n);
                    did += 1;
                }
                Err(Denied) => {
                    // Those before it come first.
                    if self.current == 0 {
                        self.fail(wc_status::LOC_PROT_ERR);
                    }
                    break;
                }
            }
            self.offset += n;
            if asking || self.offset == wqe.len {
                (self.current, self.offset) = (self.current + 1, 0);
            }
        }
        if did > 0 {
            // The answer's time begins behind the last packet.
            self.quiet = None;
        }
        did
    }

    /// Looks whether the answer is overdue.
    pub(super) fn watch(&mut self, links: &mut Links, up: bool) {
        let attr = self.attr();
        let has_sent = !self.queue.is_empty() && (self.current, self.offset) != (0, 0);
        let waits =
            self.rnr_until.is_none() && (has_sent && !links.is_held() || !up && !self.queue.is_empty());
        if !waits || attr.timeout == 0 {
            self.quiet = None;
            return;
        }
        let quiet = self.quiet.get_or_insert_with(Quiet::begin);
        let (waited, limit) = (quiet.since.elapsed(), Duration::from_nanos(4096 << attr.timeout.min(31)));
        let is_over = waited >= limit;
        // With the own port down nothing goes out, and nobody is asked.
        let attention = if up { links.answer_of(attr.dest_qp_num, quiet) } else { Attention::Given };
        match attention {
            // Completions that stand in the queue are polled before the end of the peer is told, for as long as a card would repeat:
            // the program may need no more than those.
            Attention::Gone
                if !self.core.send_cq.is_empty() && waited < limit * (u32::from(attr.retry_cnt) + 1) =>
            {
                return;
            }
            Attention::Gone => {
                self.quiet = None;
                return self.fail(wc_status::RETRY_EXC_ERR);
            }
            _ if !is_over => return,
            Attention::Pending => {
                if quiet.question.is_none() {
                    quiet.question = links.ask(attr.dest_qp_num);
                }
                return;
            }
            Attention::Given => {}
        }
        self.quiet = None;
        if self.retries >= attr.retry_cnt {
            return self.fail(wc_status::RETRY_EXC_ERR);
        }
        self.retries += 1;
        counters::add(Counter::Retries, 1);
        self.rewind();
    }
}

/// Answered by data, not by an acknowledgement.
fn needs_data(opcode: u32) -> bool {
    matches!(opcode, wr_opcode::RDMA_READ | wr_opcode::ATOMIC_CMP_AND_SWP | wr_opcode::ATOMIC_FETCH_AND_ADD)
}

fn payload(nic: &Nic, pd: u64, wqe: &Wqe, offset: u64, out: &mut [u8]) -> Result<(), Denied> {
    if out.is_empty() {
        return Ok(());
    }
    if let Some(bytes) = &wqe.inline {
        out.copy_from_slice(&bytes[offset as usize..offset as usize + out.len()]);
        return Ok(());
    }
    counters::add(Counter::PayloadReads, 1);
    nic.memory.gather(pd, &wqe.sges, offset, out)
}
