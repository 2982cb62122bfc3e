//! Taking what came: events name links, whose mailboxes are emptied and handed up.
//!
//! An event may precede its message, so a link is looked at until as many messages were taken as events came. Where the queue of
//! arrivals overruns, events are lost and messages are not: all mailboxes of the lane are looked at then.

use crate::context::{Context, Holder};
use crate::lane::Lane;
use crate::link::{Link, State};
use crate::nic::Taken;
use crate::rail::Rail;
use crate::wire::{HEAD, Kind, read_head};
use core::sync::atomic::Ordering;
use oxmpi_btl::{Arrival, Bytes, Entered};

/// Messages handed up in one turn at most, so that other transports get theirs.
const BATCH: i32 = 32;
/// Events taken in one turn at most.
const EVENTS: usize = 64;
/// Turns after which the queue of sent messages is read though nothing is known to be under way: the library does its own work then.
const IDLE_TURNS: u32 = 256;

/// Result of taking a message out of a mailbox.
enum MailboxRead {
    Taken,
    /// Its receiver wants the batch to end.
    Stop,
    /// The mailbox is empty.
    Empty,
    /// It was no message that may come.
    Bad,
}

impl Rail {
    /// A turn of a lane's holder. How much it handled.
    pub fn turn<C: Holder>(&self, at: &mut Entered<'_, C>) -> i32 {
        let mut handled = 0;
        if self.calls.load(Ordering::Relaxed) > 0 {
            handled += self.look_for_datagrams();
        }
        let lane = self.lane_of(at);
        // A turn from inside a receiver is against the contract.
        if core::mem::replace(&mut at.context().is_busy, true) {
            return 0;
        }
        if lane.has_news() {
            handled += self.take_news(lane, at.context());
        }
        handled += self.complete_operations(lane, at);
        if lane.arrivals.has_entry() {
            handled += self.take_arrivals(lane, at.context());
        }
        handled += self.empty_mailboxes(lane, at);
        let context = at.context();
        context.pool.turns += 1;
        if context.pool.under_way() > 0 || context.pool.turns >= IDLE_TURNS {
            handled += self.reap(lane, &mut context.pool, &context.links);
        }
        if !context.unsent.is_empty() {
            handled += self.send_unsent(lane, context);
        }
        context.is_busy = false;
        handled
    }

    fn take_news(&self, lane: &Lane, context: &mut Context) -> i32 {
        let news = lane.news();
        // Messages may have come before the mailboxes were joined.
        for &index in &news {
            if context.tracked(lane, index).is_some() {
                context.look_at(index);
            }
        }
        news.len() as i32
    }

    fn take_arrivals(&self, lane: &Lane, context: &mut Context) -> i32 {
        let mut indices = [0u32; EVENTS];
        let (mut count, mut overran) = (0, false);
        let nic = lane.nic.lock();
        while count < EVENTS {
            match nic.take_event(&lane.arrivals) {
                Taken::Nothing => break,
                Taken::Event(event) => {
                    indices[count] = nic.index(event);
                    count += 1;
                }
                Taken::Overrun(event) => {
                    overran = true;
                    indices[count] = nic.index(event);
                    count += 1;
                }
                Taken::Failed(_) => overran = true,
                Taken::Broken(code) => {
                    self.host.error(&format!("a queue of arriving messages: {}", nic.text(code)));
                    break;
                }
            }
        }
        drop(nic);
        for &index in &indices[..count] {
            if let Some(tracked) = context.tracked(lane, index) {
                tracked.owed += 1;
                context.look_at(index);
            }
        }
        if overran {
            self.overran();
            context.meet(lane);
            for index in 0..context.links.len() as u32 {
                // How many events were lost is not known: from here on they are counted anew.
                context.links[index as usize].owed = 0;
                context.look_at(index);
            }
        }
        count as i32
    }

    /// Looks into the mailboxes of links that are ready.
    fn empty_mailboxes<C: Holder>(&self, lane: &Lane, at: &mut Entered<'_, C>) -> i32 {
        let mut handled = 0;
        let rounds = at.context().ready();
        for _ in 0..rounds {
            let Some(index) = at.context().next_ready() else { break };
            let again = loop {
                if handled >= BATCH {
                    break true;
                }
                match self.next_message(lane, at, index) {
                    MailboxRead::Taken => handled += 1,
                    MailboxRead::Stop => {
                        handled += 1;
                        at.context().look_at(index);
                        return handled;
                    }
                    // Something was announced that is not there yet.
                    MailboxRead::Empty => break at.context().links[index as usize].owed > 0,
                    MailboxRead::Bad => break false,
                }
            };
            if again {
                at.context().look_at(index);
            }
        }
        handled
    }

    /// Takes the next message of a link and hands it up, with no lock held.
    fn next_message<C: Holder>(&self, lane: &Lane, at: &mut Entered<'_, C>, index: u32) -> MailboxRead {
        let tracked = &mut at.context().links[index as usize];
        let link = &*tracked.link;
        // Messages that a lost process has sent before are handed up, as long as its mailbox is there.
        let Some(ep) = link.ep().filter(|_| link.state() != State::Calling) else { return MailboxRead::Bad };
        // The device's lock is given back before the message is looked at.
        let next = lane.nic.lock().next_message(ep);
        let (message, tag) = match next {
            Ok(Some(message)) => message,
            Ok(None) => return MailboxRead::Empty,
            Err(code) => {
                let why = format!("its mailbox cannot be read: {}", lane.nic.api.code_text(code));
                self.fail(&link.core, &why);
                return MailboxRead::Bad;
            }
        };
        tracked.owed -= 1;
        // SAFETY: a message has at least a head, and a mailbox's message has room for the longest.
        let (receiver, len) = read_head(unsafe { message.cast::<[u8; HEAD]>().read_unaligned() });
        let kind = Kind::of(tag).filter(|_| len <= self.settings.max_send_size());
        let taken = kind.and_then(|kind| {
            // SAFETY: a message of the mailbox has room for the longest, and `len` is not beyond that. It stays until it is released, below.
            let bytes = unsafe { Bytes::new(message.add(HEAD), len as u64) };
            self.hand_up(at, index, kind, receiver, bytes)
        });
        // Its receiver may have sent on this context, so the link is found anew.
        let link = at.context().link(index);
        if taken.is_none() {
            self.refuse(link, tag, len);
        }
        if let Some(ep) = link.ep() {
            lane.nic.lock().release(ep);
        }
        match taken {
            None => MailboxRead::Bad,
            Some(true) => MailboxRead::Stop,
            Some(false) => MailboxRead::Taken,
        }
    }

    /// Whether the receiver wants the batch to end. `None`: such a message may not come on this link.
    fn hand_up<C: Holder>(
        &self,
        at: &mut Entered<'_, C>,
        index: u32,
        kind: Kind,
        receiver: u8,
        bytes: Bytes<'_>,
    ) -> Option<bool> {
        let tracked = &mut at.context().links[index as usize];
        match kind {
            Kind::Bye => {
                tracked.link.core.gone.store(true, Ordering::Release);
                return Some(false);
            }
            Kind::Message if !C::SERVES => {}
            Kind::Request if C::SERVES => {}
            Kind::Reply if !C::SERVES && tracked.take_reply() => {}
            _ => return None,
        }
        if self.closing.load(Ordering::Acquire) {
            return Some(false);
        }
        let proc = tracked.link.core.proc;
        let link = if C::SERVES { Rail::request_number(&tracked.link) } else { 0 };
        at.begin_request(index);
        let answer = at.deliver(&self.host, Arrival { proc, tag: receiver, bytes, link });
        if at.end_request() {
            self.host.error(&format!("a request with tag {receiver} was not answered by its receiver"));
        }
        Some(answer.stops())
    }

    /// Nobody who keeps to the protocol sends that.
    #[cold]
    fn refuse(&self, link: &Link, tag: u8, len: usize) {
        let what = format!(
            "process {} sent {len} bytes as a message of kind {tag}, which cannot be",
            link.core.proc
        );
        self.host.peer_error(link.core.proc, true, &what);
    }
}
