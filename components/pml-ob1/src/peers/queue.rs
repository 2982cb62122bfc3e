//! Sends that wait for room in a FIFO, long operations that go on with the next room, and the message of which a part has come: the lists of a
//! peer, which belong to the holder of the CRI's lock.

use crate::peers::peer::Peer;
use crate::peers::streamed::Streamed;
use crate::requests::request::Request;
use crate::state::guarded::Held;

/// Sends that found no room, oldest first. While there are any, later ones go behind them.
impl Peer {
    /// Whether a send may go: none waits in front of it, and the peer has not failed.
    #[inline(always)]
    pub fn is_clear(&self) -> bool {
        self.queued.get() == 0
    }
    /// Queues a send behind the others.
    pub fn enqueue(&self, held: &Held<'_>, req: &'static Request) {
        self.queue.with(held, |q| q.push_back(req));
        self.queued.set(self.queued.get() + 1);
        self.queue_changed(held);
    }
    /// Takes the oldest send out of the queue, without telling the receiver ([`Peer::queue_changed`]).
    pub fn dequeue(&self, held: &Held<'_>) -> Option<&'static Request> {
        let req = self.queue.with(held, |q| q.pop_front())?;
        self.queued.set(self.queued.get() - 1);
        Some(req)
    }
    /// Puts the send that was taken out last in front of the others again.
    pub fn put_back(&self, held: &Held<'_>, req: &'static Request) {
        self.queue.with(held, |q| q.push_front(req));
        self.queued.set(self.queued.get() + 1);
        self.queue_changed(held);
    }
    /// Takes a send out of the queue, wherever it stands. `false`: it is not there.
    pub fn remove(&self, held: &Held<'_>, req: &Request) -> bool {
        let found = self.queue.with(held, |q| {
            let at = q.iter().position(|r| core::ptr::eq(*r, req));
            at.and_then(|at| q.remove(at)).is_some()
        });
        if found {
            self.queued.set(self.queued.get() - 1);
            self.queue_changed(held);
        }
        found
    }
    /// Lists the queued sends of which `is_it` says yes.
    pub fn queued_of(
        &self,
        held: &Held<'_>,
        is_it: impl Fn(&&'static Request) -> bool,
    ) -> Vec<&'static Request> {
        self.queue.with(held, |q| q.iter().copied().filter(is_it).collect())
    }
    /// Takes all sends out of the queue, and lets none in any more, since the peer is closed.
    pub fn shut(&self, held: &Held<'_>) -> Vec<&'static Request> {
        let queued = self.queue.with(held, |q| q.drain(..).collect());
        self.queue_changed(held);
        self.queued.set(Peer::SHUT);
        queued
    }
}

/// Long operations that go on with the next room, each for a step in its turn.
impl Peer {
    /// Lists a long operation behind the others.
    pub fn add_stream(&self, held: &Held<'_>, req: &'static Request) {
        req.be_listed();
        self.streams.with(held, |q| q.push_back(req));
    }
    /// Takes the first long operation off the list.
    pub fn next_stream(&self, held: &Held<'_>) -> Option<&'static Request> {
        let req = self.streams.with(held, |q| q.pop_front())?;
        req.be_unlisted();
        Some(req)
    }
    /// Gives how many long operations are listed.
    pub fn num_streams(&self, held: &Held<'_>) -> usize {
        self.streams.with(held, |q| q.len())
    }
    /// Takes the long operations off the list of which `is_it` says yes.
    pub fn take_streams_of(
        &self,
        held: &Held<'_>,
        is_it: impl Fn(&&'static Request) -> bool,
    ) -> Vec<&'static Request> {
        let taken = self.streams.with(held, |q| {
            let (taken, others): (Vec<_>, Vec<_>) = q.drain(..).partition(is_it);
            q.extend(others);
            taken
        });
        taken.iter().for_each(|req| req.be_unlisted());
        taken
    }
}

/// The message of which a part has come.
impl Peer {
    /// Gives the message of which a part has come. `None`: there is none.
    pub fn streamed(&self, held: &Held<'_>) -> Option<Streamed> {
        self.streamed.with(held, |c| *c)
    }
    /// Notes a message of which a part has come.
    pub fn begin_streamed(&self, held: &Held<'_>, streamed: Streamed) {
        self.streamed.with(held, |c| *c = Some(streamed));
    }
    /// Forgets the message, of which all has come or nothing more is wanted, and gives it.
    pub fn end_streamed(&self, held: &Held<'_>) -> Option<Streamed> {
        self.streamed.with(held, Option::take)
    }
}
