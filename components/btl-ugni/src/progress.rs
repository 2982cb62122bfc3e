//! Taking what came: events name links, whose mailboxes are emptied and handed up.
//!
//! An event may precede its message, so a link is looked at until as many messages were taken as events came. Where the queue of
//! arrivals overruns, events are lost and messages are not: all mailboxes of the lane are looked at then.

use crate::lane::Lane;
use crate::link::{Link, State};
use crate::nic::Taken;
use crate::rail::Rail;
use crate::wire::{HEAD, Kind, read_head};
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use oxmpi_btl::SERVICE_CTX;
use oxmpi_mca::{RecvDesc, host::receive};
use std::sync::Arc;

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
    /// A turn of a lane. How much it handled.
    pub fn turn(&self, number: usize, module: *mut c_void) -> i32 {
        let mut handled = 0;
        if self.calls.load(Ordering::Relaxed) > 0 {
            handled += self.look_for_datagrams();
        }
        let lane = &self.lanes[number];
        // A turn from inside a receiver is against the contract.
        if lane.is_busy.replace(true) {
            return 0;
        }
        if lane.has_news() {
            handled += self.take_news(lane);
        }
        handled += self.complete_operations(lane);
        if lane.arrivals.has_entry() {
            handled += self.take_arrivals(lane);
        }
        handled += self.empty_mailboxes(lane, module);
        let mut held = lane.held.borrow_mut();
        held.turns += 1;
        if held.pool.under_way() > 0 || held.turns >= IDLE_TURNS {
            handled += self.reap(lane, &mut held);
        }
        if !held.unsent.is_empty() {
            handled += self.send_unsent(lane, &mut held);
        }
        drop(held);
        lane.is_busy.set(false);
        handled
    }

    fn take_news(&self, lane: &Lane) -> i32 {
        let news = lane.news();
        let mut held = lane.held.borrow_mut();
        let count = news.len() as i32;
        // Messages may have come before the mailboxes were joined.
        news.into_iter().for_each(|link| held.look_at(link));
        count
    }

    fn take_arrivals(&self, lane: &Lane) -> i32 {
        let mut indices = [0u32; EVENTS];
        let (mut count, mut overran) = (0, false);
        let nic = lane.nic.enter();
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
        let mut held = lane.held.borrow_mut();
        for index in &indices[..count] {
            if let Some(link) = lane.link(&mut held, *index) {
                link.owed.fetch_add(1, Ordering::Relaxed);
                held.look_at(link);
            }
        }
        if overran {
            self.overran();
            for link in lane.links() {
                // How many events were lost is not known: from here on they are counted anew.
                link.owed.store(0, Ordering::Relaxed);
                held.look_at(link);
            }
        }
        count as i32
    }

    /// Looks into the mailboxes of links that are ready.
    fn empty_mailboxes(&self, lane: &Lane, module: *mut c_void) -> i32 {
        let mut handled = 0;
        let rounds = lane.held.borrow().ready.len();
        for _ in 0..rounds {
            let Some(link) = lane.held.borrow_mut().next_ready() else { break };
            let again = loop {
                if handled >= BATCH {
                    break true;
                }
                match self.next_message(lane, &link, module) {
                    MailboxRead::Taken => handled += 1,
                    MailboxRead::Stop => {
                        handled += 1;
                        lane.held.borrow_mut().look_at(link);
                        return handled;
                    }
                    // Something was announced that is not there yet.
                    MailboxRead::Empty => break link.owed.load(Ordering::Relaxed) > 0,
                    MailboxRead::Bad => break false,
                }
            };
            if again {
                lane.held.borrow_mut().look_at(link);
            }
        }
        handled
    }

    /// Takes the next message of a link and hands it up, with nothing borrowed and no lock held.
    fn next_message(&self, lane: &Lane, link: &Arc<Link>, module: *mut c_void) -> MailboxRead {
        // Messages that a lost process has sent before are handed up, as long as its mailbox is there.
        let Some(ep) = link.ep().filter(|_| link.state() != State::Calling) else { return MailboxRead::Bad };
        // The device's lock is given back before the message is looked at.
        let next = lane.nic.enter().next_message(ep);
        let (at, tag) = match next {
            Ok(Some(message)) => message,
            Ok(None) => return MailboxRead::Empty,
            Err(code) => {
                let why = format!("its mailbox cannot be read: {}", lane.nic.api.code_text(code));
                self.fail(&link.core, &why);
                return MailboxRead::Bad;
            }
        };
        link.owed.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: a message has at least a head, and a mailbox's message has room for the longest.
        let (receiver, len) = read_head(unsafe { at.cast::<[u8; HEAD]>().read_unaligned() });
        // SAFETY: the message stays until it is released; its length is checked before it is read.
        let data = unsafe { at.add(HEAD) };
        let answer = match Kind::of(tag).filter(|_| len <= self.settings.max_send_size()) {
            Some(kind) => self.hand_up(lane, link, kind, receiver, (data, len), module),
            None => None,
        };
        let Some(answer) = answer else {
            self.refuse(link, tag, len);
            lane.nic.enter().release(ep);
            return MailboxRead::Bad;
        };
        lane.nic.enter().release(ep);
        if answer == receive::STOP { MailboxRead::Stop } else { MailboxRead::Taken }
    }

    /// The receiver's answer. `None`: such a message may not come on this link.
    fn hand_up(
        &self,
        lane: &Lane,
        link: &Arc<Link>,
        kind: Kind,
        receiver: u8,
        (data, len): (*const u8, usize),
        module: *mut c_void,
    ) -> Option<u32> {
        let on_service = usize::from(lane.number) == self.service_lane();
        match kind {
            Kind::Bye => {
                link.core.gone.store(true, Ordering::Release);
                return Some(receive::CONTINUE);
            }
            Kind::Message if !on_service => {}
            Kind::Request if on_service => {}
            Kind::Reply if !on_service && self.take_reply(link) => {}
            _ => return None,
        }
        if self.closing.load(Ordering::Acquire) {
            return Some(receive::CONTINUE);
        }
        let row = self.host.am(receiver);
        let desc = RecvDesc {
            data,
            len: len as u64,
            proc: link.core.proc,
            ctx: if on_service { SERVICE_CTX } else { lane.number.into() },
            module,
            link: if on_service { Rail::request_number(link) } else { 0 },
        };
        if on_service {
            self.service.current.set(Some(link.clone()));
        }
        let answer = (row.receive)(row.ctx, &desc);
        if on_service && self.service.current.take().is_some() {
            self.host.error(&format!("a request with tag {receiver} was not answered by its receiver"));
        }
        Some(answer)
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
