//! The exchange as a sequence of tasks: in which order a rank does its parts of the rounds, and why that ends.
//!
//! **Tasks.** A round of an aggregator is a task of that aggregator (`gathering.rs`), and of each rank that has data in it (`sending.rs`). Every rank does its tasks in the order
//! of (round, aggregator), and leaves out those in which it has nothing. Of a task it knows ahead: a rank from its own view, an aggregator from the ranks' announcements, of which it
//! holds one from each rank: the next round is the lowest that is announced. The announcement of a rank's next round with an aggregator goes with its data of the last one.
//!
//! **Why nobody waits for ever.** A rank waits in a task only for messages of that task or of earlier ones. Of all tasks that are not done anywhere look at the first: the ranks that have
//! a part in it have done all that come before, so they are at it, and its messages go. Since messages from one rank to another have no other order than the one they were started in, it
//! matters as well that both ends start theirs task by task.
//!
//! **Two of everything.** An aggregator has two images, and a rank two stores for packed data. Work that was started with one of them (a write, messages of a read) goes on while the
//! other is filled, and is waited for when its turn comes again.
//!
//! **Lost messages.** A rank that has lost one sends nothing but "data is missing" from there on (the host's rule). It does each task once more that it has announced, and announces no
//! further one; at the other end the announcement fails, and the place for it still says that there is no more. So both ends know of the same messages. An aggregator that has lost
//! something goes on with the ranks that it hears of, and transfers nothing. The agreement at the end tells all.

use crate::domains::{Domains, NEVER};
use crate::gathering::Gathering;
use crate::plan;
use crate::sending::Sending;
use oxmpi_datatype::TypeRef;
use oxmpi_fcoll::{Call, Outcome, Range, Request};
use oxmpi_mca::Status;

/// The exchange of one access, in one rank.
pub struct Exchange {
    pub domains: Domains,
    pub byte: TypeRef,
    pub sending: Sending,
    pub gathering: Option<Gathering>,
    /// The outcome as far as this rank knows it.
    pub outcome: Outcome,
    /// This rank takes part without data, and reads its own behind.
    by_itself: bool,
}

impl Exchange {
    /// The exchange of ranks with those ranges.
    pub fn new(call: &Call<'_>, ranges: &[Range]) -> Result<Box<Exchange>, Status> {
        let (layout, aggregators) = (call.layout(), call.aggregators());
        let domains = Domains::new(layout.num_aggregators, layout.unit, (layout.buffer / 2).max(1));
        let mine = ranges[call.rank() as usize];
        let own = aggregators.iter().position(|rank| *rank == call.rank());
        let gathering = own.map(|owner| Gathering::new(call, &domains, ranges, owner as u64)).transpose()?;
        Ok(Box::new(Exchange {
            domains,
            byte: call.byte()?,
            sending: Sending::new(call, &domains, mine)?,
            gathering: gathering.flatten(),
            outcome: Outcome::FINE,
            by_itself: false,
        }))
    }

    /// Sends and receives the first announcements, and goes on from there.
    pub fn begin(mut self: Box<Self>, call: &Call<'_>, by_itself: bool) -> Result<(), Status> {
        self.by_itself = by_itself;
        // Before any receive, which may be refused: behind that, announcements would say that data is missing.
        self.announce_first(call)?;
        let mut requests = self.receive_first(call)?;
        call.wait(&mut requests)?;
        call.then(move |call, lost| self.go_on(call, lost))
    }

    /// Does the next task, or ends.
    pub fn go_on(mut self: Box<Self>, call: &Call<'_>, lost: bool) -> Result<(), Status> {
        self.check_headers();
        let gathers = self.gathering.as_ref().map_or((NEVER, 0), |part| (part.next_round(), part.owner));
        let sends = self.sending.next();
        let sends_first = sends.0 != NEVER && sends < gathers;
        if sends_first {
            self.send(call, sends)
        } else if gathers.0 != NEVER {
            self.gather(call, gathers.0)
        } else {
            self.end(call, lost)
        }
    }

    /// Waits for whatever is under way, and agrees with the others.
    fn end(mut self: Box<Self>, call: &Call<'_>, _: bool) -> Result<(), Status> {
        let mut requests: Vec<Request> = self.sending.requests();
        requests.extend(self.gathering.iter_mut().flat_map(Gathering::requests));
        call.wait(&mut requests)?;
        call.settle()?;
        call.then(move |call, lost| {
            if !lost {
                self.sending.unpack(call);
            }
            if let Some(part) = &mut self.gathering {
                self.outcome = self.outcome.and(part.written());
            }
            let outcome = self.outcome;
            if self.by_itself {
                return call.transfer_own(move |call, own| plan::end(call, outcome, Some(own)));
            }
            plan::end(call, outcome, None)
        })
    }
}
