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
//! **Access.** Everything but the flows' two counters is used under the lock of the context's CRI. Counters
//! are written there and read by whoever flushes another thread's context. `done` runs behind all changes, when nothing is borrowed.

use super::slab::Slab;
use super::wire::{Reply, Request, TAG, Verb};
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

#[derive(Default)]
struct Flow {
    issued: AtomicU64,
    completed: AtomicU64,
    rest: RefCell<FlowRest>,
}

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
    pub fn new(raw: *mut RawEndpoint, proc: u32, contexts: u32) -> Endpoint {
        let flows = (0..contexts).map(|_| Flow::default()).collect();
        Endpoint { raw, proc, refused: AtomicU32::new(0), failed: AtomicBool::new(false), flows }
    }

    /// How many operations on a context are not complete. Any thread.
    pub fn under_way(&self, ctx: u32) -> u64 {
        let Some(flow) = self.flows.get(ctx as usize) else { return 0 };
        // SYNC POINT with `State::finish`: what is complete has its results in place. In this order the answer is not too small.
        let completed = flow.completed.load(Ordering::Acquire);
        flow.issued.load(Ordering::Acquire).wrapping_sub(completed)
    }

    /// Its operations end with PEER_FAILED from now on; [`Context::settle`] ends those under way.
    pub fn set_failed(&self) {
        self.failed.store(true, Ordering::Release);
    }

    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }
}

/// The way requests go.
#[derive(Clone, Copy)]
pub struct Route<'a> {
    pub raw: &'a BtlHandle,
    pub ctx: u32,
    pub put_most: u64,
    pub get_most: u64,
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

struct Piece {
    op: u64,
    offset: u64,
    len: u64,
}

struct Join {
    left: u32,
    status: Status,
    done: Option<Done>,
    done_ctx: *mut c_void,
}

struct Finished {
    done: Option<Done>,
    done_ctx: *mut c_void,
    status: Status,
}

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
    /// Memory to write a list into, until it is issued.
    pub fn list(&self) -> std::cell::RefMut<'_, Vec<u8>> {
        let mut bytes = self.lists.borrow_mut();
        bytes.clear();
        bytes
    }

    /// Starts an operation: PENDING, or why not.
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

    /// Completes what was issued before, to one endpoint or to all. `first`: a flush of the transport's own, which is part of it
    /// and answers as one.
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

    /// A reply came. True: a peer's mistake, for a message.
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

    /// Goes on with what stalled, and ends what is under way to failed peers.
    pub fn settle(&self, route: Route<'_>) {
        let mut state = self.state.borrow_mut();
        // SAFETY: endpoints live as long as the transport.
        for endpoint in state.known.clone().into_iter().map(|e| unsafe { &*e }).filter(|e| e.has_failed()) {
            state.fail(route.ctx, endpoint);
        }
        state.go_on(route);
        self.run_done(state);
    }

    /// Something stalled, and no reply will make it go on.
    pub fn needs_attention(&self) -> bool {
        let state = self.state.borrow();
        !state.stalled.is_empty() && state.pieces.is_empty()
    }

    fn run_done(&self, mut state: std::cell::RefMut<'_, State>) {
        let mut finished = std::mem::take(&mut state.finished);
        drop(state);
        for Finished { done, done_ctx, status } in finished.drain(..) {
            if let Some(done) = done {
                done(done_ctx, status);
            }
        }
        self.state.borrow_mut().finished = finished;
    }
}

/// The transport's own part of a flush.
struct Part {
    context: *const Context,
    join: u64,
}

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
    /// No further piece is asked for; the first failure counts.
    fn fail(&mut self, status: Status) {
        if self.status.is_ok() {
            self.status = status;
        }
        self.len = self.sent;
    }
}

impl State {
    /// Asks for the pieces of an operation that have not been asked for, as far as there is room.
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
            let raw = unsafe { (*op.endpoint).raw };
            let status = (route.raw.service_request)(route.raw.state, raw, route.ctx, &desc);
            if status != Status::OK {
                self.pieces.remove(piece);
                return if status == Status::PENDING { Status::INTERNAL } else { status };
            }
            op.sent += len;
            op.pieces += 1;
        }
    }

    /// Goes on with what stalled, in order.
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

    /// Pieces that were not asked for are not going to be; the operation ends with its last piece.
    fn give_up(&mut self, ctx: u32, id: u64, status: Status) {
        let Some(op) = self.ops.get_mut(id) else { return };
        op.fail(status);
        if op.pieces == 0 {
            self.finish(ctx, id);
        }
    }

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

    /// A part of a flush is done.
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

    /// Ends everything that is under way to an endpoint.
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
