//! The responder: what a pair does with requests of its peer, and what it owes for them.

use super::pair::REMEMBERED;
use crate::counters::{self, Counter};
use crate::links::{INDEX_BITS, Links, Sent};
use crate::memory::Denied;
use crate::objects::Pair;
use crate::objects::{Nic, Reply};
use crate::packet::{PAYLOAD, PSN, Packet, ahead, flag, kind, nak};
use crate::sys;
use oxmpi_verbs_abi::numbers::{GRH_BYTES, access, atomic_cap, event, qp_state, qp_type, wc_status};
use std::sync::atomic::{AtomicU64, Ordering};

impl Pair {
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

    pub(super) fn datagram(&mut self, nic: &Nic, packet: &Packet, bytes: &[u8]) {
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

    pub(super) fn owe(&mut self, to: &Packet, kind: u8, code: u16, a: u64) {
        let packet = Packet {
            kind,
            code,
            a,
            flags: to.flags & flag::REPORTED,
            psn: to.psn,
            to: to.from,
            from: self.core.num,
            ..Packet::default()
        };
        self.replies.push_back(Reply::Packet(packet));
    }

    pub(super) fn request(&mut self, nic: &Nic, packet: &Packet, bytes: &[u8]) {
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
    pub(super) fn again(&mut self, packet: &Packet) {
        match packet.kind {
            kind::SEND | kind::WRITE if packet.is(flag::LAST) => self.owe(packet, kind::ACK, 0, 0),
            kind::READ => self.owe_read(packet, true),
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
                // SAFETY: registered memory of that length.
                let put = |to: *mut u8| unsafe { write_in_order(bytes, to) };
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

    fn owe_read(&mut self, packet: &Packet, again: bool) {
        let (psn, addr, rkey, len) = (packet.psn, packet.addr, packet.rkey, packet.total);
        let sent = packet.offset.min(len);
        self.replies.push_back(Reply::Read { psn, addr, rkey, len, sent, again });
    }

    fn read(&mut self, nic: &Nic, packet: &Packet) -> Result<bool, u16> {
        self.may(access::REMOTE_READ)?;
        let (pd, wanted) = (self.core.pd, access::REMOTE_READ);
        if packet.total > 0 {
            let reached = nic.memory.reach(pd, packet.rkey, packet.addr, packet.total, wanted, |_| ());
            reached.map_err(|Denied| nak::ACCESS)?;
        }
        self.owe_read(packet, false);
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

    /// Whether answers to a process have not been sent.
    pub fn owes(&self, process: u32) -> bool {
        !self.replies.is_empty() && self.attr().dest_qp_num >> INDEX_BITS == process
    }

    /// Sends what is owed, as far as there is room.
    pub(super) fn pay(&mut self, nic: &Nic, links: &mut Links) -> usize {
        let mut did = 0;
        let (to, from, pd) = (self.attr().dest_qp_num, self.core.num, self.core.pd);
        while let Some(reply) = self.replies.front_mut() {
            let Reply::Read { psn, addr, rkey, len, sent, again } = reply else {
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
                let copied = nic.memory.reach(pd, *rkey, at, n, access::REMOTE_READ, |data| {
                    if *again {
                        // A device would still have its pages.
                        return sys::read_memory(data, out);
                    }
                    // SAFETY: registered memory of that length.
                    unsafe { core::ptr::copy_nonoverlapping(data, out.as_mut_ptr(), n as usize) }
                    true
                })?;
                if copied { Ok(()) } else { Err(Denied) }
            });
            match result {
                Ok(Sent::No) => break,
                Ok(_) => {
                    *sent += n;
                    if last {
                        self.replies.pop_front();
                    }
                }
                // It was taken back meanwhile, or is a repetition that nobody waits for.
                Err(Denied) => {
                    let no = Packet { kind: kind::NAK, code: nak::ACCESS, len: 0, flags: 0, ..packet };
                    *reply = Reply::Packet(no);
                }
            }
            did += 1;
        }
        did
    }
}

/// Writes into memory that a program may poll: the last word becomes visible behind all before it, as where a device writes in the order of
/// addresses.
///
/// # Safety
/// `to` is writable for as many bytes.
unsafe fn write_in_order(bytes: &[u8], to: *mut u8) {
    let first = bytes.len().saturating_sub(8);
    let last = to.wrapping_add(first);
    // SAFETY: the caller's promise; a word is written as one where it is aligned.
    unsafe {
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), to, first);
        match bytes[first..].first_chunk::<8>() {
            Some(word) if last.addr().is_multiple_of(8) => {
                (*last.cast::<AtomicU64>()).store(u64::from_ne_bytes(*word), Ordering::Release);
            }
            _ => core::ptr::copy_nonoverlapping(bytes[first..].as_ptr(), last, bytes.len() - first),
        }
    }
}

/// Microseconds of the encoded time of a receiver that is not ready, near enough.
fn rnr_wait(code: u8) -> u64 {
    match code & 31 {
        0 => 655_360,
        code => 10 << ((code - 1) / 2).min(15),
    }
}
