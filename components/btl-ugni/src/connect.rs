//! Making links: each side sends its half as a datagram, and joins the mailboxes when the other's has come.
//!
//! A datagram to a process meets the one that waits there for whoever comes, or one that comes across. Either way it arrives once, and
//! what comes back is an offer or nothing (zeros), so datagrams serve as messages in one direction: whoever wants a link sends its offer, and who gets
//! one for a link that was new sends its own. One at a time is under way to each process, which the network demands; the others wait in
//! line. A thread waits for datagrams, so links are made while the process computes; while some are under way, turns look as well, since that
//! thread is not woken reliably by those to a given process.

use crate::abi::{DATAGRAM, MBOX_AUTO_RETRANSMIT, SmsgAttr, post_state, rc};
use crate::desk::{ANYBODY, DIRECTED, Desk, Line};
use crate::link::{Link, State, held};
use crate::nic::{Datagram, Nic};
use crate::rail::Rail;
use crate::wire::Offer;
use core::ptr::{with_exposed_provenance_mut, without_provenance_mut};
use core::sync::atomic::Ordering;
use oxmpi_mca::ProcName;
use std::collections::VecDeque;
use std::sync::Arc;

/// Milliseconds for which the thread waits where nothing is under way, and where something is.
const IDLE: u32 = 50;
const BUSY: u32 = 2;

impl Rail {
    fn first(&self) -> &Arc<Nic> {
        &self.devices[0].nic
    }

    /// Has a new link made. Any thread, holding no lock.
    pub fn call(&self, link: &Link) {
        if link.advance(State::New, State::Calling) {
            self.send_offer(&mut held(&self.desk), link, None);
        }
    }

    /// Puts our half of a link in line; `control` is where the peer's datagrams come from, if that is known better than by its card.
    fn send_offer(&self, desk: &mut Desk, link: &Link, control: Option<(u32, u32)>) {
        let lane = &self.lanes[usize::from(link.ours)];
        let Ok(attr) = self.attributes(link) else {
            return self.fail(&link.core, "its mailbox has no size");
        };
        let offer = Offer {
            job_id: self.host.job().job_id,
            name: self.name.bytes,
            from: link.ours,
            to: link.theirs,
            index: link.index,
            inst: lane.nic.inst,
            base: link.mailbox.base,
            offset: link.mailbox.offset,
            size: attr.buff_size,
            handle: link.mailbox.handle,
        };
        let n = match desk.by_proc.get(&link.core.proc) {
            Some(&n) => n,
            None => {
                let from_card = || link.core.card.get().map(|c| (c.address, c.insts[0]));
                let Some(control) = control.or_else(from_card) else {
                    return self.fail(&link.core, "its address is not known");
                };
                let ep = match self.first().lock().ep(None, Some(control)) {
                    Ok(ep) => ep,
                    Err(code) => {
                        let why = format!("an endpoint for datagrams: {}", self.first().api.code_text(code));
                        return self.fail(&link.core, &why);
                    }
                };
                desk.by_proc.insert(link.core.proc, desk.lines.len());
                let (core, place) = (link.core.clone(), Box::new([0; DATAGRAM]));
                desk.lines.push(Line { core, ep, place, is_under_way: false, offers: VecDeque::new() });
                desk.lines.len() - 1
            }
        };
        desk.lines[n].offers.push_back(offer.encode());
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.post_offer(desk, n);
    }

    /// Posts the first offer of a line, unless one is under way. Where the device is busy a later turn does.
    fn post_offer(&self, desk: &mut Desk, n: usize) {
        let line = &mut desk.lines[n];
        let Some(offer) = line.offers.front().filter(|_| !line.is_under_way) else { return };
        // SAFETY: the place lives until the endpoint is ended.
        let posted = unsafe {
            self.first().lock().post_datagram(&line.ep, offer, line.place.as_mut_ptr(), DIRECTED | n as u64)
        };
        match posted {
            Ok(()) => line.is_under_way = true,
            // INVALID_PARAM is what the kernel says of an endpoint whose last one is not collected.
            Err(rc::ERROR_RESOURCE | rc::NOT_DONE | rc::ERROR_NOMEM | rc::INVALID_PARAM) => {}
            Err(code) => {
                let why = format!("a datagram is refused: {}", self.first().api.code_text(code));
                let core = line.core.clone();
                self.drop_line(desk, n);
                self.fail(&core, &why);
            }
        }
    }

    /// Forgets the offers of a line.
    fn drop_line(&self, desk: &mut Desk, n: usize) {
        self.calls.fetch_sub(desk.lines[n].offers.len(), Ordering::SeqCst);
        desk.lines[n].offers.clear();
    }

    /// Looks for datagrams that are over, if nobody else does. Holds no lock when called.
    pub fn look_for_datagrams(&self) -> i32 {
        match self.desk.try_lock() {
            Ok(mut desk) => self.take_datagrams(&mut desk),
            Err(_) => 0,
        }
    }

    /// The connecting thread's loop: waits for datagrams and takes them until the process ends.
    pub fn connect(&self) {
        while !self.stop.load(Ordering::Acquire) {
            let busy = self.calls.load(Ordering::SeqCst) > 0;
            self.first().wait_for_datagram(if busy { BUSY } else { IDLE });
            self.take_datagrams(&mut held(&self.desk));
        }
    }

    fn take_datagrams(&self, desk: &mut Desk) -> i32 {
        let mut taken = 0;
        while let Some(id) = { self.first().lock().probe_datagram() } {
            taken += 1;
            if id == ANYBODY {
                desk.place.fill(0);
                let over = self.first().lock().take_datagram(&desk.anybody, id);
                desk.is_posted = false;
                if let Ok(from) = over.filter_completed() {
                    let offer = *desk.place;
                    self.take_offer(desk, &offer, from);
                }
            } else {
                let n = (id & !DIRECTED) as usize;
                if id & DIRECTED == 0 || n >= desk.lines.len() {
                    break;
                }
                self.take_answer(desk, n, id);
                desk.listen_again(&self.first().lock());
            }
            desk.listen(&self.first().lock());
        }
        desk.listen(&self.first().lock());
        for n in 0..desk.lines.len() {
            self.post_offer(desk, n);
        }
        taken
    }

    /// A datagram of ours has arrived; one of the peer's may have come across.
    fn take_answer(&self, desk: &mut Desk, n: usize, id: u64) {
        desk.lines[n].place.fill(0);
        let over = self.first().lock().take_datagram(&desk.lines[n].ep, id);
        let line = &mut desk.lines[n];
        line.is_under_way = false;
        let core = line.core.clone();
        match over.filter_completed() {
            Ok(from) => {
                if line.offers.pop_front().is_some() {
                    self.calls.fetch_sub(1, Ordering::SeqCst);
                }
                let offer = *line.place;
                self.take_offer(desk, &offer, from);
            }
            Err(why) => {
                self.drop_line(desk, n);
                self.fail(&core, &why);
            }
        }
    }

    /// The peer's half of a link has come, from its first device.
    fn take_offer(&self, desk: &mut Desk, bytes: &[u8; DATAGRAM], control: (u32, u32)) {
        let Some(offer) = Offer::decode(bytes).filter(|o| o.job_id == self.host.job().job_id) else { return };
        let name = ProcName { bytes: offer.name };
        let Some(proc) = self.index_of(&name) else { return };
        let process = self.process_of(proc);
        if usize::from(offer.to) >= self.lanes.len() {
            return self.fail(&process.core, "it wants a connection to a lane that is not there");
        }
        let link = match self.link(&process, offer.to, offer.from) {
            Ok(link) => link,
            Err(why) => return self.fail(&process.core, &why),
        };
        if link.advance(State::New, State::Calling) {
            self.send_offer(desk, &link, Some(control));
        }
        // Another one for the same link is none that a peer sends.
        if link.state() == State::Calling
            && let Err(why) = self.join(&link, &offer, control.0)
        {
            self.fail(&process.core, &why);
        }
    }

    /// Attributes of our half of a link.
    fn attributes(&self, link: &Link) -> Result<SmsgAttr, String> {
        let (credits, message) = (self.settings.credits, self.settings.message_size);
        let size = self.first().mailbox_size(credits, message);
        Ok(SmsgAttr {
            msg_type: MBOX_AUTO_RETRANSMIT,
            msg_buffer: with_exposed_provenance_mut(link.mailbox.base as usize),
            buff_size: size.map_err(|c| self.first().api.code_text(c))?,
            mem_hndl: link.mailbox.handle,
            mbox_offset: link.mailbox.offset,
            mbox_maxcredit: credits,
            msg_maxsize: message as u32,
        })
    }

    fn join(&self, link: &Link, offer: &Offer, address: u32) -> Result<(), String> {
        let lane = &self.lanes[usize::from(link.ours)];
        let local = self.attributes(link)?;
        let remote = SmsgAttr {
            msg_buffer: without_provenance_mut(offer.base as usize),
            buff_size: offer.size,
            mem_hndl: offer.handle,
            mbox_offset: offer.offset,
            ..local
        };
        let nic = lane.nic.lock();
        let joined = nic.ep(Some(&lane.sends), Some((address, offer.inst))).and_then(|ep| {
            // SAFETY: the mailbox is the link's, registered memory of the lane, which ends the link's endpoint before that goes.
            let joined = unsafe { nic.join(&ep, local, remote) };
            let joined = joined.and_then(|()| nic.set_event_data(&ep, link.index, offer.index));
            match joined {
                Ok(()) => Ok(ep),
                Err(code) => {
                    nic.end(&ep);
                    Err(code)
                }
            }
        });
        drop(nic);
        let ep = joined.map_err(|c| format!("joining mailboxes: {}", lane.nic.api.code_text(c)))?;
        link.set_ep(ep);
        // A peer that was lost meanwhile stays so.
        link.advance(State::Calling, State::Connected);
        lane.tell(link);
        Ok(())
    }
}

/// Whence a datagram came that did what it was to do; the error says what else became of it.
trait Completed {
    fn filter_completed(self) -> Result<(u32, u32), String>;
}

impl Completed for Result<Datagram, i32> {
    fn filter_completed(self) -> Result<(u32, u32), String> {
        match self {
            Ok(d) if d.state == post_state::COMPLETED => Ok((d.address, d.inst)),
            Ok(d) => Err(format!("its node does not answer datagrams (state {})", d.state)),
            Err(code) => Err(format!("its datagram cannot be taken (code {code})")),
        }
    }
}
