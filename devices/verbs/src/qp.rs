//! Queue pairs and shared receive queues: what posting checks, and what the device shares with the handle.

use crate::counters::{self, Counter};
use crate::objects::QpCore;
use crate::requests::{EINVAL, ENOMEM, RecvQueue, Wqe, list, locked};
use oxmpi_verbs_abi::numbers::{qp_state, qp_type, send_flags, wr_opcode};
use oxmpi_verbs_abi::{Ah, AhAttr, Qp, SendWr, Srq};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

#[repr(C)]
pub struct FakeQp {
    pub raw: Qp,
    pub core: Arc<QpCore>,
    /// Its register is its context's to give again.
    pub assigned: bool,
}

#[repr(C)]
pub struct FakeSrq {
    pub raw: Srq,
    pub queue: Arc<RecvQueue>,
    pub attr: Mutex<oxmpi_verbs_abi::SrqAttr>,
}

#[repr(C)]
pub struct FakeAh {
    pub raw: Ah,
    pub attr: AhAttr,
}

impl QpCore {
    /// As after creation.
    pub fn forget(&self) {
        locked(&self.incoming).clear();
        while self.recv_is_own() && self.recv.take().is_some() {}
        self.freed.store(self.posted.load(Ordering::Acquire), Ordering::Release);
        self.send_cq.clean(self.num);
        self.recv_cq.clean(self.num);
    }

    /// # Safety
    /// A list of requests as the verbs have them.
    pub unsafe fn post(&self, first: *mut SendWr, bad: *mut *mut SendWr) -> i32 {
        let _pair = self.lock.enter("a queue pair");
        let (mut wr, mut status, mut count) = (first, 0, 0);
        while !wr.is_null() {
            // SAFETY: the caller's list.
            status = unsafe { self.one(&*wr) };
            if status != 0 {
                // SAFETY: the caller's place.
                unsafe { *bad = wr };
                break;
            }
            count += 1;
            // SAFETY: as above.
            wr = unsafe { (*wr).next };
        }
        if count > 0 {
            self.ring(count);
        }
        status
    }

    /// The doorbell, and what it spares the device.
    fn ring(&self, count: u64) {
        let _register = self.uuar.lock.enter("a doorbell register");
        counters::add(Counter::Doorbells, 1);
        if self.uuar.is_shared() {
            counters::add(Counter::SharedDoorbells, 1);
        }
        if self.uuar.has_neighbours() {
            counters::add(Counter::SharedPages, 1);
        }
        let with_request = count == 1 && !self.uuar.plain && !self.context.no_blue_flame;
        if with_request {
            counters::add(Counter::BlueFlames, 1);
        } else {
            counters::add(Counter::WqeReads, count);
        }
    }

    unsafe fn one(&self, wr: &SendWr) -> i32 {
        let state = self.state();
        if !matches!(state, qp_state::RTS | qp_state::SQD | qp_state::ERR) {
            return EINVAL;
        }
        let (posted, freed) = (self.posted.load(Ordering::Acquire), self.freed.load(Ordering::Acquire));
        if posted - freed >= u64::from(self.cap.max_send_wr) {
            return ENOMEM;
        }
        let datagram = self.kind == qp_type::UD;
        if wr.num_sge < 0
            || wr.num_sge as u32 > self.cap.max_send_sge
            || wr.opcode > wr_opcode::ATOMIC_FETCH_AND_ADD
            || datagram && !matches!(wr.opcode, wr_opcode::SEND | wr_opcode::SEND_WITH_IMM)
        {
            return EINVAL;
        }
        // SAFETY: the caller's list.
        let sges = unsafe { list(wr.sg_list, wr.num_sge) };
        let len = sges.iter().map(|s| u64::from(s.length)).sum::<u64>();
        let is_inline = wr.send_flags & send_flags::INLINE != 0;
        if is_inline && len > u64::from(self.cap.max_inline_data) || datagram && len > 4096 {
            return if is_inline { ENOMEM } else { EINVAL };
        }
        let inline = is_inline.then(|| {
            let mut bytes = Vec::with_capacity(len as usize);
            for s in &sges {
                // SAFETY: inline data is read by the processor, from where the caller says.
                bytes.extend_from_slice(unsafe {
                    core::slice::from_raw_parts(s.addr as *const u8, s.length as usize)
                });
            }
            bytes
        });
        // SAFETY: which part of the union holds follows from operation and kind of the pair.
        let (remote, rkey, operands, datagram) = unsafe {
            match wr.opcode {
                _ if datagram => (0, 0, [0; 2], (wr.wr.ud.remote_qpn, wr.wr.ud.remote_qkey)),
                wr_opcode::ATOMIC_CMP_AND_SWP | wr_opcode::ATOMIC_FETCH_AND_ADD => {
                    let a = wr.wr.atomic;
                    (a.remote_addr, a.rkey, [a.compare_add, a.swap], (0, 0))
                }
                wr_opcode::SEND | wr_opcode::SEND_WITH_IMM => (0, 0, [0; 2], (0, 0)),
                _ => (wr.wr.rdma.remote_addr, wr.wr.rdma.rkey, [0; 2], (0, 0)),
            }
        };
        let wqe = Wqe {
            counter: posted,
            wr_id: wr.wr_id,
            opcode: wr.opcode,
            signaled: self.sig_all || wr.send_flags & send_flags::SIGNALED != 0,
            solicited: wr.send_flags & send_flags::SOLICITED != 0,
            immediate: wr.imm_data,
            sges,
            inline,
            len,
            remote,
            rkey,
            operands,
            datagram,
            psn: 0,
            answered: false,
            got: 0,
            doomed: false,
        };
        self.posted.store(posted + 1, Ordering::Release);
        locked(&self.incoming).push_back(wqe);
        0
    }
}
