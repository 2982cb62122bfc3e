//! A queue pair in the device: the requester and the responder of a reliable connection, and datagrams.
//!
//! Messages are numbered, packets of a message follow each other by offset. The responder takes what it expects, answers in order, and
//! says where it wants the requester to begin again; the requester goes back to that message. Requests are complete in order, each with its
//! acknowledgement or its answer. What is repeated is answered again, atomics out of memory. Time runs only while the other side has
//! taken all that was sent: a busy machine loses no connection.

use crate::counters::{self, Counter};
use crate::cq::Entry;
use crate::links::{Links, Sent};
use crate::memory::Denied;
use crate::nic::Nic;
use crate::packet::{PAYLOAD, PSN, Packet, ahead, flag, kind, nak};
use crate::qp::{QpCore, Recv, Wqe, locked};
use oxmpi_verbs_abi::numbers::{
    GRH_BYTES, access, atomic_cap, event, mtu_bytes, qp_state, qp_type, wc_flags, wc_opcode, wc_status,
    wr_opcode,
};
use oxmpi_verbs_abi::{QpAttr, Wc};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Answers to atomics that are remembered.
const REMEMBERED: usize = 128;

/// What the responder owes.
enum Reply {
    Packet(Packet),
    Read { psn: u32, addr: u64, rkey: u32, len: u64, sent: u64 },
}

pub struct Pair {
    pub core: Arc<QpCore>,
    pub is_active: bool,
    // --- requester ---
    queue: VecDeque<Wqe>,
    /// The request that is being sent, and how far.
    current: usize,
    offset: u64,
    next_psn: u32,
    retries: u8,
    rnr_retries: u8,
    rnr_until: Option<Instant>,
    quiet_since: Option<Instant>,
    // --- responder ---
    expected: u32,
    expected_offset: u64,
    receiving: Option<Recv>,
    /// Has said where to go on; what does not fit is dropped until then.
    told: bool,
    replies: VecDeque<Reply>,
    atomics: VecDeque<(u32, u64)>,
}

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
            quiet_since: None,
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

    // ------------------------------------------------------------ completions

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
        (self.rnr_until, self.quiet_since) = (None, None);
        let mut recv = self.receiving.take();
        while let Some(r) = recv.or_else(|| self.core.recv_is_own().then(|| self.core.recv.take()).flatten())
        {
            self.received(&r, &Packet::default(), wc_status::WR_FLUSH_ERR, false);
            recv = None;
        }
    }

    // ------------------------------------------------------------ responder

    pub fn take(&mut self, nic: &Nic, packet: &Packet, bytes: &[u8]) {
        if !nic.port_up.load(Ordering::Relaxed) {
            return;
        }
        if packet.kind == kind::DATAGRAM {
            return self.datagram(nic, packet, bytes);
        }
        let state = self.core.state();
        if self.core.kind != qp_type::RC || packet.from != self.attr().dest_qp_num {
            return;
        }
        match packet.kind {
            kind::ACK | kind::NAK | kind::READ_DATA | kind::ATOMIC_DATA if state == qp_state::RTS => {
                self.answer(nic, packet, bytes)
            }
            kind::SEND..=kind::FETCH_ADD if matches!(state, qp_state::RTR | qp_state::RTS) => {
                self.request(nic, packet, bytes)
            }
            _ => {}
        }
    }

    fn datagram(&mut self, nic: &Nic, packet: &Packet, bytes: &[u8]) {
        let state = self.core.state();
        if self.core.kind != qp_type::UD
            || !matches!(state, qp_state::RTR | qp_state::RTS)
            || self.attr().qkey != packet.qkey
        {
            return;
        }
        let Some(recv) = self.core.recv.take() else { return };
        let whole = [&[0; GRH_BYTES], bytes].concat();
        let fits = recv.room() >= whole.len() as u64;
        let placed = fits && nic.memory.scatter(self.core.pd, &recv.sges, 0, &whole).is_ok();
        let status = if placed { wc_status::SUCCESS } else { wc_status::LOC_LEN_ERR };
        self.received(&recv, packet, status, false);
    }

    fn owe(&mut self, to: &Packet, kind: u8, code: u16, a: u64) {
        let packet =
            Packet { kind, code, a, psn: to.psn, to: to.from, from: self.core.num, ..Packet::default() };
        self.replies.push_back(Reply::Packet(packet));
    }

    fn request(&mut self, nic: &Nic, packet: &Packet, bytes: &[u8]) {
        let difference = ahead(packet.psn, self.expected);
        if difference < 0 {
            return self.again(packet);
        }
        if difference > 0 || packet.offset != self.expected_offset {
            if !std::mem::replace(&mut self.told, true) {
                let from = Packet { psn: self.expected, ..*packet };
                self.expected_offset = 0;
                // The part that was there comes once more, to the same request.
                self.owe(&from, kind::NAK, nak::SEQUENCE, 0);
            }
            return;
        }
        let done = match packet.kind {
            kind::SEND | kind::WRITE => self.data(nic, packet, bytes),
            kind::READ => self.read(nic, packet),
            _ => self.atomic(nic, packet),
        };
        match done {
            Ok(true) => {
                self.told = false;
                if packet.is(flag::LAST) {
                    (self.expected, self.expected_offset) = ((self.expected + 1) & PSN, 0);
                } else {
                    self.expected_offset += bytes.len() as u64;
                }
            }
            // No receive request: the message comes again.
            Ok(false) => (self.told, self.expected_offset) = (true, 0),
            Err(code) => {
                self.owe(packet, kind::NAK, code, 0);
                self.core
                    .context
                    .events
                    .raise(event::QP_ACCESS_ERR, self.core.handle.load(Ordering::Relaxed));
                self.flush();
            }
        }
    }

    /// A message that was taken before.
    fn again(&mut self, packet: &Packet) {
        match packet.kind {
            kind::SEND | kind::WRITE if packet.is(flag::LAST) => self.owe(packet, kind::ACK, 0, 0),
            kind::READ => self.owe_read(packet),
            kind::COMPARE_SWAP | kind::FETCH_ADD => {
                if let Some((_, old)) = self.atomics.iter().find(|(psn, _)| *psn == packet.psn) {
                    self.owe(packet, kind::ATOMIC_DATA, 0, *old);
                }
            }
            _ => {}
        }
    }

    fn may(&self, wanted: u32) -> Result<(), u16> {
        if self.attr().qp_access_flags & wanted == wanted { Ok(()) } else { Err(nak::ACCESS) }
    }

    fn data(&mut self, nic: &Nic, packet: &Packet, bytes: &[u8]) -> Result<bool, u16> {
        let writes = packet.kind == kind::WRITE;
        let wants_recv = !writes || packet.is(flag::IMMEDIATE) && packet.is(flag::LAST);
        if wants_recv && self.receiving.is_none() {
            static SENDS: AtomicU64 = AtomicU64::new(0);
            let every = nic.config.rnr;
            let refused = every != 0 && (SENDS.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(every);
            self.receiving = if refused { None } else { self.core.recv.take() };
            if self.receiving.is_none() {
                counters::add(Counter::RnrNaks, 1);
                self.owe(packet, kind::NAK, nak::RNR, rnr_wait(self.attr().min_rnr_timer));
                return Ok(false);
            }
        }
        if writes {
            self.may(access::REMOTE_WRITE)?;
            if !bytes.is_empty() {
                let at = packet.addr + packet.offset;
                let put = |to: *mut u8| {
                    // SAFETY: registered memory of that length.
                    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) }
                };
                let (pd, len) = (self.core.pd, bytes.len() as u64);
                let reached = nic.memory.reach(pd, packet.rkey, at, len, access::REMOTE_WRITE, put);
                reached.map_err(|Denied| nak::ACCESS)?;
            }
        } else if let Some(recv) = &self.receiving {
            if recv.room() < packet.total {
                let recv = self.receiving.take().expect("there");
                self.received(&recv, packet, wc_status::LOC_LEN_ERR, false);
                return Err(nak::INVALID);
            }
            if nic.memory.scatter(self.core.pd, &recv.sges, packet.offset, bytes).is_err() {
                let recv = self.receiving.take().expect("there");
                self.received(&recv, packet, wc_status::LOC_PROT_ERR, false);
                return Err(nak::OPERATION);
            }
        }
        if packet.is(flag::LAST) {
            if wants_recv && let Some(recv) = self.receiving.take() {
                self.received(&recv, packet, wc_status::SUCCESS, writes);
            }
            self.owe(packet, kind::ACK, 0, 0);
        }
        Ok(true)
    }

    fn owe_read(&mut self, packet: &Packet) {
        let (psn, addr, rkey, len) = (packet.psn, packet.addr, packet.rkey, packet.total);
        self.replies.push_back(Reply::Read { psn, addr, rkey, len, sent: 0 });
    }

    fn read(&mut self, nic: &Nic, packet: &Packet) -> Result<bool, u16> {
        self.may(access::REMOTE_READ)?;
        let (pd, wanted) = (self.core.pd, access::REMOTE_READ);
        if packet.total > 0 {
            let reached = nic.memory.reach(pd, packet.rkey, packet.addr, packet.total, wanted, |_| ());
            reached.map_err(|Denied| nak::ACCESS)?;
        }
        self.owe_read(packet);
        Ok(true)
    }

    fn atomic(&mut self, nic: &Nic, packet: &Packet) -> Result<bool, u16> {
        self.may(access::REMOTE_ATOMIC)?;
        if !packet.addr.is_multiple_of(8) || nic.config.atomics == atomic_cap::NONE {
            return Err(nak::INVALID);
        }
        let update = |at: *mut u8| {
            let new = |old: u64| match packet.kind {
                kind::FETCH_ADD => old.wrapping_add(packet.a),
                _ if old == packet.a => packet.b,
                _ => old,
            };
            // SAFETY: registered, and aligned.
            let word = unsafe { &*at.cast::<AtomicU64>() };
            if nic.config.atomics == atomic_cap::GLOB {
                return word
                    .fetch_update(Ordering::AcqRel, Ordering::Acquire, |old| Some(new(old)))
                    .unwrap_or(0);
            }
            let old = word.load(Ordering::Acquire);
            if nic.config.tear {
                // Time for a processor's atomic to be lost in.
                std::thread::yield_now();
            }
            word.store(new(old), Ordering::Release);
            old
        };
        let (pd, wanted) = (self.core.pd, access::REMOTE_ATOMIC);
        let old = nic.memory.reach(pd, packet.rkey, packet.addr, 8, wanted, update);
        let old = old.map_err(|Denied| nak::ACCESS)?;
        self.atomics.push_back((packet.psn, old));
        if self.atomics.len() > REMEMBERED {
            self.atomics.pop_front();
        }
        self.owe(packet, kind::ATOMIC_DATA, 0, old);
        Ok(true)
    }

    /// Sends what is owed, as far as there is room.
    fn pay(&mut self, nic: &Nic, links: &mut Links) -> usize {
        let mut did = 0;
        let (to, from, pd) = (self.attr().dest_qp_num, self.core.num, self.core.pd);
        while let Some(reply) = self.replies.front_mut() {
            let Reply::Read { psn, addr, rkey, len, sent } = reply else {
                let Reply::Packet(packet) = reply else { break };
                if links.send::<()>(packet, |_| Ok(())) == Ok(Sent::No) {
                    break;
                }
                self.replies.pop_front();
                did += 1;
                continue;
            };
            let n = (*len - *sent).min(PAYLOAD as u64);
            let last = *sent + n == *len;
            let flags = if last { flag::LAST } else { 0 };
            let packet = Packet {
                kind: kind::READ_DATA,
                flags,
                len: n as u32,
                to,
                from,
                psn: *psn,
                offset: *sent,
                ..Packet::default()
            };
            let at = *addr + *sent;
            let result = links.send(&packet, |out| {
                if n == 0 {
                    return Ok(());
                }
                nic.memory.reach(pd, *rkey, at, n, access::REMOTE_READ, |data| {
                    // SAFETY: registered memory of that length.
                    unsafe { core::ptr::copy_nonoverlapping(data, out.as_mut_ptr(), n as usize) }
                })
            });
            match result {
                Ok(Sent::No) => break,
                Ok(_) => {
                    *sent += n;
                    if last {
                        self.replies.pop_front();
                    }
                }
                // It was taken back meanwhile.
                Err(Denied) => {
                    let no = Packet { kind: kind::NAK, code: nak::ACCESS, len: 0, flags: 0, ..packet };
                    *reply = Reply::Packet(no);
                }
            }
            did += 1;
        }
        did
    }

    // ------------------------------------------------------------ requester

    fn answer(&mut self, nic: &Nic, packet: &Packet, bytes: &[u8]) {
        (self.quiet_since, self.retries) = (None, 0);
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
        wqe.got += bytes.len() as u64;
        wqe.answered = last;
    }

    fn refused(&mut self, at: usize, packet: &Packet) {
        // Whatever is before it has been taken.
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

    /// Sends again from the first request that is not answered.
    fn rewind(&mut self) {
        self.retire();
        (self.current, self.offset) = (0, 0);
        self.queue.iter_mut().filter(|w| !w.answered).for_each(|w| w.got = 0);
    }

    /// Completes requests in order.
    fn retire(&mut self) {
        while self.queue.front().is_some_and(|w| w.answered) && self.current > 0 {
            let wqe = self.queue.pop_front().expect("there");
            self.current -= 1;
            self.complete(&wqe, wc_status::SUCCESS);
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

    fn datagrams(&mut self, nic: &Nic, links: &mut Links) -> usize {
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
        let mut flags = 0;
        for (bit, is) in [
            (flag::LAST, !data || offset + n == wqe.len),
            (flag::SOLICITED, wqe.solicited),
            (flag::IMMEDIATE, immediate),
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

    fn transmit(&mut self, nic: &Nic, links: &mut Links, up: bool) -> usize {
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
                Ok(_) => did += 1,
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
        did
    }

    /// Looks whether the answer is overdue.
    fn watch(&mut self, links: &Links, up: bool) {
        let attr = self.attr();
        let waits = !self.queue.is_empty() && self.rnr_until.is_none();
        if !waits || attr.timeout == 0 || up && !links.is_consumed(attr.dest_qp_num) {
            self.quiet_since = None;
            return;
        }
        let since = *self.quiet_since.get_or_insert_with(Instant::now);
        if since.elapsed() < Duration::from_nanos(4096 << attr.timeout.min(31)) {
            return;
        }
        self.quiet_since = None;
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

/// The fault on demand: the n-th request of the process.
fn is_doomed(nic: &Nic) -> bool {
    static REQUESTS: AtomicU64 = AtomicU64::new(0);
    nic.config.error_at != 0 && REQUESTS.fetch_add(1, Ordering::Relaxed) + 1 == nic.config.error_at
}

/// Microseconds of the encoded time of a receiver that is not ready, near enough.
fn rnr_wait(code: u8) -> u64 {
    match code & 31 {
        0 => 655_360,
        code => 10 << ((code - 1) / 2).min(15),
    }
}
