//! Messages that go at once: one call of the transport, with a header on the stack and the user's buffer, in [`Ob1::eager_on`]. The functions in front
//! of that find the FIFO: by the thread's note of its last send (`state/note.rs`), as the owner of the FIFO's CRI, or in any case.

use crate::order::switch::Sending;
use crate::requests::thread_state::state_and_seat;
use crate::send::outgoing::Outgoing;
use crate::send::parts::{Packer, pack_part};
use crate::state::fifos::FIFO;
use crate::state::guarded::{Held, Inside};
use crate::state::instance::Ob1;
use crate::state::note::word_of;
use crate::state::objects::{Comm, Peer, Sent};
use crate::wire::{self, flag};
use core::ptr::null_mut;
use core::sync::atomic::Ordering;
use oxmpi_btl::SendDesc;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::host::am_tag;
use oxmpi_mca::{RequestHeader, Status};
use oxmpi_pml::{SendArgs, mode};

/// The header of an eager message, and its length.
pub struct Eager {
    /// Our rank.
    pub source: i32,
    pub total: u64,
    pub head: u64,
    /// Its place in the order, or 0.
    pub order: u64,
}

impl Eager {
    /// The header words of an eager message: `head`, and its place in the order (0: none).
    #[inline(always)]
    fn of(out: &Outgoing<'_>, head: u64, order: u64) -> Eager {
        Eager { source: out.comm.my_rank, total: out.total, head, order }
    }
}

impl Ob1 {
    /// Sends a message for MPI_Send and what is like it. Returns null if all of it went at once, else the request that
    /// the caller waits for.
    #[inline(always)]
    pub fn send_blocking(&self, args: &SendArgs, threaded: bool) -> Result<*mut RequestHeader, Status> {
        match self.eager(args, threaded)? {
            (Status::OK, _) => Ok(null_mut()),
            (Status::NO_RESOURCE, number) => self.send_blocking_slowly(args, number, threaded),
            (error, _) => Err(error),
        }
    }

    /// Sends a message for MPI_Isend and what is like it; returns its request, which is complete if all of it went at
    /// once.
    #[inline(always)]
    pub fn send_immediate(&self, args: &SendArgs, threaded: bool) -> Result<*mut RequestHeader, Status> {
        let req = self.take_request(args.thread, threaded, RequestHeader::SEND, args.host_comm)?;
        match self.eager(args, threaded) {
            Ok((Status::OK, _)) => {
                req.complete_unseen();
                Ok(req.handle())
            }
            Ok((Status::NO_RESOURCE, number)) => self.send_immediate_slowly(req, args, number, threaded),
            Ok((error, _)) | Err(error) => {
                self.recycle(req, args.thread, threaded);
                Err(error)
            }
        }
    }

    /// Sends a message at once if that needs no request. Returns the status and a number; NO_RESOURCE: the message
    /// needs a request, which takes over the number, if it is not 0.
    #[inline(always)]
    pub fn eager(&self, args: &SendArgs, threaded: bool) -> Result<(Status, u64), Status> {
        if threaded && let Some(status) = self.eager_again(args) {
            return Ok((status, 0));
        }
        let out = self.outgoing(args, threaded)?;
        Ok(self.eager_now(&out, args, threaded))
    }

    /// Sends a described message at once if it is short, not synchronous and needs no prefix. NO_RESOURCE: it needs a
    /// request, with the number that is returned if it is not 0.
    #[inline(always)]
    fn eager_now(&self, out: &Outgoing<'_>, args: &SendArgs, threaded: bool) -> (Status, u64) {
        let head = out.route.head.load(Ordering::Relaxed);
        if out.total > out.peer.eager_payload || wire::flags_of(head) != 0 || args.mode == mode::SYNCHRONOUS {
            return (Status::NO_RESOURCE, 0);
        }
        if !threaded {
            let held = self.hold(FIFO, None, false);
            return (self.eager_on(&held, out.peer, &Eager::of(out, head, 0), args), 0);
        }
        match self.eager_of_owner(out, args, head) {
            Some(status) => (status, 0),
            None => self.eager_of_any(args),
        }
    }

    /// Sends an eager message in the usual case with several threads: the thread owns the lock of the CRI, and the
    /// message takes the first FIFO while that is the only one in use, else the FIFO of its tag or its communicator's
    /// home, which was used before, with a stamp. `head`: word 0 of the header. `Some(NO_RESOURCE)`: it did not go, and
    /// needs a request. `None`: it is another case, and nothing happened; [`Ob1::eager_of_any`] sends it.
    #[inline(always)]
    fn eager_of_owner(&self, out: &Outgoing<'_>, args: &SendArgs, head: u64) -> Option<Status> {
        let ((thread_state, seat), base) = (state_and_seat(args.thread)?, out.peer.base);
        if base.width == 1 {
            let inside = Inside::enter(out.peer.cri(), seat)?;
            return Some(self.eager_on(&inside.held(FIFO), out.peer, &Eager::of(out, head, 0), args));
        }
        // SYNC POINT with `switch_all`.
        if !base.switch.is_passed() {
            // One thread sends, so far.
            if self.senders.load(Ordering::Relaxed) != thread_state.index + 1 {
                return None;
            }
            let inside = Inside::enter(out.peer.cri(), seat)?;
            if !base.switch.may_go(false, FIFO) {
                return None;
            }
            return Some(self.eager_on(&inside.held(FIFO), out.peer, &Eager::of(out, head, 0), args));
        }
        if !out.comm.by_tag() || !base.stamps {
            return None;
        }
        let fork = &out.route.fork;
        let by_tag = fork.is_passed();
        // The library's own messages do not say who shares what.
        if !by_tag && args.tag >= 0 && !out.comm.users.is(thread_state.index) {
            return None;
        }
        let shard = if by_tag { out.route.tag_shard(args.tag) } else { out.route.home_shard() };
        let peer = base.fifo_of_shard(shard)?;
        let inside = Inside::enter(peer.cri(), seat)?;
        if !base.switch.may_go(true, peer.ctx) || !fork.may_go(by_tag, peer.ctx) {
            return None;
        }
        let stamp = self.clock.stamp(Some(thread_state.lease()));
        let head = head | (flag::STAMPED as u64) << 8;
        if by_tag {
            // All of this is so for good.
            thread_state.sent.take(
                out.comm.epoch(),
                wire::source_tag(args.dst, args.tag),
                Sent { peer, head },
            );
        }
        Some(self.eager_on(&inside.held(peer.ctx), peer, &Eager::of(out, head, stamp), args))
    }

    /// Sends an eager message in any case with several threads: on the FIFO that its assignment names, whether one or
    /// several FIFOs to the peer are in use by now (`order/switch.rs`). The caller has checked that the message may be
    /// eager. Returns the status and a sequence number. NO_RESOURCE: the message did not go and needs a request, which
    /// takes over the number if that is not 0. With any other status the number means nothing.
    #[inline(never)]
    fn eager_of_any(&self, args: &SendArgs) -> (Status, u64) {
        let out = match self.outgoing(args, true) {
            Ok(out) => out,
            Err(status) => return (status, 0),
        };
        let out = &out;
        let head = out.route.head.load(Ordering::Relaxed);
        // Without one it would never own a lock.
        self.thread_state_for(args.thread);
        let about = Sending { tag: args.tag, thread: args.thread, number: 0 };
        let (held, peer, order) = match self.enter_flow(out.comm, out.route, out.peer, about) {
            Ok(entered) => entered,
            Err(status) => return (status, 0),
        };
        if order == 0 {
            return (self.eager_on(&held, peer, &Eager::of(out, head, 0), args), 0);
        }
        let number = Ob1::number_of(peer, order);
        if peer.base.switch.needs_open(peer.ctx) || out.route.fork.needs_open(peer.ctx) {
            return (Status::NO_RESOURCE, number);
        }
        let (flag, key) = Ob1::order_words(peer, order);
        let message = Eager::of(out, head | (flag as u64) << 8, key);
        (self.eager_on(&held, peer, &message, args), number)
    }

    /// Sends an eager message on a FIFO by one call of the transport. Under the lock of its CRI. NO_RESOURCE: other
    /// messages wait, or credit or room is missing; nothing happened.
    #[inline(always)]
    pub fn eager_on(&self, held: &Held<'_>, peer: &Peer, message: &Eager, args: &SendArgs) -> Status {
        let Eager { source, total, head, order } = *message;
        if peer.queued.get() != 0 || !peer.take_credit(held, total) {
            return Status::NO_RESOURCE;
        }
        let header = [head.to_le(), wire::source_tag(source, args.tag).to_le(), order.to_le()];
        let mut desc = SendDesc {
            tag: am_tag::PML as u32,
            hdr_len: wire::MATCH_BYTES as u32,
            hdr: header.as_ptr().cast(),
            payload: args.buf,
            len: total,
            pack: None,
            pack_ctx: null_mut(),
        };
        let mut packer;
        // SAFETY: alive for the call.
        let dtype = unsafe { &*args.dtype };
        if !dtype.is_contiguous() {
            match dtype.one_block(args.count) {
                Some((disp, _)) => desc.payload = args.buf.wrapping_offset(disp as isize),
                None => {
                    packer = Packer { dtype, count: args.count, base: args.buf, from: 0 };
                    desc.pack = Some(pack_part);
                    desc.pack_ctx = (&raw mut packer).cast();
                }
            }
        }
        let status = peer.transmit(held, &desc);
        if !status.is_ok() {
            peer.give_credit(held, total);
            if status != Status::NO_RESOURCE {
                self.peer_failed(held, peer, status);
                return Status::PEER_FAILED;
            }
        }
        status
    }

    /// Sends an eager message by the thread's note of its last send. `None`: the message goes to another rank or tag
    /// than noted, or is not eager, and nothing happened.
    #[inline(always)]
    pub fn eager_again(&self, args: &SendArgs) -> Option<Status> {
        let (thread_state, seat) = state_and_seat(args.thread)?;
        // SAFETY: the host passes a communicator and a type that are alive.
        let (comm, dtype): (&Comm, &TypeDesc) = unsafe { (Comm::of(args.comm), &*args.dtype) };
        let Sent { peer, head } = thread_state.sent.look(comm.epoch(), word_of(&args.dst, &args.tag))?;
        let total = dtype.packed.checked_mul(args.count)?;
        if total > peer.eager_payload || args.mode == mode::SYNCHRONOUS {
            return None;
        }
        let inside = Inside::enter(peer.cri(), seat)?;
        let order = self.clock.stamp(Some(thread_state.lease()));
        let message = Eager { source: comm.my_rank, total, head, order };
        Some(self.eager_on(&inside.held(peer.ctx), peer, &message, args))
    }
}
