//! Two things that all ranks do together: tell each other what they access, and agree on how it ended.
//!
//! Both go in as many rounds as the number of ranks has bits. In round `i` each rank sends to the one `2^i` below and receives from the one `2^i` above. [`Call::tell`] sends all records
//! that it has, so everybody has everybody's at the end; [`Call::agree`] sends the worst it knows of, and since the worst of the worst is the worst, it does not matter by how many ways a
//! rank hears of another.
//!
//! A rank that has lost a message sends nothing but "data is missing" from there on (the host's rule), and each rank is behind each other one in these rounds. So `tell` is followed by an
//! agreement: whoever goes on afterwards knows that all have all records.

use crate::call::{Call, Memory, Request};
use core::ptr;
use oxmpi_datatype::TypeRef;
use oxmpi_mca::Status;

/// The part of the file that a rank accesses.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// Offset of its first byte.
    pub first: u64,
    /// Offset behind its last byte.
    pub end: u64,
    /// Bytes of data; 0: none, and the other fields say nothing.
    pub bytes: u64,
    /// For the planner's use.
    pub mark: u64,
}

/// How an access ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// OK or the failure of a transfer. Of several failures one is the operation's, the same in all ranks.
    pub status: Status,
    /// The offset of the first byte that a read did not find, since the file ends there; `u64::MAX`: none.
    pub end: u64,
}

impl Outcome {
    /// Nothing failed, and nothing was missing.
    pub const FINE: Outcome = Outcome { status: Status::OK, end: u64::MAX };

    /// The worse of both.
    pub fn and(self, other: Outcome) -> Outcome {
        // Failures are negative.
        let status = if other.status.0 < self.status.0 { other.status } else { self.status };
        Outcome { status, end: self.end.min(other.end) }
    }
}

const RECORD: u64 = size_of::<Range>() as u64;

impl Call<'_> {
    /// The ranks to send to and to receive from at a distance.
    fn at_distance(&self, distance: u32) -> (u32, u32) {
        let (me, n) = (self.rank(), self.num_ranks());
        ((me + n - distance) % n, (me + distance) % n)
    }

    /// Tells all ranks this rank's range, and has `next` called with everybody's, by rank. Where a message is lost `next` gets none, and then nothing in any rank, as far as ranks
    /// reach each other.
    pub fn tell(
        &self,
        mine: Range,
        next: impl FnOnce(&Call<'_>, Option<Vec<Range>>) -> Result<(), Status> + Send + 'static,
    ) -> Result<(), Status> {
        self.tell_with(mine, Outcome::FINE, |call, told| next(call, told.map(|(ranges, _)| ranges)))
    }

    /// The same of a rank that has transferred something before, with that outcome: `next` gets the worst outcome of all ranks, too.
    pub fn tell_with(
        &self,
        mine: Range,
        outcome: Outcome,
        next: impl FnOnce(&Call<'_>, Option<(Vec<Range>, Outcome)>) -> Result<(), Status> + Send + 'static,
    ) -> Result<(), Status> {
        let (n, me) = (self.num_ranks(), self.rank());
        let known = self.memory(RECORD * n as u64)?;
        // Own record first, then those of the ranks above.
        // SAFETY: room for `n` records.
        unsafe { known.at().cast::<Range>().write(mine) };
        let byte = self.byte()?;
        let mut distance = 1;
        while distance < n {
            let (to, from) = self.at_distance(distance);
            let len = RECORD * distance.min(n - distance) as u64;
            let place = known.at().wrapping_add(RECORD as usize * distance as usize);
            // SAFETY: the plan's memory; what is sent was received before and is not touched any more. The type is kept by the function below.
            let mut both =
                unsafe { vec![self.recv(place, len, &byte, from)?, self.send(known.at(), len, &byte, to)?] };
            self.wait(&mut both)?;
            distance *= 2;
        }
        self.agree(outcome, move |call, outcome| {
            drop(byte);
            let Some(outcome) = outcome else { return next(call, None) };
            // SAFETY: `n` records, all received.
            let known = unsafe { core::slice::from_raw_parts(known.at().cast::<Range>(), n as usize) };
            let mut by_rank = known.to_vec();
            by_rank.rotate_right(me as usize);
            next(call, Some((by_rank, outcome)))
        })
    }

    /// Agrees on the worst outcome of all ranks, and has `next` called with it; `None`: a message was lost, and there is none.
    pub fn agree(
        &self,
        mine: Outcome,
        next: impl FnOnce(&Call<'_>, Option<Outcome>) -> Result<(), Status> + Send + 'static,
    ) -> Result<(), Status> {
        let round =
            Round { buffers: self.zeroed(64)?, byte: self.byte()?, distance: 1, next: Box::new(next) };
        round.go(self, mine, false)
    }
}

type AfterAgreement = Box<dyn FnOnce(&Call<'_>, Option<Outcome>) -> Result<(), Status> + Send>;

/// One round of an agreement.
struct Round {
    /// The outcome that is sent, and behind it the one that is received.
    buffers: Memory,
    byte: TypeRef,
    distance: u32,
    next: AfterAgreement,
}

impl Round {
    const LEN: u64 = 16;

    fn go(mut self, call: &Call<'_>, known: Outcome, lost: bool) -> Result<(), Status> {
        if self.distance >= call.num_ranks() {
            let answer = if lost { None } else { Some(known) };
            return (self.next)(call, answer);
        }
        let (to, from) = call.at_distance(self.distance);
        let (out, place) = (self.buffers.at(), self.buffers.at().wrapping_add(32));
        // SAFETY: the plan's memory, of 64 bytes; both messages are waited for before it is used again, and the type lives in the function behind them.
        let mut both: Vec<Request> = unsafe {
            ptr::write(out.cast(), [known.status.0 as i64 as u64, known.end]);
            vec![call.recv(place, Round::LEN, &self.byte, from)?, call.send(out, Round::LEN, &self.byte, to)?]
        };
        call.wait(&mut both)?;
        self.distance *= 2;
        call.then(move |call, lost| {
            // SAFETY: received, or what was there: initialised in any case.
            let [status, end] = unsafe { self.buffers.at().wrapping_add(32).cast::<[u64; 2]>().read() };
            let other =
                if lost { Outcome::FINE } else { Outcome { status: Status(status as i64 as i32), end } };
            self.go(call, known.and(other), lost)
        })
    }
}
