//! The world that a plan is played in: ranks whose plans are stepped in one thread, messages between them, and a file that is a list of bytes.
//!
//! The next thing to happen (a rank's next step, a message that arrives, a transfer that ends) is drawn by a seed, so a case can be played again. If nothing can happen and a
//! plan is not at its end, ranks wait for each other for ever, and the report says for what.
//!
//! Nothing here panics under a component's frames: faults are noted, and fail the check at its end.

use crate::file::{File, Transfer};
use crate::random::Random;
use core::cell::RefCell;
use core::ffi::c_void;
use core::ptr::null;
use oxmpi_coll::{ExtendFn, StepFn, extend, step};
use oxmpi_datatype::{TypeDesc, pack, unpack};
use oxmpi_fbtl::Piece;
use oxmpi_mca::Status;
use std::collections::VecDeque;

/// Elements in a rank's memory.
pub type Elements = (*const u8, u64, *const TypeDesc);

/// A step of a plan.
pub enum Step {
    Send {
        what: Elements,
        to: u32,
        slot: usize,
    },
    Recv {
        what: Elements,
        from: u32,
        slot: usize,
    },
    Wait {
        slot: usize,
    },
    Here(Box<dyn Fn() -> Status>),
    Own {
        f: StepFn,
        ctx: *mut c_void,
        begun: bool,
    },
    Extend {
        f: ExtendFn,
        ctx: *mut c_void,
    },
    Transfer(Transfer),
    /// Behind a transfer that is not for later.
    Ended {
        transfer: usize,
    },
    Settle,
}

/// A message's place in the world; requests are such places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Request {
    Open,
    Done,
    Failed(Status),
}

struct Message {
    what: Elements,
    /// Instead of data.
    failure: Option<Status>,
    copied: Option<Vec<u8>>,
    slot: usize,
}

/// Has a step of a rank that writes further ones called with the last number, and answers what it wrote.
type Record<'a> = dyn Fn(&mut World, u32, ExtendFn, *mut c_void, u32) -> (Status, Vec<Step>) + 'a;

/// One rank's plan.
#[derive(Default)]
pub struct Rank {
    pub steps: VecDeque<Step>,
    requests: Vec<Request>,
    /// Transfers under way, by number.
    transfers: Vec<Option<Transfer>>,
    pub memory: Vec<Vec<u128>>,
    /// Bytes of memory of the plan.
    pub asked: u64,
    /// The first error, and whether data is missing.
    pub error: Option<Status>,
    spoiled: bool,
    /// The answers of `moved`.
    pub moved: Vec<(u64, Status)>,
    /// Steps that were written and not dropped.
    pub contexts: i64,
}

/// Everything that a case consists of.
pub struct World {
    pub ranks: Vec<RefCell<Rank>>,
    /// Messages and receives that have not met, by sender and receiver.
    sent: Vec<VecDeque<Message>>,
    posted: Vec<VecDeque<(Elements, usize)>>,
    pub file: File,
    pub random: Random,
    /// Sends are done at once.
    pub eager: bool,
    /// A pair of ranks that do not reach each other.
    pub cut: Option<(u32, u32)>,
    pub complaints: Vec<String>,
    /// Messages and transfers of the case.
    pub messages: u64,
    pub transfers: u64,
}

impl World {
    pub fn new(n: u32, file: File, seed: u64) -> World {
        let pairs = (n * n) as usize;
        World {
            ranks: (0..n).map(|_| RefCell::default()).collect(),
            sent: (0..pairs).map(|_| VecDeque::new()).collect(),
            posted: (0..pairs).map(|_| VecDeque::new()).collect(),
            file,
            random: Random::new(seed),
            eager: seed.is_multiple_of(2),
            cut: None,
            complaints: Vec::new(),
            messages: 0,
            transfers: 0,
        }
    }

    pub fn complain(&mut self, what: String) {
        if !self.complaints.contains(&what) {
            self.complaints.push(what);
        }
    }

    fn pair(&self, from: u32, to: u32) -> usize {
        from as usize * self.ranks.len() + to as usize
    }

    fn is_cut(&self, a: u32, b: u32) -> bool {
        self.cut == Some((a.min(b), a.max(b)))
    }

    /// Plays all plans to their ends. `record` has a step that writes further ones called, and answers what it wrote.
    pub fn play(&mut self, record: &Record<'_>) {
        loop {
            let mut choices: Vec<Choice> =
                (0..self.ranks.len() as u32).filter(|r| self.can_step(*r)).map(Choice::Step).collect();
            choices.extend((0..self.sent.len()).filter(|p| self.meets(*p)).map(Choice::Land));
            for (rank, state) in (0..).zip(&self.ranks) {
                let state = state.borrow();
                let open = (0..state.transfers.len()).filter(|t| state.transfers[*t].is_some());
                choices.extend(open.map(|t| Choice::Transfer(rank, t)));
            }
            if choices.is_empty() {
                break;
            }
            match choices[self.random.below(choices.len() as u64) as usize] {
                Choice::Step(rank) => self.step(rank, record),
                Choice::Land(pair) => self.land(pair),
                Choice::Transfer(rank, transfer) => self.transfer(rank, transfer),
            }
        }
        self.check_ends();
    }

    fn meets(&self, pair: usize) -> bool {
        !self.sent[pair].is_empty() && !self.posted[pair].is_empty()
    }

    fn check_ends(&mut self) {
        let stuck: Vec<String> = (0..)
            .zip(&self.ranks)
            .filter_map(|(rank, state): (u32, _)| {
                let state = state.borrow();
                let step = state.steps.front().map(|step| match step {
                    Step::Wait { .. } => "a message",
                    Step::Settle | Step::Ended { .. } => "a transfer",
                    _ => "something",
                });
                step.map(|what| format!("rank {rank} waits for {what}"))
            })
            .collect();
        if !stuck.is_empty() {
            return self.complain(format!("nothing can go on: {}", stuck.join(", ")));
        }
        let n = self.ranks.len();
        for pair in 0..self.sent.len() {
            let (from, to) = (pair / n, pair % n);
            if !self.sent[pair].is_empty() {
                self.complain(format!("a message from rank {from} to rank {to} is received by nobody"));
            }
            if !self.posted[pair].is_empty() {
                self.complain(format!("a receive in rank {to} from rank {from} has no message"));
            }
        }
    }

    fn can_step(&self, rank: u32) -> bool {
        let state = self.ranks[rank as usize].borrow();
        match state.steps.front() {
            None => false,
            Some(Step::Wait { slot }) => state.requests[*slot] != Request::Open,
            Some(Step::Ended { transfer }) => state.transfers[*transfer].is_none(),
            Some(Step::Settle) => state.transfers.iter().all(Option::is_none),
            Some(_) => true,
        }
    }

    /// A slot for a request of a rank.
    pub fn slot(&mut self, rank: u32) -> usize {
        let requests = &mut self.ranks[rank as usize].get_mut().requests;
        requests.push(Request::Open);
        requests.len() - 1
    }

    pub fn knows(&self, rank: u32, slot: usize) -> bool {
        slot < self.ranks[rank as usize].borrow().requests.len()
    }

    fn note(&mut self, rank: u32, status: Status, spoils: bool) {
        let state = self.ranks[rank as usize].get_mut();
        if status.is_err() {
            state.error.get_or_insert(status);
            state.spoiled |= spoils;
        }
    }

    fn step(&mut self, rank: u32, record: &Record<'_>) {
        let state = self.ranks[rank as usize].get_mut();
        let (Some(step), spoiled) = (state.steps.pop_front(), state.spoiled) else { return };
        match step {
            Step::Send { what, to, slot } => self.send(rank, what, to, slot, spoiled),
            Step::Recv { what, from, slot } => {
                if self.is_cut(rank, from) {
                    self.ranks[rank as usize].get_mut().requests[slot] = Request::Done;
                    return self.note(rank, Status::UNREACHABLE, true);
                }
                let pair = self.pair(from, rank);
                self.posted[pair].push_back((what, slot));
            }
            Step::Wait { slot } => {
                if let Request::Failed(status) = state.requests[slot] {
                    self.note(rank, status, true);
                }
            }
            Step::Here(work) => {
                if !spoiled {
                    let status = work();
                    self.note(rank, status, true);
                }
            }
            Step::Own { f, ctx, begun } => {
                let status = f(ctx, if begun { step::LOOK } else { step::START });
                if status == Status::PENDING {
                    return self.ranks[rank as usize].get_mut().steps.push_front(Step::Own {
                        f,
                        ctx,
                        begun: true,
                    });
                }
                f(ctx, step::DROP);
                self.note(rank, status, true);
            }
            Step::Extend { f, ctx } => {
                let what = if spoiled { extend::LOST } else { extend::WRITE };
                let (status, written) = record(self, rank, f, ctx, what);
                let state = self.ranks[rank as usize].get_mut();
                written.into_iter().rev().for_each(|step| state.steps.push_front(step));
                state.contexts -= 1;
                // SAFETY: the last call with what the component gave.
                unsafe { f(ctx, null(), extend::DROP) };
                self.note(rank, status, true);
            }
            Step::Transfer(transfer) => {
                if spoiled {
                    return;
                }
                let later = transfer.later;
                state.transfers.push(Some(transfer));
                let number = state.transfers.len() - 1;
                if !later {
                    state.steps.push_front(Step::Ended { transfer: number });
                }
                self.check_transfer(rank, number);
            }
            Step::Ended { .. } | Step::Settle => {}
        }
    }

    fn send(&mut self, rank: u32, what: Elements, to: u32, slot: usize, spoiled: bool) {
        if self.is_cut(rank, to) {
            self.ranks[rank as usize].get_mut().requests[slot] = Request::Done;
            return self.note(rank, Status::UNREACHABLE, false);
        }
        self.messages += 1;
        let failure = spoiled.then_some(Status::UNREACHABLE);
        let copied = (self.eager && !spoiled).then(|| read(what));
        if self.eager || spoiled {
            self.ranks[rank as usize].get_mut().requests[slot] = Request::Done;
        }
        let pair = self.pair(rank, to);
        self.sent[pair].push_back(Message { what, failure, copied, slot });
    }

    /// The first message of a pair meets the first receive.
    fn land(&mut self, pair: usize) {
        let n = self.ranks.len();
        let (from, to) = (pair / n, pair % n);
        let (Some(message), Some((place, slot))) =
            (self.sent[pair].pop_front(), self.posted[pair].pop_front())
        else {
            return;
        };
        self.ranks[from].get_mut().requests[message.slot] = Request::Done;
        let answer = match message.failure {
            Some(status) => Request::Failed(status),
            None => {
                let bytes = message.copied.unwrap_or_else(|| read(message.what));
                if bytes.len() as u64 != len(place) {
                    let text = format!(
                        "{} bytes of rank {from} for a receive of {} in rank {to}",
                        bytes.len(),
                        len(place)
                    );
                    self.complain(text);
                    Request::Failed(Status::TRUNCATED)
                } else {
                    write(place, &bytes);
                    Request::Done
                }
            }
        };
        self.ranks[to].get_mut().requests[slot] = answer;
    }

    /// Transfers must not overlap in the file with others under way, where one of them writes.
    fn check_transfer(&mut self, rank: u32, number: usize) {
        let state = self.ranks[rank as usize].borrow();
        let Some(new) = &state.transfers[number] else { return };
        let mut pieces: Vec<_> =
            new.pieces.iter().filter(|piece| piece.len > 0).map(|p| (p.offset, p.offset + p.len)).collect();
        pieces.sort_unstable();
        let mut faults = Vec::new();
        if new.what == oxmpi_fbtl::transfer::WRITE && pieces.windows(2).any(|two| two[1].0 < two[0].1) {
            faults.push(format!("rank {rank} writes a byte twice in one transfer"));
        }
        let others = state.transfers[..number].iter().flatten();
        for other in others.filter(|other| {
            other.what == oxmpi_fbtl::transfer::WRITE || new.what == oxmpi_fbtl::transfer::WRITE
        }) {
            let overlaps = |piece: &Piece| {
                pieces.iter().any(|(from, to)| piece.offset < *to && *from < piece.offset + piece.len)
            };
            if other.pieces.iter().any(overlaps) {
                faults.push(format!(
                    "rank {rank} starts a transfer of bytes that one under way writes or that it writes"
                ));
            }
        }
        drop(state);
        faults.into_iter().for_each(|fault| self.complain(fault));
    }

    fn transfer(&mut self, rank: u32, number: usize) {
        let Some(transfer) = self.ranks[rank as usize].get_mut().transfers[number].take() else { return };
        self.transfers += 1;
        let (status, bytes) = self.file.transfer(&transfer);
        // SAFETY: null, or the component's places in memory of the plan.
        unsafe {
            if let Some(moved) = transfer.moved.as_mut() {
                *moved = bytes;
            }
            match transfer.outcome.as_mut() {
                Some(outcome) => *outcome = status.0,
                None => self.note(rank, status, false),
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Choice {
    Step(u32),
    Land(usize),
    Transfer(u32, usize),
}

fn len((_, count, desc): Elements) -> u64 {
    // SAFETY: the type lives until its message was waited for.
    unsafe { (*desc).packed * count }
}

fn read(what: Elements) -> Vec<u8> {
    let mut bytes = vec![0; len(what) as usize];
    // SAFETY: as above, and so do the elements.
    unsafe { pack(&*what.2, what.1, what.0, 0, bytes.as_mut_ptr(), bytes.len() as u64) };
    bytes
}

fn write(place: Elements, bytes: &[u8]) {
    // SAFETY: as above.
    unsafe { unpack(&*place.2, place.1, place.0.cast_mut(), 0, bytes.as_ptr(), bytes.len() as u64) };
}
