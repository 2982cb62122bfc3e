//! Long messages: what follows their match, acknowledgement, and fragments.
//!
//! ```text
//! sender                     receiver
//! RNDV  first part    ─────►  matched: ACK(offset, wanted)
//! FRAG FRAG FRAG      ◄─────                                each behind the other, as room allows
//!                     ─────►  complete with the last one
//!
//! RUNS  addresses     ─────►  matched: reads what lies in pieces (`runs.rs`), then FIN
//! complete            ◄─────  or, if reading is refused: ACK(what was read, wanted), and FRAGs
//! ```
//!
//! `rdma.rs` has the ways by the transport's get and put (RGET, RPUT).
//!
//! The receiver asks for no more than its buffer takes (`wanted`), so a truncated message costs what
//! was received. A refusal (seccomp, Yama, another user) is remembered on both sides and told to the
//! operator once; the messages go on by copies.
//!
//! All of it happens under the CRI lock. Once a header that may end a request has been handed to
//! `control`, the request is not touched again.

use crate::protocol::runs::{DataSource, Pieces};
use crate::receive::shard::Incoming;
use crate::state::guarded::Held;
use crate::state::instance::Ob1;
use crate::state::objects::{Peer, Request, State};
use crate::state::peer::can_get_vector;
use crate::wire::{self, Header, Reader, flag, kind};
use oxmpi_btl::RmaVectorDesc;
use oxmpi_mca::host::receive::STOP;
use oxmpi_mca::{RequestHeader, SliceRef, Status};

/// Fragments of one message sent in a row before others get their turn.
const FRAGMENTS_PER_TURN: u32 = 32;

/// A message that takes longer to read than this many bytes is not read inside a call that starts a receive (see
/// [`Ob1::ask_for_rest`]).
const READ_LATER: u64 = 64 << 10;

/// How a long operation stands after a turn.
#[derive(PartialEq, Eq)]
pub enum TransferProgress {
    /// Nothing more to do here: finished, failed, or somebody else's move.
    Over,
    /// More to do.
    Unfinished,
    /// More to do, and no room in the transport.
    NoRoom,
}

/// An ACK header: the sender is to send bytes `[offset, wanted)` as fragments to `dst_req`; nothing more is wanted if
/// the two are equal.
fn ack(flags: u8, src_req: u64, dst_req: u64, offset: u64, wanted: u64) -> Header {
    Header::new(&[wire::head(kind::ACK, flags, 0, 0), src_req, dst_req, offset, wanted])
}
/// A FIN header: all data of the get or put that the request `req` waits for has arrived.
pub fn fin(req: u64) -> Header {
    Header::new(&[wire::head(kind::FIN, 0, 0, 0), req])
}

impl Ob1 {
    /// A matched message has more to it than what is here: an answer its sender waits for, or data.
    ///
    /// `starting`: a call that starts a receive found the message waiting. A long read is left to the next turn of
    /// progress then: the caller may be about to start sends, for which a peer would wait until all of the read is done,
    /// and that peer's own reads would be done one after the other with ours instead of beside them. So is the question for
    /// fragments: the peer would send them all before it sees our send, and its answer would lie behind them.
    pub fn ask_for_rest(&self, held: &Held<'_>, req: &'static Request, inc: &Incoming, starting: bool) {
        let Ok(peer) = self.flow(inc.proc, held.ctx, held.threaded) else {
            self.host.peer_error(inc.proc, true, "it sent a message and cannot be reached with an answer");
            return self.fail(held, req, Status::UNREACHABLE);
        };
        self.consumed(inc, Some(held), held.threaded);
        if peer.failed.get() {
            return self.fail(held, req, Status::PEER_FAILED);
        }
        let wanted = inc.msg_len.min(req.total.get());
        req.proc.set(inc.proc);
        req.peer.set(peer);
        req.remote_id.set(inc.src_req);
        req.wanted.set(wanted);
        let readable = matches!(inc.kind, kind::RGET | kind::RUNS);
        let here = if readable { 0 } else { inc.len };
        req.done.set(here);
        if readable && wanted > 0 && !peer.no_get.get() {
            peer.choice.note_arrival();
            if inc.kind == kind::RUNS || req.dtype().is_some() {
                return self.pull_pieces(held, peer, req, inc);
            }
            if self.begin_pull(held, peer, req, inc, starting && wanted > READ_LATER) {
                return;
            }
        }
        if inc.kind == kind::RPUT && wanted > 0 && self.begin_exposure(held, peer, req) {
            return;
        }
        if readable && wanted == 0 {
            peer.control(held, self, fin(inc.src_req));
        } else if here >= wanted {
            // The sender counts what it has sent, so it is told that all of that was wanted.
            peer.control(held, self, ack(0, inc.src_req, 0, here, here));
        } else if starting {
            // SAFETY: as below.
            unsafe { req.store(&self.config.copies, 0, inc.payload, here) };
            req.done.set(here);
            req.state.set(State::Asking);
            return self.queue_transfer(held, peer, req);
        } else {
            // Before the first part is stored, so that the sender writes the next one meanwhile. A peer that fails, fails its
            // requests. (Of a message that is still coming nothing is stored here, `streamed.rs`.)
            self.ask_for_copies(held, peer, req, here);
            if here > 0 && !peer.failed.get() && !inc.payload.is_null() {
                // SAFETY: `here` is less than `wanted`, which is at most the buffer's size; the request is not over, since the
                // rest of its message comes under the lock that we hold.
                unsafe { req.store(&self.config.copies, 0, inc.payload, here) };
            }
            return;
        }
        self.complete(req, held.threaded);
    }

    /// Reads a message out of the sender's memory by vector gets, all within this call, where one side's data lies in pieces,
    /// and completes the receive. If vector gets are not there, not permitted for this size, or refused by the system, or
    /// if our pieces are too short on average, the sender is asked to send what is missing as fragments. Another error ends
    /// the receive and closes the peer.
    fn pull_pieces(&self, held: &Held<'_>, peer: &Peer, req: &'static Request, inc: &Incoming) {
        let limits = &self.config.pieces;
        if !limits.permit(inc.msg_len) || !can_get_vector(peer.btl) {
            return self.ask_for_copies(held, peer, req, 0);
        }
        let source = match inc.kind {
            kind::RGET => DataSource::One(inc.address().map_or(0, |(addr, _)| addr)),
            // SAFETY: the list was checked when it came, and is here until the message has been dealt with.
            _ => DataSource::Runs(unsafe { core::slice::from_raw_parts(inc.payload, inc.len as usize) }),
        };
        let (mut local, mut remote) = (Pieces::new(), Pieces::new());
        let (buf, wanted) = (req.buf.get() as u64, req.wanted.get());
        let mut done = 0;
        while done < wanted {
            local.fill_local(req.dtype(), req.count.get(), buf, done, wanted - done);
            remote.fill_remote(source, done, wanted - done);
            let len = local.bytes.min(remote.bytes);
            if len == 0 || !local.are_long(limits.local) {
                return self.ask_for_copies(held, peer, req, done);
            }
            let of = |pieces: &Pieces| SliceRef { ptr: pieces.list().as_ptr(), len: pieces.list().len() };
            let rma = RmaVectorDesc { local: of(&local), remote: of(&remote), len };
            match (peer.btl.get_vector)(peer.btl.state, peer.endpoint, peer.ctx, &rma) {
                Status::OK => done += len,
                Status::NO_PERMISSION | Status::NOT_SUPPORTED => {
                    self.remember_refusal(peer);
                    return self.ask_for_copies(held, peer, req, done);
                }
                error => {
                    self.give_up(held, peer, req, error);
                    return;
                }
            }
        }
        req.done.set(done);
        self.end_pull(held, peer, req, inc.src_req);
    }

    /// Asks the sender to send bytes from `offset` as fragments.
    pub fn ask_for_copies(&self, held: &Held<'_>, peer: &Peer, req: &'static Request, offset: u64) {
        req.done.set(offset);
        req.state.set(State::Receiving);
        req.id.set(0);
        let id = self.id_of(held, req);
        let flags = if peer.no_get.get() { flag::REFUSED } else { 0 };
        peer.control(held, self, ack(flags, req.remote_id.get(), id, offset, req.wanted.get()));
    }

    /// The request of this `kind` whose id a peer quotes. `None`: there is none, and the peer is closed unless the
    /// request was retired.
    pub fn quoted(&self, held: &Held<'_>, id: u64, proc: u32, kind: u32) -> Option<&'static Request> {
        let req = self.quoted_by(held, id, proc)?;
        if req.kind() != kind {
            self.bad_header(held, proc, "a request id that was given for something else");
            return None;
        }
        Some(req)
    }

    /// The request, send or receive, whose id a process quotes. `None`: it has none with that process; the peer is
    /// closed unless the id was retired.
    fn quoted_by(&self, held: &Held<'_>, id: u64, proc: u32) -> Option<&'static Request> {
        let ids = &self.cri(held.ctx).ids;
        let req = ids.with(held, |t| t.get(id)).filter(|r| r.proc.get() == proc);
        if req.is_none() && !self.is_of_revoked(held, id) {
            self.bad_header(held, proc, "a request id that it was not given");
        }
        req
    }

    /// Handles ACK: completes the send, or starts its fragments from the offset that the receiver names. `None`: the
    /// header is cut off.
    pub fn on_ack(&self, held: &Held<'_>, head: u64, mut r: Reader<'_>, proc: u32) -> Option<()> {
        let (src_req, dst_req, offset, wanted) = (r.word()?, r.word()?, r.word()?, r.word()?);
        let Some(req) = self.quoted(held, src_req, proc, RequestHeader::SEND) else { return Some(()) };
        let fits = match req.state.get() {
            State::WaitAck => offset == req.done.get(),
            State::WaitPut => offset == 0,
            State::WaitFin => true,
            _ => false,
        };
        if !fits || offset > wanted || wanted > req.total.get() || (offset < wanted && dst_req == 0) {
            self.bad_header(held, proc, "an acknowledgement that does not fit its message");
            return Some(());
        }
        let Ok(peer) = self.flow(proc, held.ctx, held.threaded) else { return Some(()) };
        if wire::flags_of(head) & flag::REFUSED != 0 {
            peer.no_rget.set(true);
        }
        self.drop_id(held, req);
        self.release_memory(req);
        if offset == wanted {
            self.complete(req, held.threaded);
        } else {
            req.done.set(offset);
            req.wanted.set(wanted);
            req.remote_id.set(dst_req);
            req.state.set(State::Streaming);
            self.advance_transfer(held, peer, req);
        }
        Some(())
    }

    /// Handles FIN: the other side has got or put all of a message's data, so the request completes. `None`: the header
    /// is cut off.
    pub fn on_fin(&self, held: &Held<'_>, head: u64, mut r: Reader<'_>, proc: u32) -> Option<()> {
        let id = r.word()?;
        let Some(req) = self.quoted_by(held, id, proc) else { return Some(()) };
        if wire::flags_of(head) & flag::REVOKED != 0 {
            self.on_fin_revoked(held, req);
            return Some(());
        }
        match req.state.get() {
            State::WaitFin => {
                self.drop_id(held, req);
                self.leave_memory(req);
                self.complete(req, held.threaded);
            }
            State::Exposed => self.end_exposure(held, req),
            _ => self.bad_header(held, proc, "the end of a message that was offered for nothing"),
        }
        Some(())
    }

    /// Handles FRAG: stores a fragment in its receive's buffer, and completes the receive with the last one. `None`:
    /// the header is cut off.
    pub fn on_fragment(&self, held: &Held<'_>, mut r: Reader<'_>, proc: u32) -> Option<()> {
        let (id, offset) = (r.word()?, r.word()?);
        let Some(req) = self.quoted(held, id, proc, RequestHeader::RECV) else { return Some(()) };
        if self.is_coming(held, proc) {
            // It may end the request whose buffer the other still goes to.
            self.bad_header(held, proc, "a fragment before the message in front of it has come to its end");
            return Some(());
        }
        if req.state.get() == State::Exposed && !self.takes_memory_back(held, req) {
            return Some(());
        }
        let data = r.rest();
        let len = data.len() as u64;
        let due = self.awaits_fragment(req, proc, offset, len)
            && self.cri(held.ctx).ahead.with(held, |ahead| ahead.is_free(req.id.get(), offset, len));
        if !due && !self.takes_ahead(held, req, proc, (offset, len)) {
            self.bad_header(held, proc, "a fragment that does not fit its message");
            return Some(());
        }
        // SAFETY: `offset + len` is at most `wanted`, which is at most the buffer's size.
        unsafe { req.store(&self.config.copies, offset, data.as_ptr(), len) };
        if due {
            self.fragment_stored(held, req, len);
        }
        Some(())
    }

    /// Notes a fragment of another rail that came before fragments which are missing still. `false`: it does not belong
    /// to its receive.
    fn takes_ahead(&self, held: &Held<'_>, req: &Request, proc: u32, (offset, len): (u64, u64)) -> bool {
        let fits = self.awaits_fragment(req, proc, req.done.get(), len)
            && offset > req.done.get()
            && offset < req.wanted.get()
            && len <= req.wanted.get() - offset;
        // Over one transport they come in order.
        let several = || self.peer(proc, held.threaded).is_ok_and(|peer| peer.has_stripes());
        fits && several() && self.cri(held.ctx).ahead.with(held, |ahead| ahead.add(req.id.get(), offset, len))
    }

    /// Counts the next `len` bytes of a receive as stored, with fragments behind them that came ahead; completes the
    /// receive if these were the last.
    pub fn fragment_stored(&self, held: &Held<'_>, req: &'static Request, len: u64) {
        let done = req.done.get() + len;
        let done = self
            .cri(held.ctx)
            .ahead
            .with(held, |ahead| if ahead.is_empty() { done } else { ahead.pass(req.id.get(), done) });
        req.done.set(done);
        if done == req.wanted.get() {
            self.drop_id(held, req);
            self.complete(req, held.threaded);
            // A message that comes behind is copied twice unless its receive is posted first.
            self.cri(held.ctx).stop.set(STOP);
        }
    }

    /// Takes one step of a long operation, and puts it on its peer's list of streams if it is not over.
    pub fn advance_transfer(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) {
        if self.turn(held, peer, req) != TransferProgress::Over {
            self.queue_transfer(held, peer, req);
        }
    }

    /// Puts a long operation on its peer's list of streams, which progress continues.
    pub fn queue_transfer(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) {
        req.listed.set(true);
        peer.streams.with(held, |q| q.push_back(req));
        self.remember(held, peer);
    }

    /// Takes one step of each long operation on a peer's list of streams. `false`: the transport has no room.
    pub fn drain_streams(&self, held: &Held<'_>, peer: &Peer) -> bool {
        for _ in 0..peer.streams.with(held, |q| q.len()) {
            let Some(req) = peer.streams.with(held, |q| q.pop_front()) else { break };
            req.listed.set(false);
            let turn = self.turn(held, peer, req);
            if turn != TransferProgress::Over {
                // Behind the others: they get the next room.
                self.queue_transfer(held, peer, req);
            }
            if turn == TransferProgress::NoRoom {
                return false;
            }
        }
        true
    }

    /// Takes one step of a long operation, by the state of its request.
    fn turn(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) -> TransferProgress {
        match req.state.get() {
            State::Pulling | State::Pushing => self.move_pieces(held, peer, req),
            State::Flushing => self.flush_pieces(held, peer, req),
            State::Landing => self.conclude_if_down(held, peer, req),
            State::Offering => self.offer_memory(held, peer, req),
            State::Asking => {
                self.ask_for_copies(held, peer, req, req.done.get());
                TransferProgress::Over
            }
            _ => self.stream(held, peer, req),
        }
    }

    /// Sends the next fragments of a long message, at most [`FRAGMENTS_PER_TURN`].
    fn stream(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) -> TransferProgress {
        for _ in 0..FRAGMENTS_PER_TURN {
            let (done, wanted) = (req.done.get(), req.wanted.get());
            let n = (wanted - done).min(peer.fragment());
            let h = Header::new(&[wire::head(kind::FRAG, 0, 0, 0), req.remote_id.get(), done]);
            let status = match peer.rails.is_empty() {
                true => self.transmit_part(held, peer, req, &h, done, n),
                false => Self::with_part(req, &h, done, n, |desc| peer.rails.transmit(held.ctx, desc)),
            };
            match status {
                Status::OK => {}
                Status::NO_RESOURCE => return TransferProgress::NoRoom,
                error => return self.give_up(held, peer, req, error),
            }
            req.done.set(done + n);
            if done + n == wanted {
                self.complete(req, held.threaded);
                return TransferProgress::Over;
            }
        }
        TransferProgress::Unfinished
    }

    /// Fails a request after an error of the transport, and closes its peer.
    pub fn give_up(
        &self,
        held: &Held<'_>,
        peer: &Peer,
        req: &'static Request,
        error: Status,
    ) -> TransferProgress {
        self.fail(held, req, Status::PEER_FAILED);
        self.peer_failed(held, peer, error);
        TransferProgress::Over
    }

    /// Completes a receive that has read all of its message. FIN goes to the sender before the program here knows: what
    /// that says to the other program, by another thread's FIFO, is not to be there while FIN is not even on its way
    /// (MPI_Bsend counts on its buffer being free then).
    pub fn end_pull(&self, held: &Held<'_>, peer: &Peer, req: &'static Request, src_req: u64) {
        peer.control(held, self, fin(src_req));
        self.complete(req, held.threaded);
    }
}
