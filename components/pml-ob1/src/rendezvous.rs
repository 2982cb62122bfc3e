//! Long messages: acknowledgement, fragments, and reading the sender's memory.
//!
//! ```text
//! sender                     receiver
//! RNDV  first part    ─────►  matched: ACK(offset, wanted)
//! FRAG FRAG FRAG      ◄─────                                each behind the other, as room allows
//!                     ─────►  complete with the last one
//!
//! RGET  address       ─────►  matched: reads in pieces, then FIN
//! complete            ◄─────  or, if reading is refused: ACK(what was read, wanted), and FRAGs
//!
//! RUNS  addresses     ─────►  the same for data in pieces (`runs.rs`)
//! ```
//!
//! The receiver asks for no more than its buffer takes (`wanted`), so a truncated message costs what
//! was received. A refusal (seccomp, Yama, another user) is remembered on both sides and told to the
//! operator once; the messages go on by copies.
//!
//! All of it happens under the CRI lock. Once a header that may end a request has been handed to
//! `control`, the request is not touched again.

use crate::guarded::Held;
use crate::module::Ob1;
use crate::peer::{Peer, btl_name, can_get_vector};
use crate::request::{Request, State, module_of};
use crate::runs::{Pieces, Source};
use crate::shard::Incoming;
use crate::wire::{self, Header, Reader, flag, kind};
use core::ffi::c_void;
use core::ptr::null;
use core::sync::atomic::Ordering;
use oxmpi_btl::{RmaDesc, RmaVectorDesc};
use oxmpi_mca::host::receive::STOP;
use oxmpi_mca::{RequestHeader, SliceRef, Status};

/// Fragments of one message sent in a row before others get their turn.
const FRAGMENTS_PER_TURN: u32 = 32;

/// What takes longer to read than this many bytes is not read inside a call that starts a receive (see
/// [`Ob1::ask_for_rest`]).
const READ_LATER: u64 = 64 << 10;

/// How a long operation stands after a turn.
#[derive(PartialEq, Eq)]
enum Turn {
    /// Nothing more to do here: finished, failed, or somebody else's move.
    Over,
    /// More to do.
    Unfinished,
    /// More to do, and no room in the transport.
    NoRoom,
}

fn ack(flags: u8, src_req: u64, dst_req: u64, offset: u64, wanted: u64) -> Header {
    Header::new(&[wire::head(kind::ACK, flags, 0, 0), src_req, dst_req, offset, wanted])
}
fn fin(src_req: u64) -> Header {
    Header::new(&[wire::head(kind::FIN, 0, 0, 0), src_req])
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
        let here = if inc.kind == kind::RUNS { 0 } else { inc.len };
        req.done.set(here);
        let readable = matches!(inc.kind, kind::RGET | kind::RUNS);
        if readable && wanted > 0 && !peer.no_get.get() {
            peer.either.came();
            if inc.kind == kind::RGET && req.dtype().is_none() {
                req.remote_addr.set(inc.addr);
                req.pulls.set(0);
                req.set_pull_failed(false);
                req.state.set(State::Pulling);
                if starting && wanted > READ_LATER {
                    return self.go_on_later(held, peer, req);
                }
                return self.go_on(held, peer, req);
            }
            return self.pull_pieces(held, peer, req, inc);
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
            return self.go_on_later(held, peer, req);
        } else {
            // Before the first part is stored, so that the sender writes the next one meanwhile. Who fails, fails its requests.
            // (Of a message that is still coming nothing is stored here, `coming.rs`.)
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

    /// Reads the sender's memory where one side's data lies in pieces, if that pays on ours.
    fn pull_pieces(&self, held: &Held<'_>, peer: &Peer, req: &'static Request, inc: &Incoming) {
        let limits = &self.config.pieces;
        if !limits.permit(inc.msg_len) || !can_get_vector(peer.btl) {
            return self.ask_for_copies(held, peer, req, 0);
        }
        let source = match inc.kind {
            kind::RGET => Source::One(inc.addr),
            // SAFETY: the list was checked when it came, and is here until the message has been dealt with.
            _ => Source::Runs(unsafe { core::slice::from_raw_parts(inc.payload, inc.len as usize) }),
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
    fn ask_for_copies(&self, held: &Held<'_>, peer: &Peer, req: &'static Request, offset: u64) {
        req.done.set(offset);
        req.state.set(State::Receiving);
        req.id.set(0);
        let id = self.id_of(held, req);
        let flags = if peer.no_get.get() { flag::REFUSED } else { 0 };
        peer.control(held, self, ack(flags, req.remote_id.get(), id, offset, req.wanted.get()));
    }

    /// The request of ours that a peer quotes; closes the peer if it may not.
    pub fn quoted(&self, held: &Held<'_>, id: u64, proc: u32, kind: u32) -> Option<&'static Request> {
        let req = self
            .cri(held.ctx)
            .ids
            .with(held, |t| t.get(id))
            .filter(|r| r.proc.get() == proc && r.kind() == kind);
        if req.is_none() {
            self.bad_header(held, proc, "a request id that it was not given");
        }
        req
    }

    pub fn on_ack(&self, held: &Held<'_>, head: u64, mut r: Reader<'_>, proc: u32) -> Option<()> {
        let (src_req, dst_req, offset, wanted) = (r.word()?, r.word()?, r.word()?, r.word()?);
        let Some(req) = self.quoted(held, src_req, proc, RequestHeader::SEND) else { return Some(()) };
        let fits = match req.state.get() {
            State::WaitAck => offset == req.done.get(),
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
        if offset == wanted {
            self.complete(req, held.threaded);
        } else {
            req.done.set(offset);
            req.wanted.set(wanted);
            req.remote_id.set(dst_req);
            req.state.set(State::Streaming);
            self.go_on(held, peer, req);
        }
        Some(())
    }

    pub fn on_fin(&self, held: &Held<'_>, mut r: Reader<'_>, proc: u32) -> Option<()> {
        let id = r.word()?;
        let Some(req) = self.quoted(held, id, proc, RequestHeader::SEND) else { return Some(()) };
        if req.state.get() != State::WaitFin {
            self.bad_header(held, proc, "the end of a message that was not offered for reading");
            return Some(());
        }
        self.drop_id(held, req);
        self.complete(req, held.threaded);
        Some(())
    }

    pub fn on_fragment(&self, held: &Held<'_>, mut r: Reader<'_>, proc: u32) -> Option<()> {
        let (id, offset) = (r.word()?, r.word()?);
        let Some(req) = self.quoted(held, id, proc, RequestHeader::RECV) else { return Some(()) };
        if self.is_coming(held, proc) {
            // It may end the request whose buffer the other still goes to.
            self.bad_header(held, proc, "a fragment before the message in front of it has come to its end");
            return Some(());
        }
        let data = r.rest();
        let len = data.len() as u64;
        if !self.awaits_fragment(req, proc, offset, len) {
            self.bad_header(held, proc, "a fragment that does not fit its message");
            return Some(());
        }
        // SAFETY: `offset + len` is at most `wanted`, which is at most the buffer's size.
        unsafe { req.store(&self.config.copies, offset, data.as_ptr(), len) };
        self.fragment_stored(held, req, len);
        Some(())
    }

    /// The next `len` bytes of a message are in the buffer.
    pub fn fragment_stored(&self, held: &Held<'_>, req: &'static Request, len: u64) {
        req.done.set(req.done.get() + len);
        if req.done.get() == req.wanted.get() {
            self.drop_id(held, req);
            self.complete(req, held.threaded);
            // What comes behind is copied twice unless its receive is posted first.
            self.cri(held.ctx).stop.set(STOP);
        }
    }

    /// Moves a long operation on, and puts it on its peer's list if it is not over.
    fn go_on(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) {
        if self.turn(held, peer, req) != Turn::Over {
            self.go_on_later(held, peer, req);
        }
    }

    fn go_on_later(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) {
        peer.streams.with(held, |q| q.push_back(req));
        self.remember(held, peer);
    }

    /// One turn for each long operation of a peer; false: the transport has no room.
    pub fn drain_streams(&self, held: &Held<'_>, peer: &Peer) -> bool {
        for _ in 0..peer.streams.with(held, |q| q.len()) {
            let Some(req) = peer.streams.with(held, |q| q.pop_front()) else { break };
            match self.turn(held, peer, req) {
                Turn::Over => {}
                Turn::Unfinished => peer.streams.with(held, |q| q.push_back(req)),
                Turn::NoRoom => {
                    // Behind the others: they get the next room.
                    peer.streams.with(held, |q| q.push_back(req));
                    return false;
                }
            }
        }
        true
    }

    fn turn(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) -> Turn {
        match req.state.get() {
            State::Pulling => self.pull(held, peer, req),
            State::Asking => {
                self.ask_for_copies(held, peer, req, req.done.get());
                Turn::Over
            }
            _ => self.stream(held, peer, req),
        }
    }

    /// Sends fragments.
    fn stream(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) -> Turn {
        for _ in 0..FRAGMENTS_PER_TURN {
            let (done, wanted) = (req.done.get(), req.wanted.get());
            let n = (wanted - done).min(peer.fragment());
            let h = Header::new(&[wire::head(kind::FRAG, 0, 0, 0), req.remote_id.get(), done]);
            match self.transmit_part(held, peer, req, &h, done, n) {
                Status::OK => {}
                Status::NO_RESOURCE => return Turn::NoRoom,
                error => return self.give_up(held, peer, req, error),
            }
            req.done.set(done + n);
            if done + n == wanted {
                self.complete(req, held.threaded);
                return Turn::Over;
            }
        }
        Turn::Unfinished
    }

    fn give_up(&self, held: &Held<'_>, peer: &Peer, req: &'static Request, error: Status) -> Turn {
        self.fail(held, req, Status::PEER_FAILED);
        self.peer_failed(held, peer, error);
        Turn::Over
    }

    /// Reads the sender's memory, piece by piece.
    fn pull(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) -> Turn {
        let piece = match peer.btl.attrs().get_limit {
            0 => u64::MAX,
            limit => limit,
        };
        while req.done.get() < req.wanted.get() && !req.pull_failed() {
            let done = req.done.get();
            let n = (req.wanted.get() - done).min(piece);
            let rma = RmaDesc {
                local: req.buf.get().wrapping_add(done as usize),
                remote: req.remote_addr.get() + done,
                len: n,
                local_handle: null(),
                remote_handle: null(),
                done: Some(piece_done),
                done_ctx: core::ptr::from_ref(req).cast_mut().cast(),
            };
            match (peer.btl.get)(peer.btl.state, peer.endpoint, peer.ctx, &rma) {
                Status::OK => {}
                Status::PENDING => req.pulls.set(req.pulls.get() + 1),
                Status::NO_RESOURCE => return Turn::NoRoom,
                Status::NO_PERMISSION | Status::NOT_SUPPORTED => {
                    self.remember_refusal(peer);
                    req.set_pull_failed(true);
                    break;
                }
                error if req.pulls.get() == 0 => return self.give_up(held, peer, req, error),
                _ => {
                    req.set_pull_failed(true);
                    break;
                }
            }
            req.done.set(done + n);
        }
        if req.pulls.get() == 0 {
            self.pull_over(held, peer, req);
        }
        Turn::Over
    }

    /// All reads that were begun have ended.
    fn pull_over(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) {
        if peer.failed.get() {
            self.fail(held, req, Status::PEER_FAILED);
        } else if req.pull_failed() {
            self.ask_for_copies(held, peer, req, req.done.get());
        } else {
            self.end_pull(held, peer, req, req.remote_id.get());
        }
    }

    /// All is read. The sender is told before the program here knows: what that says to the other program, by another
    /// thread's FIFO, is not to be there while this is not even on its way (MPI_Bsend counts on its buffer being free then).
    fn end_pull(&self, held: &Held<'_>, peer: &Peer, req: &'static Request, src_req: u64) {
        peer.control(held, self, fin(src_req));
        self.complete(req, held.threaded);
    }

    #[cold]
    fn remember_refusal(&self, peer: &Peer) {
        peer.no_get.set(true);
        if !self.told_no_get.swap(true, Ordering::Relaxed) {
            self.host.info(&format!(
                "{} may not read the memory of process {}; long messages are copied through it instead",
                btl_name(peer.btl),
                peer.proc
            ));
        }
    }

    /// A read that was pending has ended.
    fn on_piece(&self, req: &'static Request, status: Status) {
        // SAFETY: peers stay until `finalize`; a request with reads under way has one.
        let Some(peer) = (unsafe { req.peer.get().as_ref() }) else { return };
        // SAFETY: transports call this from their progress of that context, whose caller holds the lock.
        let held = unsafe { self.inherit(peer.ctx, self.threaded()) };
        req.pulls.set(req.pulls.get() - 1);
        if status.is_err() {
            if matches!(status, Status::NO_PERMISSION | Status::NOT_SUPPORTED) {
                self.remember_refusal(peer);
            } else {
                self.peer_failed(&held, peer, status);
            }
            req.set_pull_failed(true);
            // Which pieces arrived is not known in order: the copies start over.
            req.done.set(0);
        }
        let issued = req.done.get() == req.wanted.get() || req.pull_failed();
        if issued && req.pulls.get() == 0 && !self.waits_in_streams(&held, peer, req) {
            self.pull_over(&held, peer, req);
        }
    }

    /// A pull that found no room is on the list and will be ended from there.
    fn waits_in_streams(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) -> bool {
        peer.streams.with(held, |q| q.iter().any(|r| core::ptr::eq(*r, req)))
    }
}

extern "C" fn piece_done(ctx: *mut c_void, status: Status) {
    // SAFETY: `pull` put a request there, and requests are never freed.
    let req: &'static Request = unsafe { &*ctx.cast::<Request>() };
    module_of(req).on_piece(req, status);
}
