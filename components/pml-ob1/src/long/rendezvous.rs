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

use crate::long::rdma::aligned;
use crate::long::registration::{are_handles, handle_size};
use crate::long::runs::{DataSource, Pieces};
use crate::long::transfer::{ack, fin};
use crate::long::transfers::Transfers;
use crate::peers::peer::{Peer, can_get_vector};
use crate::receive::incoming::Incoming;
use crate::requests::request::{Request, State};
use crate::state::hand::Hand;
use crate::wire::{self, Arrived, flag, kind};
use oxmpi_btl::RmaVectorDesc;
use oxmpi_mca::{CriGuard, RequestHeader, SliceRef, Status};

/// A message that takes longer to read than this many bytes is not read inside a call that starts a receive (see
/// [`Transfers::ask_for_rest`]).
const READ_LATER: u64 = 64 << 10;

impl Transfers {
    /// A matched message has more to it than what is here: an answer its sender waits for, or data. The receive goes on under the CRI that is held.
    ///
    /// `starting`: a call that starts a receive found the message waiting. A long read is left to the next turn of
    /// progress then: the caller may be about to start sends, for which a peer would wait until all of the read is done,
    /// and that peer's own reads would be done one after the other with ours instead of beside them. So is the question for
    /// fragments: the peer would send them all before it sees our send, and its answer would lie behind them.
    pub fn ask_for_rest(
        &self,
        held: &mut CriGuard<'_>,
        req: &'static Request,
        inc: &Incoming<'_>,
        starting: bool,
    ) {
        let Ok(peer) = self.peers().flow(inc.proc, held.ctx(), held.entry()) else {
            self.instance().host().peer_error(
                inc.proc,
                true,
                "it sent a message and cannot be reached with an answer",
            );
            return self.peers().fail(held, req, Status::UNREACHABLE);
        };
        self.peers().consumed(inc, Hand::Held(held));
        if peer.is_failed(held) {
            return self.peers().fail(held, req, Status::PEER_FAILED);
        }
        let wanted = inc.msg_len.min(req.total());
        let readable = matches!(inc.kind, kind::RGET | kind::RUNS);
        // Of a message that is still coming nothing is stored here (`streamed.rs`), though it counts.
        let (here, data) = if readable { (0, &[][..]) } else { (inc.len, inc.payload) };
        peer.note_in(req);
        req.begin_answer(inc.proc, inc.src_req, wanted, here);
        if readable && wanted > 0 && peer.flow(held).is_readable() {
            peer.choice().note_arrival();
            if inc.kind == kind::RUNS || req.dtype().is_some() {
                return self.pull_pieces(held, peer, req, inc);
            }
            if self.prepare_pull(peer, req, inc) {
                return match starting && wanted > READ_LATER {
                    true => self.queue_transfer(held, peer, req),
                    false => self.advance_transfer(held, peer, req),
                };
            }
        }
        if inc.kind == kind::RPUT && wanted > 0 && self.prepare_exposure(peer, req) {
            return self.advance_transfer(held, peer, req);
        }
        if readable && wanted == 0 {
            self.peers().control(held, peer, fin(inc.src_req));
        } else if here >= wanted {
            // The sender counts what it has sent, so it is told that all of that was wanted.
            self.peers().control(held, peer, ack(0, inc.src_req, 0, here, here));
        } else if starting {
            // SAFETY: `here` is less than `wanted`, which is at most the buffer's size.
            unsafe { req.store(&self.instance().config().copies, 0, data) };
            req.ask_later(here);
            return self.queue_transfer(held, peer, req);
        } else {
            // Before the first part is stored, so that the sender writes the next one meanwhile. A peer that fails, fails its
            // requests.
            self.ask_for_copies(held, peer, req, here);
            if !data.is_empty() && !peer.is_failed(held) {
                // SAFETY: `here` is less than `wanted`, which is at most the buffer's size; the request is not over, since the
                // rest of its message comes under the lock that we hold.
                unsafe { req.store(&self.instance().config().copies, 0, data) };
            }
            return;
        }
        self.requests().complete(req.claim(held), held.entry());
    }

    /// Reads a message out of the sender's memory by vector gets, all within this call, where one side's data lies in pieces,
    /// and completes the receive. If vector gets are not there, not permitted for this size, or refused by the system, or
    /// if our pieces are too short on average, the sender is asked to send what is missing as fragments. Another error ends
    /// the receive and closes the peer.
    fn pull_pieces(&self, held: &mut CriGuard<'_>, peer: &Peer, req: &'static Request, inc: &Incoming<'_>) {
        let limits = &self.instance().config().pieces;
        if !limits.permit(inc.msg_len) || !can_get_vector(peer.btl()) {
            return self.ask_for_copies(held, peer, req, 0);
        }
        let source = match inc.kind {
            kind::RGET => DataSource::One(inc.address().map_or(0, |(addr, _)| addr)),
            // The list was checked when it came.
            _ => DataSource::Runs(inc.payload),
        };
        let (mut local, mut remote) = (Pieces::new(), Pieces::new());
        let (buf, wanted) = (req.buf() as u64, req.wanted());
        let mut done = 0;
        while done < wanted {
            local.fill_local(req.dtype(), req.count(), buf, done, wanted - done);
            remote.fill_remote(source, done, wanted - done);
            let len = local.bytes.min(remote.bytes);
            if len == 0 || !local.are_long(limits.local) {
                return self.ask_for_copies(held, peer, req, done);
            }
            let of = |pieces: &Pieces| SliceRef { ptr: pieces.list().as_ptr(), len: pieces.list().len() };
            let rma = RmaVectorDesc { local: of(&local), remote: of(&remote), len };
            // SAFETY: endpoints stay as long as peers; the lists are read in the call, and our memory is the receive's.
            match unsafe { peer.btl().get_vector(held, peer.endpoint(), &rma) } {
                Status::OK => done += len,
                Status::NO_PERMISSION | Status::NOT_SUPPORTED => {
                    self.remember_refusal(held, peer);
                    return self.ask_for_copies(held, peer, req, done);
                }
                error => {
                    self.give_up(held, peer, req, error);
                    return;
                }
            }
        }
        req.reach(done);
        self.end_pull(held, peer, req, inc.src_req);
    }

    /// Handles ACK: completes the send, or starts its fragments from the offset that the receiver names. `None`: the
    /// header is cut off.
    pub fn on_ack(&self, held: &mut CriGuard<'_>, arrived: &Arrived<'_>) -> Option<()> {
        let Arrived { head, rest: mut r, proc, .. } = *arrived;
        let (src_req, dst_req, offset, wanted) = (r.word()?, r.word()?, r.word()?, r.word()?);
        let Some(req) = self.peers().quoted(held, src_req, proc, RequestHeader::SEND) else {
            return Some(());
        };
        let fits = match req.state() {
            State::WaitAck => offset == req.done(),
            State::WaitPut => offset == 0,
            State::WaitFin => true,
            _ => false,
        };
        if !fits || offset > wanted || wanted > req.total() || (offset < wanted && dst_req == 0) {
            self.peers().bad_header(held, proc, "an acknowledgement that does not fit its message");
            return Some(());
        }
        let Ok(peer) = self.peers().flow(proc, held.ctx(), held.entry()) else { return Some(()) };
        if wire::flags_of(head) & flag::REFUSED != 0 {
            peer.flow(held).refuse_reading();
        }
        self.requests().drop_id(held, req);
        self.requests().release_memory(req);
        if offset == wanted {
            self.requests().complete(req.claim(held), held.entry());
        } else {
            req.stream(offset, wanted, dst_req);
            self.advance_transfer(held, peer, req);
        }
        Some(())
    }

    /// Handles FIN: the other side has got or put all of a message's data, so the request completes. `None`: the header
    /// is cut off.
    pub fn on_fin(&self, held: &mut CriGuard<'_>, arrived: &Arrived<'_>) -> Option<()> {
        let Arrived { head, rest: mut r, proc, .. } = *arrived;
        let id = r.word()?;
        let Some(req) = self.peers().quoted_by(held, id, proc) else { return Some(()) };
        if wire::flags_of(head) & flag::REVOKED != 0 {
            self.on_fin_revoked(held, req);
            return Some(());
        }
        match req.state() {
            State::WaitFin => {
                self.requests().drop_id(held, req);
                self.requests().leave_memory(req);
                self.requests().complete(req.claim(held), held.entry());
            }
            State::Exposed => self.end_exposure(held, req),
            _ => self.peers().bad_header(held, proc, "the end of a message that was offered for nothing"),
        }
        Some(())
    }

    /// Handles FRAG: stores a fragment in its receive's buffer, and completes the receive with the last one. `None`:
    /// the header is cut off.
    pub fn on_fragment(&self, held: &mut CriGuard<'_>, arrived: &Arrived<'_>) -> Option<()> {
        let Arrived { rest: mut r, proc, .. } = *arrived;
        let (id, offset) = (r.word()?, r.word()?);
        let data = r.rest();
        self.take_fragment(held, id, proc, (offset, data.len() as u64), |req| {
            // SAFETY: `offset` and the length are at most `wanted` together, which is at most the buffer's size.
            unsafe { req.store(&self.instance().config().copies, offset, data) };
        });
        Some(())
    }

    /// Takes a fragment of `len` bytes at `offset` for the receive with that id: checks it, has `store` see to its bytes, and counts it.
    pub fn take_fragment(
        &self,
        held: &mut CriGuard<'_>,
        id: u64,
        proc: u32,
        (offset, len): (u64, u64),
        store: impl FnOnce(&Request),
    ) {
        let Some(req) = self.peers().quoted(held, id, proc, RequestHeader::RECV) else { return };
        if self.is_coming(held, proc) {
            // It may end the request whose buffer the other still goes to.
            self.peers().bad_header(
                held,
                proc,
                "a fragment before the message in front of it has come to its end",
            );
            return;
        }
        if req.state() == State::Exposed && !self.takes_memory_back(held, req) {
            return;
        }
        let due = self.is_due(held, req, proc, (offset, len));
        if !due && !self.takes_ahead(held, req, proc, (offset, len)) {
            self.peers().bad_header(held, proc, "a fragment that does not fit its message");
            return;
        }
        store(req);
        if due {
            self.fragment_stored(held, req, len);
        }
    }

    /// Whether a fragment is the next one of its receive, and nothing of it came ahead.
    pub fn is_due(
        &self,
        held: &mut CriGuard<'_>,
        req: &Request,
        proc: u32,
        (offset, len): (u64, u64),
    ) -> bool {
        self.awaits_fragment(req, proc, offset, len)
            && self.instance().own(held).ahead().is_free(req.id(), offset, len)
    }

    /// Notes a fragment of another rail that came before fragments which are missing still. `false`: it does not belong
    /// to its receive.
    fn takes_ahead(
        &self,
        held: &mut CriGuard<'_>,
        req: &Request,
        proc: u32,
        (offset, len): (u64, u64),
    ) -> bool {
        self.fits_ahead(held, req, proc, (offset, len))
            && self.instance().own(held).ahead().add(req.id(), offset, len)
    }

    /// Whether a fragment may belong to its receive though others in front of it are missing.
    pub fn fits_ahead(
        &self,
        held: &mut CriGuard<'_>,
        req: &Request,
        proc: u32,
        (offset, len): (u64, u64),
    ) -> bool {
        let waits = self.awaits_fragment(req, proc, req.done(), len)
            || req.state() == State::Claimed && req.proc() == proc && len > 0;
        let fits = waits && offset > req.done() && offset < req.wanted() && len <= req.wanted() - offset;
        // Over one transport they come in order.
        fits && self.peers().peer(proc, held.entry()).is_ok_and(|peer| peer.has_stripes())
    }

    /// Counts the next `len` bytes of a receive as stored, with fragments behind them that came ahead; completes the
    /// receive if these were the last.
    pub fn fragment_stored(&self, held: &mut CriGuard<'_>, req: &'static Request, len: u64) {
        let mut done = req.done() + len;
        let ahead = self.instance().own(held).ahead();
        if !ahead.is_empty() {
            done = ahead.pass(req.id(), done);
        }
        req.reach(done);
        if done == req.wanted() {
            self.requests().drop_id(held, req);
            self.requests().complete(req.claim(held), held.entry());
            // A message that comes behind is copied twice unless its receive is posted first.
            self.instance().cri(held.ctx()).ask_to_stop();
        }
    }

    /// Fails a request with PEER_FAILED on a FIN with the flag REVOKED: the other side ended the rendezvous when the
    /// communicator was revoked there. If the request is in a state that the other side cannot end, or its message is still
    /// being received, the FIN breaks the protocol, and the peer is closed instead.
    pub fn on_fin_revoked(&self, held: &mut CriGuard<'_>, req: &'static Request) {
        match req.state() {
            State::WaitAck | State::WaitFin | State::WaitPut | State::Exposed | State::Receiving => {
                if self.is_coming(held, req.proc()) {
                    self.peers().bad_header(held, req.proc(), "the end of a message that is still coming");
                } else {
                    self.requests().drop_id(held, req);
                    self.peers().fail(held, req, Status::PEER_FAILED);
                }
            }
            _ => self.peers().bad_header(held, req.proc(), "the end of a message that was not announced"),
        }
    }

    /// Handles PUT: the receiver says where the data of a send goes. Starts the puts, or sends fragments where put is
    /// not possible. `None`: the header is cut off.
    pub fn on_put(&self, held: &mut CriGuard<'_>, arrived: &Arrived<'_>) -> Option<()> {
        let Arrived { rest: mut r, proc, .. } = *arrived;
        let (src_req, dst_req, wanted, remote) = (r.word()?, r.word()?, r.word()?, r.word()?);
        let Some(req) = self.peers().quoted(held, src_req, proc, RequestHeader::SEND) else {
            self.answer_put_of_revoked(held, src_req, dst_req, proc);
            return Some(());
        };
        let Ok(peer) = self.peers().flow(proc, held.ctx(), held.entry()) else { return Some(()) };
        let wrong = if req.state() != State::WaitPut {
            Some("memory for a message that was not offered for writing")
        } else if wanted == 0 || wanted > req.total() || dst_req == 0 {
            Some("memory that does not fit its message")
        } else if remote.checked_add(wanted).is_none() {
            Some("an address range that wraps")
        } else if !are_handles(peer, r.rest().len()) {
            Some("registration handles of another length than the transport's")
        } else {
            None
        };
        if let Some(wrong) = wrong {
            self.peers().bad_header(held, proc, wrong);
            return Some(());
        }
        self.requests().drop_id(held, req);
        req.be_offered(wanted, dst_req, remote);
        let fits = aligned(peer.btl().attrs().put_alignment, &[remote, wanted, req.buf() as u64]);
        if fits && peer.flow(held).is_writable() && self.register_memory(peer, req, wanted, 0).is_ok() {
            req.keep_remote_handles(handle_size(peer), r.rest());
            req.begin_pieces(State::Pushing);
        } else {
            // The first fragment tells the receiver.
            req.stream_from(0);
        }
        self.advance_transfer(held, peer, req);
        Some(())
    }

    /// Whether bytes `[at, at + len)` are the next fragment that a receive expects from this process.
    pub fn awaits_fragment(&self, req: &Request, proc: u32, at: u64, len: u64) -> bool {
        req.proc() == proc
            && req.kind() == RequestHeader::RECV
            && req.state() == State::Receiving
            && at == req.done()
            && len > 0
            && len <= req.wanted() - at
    }

    /// Whether a message from that process has come only in part on this CRI.
    pub fn is_coming(&self, held: &mut CriGuard<'_>, proc: u32) -> bool {
        self.peers()
            .flow(proc, held.ctx(), held.entry())
            .is_ok_and(|peer| peer.flow(held).streamed().is_some())
    }
}
