//! Communicators that are revoked and processes that failed: how what is under way with them ends.
//!
//! **Revoked** (`PmlTable::revoke`). Every operation on the communicator ends with PEER_FAILED: posted receives and sends that wait at once,
//! what a transport has pieces of when these have landed, a receive that its sender may write to when the sender says
//! that it does not any more (FIN) or is lost: until then its buffer is not safe. Sends started later find no route;
//! receives started later, and messages that come later, are swept out by the next turn of progress.
//! A rendezvous has two ends, and the other one may not know yet. The side that ends one tells the other side's request so by FIN with the
//! flag REVOKED, where it knows it; a sender that does not know it **retires** its request's id, with the memory that a peer may still read,
//! and ignores what the peer says of it.
//!
//! **Failed** (`PmlTable::peer_failed`, or a transport's final failure). Operations under way with the process end on each CRI in its next
//! turn (`Ob1::close`). Receives that name one of its ranks are swept out in the same way as those of a revoked communicator, unless their
//! message is here; MPI_ANY_SOURCE stays.
//!
//! **The sweep** costs nothing before the first failure: it hangs on a bit of `Cri::waiting`, which progress reads in any case. A
//! shard is swept only if something was posted in it since, so a program that goes on without its failed process pays
//! one look at each communicator for a turn.

use crate::protocol::rendezvous::fin;
use crate::receive::shard::{Incoming, ShardData};
use crate::state::guarded::Held;
use crate::state::instance::Ob1;
use crate::state::memory::KeptMemory;
use crate::state::objects::{Comm, Cri, Outcome, Peer, Request, State};
use crate::state::request::request_of;
use crate::wire::{Header, flag};
use core::sync::atomic::Ordering;
use oxmpi_mca::Status;

/// A FIN header that ends the other side's request because the communicator was revoked.
fn fin_revoked(req: u64) -> Header {
    let mut h = fin(req);
    h.set_flags(flag::REVOKED);
    h
}

impl Ob1 {
    /// Revokes a communicator: fails every request on it, refuses the messages that wait there, and tells the other
    /// sides. Takes all CRI locks.
    pub fn revoke_communicator(&self, comm: &Comm) -> Status {
        let threaded = self.threaded();
        let all = self.hold_all(self.width(), threaded);
        if comm.revoke() {
            return Status::OK;
        }
        for held in all.each() {
            self.cri(held.ctx).last_arrival.forget(&held);
            for peer in self.flows_on(&held) {
                self.end_on_flow(&held, peer, comm);
            }
            let named = self.cri(held.ctx).ids.with(&held, |t| t.of_comm(comm));
            named.into_iter().for_each(|req| self.end_named(&held, req));
            self.cri(held.ctx).mark(Cri::SWEEP);
        }
        for early in comm.all_inbound().flat_map(|i| i.with(|s| s.clear().collect::<Vec<_>>())) {
            let inc = early.incoming();
            self.refuse_message(&all.held(inc.ctx.into()), &inc);
        }
        all.each().for_each(|held| self.sweep_communicator(&held, comm));
        Status::OK
    }

    /// The peer objects of all processes for the FIFO of the held CRI, as far as they exist.
    fn flows_on(&self, held: &Held<'_>) -> Vec<&Peer> {
        let peers = self.peers.iter().filter_map(|slot| {
            // SAFETY: peers and their flows stay until `finalize`.
            let first = unsafe { slot.load(Ordering::Acquire).as_ref() }?;
            // SAFETY: as above.
            unsafe { first.base.flows.get(held.ctx as usize)?.load(Ordering::Acquire).as_ref() }
        });
        peers.collect()
    }

    /// Fails, with PEER_FAILED, the requests on a revoked communicator that use the FIFO of `peer` on the held CRI:
    /// sends that found no room, long sends and gets that progress would continue, and a receive whose message has come
    /// in part. A request with pieces of a get or put under way fails when these have landed (`conclude`). Does nothing
    /// if the peer has failed.
    fn end_on_flow(&self, held: &Held<'_>, peer: &Peer, comm: &Comm) {
        if peer.failed.get() {
            return;
        }
        let of_comm = |req: &&'static Request| core::ptr::eq(req.comm.get(), comm);
        let queued: Vec<_> = peer.queue.with(held, |q| q.iter().copied().filter(of_comm).collect());
        for req in queued {
            self.unqueue(held, req);
            self.fail(held, req, Status::PEER_FAILED);
        }
        self.abandon_streamed_of(held, peer, comm);
        let streams: Vec<_> = peer.streams.with(held, |q| {
            let (ours, others) = q.drain(..).partition(|req| of_comm(req));
            *q = others;
            Vec::from_iter::<std::collections::VecDeque<_>>(ours)
        });
        for req in streams {
            req.listed.set(false);
            if req.pulls.get() > 0 {
                // `conclude` looks at the communicator.
                continue;
            }
            self.end_revoked(held, peer, req);
        }
    }

    /// Fails a long operation on a revoked communicator of which nothing is under way, and tells the other side by a
    /// FIN with REVOKED.
    pub fn end_revoked(&self, held: &Held<'_>, peer: &Peer, req: &'static Request) {
        self.drop_id(held, req);
        peer.control(held, self, fin_revoked(req.remote_id.get()));
        self.fail(held, req, Status::PEER_FAILED);
    }

    /// Fails a request on a revoked communicator whose id a peer may quote: its id is retired. One whose buffer a peer
    /// may still write to only notes the revocation, and fails when the peer says FIN.
    pub fn end_named(&self, held: &Held<'_>, req: &'static Request) {
        match req.state.get() {
            State::Exposed => return req.outcome.set(Outcome::Revoked),
            State::WaitFin => {
                let memory = req.memory.replace(core::ptr::null_mut());
                self.retire(held, req, (!memory.is_null()).then_some(KeptMemory(memory)));
            }
            _ => self.retire(held, req, None),
        }
        self.fail(held, req, Status::PEER_FAILED);
    }

    /// Retires a request's id: a peer that quotes it later is ignored. `kept`: memory that the peer may read until
    /// then.
    fn retire(&self, held: &Held<'_>, req: &'static Request, kept: Option<KeptMemory>) {
        let id = req.id.get();
        self.drop_id(held, req);
        self.cri(held.ctx).retired.with(held, |r| r.0.insert(id, kept));
    }

    /// Whether an id is a retired one, of a request that failed when its communicator was revoked. A peer that quotes
    /// it does not read the request's memory any more, so that is given back.
    #[cold]
    pub fn is_of_revoked(&self, held: &Held<'_>, id: u64) -> bool {
        let (known, kept) = self.cri(held.ctx).retired.with(held, |r| match r.0.get_mut(&id) {
            Some(kept) => (true, kept.take()),
            None => (false, None),
        });
        if let Some(KeptMemory(memory)) = kept {
            self.give_memory_back(memory);
        }
        known
    }

    /// Gives back the memory of all retired ids of this CRI, since no peer will quote one any more.
    pub fn forget_retired(&self, held: &Held<'_>) {
        let all = self.cri(held.ctx).retired.with(held, core::mem::take);
        for KeptMemory(memory) in all.0.into_values().flatten() {
            self.give_memory_back(memory);
        }
    }

    /// Answers a PUT for a send that failed when its communicator was revoked: a FIN with REVOKED tells the receiver
    /// that nothing will be put.
    pub fn answer_put_of_revoked(&self, held: &Held<'_>, src_req: u64, dst_req: u64, proc: u32) {
        if self.is_of_revoked(held, src_req)
            && let Ok(peer) = self.flow(proc, held.ctx, held.threaded)
        {
            peer.control(held, self, fin_revoked(dst_req));
        }
    }

    /// Fails a request with PEER_FAILED on a FIN with the flag REVOKED: the other side ended the rendezvous when the
    /// communicator was revoked there. If the request is in a state that the other side cannot end, or its message is still
    /// being received, the FIN breaks the protocol, and the peer is closed instead.
    pub fn on_fin_revoked(&self, held: &Held<'_>, req: &'static Request) {
        match req.state.get() {
            State::WaitAck | State::WaitFin | State::WaitPut | State::Exposed | State::Receiving => {
                if self.is_coming(held, req.proc.get()) {
                    self.bad_header(held, req.proc.get(), "the end of a message that is still coming");
                } else {
                    self.drop_id(held, req);
                    self.fail(held, req, Status::PEER_FAILED);
                }
            }
            _ => self.bad_header(held, req.proc.get(), "the end of a message that was not announced"),
        }
    }

    /// Refuses a message on a revoked communicator: returns its credit, and tells a sender that waits for an answer by
    /// a FIN with REVOKED.
    fn refuse_message(&self, held: &Held<'_>, inc: &Incoming) {
        self.consumed(inc, Some(held), held.threaded);
        if inc.src_req != 0
            && let Ok(peer) = self.flow(inc.proc, held.ctx, held.threaded)
        {
            peer.control(held, self, fin_revoked(inc.src_req));
        }
    }

    /// Refuses a message that `improbe` took out, on a communicator that has been revoked since.
    pub fn refuse_taken(&self, inc: &Incoming, threaded: bool) {
        self.refuse_message(&self.hold(inc.ctx.into(), None, threaded), inc);
    }

    /// Fails the posted receives for which nothing can come any more, on all communicators: those on revoked ones, and
    /// those that name a lost process.
    #[cold]
    pub fn sweep(&self, held: &Held<'_>) {
        for comm in self.comms.with(held, |t| t.all()) {
            // SAFETY: communicators leave the table under all CRIs' locks, one of which is held.
            self.sweep_communicator(held, unsafe { &*comm });
        }
    }

    /// Fails the posted receives of a communicator for which nothing can come any more; if it was revoked, refuses its
    /// unexpected messages that came on the held CRI.
    fn sweep_communicator(&self, held: &Held<'_>, comm: &Comm) {
        let (revoked, lost) = (comm.is_revoked(), self.lost.load(Ordering::Acquire));
        let (mut ended, mut refused) = (Vec::new(), Vec::new());
        let is_lost = |source: i32| comm.process_of(source).is_some_and(|proc| self.is_closed(proc));
        comm.shards.each(held.threaded, |shard: &mut ShardData| {
            if shard.swept != (shard.stamp, lost) || revoked {
                shard.swept = (shard.stamp, lost);
                for node in shard.engine.take_posted() {
                    // SAFETY: it came out of the shard's engine.
                    let (pattern, stamp) = unsafe { (node.as_ref().pattern, node.as_ref().stamp) };
                    if revoked || pattern.named_source().is_some_and(is_lost) {
                        shard.uncount(stamp);
                        ended.push(node);
                    } else {
                        // SAFETY: as `post` has it; in the order of their stamps.
                        unsafe { shard.engine.post(node) };
                    }
                }
            }
            if revoked {
                refuse_waiting(shard, held, &mut refused);
            }
        });
        for node in ended {
            // SAFETY: it came out of a shard's engine; from here it is ours.
            self.fail(held, unsafe { request_of(node) }, Status::PEER_FAILED);
        }
        refused.iter().for_each(|inc| self.refuse_message(held, inc));
    }

    /// Whether a request's communicator was revoked.
    pub fn is_revoked(&self, req: &Request) -> bool {
        // SAFETY: communicators stay while requests are under way on them (`comm.rs`).
        unsafe { req.comm.get().as_ref() }.is_some_and(Comm::is_revoked)
    }
}

/// Takes the unexpected messages that came on the held CRI out of a shard into `refused`; of these only the lengths may
/// be looked at from here on.
fn refuse_waiting(shard: &mut ShardData, held: &Held<'_>, refused: &mut Vec<Incoming>) {
    let mut others = Vec::new();
    while let Some(record) = shard.pop_unmatched() {
        // SAFETY: it came out of the shard.
        let inc = unsafe { record.as_ref() }.incoming();
        if u32::from(inc.ctx) == held.ctx {
            refused.push(inc);
            shard.give(record);
        } else {
            others.push(record);
        }
    }
    for record in others {
        // SAFETY: as above; it stays until the engine gives it out again.
        unsafe { shard.engine.add_unexpected(record.cast()) };
    }
}
