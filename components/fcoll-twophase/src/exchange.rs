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
use crate::ending;
use crate::gathering::Gathering;
use crate::sending::Sending;
use crate::setting::Setting;
use oxmpi_fcoll::{Call, Moved, Outcome, Range, Request};
use oxmpi_mca::Status;

/// The exchange of one access, in one rank.
pub struct Exchange {
    setting: Setting,
    sending: Sending,
    gathering: Option<Gathering>,
    /// This rank has transferred its own before, and takes part without data.
    own: Option<Moved>,
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
            setting: Setting { domains, byte: call.byte()? },
            sending: Sending::new(call, &domains, mine)?,
            gathering: gathering.flatten(),
            own: None,
        }))
    }

    /// Sends and receives the first announcements, and goes on from there.
    pub fn begin(mut self: Box<Self>, call: &Call<'_>, own: Option<Moved>) -> Result<(), Status> {
        self.own = own;
        // Before any receive, which may be refused: behind that, announcements would say that data is missing.
        self.sending.announce_first(&self.setting, call)?;
        let mut requests = match &mut self.gathering {
            Some(part) => part.receive_first(&self.setting, call)?,
            None => Vec::new(),
        };
        call.wait(&mut requests)?;
        call.then(move |call, _| self.go_on(call))
    }

    /// Does the next task, or ends.
    fn go_on(mut self: Box<Self>, call: &Call<'_>) -> Result<(), Status> {
        if let Some(part) = &mut self.gathering {
            part.check_headers(&self.setting);
        }
        let gathers = self.gathering.as_ref().map_or((NEVER, 0), |part| (part.next_round(), part.owner));
        let sends = self.sending.next();
        let sends_first = sends.0 != NEVER && sends < gathers;
        let setting = self.setting.clone();
        if sends_first {
            let sending = core::mem::take(&mut self.sending);
            return sending.send(setting, call, sends, move |sending, call| {
                self.sending = sending;
                self.go_on(call)
            });
        }
        match self.gathering.take_if(|_| gathers.0 != NEVER) {
            Some(part) => part.gather(setting, call, gathers.0, move |part, call| {
                self.gathering = Some(part);
                self.go_on(call)
            }),
            None => self.end(call),
        }
    }

    /// Waits for whatever is under way, and agrees with the others.
    fn end(mut self: Box<Self>, call: &Call<'_>) -> Result<(), Status> {
        let mut requests: Vec<Request> = self.sending.requests();
        requests.extend(self.gathering.iter_mut().flat_map(Gathering::requests));
        call.wait(&mut requests)?;
        call.settle()?;
        call.then(move |call, lost| {
            if !lost {
                self.sending.unpack(call);
            }
            let outcome = self.gathering.as_mut().map_or(Outcome::FINE, Gathering::outcome);
            ending::end(call, outcome, self.own)
        })
    }
}
