//! The verbs of the contract.

use crate::layer::{CANCELLED, Comm, Resting, Sending, State, Template, WHOLE, failure};
use crate::matching::{Matching, Pattern, Posted, Waiting};
use crate::outbox::Item;
use crate::wire::{Address, Announce, Frame};
use oxmpi_mca::{CriGuard, Entry, MsgStatus, Status};
use oxmpi_pml::simple::{Open, Pooled};
use oxmpi_pml::{
    Admission, Arrived, Begun, Care, Described, Given, Incoming, Next, Outgoing, Pml, Words, mode,
};
use std::sync::Arc;

impl Template {
    /// Announces a send whose request is open, or sends it whole. It ends with its receive, or here.
    fn announce(
        &self,
        state: &mut State,
        (comm, to): (Address, i32),
        (tag, mode): (i32, u32),
        open: Open,
    ) -> Result<(), Status> {
        let is_whole = open.packed() <= WHOLE && mode != mode::SYNCHRONOUS;
        let announced = state.peer(comm, to).and_then(|(proc, address)| {
            if state.revoked.contains(&comm) {
                return Err(Status::PEER_FAILED);
            }
            let source = state.comms.get(&comm).map_or(-1, |(comm, _)| comm.rank);
            let (send, len) = (open.id(), open.packed());
            let frame = Frame::Announce(Announce { to: address, source, tag, send, len, is_whole });
            let item = if is_whole { Item::Whole { frame, send } } else { Item::Frame(frame) };
            self.put(state, proc, item).map(|()| proc)
        });
        match announced {
            Ok(proc) => {
                state.sends.insert(open.id(), Sending { open, proc, comm, wanted: is_whole });
                Ok(())
            }
            Err(error) => {
                open.complete(failure(error));
                Err(error)
            }
        }
    }

    /// Posts a receive whose request is open, or has it meet the message that waits for it.
    fn post(&self, state: &mut State, comm: Address, pattern: Pattern, open: Open) {
        if state.revoked.contains(&comm) {
            return open.complete(failure(Status::PEER_FAILED));
        }
        let message = state.matching(comm).and_then(|matching| matching.take_waiting(pattern));
        if let Some(message) = message {
            return self.receive(state, open, &message);
        }
        if state.is_lost(comm, pattern.source, self.host.job().rank) {
            return open.complete(failure(Status::PEER_FAILED));
        }
        match state.matching(comm) {
            Some(matching) => matching.posted.push_back(Posted { pattern, open }),
            None => open.complete(failure(Status::BAD_PARAM)),
        }
    }

    /// The answer of a probe about a message.
    fn look(&self, comm: &Comm, pattern: Pattern, status: &mut MsgStatus) -> Result<bool, Status> {
        let mut state = self.state();
        if let Some(message) = state.matching(comm.own).and_then(|matching| matching.find_waiting(pattern)) {
            *status = message.status();
            return Ok(true);
        }
        let is_lost = state.is_lost(comm.own, pattern.source, self.host.job().rank);
        if is_lost { Err(Status::PEER_FAILED) } else { Ok(false) }
    }

    /// Keeps a persistent operation until it starts.
    fn rest(&self, open: Open, resting: Resting) -> &'static Pooled {
        let request = self.pool.rest(open);
        self.state().resting.insert(request.number(), resting);
        request
    }
}

/// The messages that a receive or a probe takes.
fn pattern(args: Incoming<'_>) -> Pattern {
    Pattern { source: args.src, tag: args.tag }
}

impl Pml for Template {
    type Comm = Comm;
    type Request = Pooled;
    /// A message that a matched probe took.
    type Message = Waiting;

    fn enable(&self, transports: Given<'_>, care: &'static Care) -> Result<Words, Status> {
        self.pool.serve::<Template>(care);
        Ok(self.start(transports.links()).words())
    }

    fn add_comm(&self, entry: &mut Entry, desc: Described<'_>) -> Result<Arc<Comm>, Status> {
        let at = |endpoint| Address { gid: desc.gid, endpoint };
        let endpoints = desc.endpoints();
        let peers = desc.procs().iter().enumerate();
        let peers =
            peers.map(|(rank, proc)| (*proc, at(endpoints.get(rank).copied().unwrap_or(0)))).collect();
        let comm = Arc::new(Comm { own: at(desc.my_endpoint), rank: desc.my_rank, peers });
        let mut state = self.state();
        let mut matching = Matching::default();
        // Messages of ranks that made it before.
        matching.waiting.extend(state.early.extract_if(.., |message| message.announce.to == comm.own));
        state.comms.insert(comm.own, (comm.clone(), matching));
        drop(state);
        self.send_now(entry);
        Ok(comm)
    }

    fn del_comm(&self, _: &mut Entry, comm: Arc<Comm>) -> Status {
        let mut state = self.state();
        state.comms.remove(&comm.own);
        state.revoked.remove(&comm.own);
        Status::OK
    }

    fn send(&self, entry: &mut Entry, comm: &Comm, args: Outgoing<'_>) -> Result<Begun<Pooled>, Status> {
        let open = self.pool.send(args)?;
        let request = open.request();
        let announced = self.announce(&mut self.state(), (comm.own, args.dst), (args.tag, args.mode), open);
        if let Err(error) = announced {
            self.pool.give_back(request);
            return Err(error);
        }
        self.send_now(entry);
        Ok(Begun::Goes(request))
    }

    fn isend(&self, entry: &mut Entry, comm: &Comm, args: Outgoing<'_>) -> Result<&'static Pooled, Status> {
        let open = self.pool.send(args)?;
        let request = open.request();
        // An error is the request's.
        let _ = self.announce(&mut self.state(), (comm.own, args.dst), (args.tag, args.mode), open);
        self.send_now(entry);
        Ok(request)
    }

    fn irecv(&self, entry: &mut Entry, comm: &Comm, args: Incoming<'_>) -> Result<&'static Pooled, Status> {
        let open = self.pool.receive(args)?;
        let request = open.request();
        self.post(&mut self.state(), comm.own, pattern(args), open);
        self.send_now(entry);
        Ok(request)
    }

    fn send_init(&self, _: &mut Entry, comm: &Comm, args: Outgoing<'_>) -> Result<&'static Pooled, Status> {
        let resting = Resting { comm: comm.own, rank: args.dst, tag: args.tag, mode: Some(args.mode) };
        Ok(self.rest(self.pool.send(args)?, resting))
    }

    fn recv_init(&self, _: &mut Entry, comm: &Comm, args: Incoming<'_>) -> Result<&'static Pooled, Status> {
        let resting = Resting { comm: comm.own, rank: args.src, tag: args.tag, mode: None };
        Ok(self.rest(self.pool.receive(args)?, resting))
    }

    fn probe(
        &self,
        _: &mut Entry,
        comm: &Comm,
        args: Incoming<'_>,
        status: &mut MsgStatus,
    ) -> Result<bool, Status> {
        self.look(comm, pattern(args), status)
    }

    fn improbe(
        &self,
        _: &mut Entry,
        comm: &Comm,
        args: Incoming<'_>,
        status: &mut MsgStatus,
    ) -> Result<Option<Box<Waiting>>, Status> {
        self.look(comm, pattern(args), status)?;
        // Another thread may have taken it since.
        let taken = self.state().matching(comm.own).and_then(|matching| matching.take_waiting(pattern(args)));
        Ok(taken.map(|message| {
            *status = message.status();
            Box::new(message)
        }))
    }

    fn imrecv(
        &self,
        entry: &mut Entry,
        message: Box<Waiting>,
        args: Incoming<'_>,
    ) -> Result<&'static Pooled, Status> {
        let open = self.pool.receive(args)?;
        let request = open.request();
        self.receive(&mut self.state(), open, &message);
        self.send_now(entry);
        Ok(request)
    }

    fn arrive(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>) -> Next {
        if !self.handle(held, arrived.proc(), arrived.bytes()) {
            self.host.peer_error(arrived.proc(), true, "sent something that is no message of this layer");
        }
        self.send_out(held);
        Next::Any
    }

    fn after_turn(&self, held: &mut CriGuard<'_>) -> i32 {
        self.send_out(held)
    }

    fn release(&self, _: Admission<'_>, request: &'static Pooled) {
        self.state().resting.remove(&request.number());
        self.pool.give_back(request);
    }

    fn cancel(&self, entry: &mut Entry, request: &'static Pooled) -> Status {
        let id = request.id();
        let mut guard = self.state();
        let state = &mut *guard;
        for (_, matching) in state.comms.values_mut() {
            if let Some(open) = matching.drain_posted(|posted| posted.open.id() == id).pop() {
                open.complete(CANCELLED);
                return Status::OK;
            }
        }
        let Some(proc) = state.sends.get(&id).filter(|send| !send.wanted).map(|send| send.proc) else {
            return Status::OK;
        };
        let asked = self.put(state, proc, Item::Frame(Frame::Cancel { send: id }));
        drop(guard);
        self.send_now(entry);
        asked.map_or_else(|error| error, |()| Status::OK)
    }

    fn start(&self, entry: &mut Entry, request: &'static Pooled) -> Status {
        let resting = self.state().resting.get(&request.number()).copied();
        let Some(Resting { comm, rank, tag, mode }) = resting else { return Status::BAD_PARAM };
        let Some(open) = self.pool.start(request) else { return Status::BAD_PARAM };
        match mode {
            // An error is the request's.
            Some(mode) => drop(self.announce(&mut self.state(), (comm, rank), (tag, mode), open)),
            None => self.post(&mut self.state(), comm, Pattern { source: rank, tag }, open),
        }
        self.send_now(entry);
        Status::OK
    }

    fn flush(&self, entry: &mut Entry) -> Status {
        let sent = self.send_now(entry);
        let is_busy = sent > 0
            || self.state().outbox.values().any(|queue| !queue.items.is_empty())
            || self.pool.has_abandoned_sends();
        if is_busy { Status::PENDING } else { Status::OK }
    }

    fn peer_failed(&self, _: &mut Entry, proc: u32) -> Status {
        self.lose(&mut self.state(), proc);
        Status::OK
    }

    fn revoke(&self, _: &mut Entry, comm: &Comm) -> Status {
        let mut state = self.state();
        state.revoked.insert(comm.own);
        state.end_lost(|_, of| of == comm.own);
        state.end_hopeless(self.host.job().rank);
        Status::OK
    }
}
