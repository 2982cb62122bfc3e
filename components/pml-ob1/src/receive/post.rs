//! The receiving verbs: a receive looks at the waiting messages first and is posted only if none fits, both under the shard's lock.
//!
//! A blocking receive of a message that is all here needs no request. The side that matches (the callback, or the receiving thread)
//! delivers (`meet.rs`): it alone owns the request from then on. A receive like the one before it takes a short way (`state/note.rs`).

use crate::communicators::comm::Comm;
use crate::matching::{Key, Pattern};
use crate::receive::incoming::Incoming;
use crate::receive::meet::{post, status_of};
use crate::receive::receiver::Receiver;
use crate::receive::shard::{Record, ShardData};
use crate::receive::shards::Entered;
use crate::requests::copy::Copies;
use crate::requests::request::Request;
use crate::requests::thread_state::{Received, ThreadState, identity, state_and_seat, thread_state_of};
use crate::state::note::word_of;
use crate::wire::{self, source_tag};
use core::ptr::{NonNull, null_mut};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{Caller, MsgStatus, RequestHeader, Status};
use oxmpi_pml::{Message, RecvArgs};

/// The beginning of a blocking receive.
pub enum Begun {
    /// The message was received.
    Received,
    /// The message was here, and the receive waits for what it has more.
    Goes(&'static Request),
    /// The receive is posted. Its message may be in the transport already: then nobody needs to wait for the request, nor
    /// to give it back.
    Posted(&'static Request),
}

/// Packed bytes that the buffer of a receive takes.
#[inline(always)]
fn capacity(args: &RecvArgs) -> u64 {
    dtype(args).packed.saturating_mul(args.count)
}

/// The datatype of a receive's arguments.
#[inline(always)]
fn dtype(args: &RecvArgs) -> &TypeDesc {
    // SAFETY: the host passes a type that is alive for the call.
    unsafe { &*args.dtype }
}

/// Copies a message that is all here to where `args` says, without a request.
fn copy_out(copies: &Copies, inc: &Incoming, args: &RecvArgs, capacity: u64) {
    let n = inc.len.min(capacity);
    if n == 0 {
        return;
    }
    let d = dtype(args);
    // SAFETY: the payload has `len` bytes, the user's buffer room for `capacity`.
    unsafe {
        if d.is_contiguous() {
            copies.copy(inc.payload, args.buf, n as usize);
        } else {
            oxmpi_datatype::unpack(d, args.count, args.buf, 0, inc.payload, n);
        }
    }
}

impl Receiver {
    /// Begins a receive for MPI_Recv: receives the message if it is here, with its status, else posts the receive.
    #[inline(always)]
    pub fn recv_blocking(
        &self,
        args: &RecvArgs,
        status: &mut MsgStatus,
        threaded: bool,
    ) -> Result<Begun, Status> {
        // SAFETY: the host passes a communicator that is alive.
        let comm = unsafe { Comm::of(args.comm) };
        let pattern = Pattern::new(args.src, args.tag);
        let mut shard = comm.enter_to_receive(pattern, identity(args.thread), threaded);
        let in_order = threaded && shard.order.stamped && !pattern.has_tag();
        if !in_order && let Some(node) = shard.engine.find_unexpected(pattern, true) {
            // SAFETY: it came out of the shard's engine.
            return self.recv_waiting(shard, unsafe { Record::of(node) }, comm, args, status, threaded);
        }
        let req = self.requests().take_request(args.thread, threaded, RequestHeader::RECV, args.host_comm)?;
        describe(req, comm, args, threaded);
        if in_order {
            drop(shard);
            self.post_in_order(comm, req, pattern);
        } else {
            post(&mut shard, req, pattern, threaded);
            drop(shard);
        }
        if threaded {
            self.look_there_first(comm, Some(req), args);
        }
        Ok(Begun::Posted(req))
    }

    /// Ends a call that waits for a receive no longer. Null: it is complete, with its status, and its request was given
    /// back; else the request that the caller waits for.
    #[inline(always)]
    pub fn received(
        &self,
        req: &'static Request,
        args: &RecvArgs,
        status: &mut MsgStatus,
        threaded: bool,
    ) -> *mut RequestHeader {
        if !req.is_complete() {
            return req.handle();
        }
        *status = req.status();
        self.requests().recycle(req, args.thread, threaded);
        null_mut()
    }

    /// Receives for MPI_Irecv: posts the receive, or delivers the unexpected message that fits. Returns its request.
    #[inline(always)]
    pub fn recv_immediate(&self, args: &RecvArgs, threaded: bool) -> Result<*mut RequestHeader, Status> {
        // SAFETY: as above.
        let comm = unsafe { Comm::of(args.comm) };
        let req = self.requests().take_request(args.thread, threaded, RequestHeader::RECV, args.host_comm)?;
        describe(req, comm, args, threaded);
        if threaded {
            self.look_there_first(comm, Some(req), args);
        }
        let by = identity(args.thread);
        self.post_or_deliver(comm, req, by, Pattern::new(args.src, args.tag), threaded);
        Ok(req.handle())
    }

    /// Posts a described receive in its shard, or delivers the unexpected message that fits. `by`: the number and the
    /// seat of the thread.
    #[inline(always)]
    pub fn post_or_deliver(
        &self,
        comm: &Comm,
        req: &'static Request,
        by: (u32, Caller),
        pattern: Pattern,
        threaded: bool,
    ) {
        let mut shard = comm.enter_to_receive(pattern, by, threaded);
        if threaded && shard.order.stamped && !pattern.has_tag() {
            drop(shard);
            return self.post_in_order(comm, req, pattern);
        }
        match shard.engine.find_unexpected(pattern, true) {
            None => post(&mut shard, req, pattern, threaded),
            // SAFETY: it came out of the shard's engine.
            Some(node) => self.deliver_waiting(shard, comm, req, unsafe { Record::of(node) }, threaded),
        }
    }

    /// Delivers an unexpected message, taken out of its engine, to a receive that only the caller knows. Leaves the
    /// shard's lock.
    #[inline(never)]
    pub fn deliver_waiting(
        &self,
        mut shard: Entered<'_, ShardData>,
        comm: &Comm,
        req: &'static Request,
        record: NonNull<Record>,
        threaded: bool,
    ) {
        // SAFETY: taken out of the engine, so ours.
        let inc = unsafe { record.as_ref() }.incoming();
        // SAFETY: as above.
        if !inc.is_plain() || !unsafe { record.as_ref() }.is_small() {
            drop(shard);
            return self.deliver_record(comm, req, record, threaded);
        }
        // So little that copying it costs less than taking the lock a second time.
        let room = req.total();
        req.set_status(status_of(&inc, room));
        let n = inc.len.min(room);
        if n > 0 {
            // SAFETY: `n` bytes are in both, the message and the buffer.
            unsafe { req.store(&self.instance().config().copies, 0, inc.payload, n) };
        }
        shard.give(record);
        drop(shard);
        self.requests().complete_unseen(req, threaded);
    }

    /// Ends a blocking receive that found its message unexpected: copies it without a request if all of it is here.
    ///
    #[inline(never)]
    fn recv_waiting(
        &self,
        mut shard: Entered<'_, ShardData>,
        record: NonNull<Record>,
        comm: &Comm,
        args: &RecvArgs,
        status: &mut MsgStatus,
        threaded: bool,
    ) -> Result<Begun, Status> {
        // SAFETY: taken out of the engine, so ours.
        let inc = unsafe { record.as_ref() }.incoming();
        if inc.is_plain() {
            let room = capacity(args);
            *status = status_of(&inc, room);
            // SAFETY: as above.
            if unsafe { record.as_ref() }.is_small() {
                // So little that copying it costs less than taking the lock a second time.
                copy_out(&self.instance().config().copies, &inc, args, room);
                shard.give(record);
                return Ok(Begun::Received);
            }
            drop(shard);
            copy_out(&self.instance().config().copies, &inc, args, room);
            comm.shard_of(inc.key, threaded, None).give(record);
            self.peers().consumed(&inc, None, threaded);
            return Ok(Begun::Received);
        }
        drop(shard);
        let req = self.requests().take_request(args.thread, threaded, RequestHeader::RECV, args.host_comm)?;
        describe(req, comm, args, threaded);
        self.deliver_record(comm, req, record, threaded);
        Ok(match self.received(req, args, status, threaded).is_null() {
            true => Begun::Received,
            false => Begun::Goes(req),
        })
    }

    /// Makes the inactive persistent request of MPI_Recv_init.
    pub fn recv_persistent(&self, args: &RecvArgs) -> Result<*mut RequestHeader, Status> {
        let threaded = self.instance().threaded();
        // SAFETY: the host passes a communicator that is alive.
        let comm = unsafe { Comm::of(args.comm) };
        let req = self.requests().take_request(args.thread, threaded, RequestHeader::RECV, args.host_comm)?;
        describe(req, comm, args, threaded);
        req.node(Pattern::new(args.src, args.tag), 0);
        req.make_persistent();
        Ok(req.handle())
    }

    /// Starts an inactive persistent receive.
    pub fn post_again(&self, req: &'static Request, threaded: bool) -> Status {
        // SAFETY: a communicator outlives the persistent requests on it (the host's promise).
        let comm = unsafe { Comm::of_request(req) };
        // SAFETY: the request is inactive, so its node is ours.
        let pattern = unsafe { req.posted_node().as_ref() }.pattern;
        if threaded {
            self.instance().mark_cris_shared(comm, pattern);
        }
        // Any thread may start it: the thread that made it stands for it.
        self.post_or_deliver(comm, req, (req.home().owner(), None), pattern, threaded);
        Status::OK
    }

    /// Receives a message that `look` took out.
    pub fn recv_message(&self, message: *mut Message, args: &RecvArgs) -> Result<*mut RequestHeader, Status> {
        let threaded = self.instance().threaded();
        let record = NonNull::new(message.cast::<Record>()).ok_or(Status::BAD_PARAM)?;
        // SAFETY: a message is a record that `look` took out; its communicator outlives it.
        let comm = unsafe { Comm::of(record.as_ref().comm().cast_mut()) };
        if comm.is_revoked() {
            // SAFETY: taken out of the engine, so ours.
            let inc = unsafe { record.as_ref() }.incoming();
            self.refuse_taken(&inc, threaded);
            comm.shard_of(inc.key, threaded, None).give(record);
            return Err(Status::PEER_FAILED);
        }
        let req = self.requests().take_request(args.thread, threaded, RequestHeader::RECV, args.host_comm)?;
        describe(req, comm, args, threaded);
        self.deliver_record(comm, req, record, threaded);
        Ok(req.handle())
    }

    /// Takes a posted receive out of its engine. `false`: it is not posted any more.
    pub fn unpost(&self, req: &'static Request, threaded: bool) -> bool {
        // SAFETY: the communicator outlives its pending receives.
        let Some(comm) = (!req.is_complete()).then(|| unsafe { Comm::of_request(req) }) else { return false };
        // SAFETY: whoever cancels a request is its only user, and posting wrote its node before.
        let pattern = unsafe { req.posted_node().as_ref() }.pattern;
        let mut shard = comm.shard_for(pattern, threaded, None);
        let found = shard.engine.cancel(req.posted_node());
        if found {
            // SAFETY: the node is ours again.
            shard.uncount(unsafe { req.posted_node().as_ref() }.stamp);
        }
        found
    }

    /// Has the thread progress first the CRI on which the messages of its receive will come; with `req`, notes that for
    /// the next receive like it.
    #[inline(always)]
    pub fn look_there_first(&self, comm: &Comm, req: Option<&'static Request>, args: &RecvArgs) {
        // SAFETY: the host passes the context of the calling thread, or null.
        let Some(thread) = (unsafe { args.thread.as_mut() }) else { return };
        if !self.order().is_wide() {
            return;
        }
        let tagged = Pattern::new(args.src, args.tag).has_tag();
        if tagged {
            // Before the look: if it changes meanwhile, what is noted is of the epoch before.
            let epoch = comm.epoch();
            let (ctx, stays) = self.order().first_look(comm, (args.src, args.tag), args.thread);
            thread.cri = ctx;
            if let Some(req) = req {
                self.instance().cri(ctx).posted(req);
                if stays && let Some(thread_state) = thread_state_of(args.thread) {
                    self.note_cri(thread_state, epoch, wire::source_tag(args.src, args.tag), ctx);
                }
            }
        }
        if tagged && comm.by_tag() {
            self.instance().expect_on(thread, thread.cri);
            if args.src < 0 && comm.is_forked(args.src) {
                // Other sources' may not be.
                self.instance().expect_on(thread, comm.fifos().home(self.instance().width()));
            }
        } else {
            self.instance().expect_on_all(thread);
        }
    }
}

/// Fills a request with everything a receive needs.
#[inline(always)]
pub fn describe(req: &Request, comm: &Comm, args: &RecvArgs, threaded: bool) {
    req.describe_receive(args.buf, capacity(args));
    req.keep_type(dtype(args), args.count, threaded);
    req.set_comm(comm.handle());
}

impl Receiver {
    /// Notes in the thread's state that messages of this source and tag come on CRI `ctx`, for as long as the epoch.
    pub fn note_cri(&self, thread_state: &ThreadState, epoch: u64, from: Key, ctx: u32) {
        // SAFETY: CRIs go with the module, whose verbs alone look at the notes.
        let cri = unsafe { &*core::ptr::from_ref(self.instance().cri(ctx)) };
        thread_state.received().take(epoch, from, Received { cri, spot: None });
    }

    /// Posts a receive of a thread among several. The common case takes no call: same source and tag as noted, in a
    /// shard that is noted too, and where no message waits.
    #[inline(always)]
    pub fn recv_among(&self, args: &RecvArgs, out: &mut *mut RequestHeader) -> Status {
        // While all messages come on one CRI there is nothing to note.
        if self.order().is_wide()
            && let Some((thread_state, seat)) = state_and_seat(args.thread)
            // SAFETY: the host passes a communicator that is alive.
            && let comm = unsafe { Comm::of(args.comm) }
            && let from = word_of(&args.src, &args.tag)
            && let Some(Received { cri, spot }) = thread_state.received().look(comm.epoch(), from)
        {
            if let Some(spot) = spot
                // SAFETY: the host passes the context of the calling thread: it has a state here.
                && unsafe { &*args.thread }.attends(cri.ctx())
                // SAFETY: it is of this communicator, which the epoch says, and that is alive.
                && let Some(mut shard) = unsafe { spot.enter_own(seat) }
                && !shard.spreading.changes_hands(thread_state.index() + 1)
                && shard.engine.surely_none_waits()
                && let Some(req) = thread_state.take()
            {
                req.begin(RequestHeader::RECV, args.host_comm);
                describe(req, comm, args, true);
                // SAFETY: the host passes the context of the calling thread: it has a state here.
                unsafe { (*args.thread).cri = cri.ctx() };
                cri.posted(req);
                post(&mut shard, req, Pattern::exact(from), true);
                *out = req.handle();
                return Status::PENDING;
            }
            return self.recv_noted(args, out);
        }
        self.recv_unlike(args, out)
    }

    /// Posts a receive for which the thread has no note, by the general way.
    #[inline(never)]
    fn recv_unlike(&self, args: &RecvArgs, out: &mut *mut RequestHeader) -> Status {
        match self.recv_immediate(args, true) {
            Ok(req) => {
                *out = req;
                Status::PENDING
            }
            Err(error) => error,
        }
    }

    /// Posts a receive whose CRI is noted, but not its shard, or whose message may wait already; notes the shard if the
    /// thread owns its lock.
    #[inline(never)]
    fn recv_noted(&self, args: &RecvArgs, out: &mut *mut RequestHeader) -> Status {
        // SAFETY: the host passes a communicator that is alive.
        let (comm, from) = (unsafe { Comm::of(args.comm) }, source_tag(args.src, args.tag));
        let Some((thread_state, seat)) = state_and_seat(args.thread) else {
            return self.recv_unlike(args, out);
        };
        // Once: if it changes meanwhile, what is noted is of the epoch before.
        let epoch = comm.epoch();
        let (Some(Received { cri, .. }), Some(req)) =
            (thread_state.received().look(epoch, from), thread_state.take())
        else {
            return self.recv_unlike(args, out);
        };
        req.begin(RequestHeader::RECV, args.host_comm);
        describe(req, comm, args, true);
        // SAFETY: the host passes the context of the calling thread: it has a state here.
        unsafe { (*args.thread).cri = cri.ctx() };
        cri.posted(req);
        self.instance().expect_on(args.thread, cri.ctx());
        match comm.own_shard(from, seat) {
            Some(mut shard) if !shard.spreading.changes_hands(thread_state.index() + 1) => {
                thread_state.received().take(epoch, from, Received { cri, spot: Some(shard.spot()) });
                match shard.engine.find_unexpected(Pattern::exact(from), true) {
                    None => post(&mut shard, req, Pattern::exact(from), true),
                    // SAFETY: it came out of the shard's engine.
                    Some(node) => self.deliver_waiting(
                        shard.into_entered(),
                        comm,
                        req,
                        unsafe { Record::of(node) },
                        true,
                    ),
                }
            }
            // Not while its lock is held.
            inside => {
                drop(inside);
                self.post_or_deliver(
                    comm,
                    req,
                    (thread_state.index(), Some(seat)),
                    Pattern::exact(from),
                    true,
                );
            }
        }
        *out = req.handle();
        Status::PENDING
    }
}
