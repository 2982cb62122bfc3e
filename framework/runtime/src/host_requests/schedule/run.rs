//! Doing the steps of a plan.

use super::steps::{Core, Data, LengthMismatch, Message, Peer, Step};
use crate::message::{Envelope, RecvBuffer, SendBuffer};
use crate::objects::{Communicator, Instance};
use crate::request::Header;
use crate::spc::Counter;
use oxmpi_coll::step;
use oxmpi_datatype::{TypeDesc, copy, pack, unpack};
use oxmpi_mca::{Entry, MsgStatus, Status};
use oxmpi_waiting::Awaited;
use oxmpi_waiting::futex::wake_shared;

/// The error that others hear of for one of this rank. A length that does not fit is told in its own words where it is found.
fn told(error: Status) -> Status {
    if error == Status::TRUNCATED { Status::MISMATCH } else { error }
}

impl Message {
    /// Whether the message's request is complete, or there is none.
    fn is_over(&self) -> bool {
        self.req.is_none_or(|req| req.is_complete())
    }

    /// Releases the complete request of a message, adds up received bytes, and returns its status and, where its length
    /// is wrong, what came.
    fn take(&mut self, received: &mut u64) -> (MsgStatus, Option<LengthMismatch>) {
        let Message { req, whole } = std::mem::take(self);
        let Some(req) = req else { return (MsgStatus::EMPTY, None) };
        // SAFETY: complete, and ours until it is released.
        let mut status = unsafe { req.status() };
        if req.is_receive() {
            *received += status.bytes;
        }
        // SAFETY: taken out of its slot, and not used any more.
        unsafe { req.release(&mut Entry::among()) };
        let wrong = match (status.error, whole) {
            (Status::TRUNCATED, Some(place)) => Some(LengthMismatch::new(place, place.bytes() + 1)),
            (Status::OK, Some(place)) if status.bytes != place.bytes() => {
                status.error = Status::MISMATCH;
                Some(LengthMismatch::new(place, status.bytes))
            }
            _ => None,
        };
        (status, wrong)
    }
}

impl LengthMismatch {
    /// Keeps what came for a place in packed form: `len` bytes, of which those that the place holds are copied.
    #[cold]
    fn new(place: Data, len: u64) -> LengthMismatch {
        let mut bytes = vec![0; len as usize];
        // SAFETY: the place that was received into; not more than it holds.
        unsafe { pack(place.dtype(), place.count, place.at, 0, bytes.as_mut_ptr(), len.min(place.bytes())) };
        LengthMismatch { place, bytes }
    }
}

impl Data {
    /// The elements' type.
    fn dtype(&self) -> &TypeDesc {
        // SAFETY: the type lives as long as the plan (the module's head).
        unsafe { &*self.dtype }
    }
    /// Packed bytes of all elements.
    fn bytes(&self) -> u64 {
        self.dtype().packed.saturating_mul(self.count)
    }
}

impl Core {
    /// Puts the plan back to its first step and empties its slots.
    pub fn rewind(&mut self) {
        (self.at, self.begun, self.error) = (0, false, Status::OK);
        (self.spoiled, self.truncated) = (false, None);
        self.wrong.clear();
        self.messages.clear();
        self.messages.resize(self.slots as usize, Message::default());
    }

    /// Whether the step that is to be done need not wait.
    pub fn can_go_on(&self) -> bool {
        match self.steps.get(self.at) {
            Some(Step::Wait { first, end }) => self.messages_of(*first, *end).iter().all(Message::is_over),
            Some(Step::WaitForRest) => self.messages.iter().all(Message::is_over),
            Some(Step::Word { awaited }) => {
                awaited.has_changed() || self.communicator().end_of_waits().is_some()
            }
            _ => true,
        }
    }

    /// The messages in slots `first..end`.
    fn messages_of(&self, first: u32, end: u32) -> &[Message] {
        self.messages.get(first as usize..end as usize).unwrap_or_default()
    }

    /// Does steps in order until one has to wait; true: all are done. An error is noted and the steps go on, since others wait for the
    /// plan's messages: from then on these say that the data is missing.
    pub fn run(&mut self, instance: &Instance, entry: &mut Entry) -> bool {
        while let Some(step) = self.steps.get(self.at) {
            let status = self.one(*step, instance, entry);
            // It may have run the user's code.
            instance.renew(entry);
            if status == Status::PENDING {
                return false;
            }
            if status.is_err() && self.error.is_ok() {
                self.error = status;
            }
            self.at += 1;
        }
        self.forget_extensions();
        true
    }

    /// Does one step. PENDING: it has to wait for a message or for the component.
    fn one(&mut self, step: Step, instance: &Instance, entry: &mut Entry) -> Status {
        match step {
            Step::Send { peer, slot, .. } if self.spoiled => self.tell(peer, slot, entry),
            Step::Send { peer, data, slot } => {
                let comm = self.comm(peer);
                let data = self.outgoing(&data, instance);
                comm.note_own(entry, Counter::BytesSentMpi, data.packed());
                let req = comm.isend(entry, data, Envelope::new(peer.rank, self.tag));
                self.under_way(slot, req, None)
            }
            Step::Recv { peer, data, slot, whole } => {
                let comm = self.comm(peer);
                // SAFETY: what the component wrote down, about buffers that the user promised or it got for this.
                let place = unsafe { RecvBuffer::new(data.at, data.count, data.dtype()) };
                let from = Envelope::new(peer.rank, self.tag);
                let req = comm.can_come_from(peer.rank).and_then(|()| comm.irecv(entry, place, from));
                self.spoiled |= req.is_err();
                self.under_way(slot, req, whole.then_some(data))
            }
            Step::Wait { first, end } => self.take(entry, first, end),
            Step::WaitForRest => {
                let status = self.take(entry, 0, self.slots);
                if status != Status::PENDING {
                    // The plan is over; what stands behind was written by its steps, and is done.
                    self.at = self.steps.len() - 1;
                }
                status
            }
            Step::Extend { .. } => self.extend(entry),
            Step::Return { at } => {
                self.at = at;
                Status::OK
            }
            Step::Own { function, ctx } => {
                let what = if self.begun { step::LOOK } else { step::START };
                let status = function(ctx, what);
                self.begun = status == Status::PENDING;
                self.spoiled |= status.is_err();
                status
            }
            Step::Word { awaited } => self.look_at_word(awaited, instance),
            Step::Wake { word } => {
                // SAFETY: the component keeps the word as long as the plan.
                if unsafe { &*word }.has_sleepers() {
                    wake_shared(word.addr());
                }
                Status::OK
            }
            // The data of the step did not come.
            _ if self.spoiled => Status::OK,
            _ => {
                // SAFETY: what the component wrote down, about buffers that the user promised or it got for this.
                let status = unsafe { self.here(step, instance) };
                self.spoiled |= status.is_err();
                status
            }
        }
    }

    /// Looks whether the word of a step has changed, or will not be; until then sleepers of this process sleep on it. PENDING:
    /// neither is so.
    fn look_at_word(&mut self, awaited: Awaited, instance: &Instance) -> Status {
        let end = || self.communicator().end_of_waits();
        let status = if awaited.has_changed() { Status::OK } else { end().unwrap_or(Status::PENDING) };
        // The plan stays where it is while it is under way.
        let owner = std::ptr::from_ref(self).addr();
        match (self.begun, status == Status::PENDING) {
            (false, true) => instance.waiting().enter_word(owner, awaited),
            (true, false) => instance.waiting().leave_word(owner),
            _ => {}
        }
        self.begun = status == Status::PENDING;
        self.spoiled |= status.is_err();
        status
    }

    /// Sends a message that says that the data of the plan's next one is missing. A peer that cannot be told knows by itself: it does
    /// not reach this rank either.
    #[cold]
    fn tell(&mut self, peer: Peer, slot: u32, entry: &mut Entry) -> Status {
        let to = Envelope::new(peer.rank, self.tag);
        if let Ok(req) = self.comm(peer).isend_failure(entry, to, told(self.error)) {
            self.messages[slot as usize] = Message { req: Some(req), whole: None };
        }
        Status::OK
    }

    /// The communicator of a peer: the plan's, or its local group's.
    fn comm<'a>(&self, peer: Peer) -> &'a Communicator {
        // SAFETY: in use as long as the request is (the module's head).
        let comm = unsafe { &*self.comm };
        if peer.local { comm.local().unwrap_or(comm) } else { comm }
    }

    /// The plan's communicator.
    fn communicator(&self) -> &Communicator {
        // SAFETY: in use as long as the request is (the module's head).
        unsafe { &*self.comm }
    }

    /// The data to send: that which came there, if it was not the data that had to.
    fn outgoing(&self, data: &Data, instance: &Instance) -> SendBuffer<'static> {
        let same = |wrong: &&LengthMismatch| wrong.place.at == data.at && wrong.place.count == data.count;
        let (at, count, dtype) = match self.wrong.iter().find(same) {
            None => (data.at.cast_const(), data.count, data.dtype()),
            Some(wrong) => (wrong.bytes.as_ptr(), wrong.bytes.len() as u64, instance.byte_type()),
        };
        // SAFETY: what the component wrote down, about buffers that the user promised or it got for this; or bytes that are kept until the plan begins anew,
        // when none of its messages is under way.
        unsafe { SendBuffer::new(at, count, dtype) }
    }

    /// Keeps the request of a started message in its slot, or passes its error on.
    fn under_way(&mut self, slot: u32, req: Result<Header, Status>, whole: Option<Data>) -> Status {
        match req {
            Ok(req) => {
                self.messages[slot as usize] = Message { req: Some(req), whole };
                Status::OK
            }
            Err(status) => status,
        }
    }

    /// Takes the results of the messages in slots `first..end` and returns the first error. PENDING: one is not
    /// complete.
    fn take(&mut self, entry: &Entry, first: u32, end: u32) -> Status {
        if !self.messages_of(first, end).iter().all(Message::is_over) {
            return Status::PENDING;
        }
        let (mut worst, mut received) = (Status::OK, 0);
        for message in &mut self.messages[first as usize..end as usize] {
            let (status, wrong) = message.take(&mut received);
            // A message of another length goes on as it came.
            self.spoiled |= status.error.is_err() && wrong.is_none();
            self.wrong.extend(wrong);
            if worst.is_ok() {
                worst = status.error;
            }
            if status.error == Status::TRUNCATED {
                self.truncated.get_or_insert(status);
            }
        }
        self.communicator().note_own(entry, Counter::BytesReceivedMpi, received);
        worst
    }

    /// A step on data of this process.
    ///
    /// # Safety
    /// The buffers must hold what the step says.
    unsafe fn here(&self, step: Step, instance: &Instance) -> Status {
        // SAFETY: the caller's promise.
        unsafe {
            match step {
                Step::Pack { data, from: 0, dst, len } if len == data.count * data.dtype().packed => {
                    instance.pack(data.dtype(), data.count, data.at, dst);
                }
                Step::Pack { data, from, dst, len } => {
                    pack(data.dtype(), data.count, data.at, from, dst, len);
                }
                Step::Unpack { data, from: 0, src, len } if len == data.count * data.dtype().packed => {
                    instance.unpack(data.dtype(), data.count, data.at, src);
                }
                Step::Unpack { data, from, src, len } => {
                    unpack(data.dtype(), data.count, data.at, from, src, len);
                }
                Step::Copy { data, to } => copy(data.dtype(), data.count, data.at, to),
                Step::Reduce { left, right } => {
                    return match &self.op {
                        Some(op) => instance.reduce(op, left, right.at, right.count, right.dtype()),
                        None => Status::INTERNAL,
                    };
                }
                _ => return Status::INTERNAL,
            }
        }
        Status::OK
    }
}
