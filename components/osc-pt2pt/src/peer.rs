//! A rank of a window as this process knows it: as a target of its own operations, and as an origin of others.
//!
//! **As a target.** Records to it are gathered as a question for its listener (`line`), as long as nothing is on its way to it that goes by messages and is not answered; else they
//! wait in `batch` until they are sent. Every question that is answered has a number, which only
//! grows; `open` has the operations that are not over here, by number, and `asked` and `done` the last FLUSH or UNLOCK that was
//! sent and that was answered. Records arrive and are carried out in order, so an answer stands for all that was sent before it.
//!
//! **As an origin.** Its records are carried out one behind the other. Where one needs data that comes in a message of its own (an
//! accumulate, a record that is too long) or must not pass what is on its way (a FLUSH behind a long put, an operation on what that writes), it and those behind
//! it wait in `backlog`; nothing else of the window waits for them.

use crate::line::{Ask, Awaited, Line};
use crate::wire::take_status;
use oxmpi_mca::Status;
use oxmpi_osc_support::{Destination, Pending};
use std::collections::{BTreeMap, VecDeque};

pub struct Peer {
    /// Largest message of records that it takes.
    pub room: usize,

    /// The line to its listener, which is made at the first operation; `None`: it has none, or nobody has looked.
    pub line: Option<Box<Line>>,
    /// Whether somebody has.
    pub met: bool,

    pub batch: Vec<u8>,
    /// An operation in `batch` is open.
    pub urgent: bool,
    /// In `State::waiting`, with as many bytes in `batch` at the last turn of progress.
    pub listed: bool,
    pub seen: usize,
    /// Number of the next question.
    pub next: u64,
    pub open: BTreeMap<u64, Open>,
    /// An operation was issued since `asked`.
    pub behind: bool,
    pub asked: u64,
    pub done: u64,
    /// The first failure of an operation without a request since the last synchronisation.
    pub failure: Status,
    /// No message reaches it any more.
    pub broken: Status,
    /// It has granted the lock that we asked for.
    pub granted: bool,
    /// A POST was sent that no answer stands for.
    pub posted: bool,
    /// Its MPI_Win_post and MPI_Win_complete that no call of ours has used up.
    pub posts: u32,
    pub completes: u32,

    /// Messages, or rests of them, that wait.
    pub backlog: VecDeque<Vec<u8>>,
    /// Waiting for a message with the rest of the record before the backlog.
    pub stopped: bool,
    /// Messages that are on their way between its and our window's memory.
    pub busy: u32,
    /// The first failure of an operation of its that was not answered one by one, since the last answer.
    pub failed: Status,
}

/// An operation that is not over at the origin.
pub struct Open {
    /// Messages and answers that are to come.
    pub left: u32,
    /// Where data of the answer goes.
    pub destination: Option<Destination>,
    pub request: Option<Pending>,
    pub failure: Status,
}

impl Peer {
    pub fn new(room: usize) -> Peer {
        Peer {
            room,
            line: None,
            met: false,
            batch: Vec::new(),
            urgent: false,
            listed: false,
            seen: 0,
            next: 1,
            open: BTreeMap::new(),
            behind: false,
            asked: 0,
            done: 0,
            failure: Status::OK,
            broken: Status::OK,
            granted: false,
            posted: false,
            posts: 0,
            completes: 0,
            backlog: VecDeque::new(),
            stopped: false,
            busy: 0,
            failed: Status::OK,
        }
    }

    /// A number for a question.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// All operations with lower numbers are over at the origin.
    pub fn local_before(&self, number: u64) -> bool {
        self.broken.is_err() || self.open.first_key_value().is_none_or(|(first, _)| *first >= number)
    }

    /// The FLUSH or UNLOCK of this number is answered.
    pub fn answered(&self, number: u64) -> bool {
        self.broken.is_err() || self.done >= number
    }

    /// Whether its listener may be asked: nothing that goes by messages is on its way, which a question would overtake.
    pub fn may_be_asked(&self) -> bool {
        !self.behind && self.done >= self.asked
    }

    /// How many questions it was asked.
    pub fn questions(&self) -> u64 {
        self.line.as_ref().map_or(0, |line| line.asked)
    }

    /// How many of them have to end for operations that get something.
    pub fn awaited_questions(&self) -> u64 {
        self.line.as_ref().map_or(0, |line| line.awaited)
    }

    /// Whether so many questions have ended, and all are on their way.
    pub fn has_asked(&self, number: u64) -> bool {
        let fine = |line: &Line| line.ended_before(number) && line.unsent() == 0;
        self.broken.is_err() || self.line.as_deref().is_none_or(fine)
    }

    /// Bytes of records that wait for others.
    pub fn gathered(&self) -> usize {
        self.batch.len() + self.line.as_ref().map_or(0, |line| line.question.records.len())
    }

    /// The first failure since the last call.
    pub fn take_failure(&mut self) -> Status {
        let failure = core::mem::replace(&mut self.failure, Status::OK);
        if self.broken.is_err() { self.broken } else { failure }
    }

    /// No message reaches it any more, and nothing that waits for it is to be expected.
    pub fn break_off(&mut self, status: Status) {
        self.batch.clear();
        if !self.broken.is_err() {
            self.broken = status;
        }
        let open = core::mem::take(&mut self.open).into_values().filter_map(|open| open.request);
        let given_up = self.line.as_mut().map(|line| line.give_up()).unwrap_or_default();
        for request in open.chain(given_up.into_iter().filter_map(|awaited| awaited.request)) {
            request.complete(status);
        }
    }

    /// A question of ours has ended: what it was asked for goes where it belongs.
    pub fn end_question(&mut self, mut ask: Box<Ask>) {
        if ask.status.is_err() {
            self.break_off(ask.status);
        }
        let broken = self.broken;
        let awaited = core::mem::take(&mut ask.question.awaited);
        let answer = take_status(&ask.answer).filter(|_| !broken.is_err());
        let (failed, mut rest) = answer.unwrap_or((broken, &[]));
        self.fail(failed);
        for Awaited { len, destination, request } in awaited {
            let status = match take_status(rest) {
                _ if broken.is_err() => broken,
                Some((status, behind)) => {
                    let (data, next) = behind.split_at(len.next_multiple_of(8).min(behind.len()));
                    rest = next;
                    // SAFETY: the program's buffer is writable until the operation completes.
                    if status.is_ok() && !unsafe { destination.fill(0, &data[..len.min(data.len())]) } {
                        Status::INTERNAL
                    } else {
                        status
                    }
                }
                None => Status::INTERNAL,
            };
            match request {
                Some(request) => request.complete(status),
                None => self.fail(status),
            }
        }
        if let Some(line) = self.line.as_mut() {
            line.end(ask);
        }
    }

    pub fn fail(&mut self, status: Status) {
        if status.is_err() && !self.failure.is_err() {
            self.failure = status;
        }
    }
}
