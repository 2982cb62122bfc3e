//! Messages that go at once: one call of the transport, with a header on the stack and the user's buffer.
//!
//! There is one body, [`Sender::eager`]: it finds the message's FIFO and takes that CRI's lock, by the thread's note of its last send
//! (`state/note.rs`), by who is alone, as the lock's owner, or in any case; and sends by [`Sender::eager_on`]. Its result says
//! whether the message is sent, needs a request, or failed ([`Eagerly`]).

use crate::communicators::comm::Comm;
use crate::long::parts::{Packer, pack_part};
use crate::order::flows::Order;
use crate::order::switch::Sending;
use crate::peers::peer::Peer;
use crate::requests::thread_state::{Sent, state_and_seat};
use crate::send::outgoing::Outgoing;
use crate::send::sender::Sender;
use crate::state::fifos::FIFO;
use crate::state::guarded::{Held, Inside};
use crate::state::note::word_of;
use crate::wire::{self, flag};
use core::ptr::null_mut;
use oxmpi_btl::SendDesc;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::host::am_tag;
use oxmpi_mca::{RequestHeader, Status};
use oxmpi_pml::{SendArgs, mode};

/// The end of an attempt to send a message at once.
pub enum Eagerly {
    /// The transport has all of it.
    Sent,
    /// Nothing went. The message needs a request, which takes over its number, if that is not 0.
    Needs { number: u64 },
    /// Nothing went, and nothing will.
    Failed(Status),
}

impl Eagerly {
    /// The message needs a request and has no number.
    const NEEDS: Eagerly = Eagerly::Needs { number: 0 };
}

/// The header of an eager message, and its length.
struct Eager {
    /// Our rank.
    source: i32,
    total: u64,
    head: u64,
    /// Its place in the order, or 0.
    order: u64,
}

impl Eager {
    /// The header words of an eager message: `head`, and its place in the order (0: none).
    #[inline(always)]
    fn of(out: &Outgoing<'_>, head: u64, order: u64) -> Eager {
        Eager { source: out.comm.my_rank(), total: out.total, head, order }
    }
}

/// The way of a message on a FIFO of which the thread owns the CRI's lock, and is inside.
struct OwnWay<'a> {
    inside: Inside<'a>,
    peer: &'a Peer,
    message: Eager,
}

impl Sender {
    /// Sends a message for MPI_Send and what is like it. Returns null if all of it went at once, else the request that
    /// the caller waits for.
    #[inline(always)]
    pub fn send_blocking(&self, args: &SendArgs, threaded: bool) -> Result<*mut RequestHeader, Status> {
        match self.eager(args, threaded) {
            Eagerly::Sent => Ok(null_mut()),
            Eagerly::Needs { number } => self.send_blocking_slowly(args, number, threaded),
            Eagerly::Failed(error) => Err(error),
        }
    }

    /// Sends a message for MPI_Isend and what is like it; returns its request, which is complete if all of it went at
    /// once.
    #[inline(always)]
    pub fn send_immediate(&self, args: &SendArgs, threaded: bool) -> Result<*mut RequestHeader, Status> {
        let req = self.requests().take_request(args.thread, threaded, RequestHeader::SEND, args.host_comm)?;
        match self.eager(args, threaded) {
            Eagerly::Sent => {
                req.complete_unseen();
                Ok(req.handle())
            }
            Eagerly::Needs { number } => self.send_immediate_slowly(req, args, number, threaded),
            Eagerly::Failed(error) => {
                self.requests().recycle(req, args.thread, threaded);
                Err(error)
            }
        }
    }

    /// Sends a message at once if it is short, not synchronous and needs no prefix. With several threads it goes by the
    /// thread's note of its last send, else as the owner of the FIFO's CRI, else by [`Sender::eager_of_any`].
    #[inline(always)]
    fn eager(&self, args: &SendArgs, threaded: bool) -> Eagerly {
        let noted = if threaded { self.noted_way(args) } else { None };
        let OwnWay { inside, peer, message } = match noted {
            Some(way) => way,
            None => {
                let out = match self.outgoing(args, threaded) {
                    Ok(out) => out,
                    Err(error) => return Eagerly::Failed(error),
                };
                let head = out.route.head();
                let fits = out.total <= out.peer.eager_payload() && wire::flags_of(head) == 0;
                if !fits || args.mode == mode::SYNCHRONOUS {
                    return Eagerly::NEEDS;
                }
                if !threaded {
                    let message = Eager::of(&out, head, 0);
                    return self.eager_on(&self.instance().hold(FIFO, None, false), out.peer, &message, args);
                }
                match self.own_way(&out, args, head) {
                    Some(way) => way,
                    None => return self.eager_of_any(out, head, args),
                }
            }
        };
        self.eager_on(&inside.held(peer.ctx()), peer, &message, args)
    }

    /// Finds the way of a message by the thread's note of its last send. `None`: the message goes to another rank or
    /// tag than noted, or is not eager, and nothing happened.
    #[inline(always)]
    fn noted_way(&self, args: &SendArgs) -> Option<OwnWay<'_>> {
        let (thread_state, seat) = state_and_seat(args.thread)?;
        // SAFETY: the host passes a communicator and a type that are alive.
        let (comm, dtype): (&Comm, &TypeDesc) = unsafe { (Comm::of(args.comm), &*args.dtype) };
        let Sent { peer, head } = thread_state.sent().look(comm.epoch(), word_of(&args.dst, &args.tag))?;
        let total = dtype.packed.checked_mul(args.count)?;
        if total > peer.eager_payload() || args.mode == mode::SYNCHRONOUS {
            return None;
        }
        let inside = Inside::enter(peer.cri(), seat)?;
        let order = self.order().stamp(Some(thread_state.lease()));
        Some(OwnWay { inside, peer, message: Eager { source: comm.my_rank(), total, head, order } })
    }

    /// Finds the way of a message in the usual case with several threads: the thread owns the lock of the CRI, and the
    /// message takes the first FIFO while that is the only one in use, else the FIFO of its tag or its communicator's
    /// home, which was used before, with a stamp. `head`: word 0 of the header. `None`: it is another case, and nothing
    /// happened.
    #[inline(always)]
    fn own_way<'a>(&'a self, out: &Outgoing<'a>, args: &SendArgs, head: u64) -> Option<OwnWay<'a>> {
        let ((thread_state, seat), base) = (state_and_seat(args.thread)?, out.peer.base());
        if base.width() == 1 {
            let inside = Inside::enter(out.peer.cri(), seat)?;
            return Some(OwnWay { inside, peer: out.peer, message: Eager::of(out, head, 0) });
        }
        // SYNC POINT with `switch_all`.
        if !base.switch().is_passed() {
            // One thread sends, so far.
            if !self.order().is_only_sender(thread_state.index()) {
                return None;
            }
            let inside = Inside::enter(out.peer.cri(), seat)?;
            if !base.switch().may_go(false, FIFO) {
                return None;
            }
            return Some(OwnWay { inside, peer: out.peer, message: Eager::of(out, head, 0) });
        }
        if !out.comm.by_tag() || !base.has_stamps() {
            return None;
        }
        let fork = out.route.fork();
        let by_tag = fork.is_passed();
        // The library's own messages do not say who shares what.
        if !by_tag && args.tag >= 0 && !out.comm.users().is(thread_state.index()) {
            return None;
        }
        let shard = if by_tag { out.route.tag_shard(args.tag) } else { out.route.home_shard() };
        let peer = base.fifo_of_shard(shard)?;
        let inside = Inside::enter(peer.cri(), seat)?;
        if !base.switch().may_go(true, peer.ctx()) || !fork.may_go(by_tag, peer.ctx()) {
            return None;
        }
        let stamp = self.order().stamp(Some(thread_state.lease()));
        let head = head | (flag::STAMPED as u64) << 8;
        if by_tag {
            // All of this is so for good.
            thread_state.sent().take(
                out.comm.epoch(),
                wire::source_tag(args.dst, args.tag),
                Sent { peer, head },
            );
        }
        Some(OwnWay { inside, peer, message: Eager::of(out, head, stamp) })
    }

    /// Sends an eager message in any case with several threads: on the FIFO that its assignment names, whether one or
    /// several FIFOs to the peer are in use by now (`order/switch.rs`). `head`: word 0 of the header. The caller has
    /// checked that the message may be eager.
    #[inline(never)]
    fn eager_of_any(&self, out: Outgoing<'_>, head: u64, args: &SendArgs) -> Eagerly {
        // Without one it would never own a lock.
        self.requests().thread_state_for(args.thread);
        let about = Sending { tag: args.tag, thread: args.thread, number: 0 };
        let (held, peer, order) = match self.order().enter_flow(out.comm, out.route, out.peer, about) {
            Ok(entered) => entered,
            Err(error) => return Eagerly::Failed(error),
        };
        let number = if order == 0 { 0 } else { Order::number_of(peer, order) };
        if order != 0
            && (peer.base().switch().needs_open(peer.ctx()) || out.route.fork().needs_open(peer.ctx()))
        {
            return Eagerly::Needs { number };
        }
        let (flag, key) = Order::order_words(peer, order);
        let message = Eager::of(&out, head | (flag as u64) << 8, key);
        match self.eager_on(&held, peer, &message, args) {
            Eagerly::Needs { .. } => Eagerly::Needs { number },
            end => end,
        }
    }

    /// Sends an eager message on a FIFO by one call of the transport, under the lock of its CRI, unless other messages
    /// wait there, or credit or room is missing.
    #[inline(always)]
    fn eager_on(&self, held: &Held<'_>, peer: &Peer, message: &Eager, args: &SendArgs) -> Eagerly {
        let Eager { source, total, head, order } = *message;
        if !peer.is_clear() || !peer.take_credit(held, total) {
            return Eagerly::NEEDS;
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
        match peer.transmit(held, &desc) {
            Status::OK => return Eagerly::Sent,
            Status::NO_RESOURCE => {}
            error => {
                peer.give_credit(held, total);
                self.peers().peer_failed(held, peer, error);
                return Eagerly::Failed(Status::PEER_FAILED);
            }
        }
        peer.give_credit(held, total);
        Eagerly::NEEDS
    }
}
