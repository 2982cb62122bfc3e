//! The line to a rank's listener: questions on one context of one transport, which the host carries out in the order of their calls, and their ends.
//!
//! A question gathers records ([`Question`]) until it is asked ([`Ask`]); one that finds no room in the transport waits with those behind it. Its answer comes in progress of the context,
//! whose CRI is held then, so it only joins [`Ended`]; a turn of the window's looks at those.

use crate::wire::{QUESTION, room_of};
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};
use oxmpi_btl::{BtlAttrs, BtlHandle, LIST_ENTRY, Reach, cap};
use oxmpi_mca::{Entry as CallEntry, Host, Status};
use oxmpi_osc_support::{Destination, Entries, Entry, Pending, RemoteRegistration, Results};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Whether questions go by a transport, in the order in which they are asked.
pub fn carries_questions(btl: &BtlHandle) -> bool {
    btl.can(cap::LIST | cap::ASK) && btl.attrs().flags & BtlAttrs::LISTS_ORDERED != 0
}

/// An operation whose answer is to come.
pub struct Awaited {
    /// Bytes of it.
    pub len: usize,
    pub destination: Destination,
    pub request: Option<Pending>,
}

/// Records that are asked together.
#[derive(Default)]
pub struct Question {
    /// Begun with the rank that asks, where there are any.
    pub records: Vec<u8>,
    /// In the order of the records.
    pub awaited: Vec<Awaited>,
    /// Bytes of the answer but for its first status.
    pub answer: usize,
}

impl Question {
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

/// A question that is asked, or waits for room.
pub struct Ask {
    pub rank: u32,
    /// Of the line.
    pub number: u64,
    pub question: Question,
    pub answer: Vec<u8>,
    pub status: Status,
    ended: Arc<Ended>,
}

/// Questions that have ended, until a turn of the window's looks at them.
pub struct Ended {
    count: AtomicU32,
    /// `None`: nobody looks any more.
    all: Mutex<Option<VecDeque<Box<Ask>>>>,
}

impl Default for Ended {
    fn default() -> Ended {
        Ended { count: AtomicU32::new(0), all: Mutex::new(Some(VecDeque::new())) }
    }
}

impl Ended {
    fn lock(&self) -> MutexGuard<'_, Option<VecDeque<Box<Ask>>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_empty(&self) -> bool {
        // SYNC POINT with `end`.
        self.count.load(Ordering::Acquire) == 0
    }

    pub fn take(&self) -> VecDeque<Box<Ask>> {
        if self.is_empty() {
            return VecDeque::new();
        }
        let mut all = self.lock();
        self.count.store(0, Ordering::Relaxed);
        all.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Nobody looks any more: the program has given the window up, and with it what it asked.
    pub fn close(&self) {
        core::mem::forget(self.lock().take());
    }

    fn end(&self, ask: Box<Ask>) {
        match &mut *self.lock() {
            Some(all) => {
                all.push_back(ask);
                // SYNC POINT with `is_empty`.
                self.count.store(all.len() as u32, Ordering::Release);
            }
            None => core::mem::forget(ask),
        }
    }
}

/// For transports: the question that is the context has ended.
///
/// # Safety
/// `ask` is what [`Line::offer`] gave to the verb, and this is called once for it.
unsafe extern "C" fn done(ask: *mut c_void, status: Status) {
    // SAFETY: a box of `Line::offer`, which has given it away.
    let mut ask = unsafe { Box::from_raw(ask.cast::<Ask>()) };
    ask.status = status;
    let ended = ask.ended.clone();
    ended.end(ask);
}

/// See the file's text.
pub struct Line {
    reach: Reach,
    ctx: u32,
    registration: RemoteRegistration,
    ended: Arc<Ended>,
    /// Bytes of a question, and of an answer, at most.
    room: usize,
    /// The records that are gathered.
    pub question: Question,
    /// How many were asked, or wait for room, and of how many of them the rank was told by a message.
    pub asked: u64,
    pub told: u64,
    /// Those with lower numbers have answers that something here waits for.
    pub awaited: u64,
    /// Those with lower numbers have ended; whether the next ones have.
    ended_before: u64,
    under_way: VecDeque<bool>,
    unsent: VecDeque<Box<Ask>>,
    /// Those that have ended, for others.
    spare: VecDeque<Box<Ask>>,
}

impl Line {
    /// The line by a transport that carries questions; `None`: it carries so short ones that none is worth it.
    pub fn new(reach: Reach, cri: u32, registration: RemoteRegistration, ended: Arc<Ended>) -> Option<Line> {
        let attrs = reach.btl().attrs();
        let room = usize::try_from(attrs.list_limit.checked_sub(LIST_ENTRY)? & !7).ok()?;
        (room >= SHORTEST).then(|| Line {
            reach,
            ctx: cri % attrs.contexts.max(1),
            registration,
            ended,
            room,
            question: Question::default(),
            asked: 0,
            told: 0,
            awaited: 0,
            ended_before: 0,
            under_way: VecDeque::new(),
            unsent: VecDeque::new(),
            spare: VecDeque::new(),
        })
    }

    /// The context on which it asks.
    pub fn ctx(&self) -> u32 {
        self.ctx
    }

    /// Whether a record with an answer of so many bytes, if it has one, fits into a question by itself.
    pub fn has_room(&self, record: usize, answer: Option<usize>) -> bool {
        QUESTION + record <= self.room && room_of(answer.map_or(0, room_of)) <= self.room
    }

    /// Whether it fits behind the records that are gathered, of which there are `limit` bytes at most.
    pub fn joins(&self, record: usize, answer: Option<usize>, limit: usize) -> bool {
        let Question { records, answer: more, .. } = &self.question;
        records.len() + record <= limit.min(self.room)
            && room_of(more + answer.map_or(0, room_of)) <= self.room
    }

    /// Whether all questions with lower numbers have ended.
    pub fn ended_before(&self, number: u64) -> bool {
        self.ended_before >= number
    }

    /// How many questions wait for room.
    pub fn unsent(&self) -> usize {
        self.unsent.len()
    }

    /// Asks what is gathered, behind the others; [`Line::send`] follows.
    pub fn ask(&mut self, rank: u32) {
        if self.question.is_empty() {
            return;
        }
        let mut ask = self.spare.pop_back().unwrap_or_else(|| {
            let (question, answer, ended) = (Question::default(), Vec::new(), self.ended.clone());
            Box::new(Ask { rank, number: 0, question, answer, status: Status::OK, ended })
        });
        core::mem::swap(&mut ask.question, &mut self.question);
        (ask.number, ask.status) = (self.asked, Status::OK);
        ask.answer.resize(room_of(ask.question.answer), 0);
        self.asked += 1;
        if !ask.question.awaited.is_empty() {
            self.awaited = self.asked;
        }
        self.under_way.push_back(false);
        self.unsent.push_back(ask);
    }

    /// Offers questions to the transport as far as it has room; a failure to do so.
    pub fn send(&mut self, host: &Host, entry: &mut CallEntry) -> Status {
        while let Some(ask) = self.unsent.pop_front() {
            match self.offer(host, entry, ask) {
                Ok(()) => {}
                Err((ask, status)) => {
                    self.unsent.push_front(ask);
                    return if status == Status::NO_RESOURCE { Status::OK } else { status };
                }
            }
        }
        Status::OK
    }

    fn offer(&self, host: &Host, entry: &mut CallEntry, mut ask: Box<Ask>) -> Result<(), (Box<Ask>, Status)> {
        let (btl, len) = (self.reach.btl(), ask.answer.len() as u64);
        // SAFETY: the memory of a vector, which nobody changes before this is over.
        let records =
            unsafe { core::slice::from_raw_parts(ask.question.records.as_ptr(), ask.question.records.len()) };
        // SAFETY: memory of the box, which nobody uses before the question has ended. The host copies answers there, so it has no handle.
        let results = unsafe { Results::new(ask.answer.as_mut_ptr(), len, core::ptr::null()) };
        let mut entries = Entries::new(1, Some(results));
        entries.push(Entry::ask(&self.registration, records, Some((0, len))));
        host.activate(self.ctx);
        let mut held = host.hold(entry, self.ctx);
        let raw = Box::into_raw(ask);
        // SAFETY: the endpoint is the transport's, and stays as long as the instance; the answer has its place in the box, which is given away to `done`, and all else is
        // read during the call.
        let status = unsafe { btl.list(&mut held, self.reach.endpoint, &entries.desc(done, raw.cast())) };
        if status == Status::PENDING {
            return Ok(());
        }
        // SAFETY: nothing is under way, so nobody else has it.
        let ask = unsafe { Box::from_raw(raw) };
        // A list with something in it is never complete at once.
        Err((ask, if status.is_err() { status } else { Status::INTERNAL }))
    }

    /// A question has ended, and what it brought is where it belongs.
    pub fn end(&mut self, mut ask: Box<Ask>) {
        self.note_end(ask.number);
        ask.question.records.clear();
        ask.question.awaited.clear();
        ask.question.answer = 0;
        ask.answer.clear();
        if self.spare.len() < SPARE {
            self.spare.push_back(ask);
        }
    }

    fn note_end(&mut self, number: u64) {
        if let Some(ended) = number
            .checked_sub(self.ended_before)
            .and_then(|place| self.under_way.get_mut(usize::try_from(place).ok()?))
        {
            *ended = true;
        }
        while self.under_way.front() == Some(&true) {
            self.under_way.pop_front();
            self.ended_before += 1;
        }
    }

    /// Takes all that is not asked yet: nothing is asked any more.
    pub fn give_up(&mut self) -> Vec<Awaited> {
        let mut all = core::mem::take(&mut self.question).awaited;
        for mut ask in core::mem::take(&mut self.unsent) {
            all.append(&mut ask.question.awaited);
            self.note_end(ask.number);
        }
        all
    }
}

/// Questions that are kept for others.
const SPARE: usize = 64;

/// The least room in which records of any kind without a layout, and the largest element for compare and swap, fit.
const SHORTEST: usize = 256;
