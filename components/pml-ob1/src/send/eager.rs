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
use crate::requests::completer::Completer;
use crate::requests::request::Request;
use crate::requests::thread_state::{Sent, state_and_seat, thread_state_of};
use crate::requests::work::Work;
use crate::send::destination::Destination;
use crate::send::sender::Sender;
use crate::state::fifos::FIFO;
use crate::state::note::word_of;
use crate::wire::{self, flag};
use core::ptr::null_mut;
use oxmpi_btl::SendDesc;
use oxmpi_mca::{CriGuard, Entry, OwnerGuard, Status};
use oxmpi_pml::{Outgoing as Args, mode};

/// The end of an attempt to send a message at once.
pub enum Eagerly {
    /// The transport has all of it.
    Sent,
    /// The transport has all of it, and sends it with the next turn of this CRI at the latest.
    Gathered { ctx: u32 },
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
    fn of(to: &Destination<'_>, head: u64, order: u64) -> Eager {
        Eager { source: to.comm.my_rank(), total: to.total, head, order }
    }
}

/// The way of a message on a FIFO of which the thread owns the CRI's lock, and is inside.
struct OwnWay<'a> {
    inside: OwnerGuard<'a>,
    peer: &'a Peer,
    message: Eager,
}

impl Sender {
    /// Sends a message for MPI_Send and what is like it. `None`: all of it went at once; else the request that
    /// the caller waits for.
    #[inline(always)]
    pub fn send_blocking(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        args: Args<'_>,
    ) -> Result<Option<&'static Request>, Status> {
        match self.eager(entry, comm, args) {
            Eagerly::Sent | Eagerly::Gathered { .. } => Ok(None),
            Eagerly::Needs { number } => self.send_blocking_slowly(&mut entry.lend(), comm, args, number),
            Eagerly::Failed(error) => Err(error),
        }
    }

    /// Sends a message for MPI_Isend and what is like it; returns its request, which is complete if all of it went at
    /// once.
    #[inline(always)]
    pub fn send_immediate(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        args: Args<'_>,
    ) -> Result<&'static Request, Status> {
        let completer = self.request_for(entry, args)?;
        match self.eager(entry, comm, args) {
            Eagerly::Sent => Ok(completer.complete_unseen()),
            Eagerly::Gathered { ctx } => Ok(self.complete_in_turn(&mut entry.lend(), ctx, completer)),
            Eagerly::Needs { number } => {
                self.send_immediate_slowly(&mut entry.lend(), comm, completer, args, number)
            }
            Eagerly::Failed(error) => {
                self.requests().give_up(completer, &entry.seen());
                Err(error)
            }
        }
    }

    /// Sends a message at once if it is short, not synchronous and needs no prefix. With several threads it goes by the
    /// thread's note of its last send, else as the owner of the FIFO's CRI, else by [`Sender::eager_of_any`].
    #[inline(always)]
    fn eager(&self, entry: &mut Entry, comm: &Comm, args: Args<'_>) -> Eagerly {
        let OwnWay { mut inside, peer, message } = 'way: {
            if entry.is_among()
                && let Some(way) = self.noted_way(entry, comm, args)
            {
                break 'way way;
            }
            let to = match self.destination(entry, comm, args) {
                Ok(to) => to,
                Err(error) => return Eagerly::Failed(error),
            };
            let head = to.route.head();
            let fits = to.total <= to.peer.eager_payload() && wire::flags_of(head) == 0;
            if !fits || args.mode == mode::SYNCHRONOUS {
                return Eagerly::NEEDS;
            }
            if !entry.is_among() {
                let message = Eager::of(&to, head, 0);
                return self.eager_on(&mut self.instance().hold(entry, FIFO), to.peer, &message, args);
            }
            if let Some(way) = self.own_way(entry, &to, args, head) {
                break 'way way;
            }
            return self.eager_of_any(&mut entry.lend(), to, head, args);
        };
        self.eager_on(&mut inside.held(), peer, &message, args)
    }

    /// Finds the way of a message by the thread's note of its last send. `None`: the message goes to another rank or
    /// tag than noted, or is not eager, and nothing happened.
    #[inline(always)]
    fn noted_way<'a>(&'a self, entry: &'a mut Entry, comm: &Comm, args: Args<'_>) -> Option<OwnWay<'a>> {
        let thread_state = thread_state_of(entry)?;
        let Sent { peer, head } = thread_state.sent().look(comm.epoch(), word_of(&args.dst, &args.tag))?;
        let total = args.packed()?;
        if total > peer.eager_payload() || args.mode == mode::SYNCHRONOUS {
            return None;
        }
        let inside = self.instance().host().enter_own(entry, peer.ctx())?;
        let order = self.order().stamp(Some(thread_state.lease()));
        Some(OwnWay { inside, peer, message: Eager { source: comm.my_rank(), total, head, order } })
    }

    /// Finds the way of a message in the usual case with several threads: the thread owns the lock of the CRI, and the
    /// message takes the first FIFO while that is the only one in use, else the FIFO of its tag or its communicator's
    /// home, which was used before, with a stamp. `head`: word 0 of the header. `None`: it is another case, and nothing
    /// happened.
    #[inline(always)]
    fn own_way<'a>(
        &'a self,
        entry: &'a mut Entry,
        to: &Destination<'a>,
        args: Args<'_>,
        head: u64,
    ) -> Option<OwnWay<'a>> {
        let ((thread_state, _), base) = (state_and_seat(entry)?, to.peer.base());
        let host = self.instance().host();
        if base.width() == 1 {
            let inside = host.enter_own(entry, FIFO)?;
            return Some(OwnWay { inside, peer: to.peer, message: Eager::of(to, head, 0) });
        }
        // SYNC POINT with `switch_all`.
        if !base.switch().is_passed() {
            // One thread sends, so far.
            if !self.order().is_only_sender(thread_state.index()) {
                return None;
            }
            let inside = host.enter_own(entry, FIFO)?;
            if !base.switch().may_go(false, FIFO) {
                return None;
            }
            return Some(OwnWay { inside, peer: to.peer, message: Eager::of(to, head, 0) });
        }
        if !to.comm.by_tag() || !base.has_stamps() {
            return None;
        }
        let fork = to.route.fork();
        let by_tag = fork.is_passed();
        // The library's own messages do not say who shares what.
        if !by_tag && args.tag >= 0 && !to.comm.users().is(thread_state.index()) {
            return None;
        }
        let shard = if by_tag { to.route.tag_shard(args.tag) } else { to.route.home_shard() };
        let peer = base.fifo_of_shard(shard)?;
        let inside = host.enter_own(entry, peer.ctx())?;
        if !base.switch().may_go(true, peer.ctx()) || !fork.may_go(by_tag, peer.ctx()) {
            return None;
        }
        let stamp = self.order().stamp(Some(thread_state.lease()));
        let head = head | (flag::STAMPED as u64) << 8;
        if by_tag {
            // All of this is so for good.
            thread_state.sent().take(
                to.comm.epoch(),
                wire::source_tag(args.dst, args.tag),
                Sent { peer, head },
            );
        }
        Some(OwnWay { inside, peer, message: Eager::of(to, head, stamp) })
    }

    /// Sends an eager message in any case with several threads: on the FIFO that its assignment names, whether one or
    /// several FIFOs to the peer are in use by now (`order/switch.rs`). `head`: word 0 of the header. The caller has
    /// checked that the message may be eager.
    #[inline(never)]
    fn eager_of_any(&self, entry: &mut Entry, to: Destination<'_>, head: u64, args: Args<'_>) -> Eagerly {
        // Without one it would never own a lock.
        self.requests().thread_state_for(entry);
        let about = Sending { tag: args.tag, number: 0 };
        let entered = self.order().enter_flow(entry, (to.comm, to.route, to.peer), about);
        let (mut held, peer, order) = match entered {
            Ok(entered) => entered,
            Err(error) => return Eagerly::Failed(error),
        };
        let number = if order == 0 { 0 } else { Order::number_of(peer, order) };
        if order != 0
            && (peer.base().switch().needs_open(peer.ctx()) || to.route.fork().needs_open(peer.ctx()))
        {
            return Eagerly::Needs { number };
        }
        let (flag, key) = Order::order_words(peer, order);
        let message = Eager::of(&to, head | (flag as u64) << 8, key);
        match self.eager_on(&mut held, peer, &message, args) {
            Eagerly::Needs { .. } => Eagerly::Needs { number },
            end => end,
        }
    }

    /// Sends an eager message on a FIFO by one call of the transport, under the lock of its CRI, unless other messages
    /// wait there, or credit or room is missing.
    #[inline(always)]
    fn eager_on(&self, held: &mut CriGuard<'_>, peer: &Peer, message: &Eager, args: Args<'_>) -> Eagerly {
        let Eager { source, total, head, order } = *message;
        let flow = peer.flow(held);
        if !flow.is_clear() || !flow.take_credit(total) {
            return Eagerly::NEEDS;
        }
        let header = [head.to_le(), wire::source_tag(source, args.tag).to_le(), order.to_le()];
        let mut desc = SendDesc {
            tag: peer.eager_tag(),
            hdr_len: wire::MATCH_BYTES as u32,
            hdr: header.as_ptr().cast(),
            payload: args.buf,
            len: total,
            pack: None,
            pack_ctx: null_mut(),
        };
        let mut packer;
        let dtype = args.dtype();
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
        // SAFETY: header and packer stay until the transport's call returns; the user's buffer and type are there for the verb.
        match unsafe { peer.link().transmit_parts(held, &desc) } {
            Status::OK => Eagerly::Sent,
            Status::PENDING => Eagerly::Gathered { ctx: held.ctx() },
            Status::NO_RESOURCE => {
                peer.flow(held).give_credit(total);
                Eagerly::NEEDS
            }
            error => {
                self.eager_failed(&mut held.lend(), peer, total, error);
                Eagerly::Failed(Status::PEER_FAILED)
            }
        }
    }

    /// Has the request of a gathered message completed by the next turn of its CRI, so that whoever waits for it makes that turn, which sends the message.
    #[cold]
    fn complete_in_turn(&self, entry: &mut Entry, ctx: u32, completer: Completer) -> &'static Request {
        let mut held = self.instance().hold(entry, ctx);
        completer.await_turn();
        let req = completer.park(ctx);
        self.instance().own(&mut held).gathered().push(req);
        self.instance().cri(ctx).work().mark(Work::GATHERED);
        req
    }

    /// Completes the requests of gathered messages behind a turn of the transports: how many.
    pub fn complete_gathered(&self, held: &mut CriGuard<'_>) -> i32 {
        self.instance().cri(held.ctx()).work().unmark(Work::GATHERED);
        let gathered = core::mem::take(self.instance().own(held).gathered());
        for req in &gathered {
            if let Some(completer) = req.claim_any(held) {
                self.requests().complete(completer, held.entry());
            }
        }
        gathered.len() as i32
    }

    /// Ends an eager message that the transport has failed to send for good.
    #[cold]
    fn eager_failed(&self, held: &mut CriGuard<'_>, peer: &Peer, total: u64, error: Status) {
        peer.flow(held).give_credit(total);
        self.peers().peer_failed(held, peer, error);
    }
}
