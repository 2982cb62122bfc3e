//! Sends that wait for room in a FIFO: the queue of a peer, whose oldest message its receiver is told.

use crate::peers::flow::Flow;
use crate::peers::peer::Peer;
use crate::requests::request::Request;
use oxmpi_mca::CriGuard;

/// Sends that found no room, oldest first. While there are any, later ones go behind them.
impl Peer {
    /// Queues a send behind the others.
    pub fn enqueue(&self, held: &mut CriGuard<'_>, req: &'static Request) {
        let flow = self.flow(held);
        flow.queue.push_back(req);
        flow.queued += 1;
        self.queue_changed(held);
    }
    /// Takes the oldest send out of the queue, without telling the receiver ([`Peer::queue_changed`]).
    pub fn dequeue(&self, held: &mut CriGuard<'_>) -> Option<&'static Request> {
        let flow = self.flow(held);
        let req = flow.queue.pop_front()?;
        flow.queued -= 1;
        Some(req)
    }
    /// Puts the send that was taken out last in front of the others again.
    pub fn put_back(&self, held: &mut CriGuard<'_>, req: &'static Request) {
        let flow = self.flow(held);
        flow.queue.push_front(req);
        flow.queued += 1;
        self.queue_changed(held);
    }
    /// Takes a send out of the queue, wherever it stands. `false`: it is not there.
    pub fn remove(&self, held: &mut CriGuard<'_>, req: &Request) -> bool {
        let flow = self.flow(held);
        let at = flow.queue.iter().position(|r| core::ptr::eq(*r, req));
        let found = at.and_then(|at| flow.queue.remove(at)).is_some();
        if found {
            flow.queued -= 1;
            self.queue_changed(held);
        }
        found
    }
    /// Lists the queued sends of which `is_it` says yes.
    pub fn queued_of(
        &self,
        held: &mut CriGuard<'_>,
        is_it: impl Fn(&&'static Request) -> bool,
    ) -> Vec<&'static Request> {
        self.flow(held).queue.iter().copied().filter(is_it).collect()
    }
    /// Takes all sends out of the queue, and lets none in any more, since the peer is closed.
    pub fn shut(&self, held: &mut CriGuard<'_>) -> Vec<&'static Request> {
        let queued = self.flow(held).queue.drain(..).collect();
        self.queue_changed(held);
        self.flow(held).queued = Flow::SHUT;
        queued
    }

    /// Tells the receiver, through the transport, the stamp of the oldest message in the queue. Called after a send was
    /// put into the queue, or has left it for good, before the call that made the message returns.
    pub fn queue_changed(&self, held: &mut CriGuard<'_>) {
        if !held.is_among() || !self.base().has_stamps() || self.base().width() == 1 {
            return;
        }
        let flow = self.flow(held);
        let oldest = flow.oldest_stamp();
        if core::mem::replace(&mut flow.oldest, oldest) != oldest {
            self.tell_oldest(oldest);
        }
    }
}
