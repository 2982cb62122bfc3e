//! Sending: messages into requests, by the holder of a lane.
//!
//! A small message travels inside its request; another one is put together in a send buffer, which is free again when the device has reported the
//! request or a later one of the same pair. Most requests are not reported: every `btl_verbs_signal_period`-th of a pair is, and all
//! are while buffers or entries of the completion queue are scarce, so that no more than half of them ever wait for a report that only a later
//! message would bring.

use crate::context::Holder;
use crate::lane::Lane;
use crate::link::{Link, Peer, Side};
use crate::rail::Rail;
use crate::ring::{Slot, taken_of_slot};
use crate::wire::{FRAME, Frame, Kind, Purpose};
use core::mem::MaybeUninit;
use oxmpi_btl::Message;
use oxmpi_mca::Status;
use oxmpi_verbs_abi::numbers::{send_flags, wr_opcode};
use oxmpi_verbs_abi::{RdmaTarget, SendTarget, SendWr, Sge};
use std::sync::Arc;

/// Most bytes inside a request, by the parameter's bound.
const INLINE: usize = 1024;
/// The identifier of the first message: of a send (its lowest bit), before all others.
const HELLO: u64 = 1;
/// `ENOMEM`: the queue is full.
pub const FULL: i32 = 12;

impl Rail {
    /// The link on which a lane sends messages to a process.
    #[inline]
    pub fn message_link<'a>(&self, peer: &'a Peer, lane: usize) -> Option<&'a Arc<Link>> {
        let slot = peer.messages.get(lane)?;
        if let Some(link) = slot.get() {
            return Some(link);
        }
        let theirs = lane as u16 % peer.core.place.get()?.lanes;
        Some(slot.get_or_init(|| peer.link((Purpose::Messages, lane as u16, theirs))))
    }

    /// Something waits for a link that has no pair, or may not send yet.
    #[cold]
    pub fn wants(&self, link: &Arc<Link>) -> Status {
        if link.peer.is_out() {
            return Status::PEER_FAILED;
        }
        if link.call() {
            self.order(link.clone());
        }
        Status::NO_RESOURCE
    }

    /// Tells the called one that it is heard, and may send: a message of no bytes, before all others.
    pub fn say_hello(&self, lane: &Lane, side: &mut Side) {
        let mut hello = SendWr {
            wr_id: lane.id(HELLO),
            next: core::ptr::null_mut(),
            sg_list: core::ptr::null_mut(),
            num_sge: 0,
            opcode: wr_opcode::SEND,
            send_flags: 0,
            imm_data: 0,
            wr: SendTarget { rdma: RdmaTarget { remote_addr: 0, rkey: 0 } },
            others: [0; 7],
        };
        // SAFETY: a request without memory.
        let posted = side.pair.as_mut().map_or(Ok(()), |pair| unsafe { pair.post(&mut hello) });
        if let Err(why) = posted {
            self.fail(&side.link.peer, &format!("a new queue pair takes no request ({why})"));
        }
    }

    /// Sends a message behind its frame; NO_RESOURCE: nothing happened. `reserved`: there is always a buffer for it at the peer.
    pub fn push(&self, holder: &mut Holder<'_>, link: usize, frame: Frame, body: Body<'_>) -> Status {
        let (lane, held) = (holder.lane, &mut *holder.held);
        let side = &mut held.sides[link];
        let Some(pair) = side.pair.as_mut().filter(|_| side.up) else { return self.wants(&side.link) };
        if side.link.peer.is_out() {
            return Status::PEER_FAILED;
        }
        let is_message = frame.kind == Kind::Message;
        let reserved = !is_message && frame.kind != Kind::Request;
        let body_len = FRAME + body.len();
        let slot = side.ring_out.as_ref().filter(|_| is_message).and_then(|ring| ring.slot(body_len));
        let most = u64::from(self.settings.queue_depth.min(self.port.limits.requests)) - 2;
        if side.posted - side.complete >= most || side.credits == 0 && !reserved && slot.is_none() {
            return Status::NO_RESOURCE;
        }
        let len = if slot.is_some() { taken_of_slot(body_len) } else { body_len };
        let few = |n: u32| n.min(u32::from(u16::MAX)) as u16;
        let frame = Frame { credits: few(side.owed), slots: few(side.emptied), seq: side.said, ..frame };
        let mut small = [MaybeUninit::<u8>::uninit(); INLINE];
        let fits = len <= (pair.inline.min(self.settings.max_inline) as usize).min(INLINE);
        let buffer = if fits { None } else { lane.buffer(&mut held.free) };
        let (at, lkey) = match buffer {
            Some(number) => lane.pool.buffer(number),
            None if fits => (small.as_mut_ptr().cast(), 0),
            None => return Status::NO_RESOURCE,
        };
        if lane.queue.room.reserve(held.under_way, 1) == 0 {
            lane.give_buffer(&mut held.free, buffer);
            return Status::NO_RESOURCE;
        }
        // SAFETY: `len` bytes are free there: of the array, or of a buffer, which takes the largest message.
        unsafe {
            body.write(at, frame);
            if let Some(slot) = &slot {
                // The padding has no meaning, and is not to be what was in the memory before.
                core::ptr::write_bytes(at.add(body_len), 0, len - body_len);
                at.add(len - 8).cast::<u64>().write_unaligned(slot.word);
            }
        }
        let scarce = lane.is_scarce(held.free.len(), held.under_way);
        // A thread that is about to sleep is not to be woken by that alone.
        let due = side.quiet + 1 >= self.settings.signal_period && frame.kind != Kind::Hold;
        let reported = scarce || due || frame.kind == Kind::Bye;
        let nowhere = RdmaTarget { remote_addr: 0, rkey: 0 };
        let mut sge = Sge { addr: at as u64, length: len as u32, lkey };
        let mut wr = SendWr {
            wr_id: lane.id((side.posted + 1) << 1 | 1),
            next: core::ptr::null_mut(),
            sg_list: &mut sge,
            num_sge: 1,
            opcode: if slot.is_some() { wr_opcode::RDMA_WRITE } else { wr_opcode::SEND },
            send_flags: if reported { send_flags::SIGNALED } else { 0 }
                | if fits { send_flags::INLINE } else { 0 },
            imm_data: 0,
            wr: SendTarget { rdma: slot.as_ref().map_or(nowhere, Slot::target) },
            others: [0; 7],
        };
        // SAFETY: what is not inside the request lies in a buffer that is free after its completion.
        if let Err(why) = unsafe { pair.post(&mut wr) } {
            lane.queue.room.release(held.under_way + 1, held.under_way);
            lane.give_buffer(&mut held.free, buffer);
            if why == FULL {
                return Status::NO_RESOURCE;
            }
            self.fail(&side.link.peer, &format!("its queue pair takes no request ({why})"));
            return Status::PEER_FAILED;
        }
        side.posted += 1;
        held.under_way += 1;
        side.quiet = if reported { 0 } else { side.quiet + 1 };
        side.owed -= u32::from(frame.credits);
        side.emptied -= u32::from(frame.slots);
        side.said = side.said.wrapping_add(is_message.into());
        match &mut side.ring_out {
            Some(ring) if slot.is_some() => ring.wrote(),
            _ if reserved => {}
            _ => side.credits -= 1,
        }
        if let Some(number) = buffer {
            side.buffers.push_back((side.posted, number));
        }
        Status::OK
    }

    /// Requests of a link up to this one are complete.
    pub fn complete(holder: &mut Holder<'_>, link: usize, number: u64) {
        let (lane, held) = (holder.lane, &mut *holder.held);
        let side = &mut held.sides[link];
        if number > side.complete {
            let before = held.under_way;
            held.under_way -= (number - side.complete) as u32;
            lane.queue.room.release(before, held.under_way);
            side.complete = number;
        }
        while side.buffers.front().is_some_and(|(n, _)| *n <= number) {
            lane.give_buffer(&mut held.free, side.buffers.pop_front().map(|(_, buffer)| buffer));
        }
    }
}

/// Bytes behind a frame.
pub enum Body<'a> {
    Nothing,
    Message(&'a Message<'a>),
    Bytes(&'a [u8]),
}

impl Body<'_> {
    fn len(&self) -> usize {
        match self {
            Body::Nothing => 0,
            Body::Message(msg) => msg.total_len(),
            Body::Bytes(bytes) => bytes.len(),
        }
    }

    /// Frame, header and payload, one behind the other.
    ///
    /// # Safety
    /// So many bytes are writable.
    unsafe fn write(&self, at: *mut u8, frame: Frame) {
        // SAFETY: the caller's promise.
        unsafe {
            core::ptr::copy_nonoverlapping(frame.encode().as_ptr(), at, FRAME);
            let at = at.add(FRAME);
            match self {
                Body::Nothing => {}
                Body::Message(msg) => {
                    let header = msg.header();
                    core::ptr::copy_nonoverlapping(header.as_ptr(), at, header.len());
                    msg.write_payload(at.add(header.len()));
                }
                Body::Bytes(bytes) => core::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()),
            }
        }
    }
}
