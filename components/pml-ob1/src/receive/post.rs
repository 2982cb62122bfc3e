//! The receiving verbs: a receive looks at the waiting messages first and is posted only if none fits, both under the shard's lock.
//!
//! A blocking receive of a message that is all here needs no request. The side that matches (the callback, or the receiving thread)
//! delivers (`meet.rs`): it alone has the request's completer from then on. A receive like the one before it takes a short way (`state/note.rs`).

use crate::communicators::comm::Comm;
use crate::matching::Pattern;
use crate::receive::meet::{set_status, status_of};
use crate::receive::receiver::Receiver;
use crate::receive::shard::{KeptMessage, ShardData};
use crate::receive::shards::{Entered, Owned};
use crate::requests::completer::Completer;
use crate::requests::request::Request;
use crate::requests::thread_state::{Received, identity, look_first_at, state_and_seat, thread_state_of};
use crate::state::hand::Hand;
use crate::state::note::word_of;
use crate::wire::source_tag;
use oxmpi_mca::{Caller, Entry, Lent, MsgStatus, Status};
use oxmpi_pml::Incoming as Args;
use std::sync::Arc;

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

/// A message that a matched probe took out, and its communicator.
pub struct Taken {
    pub(super) comm: Arc<Comm>,
    pub(super) message: KeptMessage,
}

/// Packed bytes that the buffer of a receive takes.
#[inline(always)]
fn capacity(args: Args<'_>) -> u64 {
    args.dtype().packed.saturating_mul(args.count)
}

/// Fills a request with everything a receive needs.
#[inline(always)]
fn describe(req: &Request, comm: &Comm, args: Args<'_>, entry: &Entry) {
    req.describe_receive(args, capacity(args));
    req.keep_type(args.dtype(), args.count, entry);
    comm.note_in(req);
}

impl Receiver {
    /// Takes a request for a receive, and describes it. `None`: there is no memory for it.
    #[inline(always)]
    fn request_for(&self, entry: &Entry, comm: &Comm, args: Args<'_>) -> Option<Completer> {
        let completer = self.requests().take_for_receive(entry, args)?;
        describe(&completer, comm, args, entry);
        Some(completer)
    }

    /// Copies a message that is all here to where `args` says, without a request, and gives its status.
    fn copy_out(&self, message: &KeptMessage, args: Args<'_>) -> MsgStatus {
        let (inc, room) = (message.incoming(), capacity(args));
        let n = inc.payload.len().min(room as usize);
        if n > 0 {
            let (d, bytes) = (args.dtype(), &inc.payload[..n]);
            // SAFETY: the user's buffer, which is there for the call, has room for `room` bytes.
            unsafe {
                if d.is_contiguous() {
                    self.instance().config().copies.copy(bytes.as_ptr(), args.buf, n);
                } else {
                    oxmpi_datatype::unpack(d, args.count, args.buf, 0, bytes.as_ptr(), n as u64);
                }
            }
        }
        status_of(&inc, room)
    }

    /// Begins a receive for MPI_Recv: receives the message if it is here, with its status, else posts the receive.
    #[inline(always)]
    pub fn recv_blocking(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        args: Args<'_>,
        status: &mut MsgStatus,
    ) -> Result<Begun, Status> {
        let pattern = Pattern::new(args.src, args.tag);
        let mut shard = comm.enter_to_receive(pattern, entry, identity(entry));
        let in_order = entry.is_among() && shard.order.stamped && !pattern.has_tag();
        if !in_order && let Some(message) = shard.take(pattern) {
            return match self.recv_small(shard, message, args, status) {
                None => Ok(Begun::Received),
                Some(message) => self.recv_kept(&mut entry.lend(), comm, message, args, status),
            };
        }
        let completer = self.request_for(entry, comm, args).ok_or(Status::OUT_OF_MEMORY)?;
        let req = completer.request();
        if in_order {
            drop(shard);
            self.post_in_order(&mut entry.lend(), comm, completer, pattern);
        } else {
            shard.post(completer, pattern, entry);
            drop(shard);
        }
        if entry.is_among() {
            self.look_there_first(entry, comm, Some(req), args);
        }
        Ok(Begun::Posted(req))
    }

    /// Ends a call that waits for a receive no longer. `None`: it is complete, with its status, and its request was given
    /// back; else the request that the caller waits for.
    #[inline(always)]
    pub fn received(
        &self,
        entry: &Entry,
        req: &'static Request,
        status: &mut MsgStatus,
    ) -> Option<&'static Request> {
        if !req.is_complete() {
            return Some(req);
        }
        *status = req.status();
        self.requests().recycle(req, entry);
        None
    }

    /// Receives for MPI_Irecv: posts the receive, or delivers the unexpected message that fits. Returns its request.
    /// `None`, as everywhere here: there is no memory for it.
    #[inline(always)]
    pub fn recv_immediate(&self, entry: &mut Entry, comm: &Comm, args: Args<'_>) -> Option<&'static Request> {
        let completer = self.request_for(entry, comm, args)?;
        let req = completer.request();
        let by = identity(entry);
        self.post_or_deliver(entry, comm, completer, by, Pattern::new(args.src, args.tag));
        Some(req)
    }

    /// Posts a described receive in its shard, or delivers the unexpected message that fits. `by`: the number and the
    /// seat of the thread.
    #[inline(always)]
    fn post_or_deliver(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        completer: Completer,
        by: (u32, Caller),
        pattern: Pattern,
    ) {
        let mut shard = comm.enter_to_receive(pattern, entry, by);
        if entry.is_among() && shard.order.stamped && !pattern.has_tag() {
            drop(shard);
            return self.post_in_order(&mut entry.lend(), comm, completer, pattern);
        }
        let Some(message) = shard.take(pattern) else { return shard.post(completer, pattern, entry) };
        let left = self.deliver_small(shard, completer, message, &entry.seen());
        if let Some((completer, message)) = left {
            self.deliver_record(&mut entry.lend(), comm, completer, message);
        }
    }

    /// Delivers an unexpected message that has little payload to a receive that only the caller knows, and leaves the shard. `Some`: it has more, or its
    /// sender waits for an answer, and nothing happened.
    #[inline(never)]
    fn deliver_small(
        &self,
        mut shard: Entered<'_, ShardData>,
        completer: Completer,
        message: KeptMessage,
        entry: &Entry,
    ) -> Option<(Completer, KeptMessage)> {
        let inc = message.incoming();
        if !inc.is_plain() || !message.is_small() {
            return Some((completer, message));
        }
        // So little that copying it costs less than taking the lock a second time.
        let room = completer.total();
        set_status(&completer, inc.key, inc.msg_len, room);
        let n = inc.payload.len().min(room as usize);
        if n > 0 {
            // SAFETY: so many bytes fit the buffer.
            unsafe { completer.store(&self.instance().config().copies, 0, &inc.payload[..n]) };
        }
        shard.give(message);
        drop(shard);
        self.requests().complete_unseen(completer, entry);
        None
    }

    /// Ends a blocking receive that found its message unexpected, if that has little payload, and leaves the shard. `Some`: it has more, or its sender
    /// waits for an answer, and nothing happened.
    #[inline(never)]
    fn recv_small(
        &self,
        mut shard: Entered<'_, ShardData>,
        message: KeptMessage,
        args: Args<'_>,
        status: &mut MsgStatus,
    ) -> Option<KeptMessage> {
        if !message.incoming().is_plain() || !message.is_small() {
            return Some(message);
        }
        // So little that copying it costs less than taking the lock a second time.
        *status = self.copy_out(&message, args);
        shard.give(message);
        None
    }

    /// Ends a blocking receive that found its message unexpected: copies it without a request if all of it is here.
    #[inline(never)]
    fn recv_kept(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        message: KeptMessage,
        args: Args<'_>,
        status: &mut MsgStatus,
    ) -> Result<Begun, Status> {
        let about = message.incoming().about;
        if about.is_plain() {
            *status = self.copy_out(&message, args);
            comm.shard_of(about.key, entry, None).give(message);
            self.peers().consumed(&about, Hand::Free(entry));
            return Ok(Begun::Received);
        }
        let completer = self.request_for(entry, comm, args).ok_or(Status::OUT_OF_MEMORY)?;
        let req = completer.request();
        self.deliver_record(entry, comm, completer, message);
        Ok(self.received(entry, req, status).map_or(Begun::Received, Begun::Goes))
    }

    /// Makes the inactive persistent request of MPI_Recv_init.
    pub fn recv_persistent(&self, entry: &Entry, comm: &Comm, args: Args<'_>) -> Option<&'static Request> {
        let completer = self.request_for(entry, comm, args)?;
        completer.ask(Pattern::new(args.src, args.tag));
        Some(completer.into_persistent())
    }

    /// Starts an inactive persistent receive.
    pub fn post_again(&self, entry: &mut Entry, completer: Completer) -> Status {
        let req = completer.request();
        // SAFETY: a communicator outlives the persistent requests on it (the host's promise).
        let comm = unsafe { Comm::of_request(req) };
        let pattern = req.asks();
        if entry.is_among() {
            self.instance().mark_cris_shared(comm, pattern);
        }
        // Any thread may start it: the thread that made it stands for it.
        self.post_or_deliver(entry, comm, completer, (req.home().owner(), None), pattern);
        Status::OK
    }

    /// Receives a message that a matched probe took out.
    pub fn recv_message(
        &self,
        entry: &mut Entry,
        taken: Taken,
        args: Args<'_>,
    ) -> Result<&'static Request, Status> {
        let Taken { comm, message } = taken;
        if comm.is_revoked() {
            let about = message.incoming().about;
            self.refuse_message(&mut self.instance().hold(entry, about.ctx.into()), &about);
            comm.shard_of(about.key, entry, None).give(message);
            return Err(Status::PEER_FAILED);
        }
        let completer = self.request_for(entry, &comm, args).ok_or(Status::OUT_OF_MEMORY)?;
        let req = completer.request();
        self.deliver_record(entry, &comm, completer, message);
        Ok(req)
    }

    /// Takes a posted receive out of its engine. `None`: it is not posted any more.
    pub fn unpost(&self, entry: &Entry, req: &'static Request) -> Option<Completer> {
        if req.is_complete() {
            return None;
        }
        // SAFETY: the communicator outlives its pending receives.
        let comm = unsafe { Comm::of_request(req) };
        comm.shard_for(req.asks(), entry, None).unpost(req)
    }

    /// Has the thread progress first the CRI on which the messages of its receive will come; with `req`, notes that for
    /// the next receive like it.
    #[inline(always)]
    pub fn look_there_first(
        &self,
        entry: &Entry,
        comm: &Comm,
        req: Option<&'static Request>,
        args: Args<'_>,
    ) {
        if entry.thread().is_null() || !self.order().is_wide() {
            return;
        }
        if !Pattern::new(args.src, args.tag).has_tag() {
            return self.instance().expect_on_all(entry);
        }
        // Before the look: if it changes meanwhile, what is noted is of the epoch before.
        let epoch = comm.epoch();
        let (ctx, stays) = self.order().first_look(entry, comm, (args.src, args.tag));
        look_first_at(entry, ctx);
        if let Some(req) = req {
            let cri = self.instance().cri(ctx);
            cri.posted(req);
            if stays && let Some(thread_state) = thread_state_of(entry) {
                // Good for as long as the epoch.
                let noted = Received { cri: cri.into(), spot: None };
                thread_state.received().take(epoch, source_tag(args.src, args.tag), noted);
            }
        }
        if comm.by_tag() {
            self.instance().expect_on(entry, ctx);
            if args.src < 0 && comm.is_forked(args.src) {
                // Other sources' may not be.
                self.instance().expect_on(entry, comm.fifos().home(self.instance().width()));
            }
        } else {
            self.instance().expect_on_all(entry);
        }
    }
}

impl Receiver {
    /// Receives for MPI_Irecv, in a thread among several. The common case takes no call: same source and tag as noted, in a
    /// shard that is noted too, and where no message waits.
    #[inline(always)]
    pub fn recv_among(&self, entry: &mut Entry, comm: &Comm, args: Args<'_>) -> Option<&'static Request> {
        // While all messages come on one CRI there is nothing to note.
        if !self.order().is_wide() {
            return self.recv_immediate(entry, comm, args);
        }
        if let Some((thread_state, seat)) = state_and_seat(entry)
            && let from = word_of(&args.src, &args.tag)
            && let Some(Received { cri, spot }) = thread_state.received().look(comm.epoch(), from)
        {
            // SAFETY: noted in a verb of this instance, whose state does not move.
            let cri = unsafe { cri.get() };
            if let Some(spot) = spot
                && entry.context().is_some_and(|thread| thread.attends(cri.ctx()))
                // SAFETY: it is of this communicator, which the epoch says, and that is borrowed.
                && let Some(mut shard) = unsafe { spot.enter_own(entry, seat) }
                && !shard.spreading.changes_hands(thread_state.index() + 1)
                && shard.engine.surely_none_waits()
                && let Some(completer) = self.requests().take_own(thread_state, args)
            {
                describe(&completer, comm, args, entry);
                look_first_at(entry, cri.ctx());
                let req = completer.request();
                cri.posted(req);
                shard.post(completer, Pattern::exact(from), entry);
                return Some(req);
            }
            return self.recv_noted(entry.lend(), comm, args);
        }
        self.recv_unlike(entry.lend(), comm, args)
    }

    /// Posts a receive for which the thread has no note, by the general way.
    #[inline(never)]
    fn recv_unlike(&self, mut entry: Lent<'_>, comm: &Comm, args: Args<'_>) -> Option<&'static Request> {
        let entry = &mut entry.lend_among();
        let completer = self.request_for(entry, comm, args)?;
        let req = completer.request();
        self.look_there_first(entry, comm, Some(req), args);
        let by = identity(entry);
        self.post_or_deliver(entry, comm, completer, by, Pattern::new(args.src, args.tag));
        Some(req)
    }

    /// Posts a receive whose CRI is noted, but not its shard, or whose message may wait already; notes the shard if the
    /// thread owns its lock.
    #[inline(never)]
    fn recv_noted(&self, mut entry: Lent<'_>, comm: &Comm, args: Args<'_>) -> Option<&'static Request> {
        let entry = &mut entry.lend_among();
        let from = source_tag(args.src, args.tag);
        let Some((thread_state, seat)) = state_and_seat(entry) else {
            return self.recv_unlike(entry.lend(), comm, args);
        };
        // Once: if it changes meanwhile, what is noted is of the epoch before.
        let epoch = comm.epoch();
        let (Some(Received { cri, .. }), Some(completer)) =
            (thread_state.received().look(epoch, from), self.requests().take_own(thread_state, args))
        else {
            return self.recv_unlike(entry.lend(), comm, args);
        };
        describe(&completer, comm, args, entry);
        // SAFETY: noted in a verb of this instance, whose state does not move.
        let ctx = unsafe { cri.get() }.ctx();
        look_first_at(entry, ctx);
        let req = completer.request();
        self.instance().cri(ctx).posted(req);
        self.instance().expect_on(entry, ctx);
        let stays = |shard: &Owned<'_, ShardData>| !shard.spreading.changes_hands(thread_state.index() + 1);
        let Some(mut shard) = comm.own_shard(from, entry, seat).filter(stays) else {
            let by = (thread_state.index(), Some(seat));
            self.post_or_deliver(entry, comm, completer, by, Pattern::exact(from));
            return Some(req);
        };
        thread_state.received().take(epoch, from, Received { cri, spot: Some(shard.spot()) });
        let Some(message) = shard.take(Pattern::exact(from)) else {
            shard.post(completer, Pattern::exact(from), entry);
            return Some(req);
        };
        if let Some((completer, message)) =
            self.deliver_small(shard.into_entered(), completer, message, entry)
        {
            self.deliver_record(entry, comm, completer, message);
        }
        Some(req)
    }
}
