//! The verbs of the contract, handed to the files that do them.

use crate::communicators::comm::Comm;
use crate::ob1::Ob1;
use crate::receive::post::{Begun as Posting, Taken};
use crate::requests::request::Request;
use crate::requests::thread_state::thread_state_at;
use oxmpi_mca::{CriGuard, Entry, MsgStatus, RequestHeader, Status};
use oxmpi_pml::{
    Admission, Arrived, Begun, Care, Claimed, Counts, Described, Given, Incoming, Next, Outgoing, Part,
    Placed, Pml, Words,
};
use std::sync::Arc;

impl Pml for Ob1 {
    type Comm = Comm;
    type Request = Request;
    type Message = Taken;

    const TAKES_PARTS: bool = true;
    const PLACES: bool = true;

    fn enable(&self, transports: Given<'_>, care: &'static Care) -> Result<Words, Status> {
        self.instance().enable(transports, care);
        self.register_layers()?;
        Ok(self.words())
    }
    fn add_comm(&self, entry: &mut Entry, desc: Described<'_>) -> Result<Arc<Comm>, Status> {
        self.receiver().add_communicator(entry, desc)
    }
    fn del_comm(&self, entry: &mut Entry, comm: Arc<Comm>) -> Status {
        self.receiver().del_communicator(entry, comm)
    }

    #[inline(always)]
    fn send(&self, entry: &mut Entry, comm: &Comm, args: Outgoing<'_>) -> Result<Begun<Request>, Status> {
        Ok(self.sender().send_blocking(entry, comm, args)?.map_or(Begun::Done, Begun::Goes))
    }
    #[inline(always)]
    fn isend(&self, entry: &mut Entry, comm: &Comm, args: Outgoing<'_>) -> Result<&'static Request, Status> {
        self.sender().send_immediate(entry, comm, args)
    }
    #[inline(always)]
    fn recv(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        args: Incoming<'_>,
        status: &mut MsgStatus,
    ) -> Result<Begun<Request>, Status> {
        let req = match self.receiver().recv_blocking(entry, comm, args, status)? {
            Posting::Received => return Ok(Begun::Done),
            Posting::Goes(req) => return Ok(Begun::Goes(req)),
            Posting::Posted(req) => req,
        };
        self.poll_own(entry);
        Ok(self.receiver().received(entry, req, status).map_or(Begun::Done, Begun::Goes))
    }
    #[inline(always)]
    fn irecv(&self, entry: &mut Entry, comm: &Comm, args: Incoming<'_>) -> Result<&'static Request, Status> {
        let req = match entry.is_among() {
            false => self.receiver().recv_immediate(entry, comm, args),
            true => self.receiver().recv_among(entry, comm, args),
        };
        req.ok_or(Status::OUT_OF_MEMORY)
    }
    fn send_init(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        args: Outgoing<'_>,
    ) -> Result<&'static Request, Status> {
        self.sender().send_persistent(entry, comm, args)
    }
    fn recv_init(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        args: Incoming<'_>,
    ) -> Result<&'static Request, Status> {
        self.receiver().recv_persistent(entry, comm, args).ok_or(Status::OUT_OF_MEMORY)
    }
    fn probe(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        args: Incoming<'_>,
        status: &mut MsgStatus,
    ) -> Result<bool, Status> {
        let found = self.receiver().look(entry, comm, args);
        Ok(found.map(|found| *status = found).is_some())
    }
    fn improbe(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        args: Incoming<'_>,
        status: &mut MsgStatus,
    ) -> Result<Option<Box<Taken>>, Status> {
        let Some((taken, found)) = self.receiver().take(entry, comm, args) else { return Ok(None) };
        *status = found;
        Ok(Some(Box::new(taken)))
    }
    fn imrecv(
        &self,
        entry: &mut Entry,
        message: Box<Taken>,
        args: Incoming<'_>,
    ) -> Result<&'static Request, Status> {
        self.receiver().recv_message(entry, *message, args)
    }

    #[inline(always)]
    fn arrive(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>) -> Next {
        self.receiver().come(held, arrived)
    }
    #[inline(always)]
    fn arrive_in_part(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>, from: u64, len: u64) -> Part {
        self.receiver().come_in_part(held, arrived, from, len)
    }
    fn place_of(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>, len: u64) -> Option<Placed> {
        self.transfers().place_of(held, arrived, len)
    }
    fn claim(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>, len: u64) -> Option<Claimed> {
        self.receiver().claim(held, arrived, len)
    }
    fn arrive_placed(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>, len: u64, there: bool) -> Next {
        if !self.peers().is_closed(arrived.proc()) {
            self.transfers().on_placed(held, arrived, len, there);
        }
        self.instance().cri(held.ctx()).take_stop()
    }
    fn after_turn(&self, held: &mut CriGuard<'_>) -> i32 {
        self.go_on(held)
    }

    #[inline(always)]
    fn release(&self, way: Admission<'_>, req: &'static Request) {
        // The shape of nearly all: complete, of data in one piece, and of the caller's thread state, where it goes without a look at
        // the number of threads.
        if req.is_complete()
            && req.is_plain()
            // SAFETY: a way has the context of the calling thread, or null.
            && unsafe { thread_state_at(way.thread()) }.is_some_and(|own| own.is_of(req))
        {
            debug_assert!(!req.is_known(), "nobody else knows it");
            req.be_free();
            return req.home().give(req);
        }
        release_another(req, way, self)
    }
    fn cancel(&self, entry: &mut Entry, req: &'static Request) -> Status {
        self.cancel_request(entry, req)
    }
    fn start(&self, entry: &mut Entry, req: &'static Request) -> Status {
        // SAFETY: the host starts inactive persistent requests alone, which are nobody else's.
        let completer = unsafe { req.restart() };
        match req.kind() {
            RequestHeader::SEND => self.sender().send_again(entry, completer),
            _ => self.receiver().post_again(entry, completer),
        }
    }

    fn threads_begin(&self) -> Status {
        self.instance().take_care();
        Status::OK
    }
    fn flush(&self, entry: &mut Entry) -> Status {
        self.flush_queues(entry)
    }
    fn peer_failed(&self, entry: &mut Entry, proc: u32) -> Status {
        self.peers().lose_process(entry, proc)
    }
    fn peer_parted(&self, entry: &mut Entry, proc: u32) -> Status {
        self.part_from(entry, proc)
    }
    fn revoke(&self, entry: &mut Entry, comm: &Comm) -> Status {
        self.revoke_communicator(entry, comm)
    }
    fn send_failure(
        &self,
        entry: &mut Entry,
        comm: &Comm,
        args: Outgoing<'_>,
        error: Status,
    ) -> Result<&'static Request, Status> {
        self.sender().send_failing(entry, comm, args, error)
    }
    fn set_flags(&self, entry: &mut Entry, comm: &Comm, flags: u32) -> Status {
        comm.set_assertions(entry, flags);
        Status::OK
    }
    fn counts(&self, entry: &mut Entry, comm: &Comm) -> Option<Counts> {
        Some(self.receiver().counts(entry, comm))
    }
    fn measure(&self, on: bool) -> Status {
        self.receiver().measure_matching(on);
        Status::OK
    }

    /// Gives endpoints back and frees what no handle of the host refers to. Requests stay.
    fn finalize(&self, entry: &mut Entry) -> Status {
        self.unregister_layers();
        let mut all = self.instance().hold_all(entry);
        self.receiver().clear(&mut all);
        all.for_each(|held| self.requests().forget_retired(held));
        self.peers().free();
        Status::OK
    }
}

/// Releases a request that is pending, of a datatype or of another thread's state. Apart, and with arguments as the host has them, so that registers are
/// saved for this only; a function of C, out of which no panic comes, so that the verb ends with a jump to it.
#[inline(never)]
extern "C" fn release_another(req: &'static Request, way: Admission<'_>, ob1: &Ob1) {
    ob1.requests().release(req, &way.enter());
}
