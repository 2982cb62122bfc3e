//! The requester's side: operations under way on one context, and what has completed.
//!
//! **Objects.** An *operation* is one verb of the caller's. It is carried out by *pieces*, a request each, as many as its
//! bytes need; a reply names its piece by a number that is used once. A *flow* is the operations of one context to one endpoint, counted
//! from 0 in the order of the calls; they complete in any order, and `completed` is how many have from the first on without a gap. A
//! *join* is a flush that waits for flows.
//!
//! **Life.** The first piece goes out in the call, or the call answers NO_RESOURCE and nothing has happened. Pieces for
//! which there is no room *stall*, and go on when a reply comes: replies are what makes room. Where none is due
//! (a transport may be short of something else) `needs_attention` says so, and the host looks again in its idle turns. An operation
//! completes when all its pieces have been answered, or its peer has failed: then its pieces are forgotten, and what comes for them finds
//! nothing, so that local memory is not touched any more.
//!
//! **Loss.** A transport that refuses a request for good has lost the process. The host hears that first ([`Route::lost`]), since by default the
//! job ends there, with a report that names the process.
//!
//! **Access.** Everything but the flows' two counters is used under the lock of the context's CRI. Counters
//! are written there and read by whoever flushes another thread's context. `done` runs behind all changes, when nothing is borrowed.

use crate::slab::Slab;
use crate::wire::{Reply, Request, TAG, Verb};
use oxmpi_btl::{BtlHandle, Done, Endpoint as RawEndpoint, FlushDesc, SendDesc};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;

/// A process as it is reached by an emulated transport.
pub struct Endpoint {
    pub raw: *mut RawEndpoint,
    pub proc: u32,
    /// Bits of `cap` that the transport offers and this peer refused, so that requests do it.
    pub refused: AtomicU32,
    failed: AtomicBool,
    /// By context.
    flows: Box<[Flow]>,
}

// SAFETY: the raw endpoint may be used from any thread; flows as the file's text says.
unsafe impl Send for Endpoint {}
// SAFETY: as above.
unsafe impl Sync for Endpoint {}

/// The operations of one context to one endpoint: how many were issued, and how many have completed without a gap.
#[derive(Default)]
struct Flow {
    issued: AtomicU64,
    completed: AtomicU64,
    rest: RefCell<FlowRest>,
}

/// Operations of a flow behind the first that is not complete, and flushes that wait for some.
#[derive(Default)]
struct FlowRest {
    /// Whether it is on the context's list of flows.
    known: bool,
    /// From operation `completed` on: whether it is complete.
    ended: VecDeque<bool>,
    /// Flushes, and how many operations have to be complete for them.
    waiting: VecDeque<(u64, u64)>,
}

impl Endpoint {
    /// An endpoint without operations, over the transport's own endpoint `raw`.
    ///
    /// # Safety
    /// That stays as long as this is used.
    pub unsafe fn new(raw: *mut RawEndpoint, proc: u32, contexts: u32) -> Endpoint {
        let flows = (0..contexts).map(|_| Flow::default()).collect();
        Endpoint { raw, proc, refused: AtomicU32::new(0), failed: AtomicBool::new(false), flows }
    }

    /// Number of operations on a context that are not complete. Any thread.
    pub fn under_way(&self, ctx: u32) -> u64 {
        let Some(flow) = self.flows.get(ctx as usize) else { return 0 };
        // SYNC POINT with `State::finish`: what is complete has its results in place. In this order the answer is not too small.
        let completed = flow.completed.load(Ordering::Acquire);
        flow.issued.load(Ordering::Acquire).wrapping_sub(completed)
    }

    /// Marks the process as failed: operations end with PEER_FAILED from now on; [`Context::settle`] ends those under
    /// way.
    pub fn set_failed(&self) {
        self.failed.store(true, Ordering::Release);
    }

    /// Whether the process is marked as failed.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }
}

/// The function that hears of lost processes.
pub type Lost = dyn Fn(u32) + Send + Sync;

/// The transport, context and sizes by which requests go.
#[derive(Clone, Copy)]
pub struct Route<'a> {
    pub raw: &'a BtlHandle,
    pub ctx: u32,
    pub put_most: u64,
    pub get_most: u64,
    /// Tells the host that the transport can send nothing to a process any more. Called under the lock of a CRI; does not
    /// return where the job ends with its first failure.
    pub lost: &'a Lost,
}

/// An operation as the caller gives it.
pub struct Wish {
    /// All but the id, of the whole.
    pub request: Request,
    /// Source of a put, destination of a get, place of an atomic's old value or null. Of a list: its entries, read when the
    /// operation is issued.
    pub local: *mut u8,
    /// Of a list: where old elements go, in the order of its entries, and how many bytes.
    pub results: Vec<(*mut u8, u32)>,
    pub done: Option<Done>,
    pub done_ctx: *mut c_void,
}

/// An operation that is under way.
struct Op {
    wish: Wish,
    endpoint: *const Endpoint,
    /// Number in its flow.
    number: u64,
    len: u64,
    /// Bytes asked for, from the first one on.
    sent: u64,
    pieces: u32,
    status: Status,
}

/// A part of an operation that one request has asked for.
struct Piece {
    op: u64,
    offset: u64,
    len: u64,
}

/// A flush that waits for `left` parts: flows, and the transport's own flush.
struct Join {
    left: u32,
    status: Status,
    done: Option<Done>,
    done_ctx: *mut c_void,
}

/// A function of the caller's that is to be called, with its status.
struct Finished {
    done: Option<Done>,
    done_ctx: *mut c_void,
    status: Status,
}

/// Operations, pieces and flushes under way on a context.
#[derive(Default)]
struct State {
    ops: Slab<Op>,
    pieces: Slab<Piece>,
    joins: Slab<Join>,
    stalled: VecDeque<u64>,
    /// Endpoints that were used on this context.
    known: Vec<*const Endpoint>,
    finished: Vec<Finished>,
}

/// The operations of one context of one transport.
#[derive(Default)]
pub struct Context {
    state: RefCell<State>,
    /// Where lists are written before they are issued.
    lists: RefCell<Vec<u8>>,
}

// SAFETY: used under the lock of the context's CRI (the file's text).
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Memory to write a list into, empty; to be dropped when the list is issued.
    pub fn list(&self) -> std::cell::RefMut<'_, Vec<u8>> {
        let mut bytes = self.lists.borrow_mut();
        bytes.clear();
        bytes
    }

    /// Starts an operation: asks for as many of its pieces as there is room for. PENDING, or the reason why nothing
    /// has happened.
    pub fn issue(&self, route: Route<'_>, endpoint: &Endpoint, wish: Wish) -> Status {
        if endpoint.has_failed() {
            return Status::PEER_FAILED;
        }
        let mut state = self.state.borrow_mut();
        let len = wish.request.len;
        let (number, status) = (0, Status::OK);
        let op = state.ops.insert(Op { wish, endpoint, number, len, sent: 0, pieces: 0, status });
        let status = state.send_pieces(route, op);
        let Some(begun) = state.ops.get_mut(op).filter(|op| op.sent > 0) else {
            state.ops.remove(op);
            return status;
        };
        let flow = &endpoint.flows[route.ctx as usize];
        begun.number = flow.issued.load(Ordering::Relaxed);
        flow.issued.store(begun.number + 1, Ordering::Release);
        let mut rest = flow.rest.borrow_mut();
        rest.ended.push_back(false);
        if !std::mem::replace(&mut rest.known, true) {
            state.known.push(endpoint);
        }
        drop(rest);
        match status {
            Status::OK => {}
            Status::NO_RESOURCE => state.stalled.push_back(op),
            failure => state.give_up(route.ctx, op, failure),
        }
        Status::PENDING
    }

    /// Starts a flush of all operations issued before on a context, to one endpoint or to all. PENDING: `done` of
    /// `flush` is called when they are complete. `first` starts a flush of the transport's own, which is part of it;
    /// where no operation is under way its answer is the result.
    pub fn flush(
        &self,
        route: Route<'_>,
        endpoint: Option<&Endpoint>,
        flush: &FlushDesc,
        first: impl FnOnce(&FlushDesc) -> Status,
    ) -> Status {
        if endpoint.is_some_and(Endpoint::has_failed) {
            return Status::PEER_FAILED;
        }
        let waits = |e: &Endpoint| e.under_way(route.ctx) > 0;
        let one = endpoint.map(std::ptr::from_ref);
        let all: Vec<*const Endpoint> = match one {
            Some(one) => vec![one],
            None => self.state.borrow().known.clone(),
        };
        // SAFETY: endpoints live as long as the transport.
        let flows = || all.iter().map(|e| unsafe { &**e }).filter(|e| waits(e));
        if flows().next().is_none() {
            return first(flush);
        }
        let FlushDesc { done, done_ctx } = *flush;
        let join = Join { left: 1, status: Status::OK, done, done_ctx };
        let join = self.state.borrow_mut().joins.insert(join);
        let part = Box::into_raw(Box::new(Part { context: self, join }));
        let answer = first(&FlushDesc { done: Some(part_done), done_ctx: part.cast() });
        if answer != Status::PENDING {
            // SAFETY: made above; `part_done` is not called.
            drop(unsafe { Box::from_raw(part) });
        }
        let mut state = self.state.borrow_mut();
        let Some(join_of) = state.joins.get_mut(join) else { return Status::INTERNAL };
        if answer.is_err() {
            state.joins.remove(join);
            return answer;
        }
        join_of.left = flows().count() as u32 + u32::from(answer == Status::PENDING);
        for endpoint in flows() {
            let flow = &endpoint.flows[route.ctx as usize];
            let upto = flow.issued.load(Ordering::Relaxed);
            flow.rest.borrow_mut().waiting.push_back((upto, join));
        }
        Status::PENDING
    }

    /// Takes the reply to a piece: stores its result, and completes the operation with the last one. True: the reply
    /// does not fit what was asked, which is a peer's mistake.
    pub fn take_reply(&self, route: Route<'_>, proc: u32, reply: Reply, payload: &[u8]) -> bool {
        let mut state = self.state.borrow_mut();
        // Of a peer that has failed, for one.
        let Some(piece) = state.pieces.get(reply.id) else { return false };
        let (op_id, offset, len) = (piece.op, piece.offset, piece.len);
        // SAFETY: endpoints live as long as the transport.
        let Some(op) = state.ops.get_mut(op_id).filter(|op| unsafe { (*op.endpoint).proc } == proc) else {
            return true;
        };
        let expected = match op.wish.request.verb {
            _ if reply.status.is_err() => 0,
            Verb::Get => len,
            Verb::List => op.wish.results.iter().map(|(_, len)| u64::from(*len).next_multiple_of(8)).sum(),
            Verb::Put | Verb::Atomic => 0,
        };
        let fits = payload.len() as u64 == expected;
        let status = if fits { reply.status } else { Status::PEER_FAILED };
        if status.is_ok() {
            // SAFETY: the caller's memory stays until `done`, and has that many bytes from `offset` on.
            unsafe { op.wish.take_result(offset, payload, reply.old) };
        } else {
            op.fail(status);
        }
        op.pieces -= 1;
        let ended = op.pieces == 0 && op.sent == op.len;
        state.pieces.remove(reply.id);
        if ended {
            state.finish(route.ctx, op_id);
        }
        state.go_on(route);
        self.run_done(state);
        !fits
    }

    /// Asks for the pieces that stalled, as far as there is room, and ends what is under way to failed peers.
    pub fn settle(&self, route: Route<'_>) {
        let mut state = self.state.borrow_mut();
        // SAFETY: endpoints live as long as the transport.
        for endpoint in state.known.clone().into_iter().map(|e| unsafe { &*e }).filter(|e| e.has_failed()) {
            state.fail(route.ctx, endpoint);
        }
        state.go_on(route);
        self.run_done(state);
    }

    /// Whether pieces have stalled and no reply is due that would make them go on.
    pub fn needs_attention(&self) -> bool {
        let state = self.state.borrow();
        !state.stalled.is_empty() && state.pieces.is_empty()
    }

    /// Calls the callers' functions for what has finished, with the state given back before.
    fn run_done(&self, mut state: std::cell::RefMut<'_, State>) {
        let mut finished = std::mem::take(&mut state.finished);
        drop(state);
        for Finished { done, done_ctx, status } in finished.drain(..) {
            if let Some(done) = done {
                // SAFETY: the caller of this holds the context, nothing of it is borrowed, and each is told once.
                unsafe { done(done_ctx, status) };
            }
        }
        self.state.borrow_mut().finished = finished;
    }
}

/// The transport's own part of a flush, until it is done.
struct Part {
    context: *const Context,
    join: u64,
}

/// Ends the transport's own part of a flush; the transport calls it from progress of the context, under its lock.
extern "C" fn part_done(part: *mut c_void, status: Status) {
    // SAFETY: made by `Context::flush`, given back once; contexts live as long as their transport. This runs from progress of
    // the context, under its lock.
    let (part, context) = unsafe {
        let part = Box::from_raw(part.cast::<Part>());
        let context = &*part.context;
        (part, context)
    };
    let mut state = context.state.borrow_mut();
    state.end_part(part.join, status);
    context.run_done(state);
}

impl Wish {
    /// Stores what a reply brought in the caller's memory: the bytes of a get from `offset` on, the old value of an
    /// atomic, the results of a list.
    ///
    /// # Safety
    /// The local memory is the caller's as the descriptor said.
    unsafe fn take_result(&self, offset: u64, payload: &[u8], old: u64) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.request.verb {
                Verb::Put => {}
                Verb::List => {
                    let mut from = payload.as_ptr();
                    for &(to, len) in &self.results {
                        std::ptr::copy_nonoverlapping(from, to, len as usize);
                        from = from.add((len as usize).next_multiple_of(8));
                    }
                }
                Verb::Get => {
                    let to = self.local.add(offset as usize);
                    std::ptr::copy_nonoverlapping(payload.as_ptr(), to, payload.len());
                }
                Verb::Atomic if self.local.is_null() => {}
                Verb::Atomic => {
                    let bytes = old.to_ne_bytes();
                    let narrow =
                        if cfg!(target_endian = "little") { 0 } else { 8 - self.request.len as usize };
                    let from = bytes.as_ptr().add(narrow);
                    std::ptr::copy_nonoverlapping(from, self.local, self.request.len as usize);
                }
            }
        }
    }
}

impl Op {
    /// Notes a failure, of which the first counts; no further piece is asked for.
    fn fail(&mut self, status: Status) {
        if self.status.is_ok() {
            self.status = status;
        }
        self.len = self.sent;
    }
}

impl State {
    /// Asks for the pieces of operation `id` that have not been asked for, as far as there is room. OK: all are;
    /// `NO_RESOURCE`: there is no room for more.
    fn send_pieces(&mut self, route: Route<'_>, id: u64) -> Status {
        loop {
            let Some(op) = self.ops.get_mut(id) else { return Status::OK };
            if op.sent == op.len {
                return Status::OK;
            }
            let most = match op.wish.request.verb {
                Verb::Put => route.put_most,
                Verb::Get => route.get_most,
                // In one piece.
                Verb::Atomic | Verb::List => op.len,
            };
            let (offset, len) = (op.sent, most.min(op.len - op.sent));
            let piece = self.pieces.insert(Piece { op: id, offset, len });
            let whole = op.wish.request;
            let request = Request { id: piece, addr: whole.addr.wrapping_add(offset), len, ..whole };
            let header = request.encode();
            let payload = if matches!(whole.verb, Verb::Put | Verb::List) { len } else { 0 };
            let desc = SendDesc {
                tag: TAG.into(),
                hdr_len: header.len() as u32,
                hdr: header.as_ptr(),
                payload: op.wish.local.wrapping_add(offset as usize),
                len: payload,
                pack: None,
                pack_ctx: std::ptr::null_mut(),
            };
            // SAFETY: endpoints live as long as the transport.
            let endpoint = unsafe { &*op.endpoint };
            // SAFETY: the raw endpoint lives as long as this one, header and payload as long as the call; the caller holds the context.
            let status =
                unsafe { (route.raw.service_request)(route.raw.state, endpoint.raw, route.ctx, &desc) };
            if status != Status::OK {
                self.pieces.remove(piece);
                if status == Status::PEER_FAILED {
                    (route.lost)(endpoint.proc);
                }
                return if status == Status::PENDING { Status::INTERNAL } else { status };
            }
            op.sent += len;
            op.pieces += 1;
        }
    }

    /// Asks for the pieces of operations that stalled, in order, as far as there is room.
    fn go_on(&mut self, route: Route<'_>) {
        while let Some(&id) = self.stalled.front() {
            match self.send_pieces(route, id) {
                Status::OK => {}
                Status::NO_RESOURCE => return,
                failure => self.give_up(route.ctx, id, failure),
            }
            self.stalled.pop_front();
        }
    }

    /// Fails operation `id` with `status`: no further pieces are asked for, and it ends with the last that was.
    fn give_up(&mut self, ctx: u32, id: u64, status: Status) {
        let Some(op) = self.ops.get_mut(id) else { return };
        op.fail(status);
        if op.pieces == 0 {
            self.finish(ctx, id);
        }
    }

    /// Completes operation `id` in its flow, and the flushes that wait for it; the callers' functions run later
    /// (`run_done`).
    fn finish(&mut self, ctx: u32, id: u64) {
        let Some(op) = self.ops.remove(id) else { return };
        let Wish { done, done_ctx, .. } = op.wish;
        self.finished.push(Finished { done, done_ctx, status: op.status });
        // SAFETY: endpoints live as long as the transport.
        let flow = unsafe { &(&(*op.endpoint).flows)[ctx as usize] };
        let mut rest = flow.rest.borrow_mut();
        let mut completed = flow.completed.load(Ordering::Relaxed);
        rest.ended[(op.number - completed) as usize] = true;
        while rest.ended.front() == Some(&true) {
            rest.ended.pop_front();
            completed += 1;
        }
        // SYNC POINT with `Endpoint::under_way`.
        flow.completed.store(completed, Ordering::Release);
        while let Some(&(upto, join)) = rest.waiting.front().filter(|(upto, _)| *upto <= completed) {
            debug_assert!(upto <= completed);
            rest.waiting.pop_front();
            self.end_part(join, Status::OK);
        }
    }

    /// Counts one part of flush `id` as done, and finishes the flush with the last.
    fn end_part(&mut self, id: u64, status: Status) {
        let Some(join) = self.joins.get_mut(id) else { return };
        if join.status.is_ok() {
            join.status = status;
        }
        join.left -= 1;
        if join.left == 0
            && let Some(Join { status, done, done_ctx, .. }) = self.joins.remove(id)
        {
            self.finished.push(Finished { done, done_ctx, status });
        }
    }

    /// Ends all operations that are under way to an endpoint, and the flushes that wait for them, with PEER_FAILED.
    fn fail(&mut self, ctx: u32, endpoint: &Endpoint) {
        for &(_, join) in &endpoint.flows[ctx as usize].rest.borrow().waiting {
            if let Some(join) = self.joins.get_mut(join) {
                join.status = Status::PEER_FAILED;
            }
        }
        for id in self.ops.ids_of(|op| std::ptr::eq(op.endpoint, endpoint)) {
            for piece in self.pieces.ids_of(|piece| piece.op == id) {
                self.pieces.remove(piece);
            }
            if let Some(op) = self.ops.get_mut(id) {
                op.pieces = 0;
            }
            self.give_up(ctx, id, Status::PEER_FAILED);
        }
        let ops = &self.ops;
        self.stalled.retain(|id| ops.get(*id).is_some());
    }
}
