//! Messages that are taken by partial delivery, while the rest of them is on its way.
//!
//! A transport with the attribute [`PARTIAL_DELIVERY`](oxmpi_btl::BtlAttrs::PARTIAL_DELIVERY) may offer a message of which only a part is there
//! ([`Pml::arrive_in_part`](oxmpi_pml::Pml::arrive_in_part)). It is taken if it is one
//! that carries much payload, and a request is waiting for that: MATCH and RNDV in their plain forms, which are matched then, and
//! FRAG. Each part goes to the user's buffer when it comes; of a rendezvous the rest is asked for at once, so that
//! the sender goes on without a break. Everything else is refused, and comes once more when all of it is there, the
//! ordinary way: nothing here keeps, counts or complains.
//!
//! Between the parts the request is RECEIVING, and belongs to the holder of the CRI with all that is in [`Streamed`], of which there is one
//! at most for each peer and FIFO. If the peer is closed meanwhile, the request fails, and what still comes goes nowhere.

use crate::communicators::index::Found;
use crate::peers::peer::Peer;
use crate::peers::streamed::{Streamed, StreamedPart};
use crate::receive::incoming::{Envelope, Incoming};
use crate::receive::meet::set_status;
use crate::receive::receiver::Receiver;
use crate::requests::completer::Completer;
use crate::state::hand::Hand;
use crate::wire::{self, Reader, flag, kind};
use oxmpi_mca::CriGuard;
use oxmpi_pml::{Arrived, Part};

impl Receiver {
    /// Handles a part of a message of `len` bytes, delivered while it comes: `arrived` has what is there, of which what is in front of `from` was there
    /// before.
    #[inline(always)]
    pub fn come_in_part(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>, from: u64, len: u64) -> Part {
        let (there, proc) = (arrived.bytes(), arrived.proc());
        let Ok(peer) = self.peers().flow(proc, held.ctx(), held.entry()) else { return Part::Refused };
        if from == 0 && self.take_streamed(&mut held.lend(), peer, there, len).is_none() {
            return Part::Refused;
        }
        self.store_part(held, peer, there, from, len);
        Part::Taken(self.instance().cri(held.ctx()).take_stop())
    }

    /// Takes a message of `len` bytes of which `there` has come, if it is a MATCH or RNDV that meets a posted receive,
    /// or the fragment that is due. `None`: it is refused, and nothing happened. No payload is stored yet.
    fn take_streamed(&self, held: &mut CriGuard<'_>, peer: &Peer, there: &[u8], len: u64) -> Option<()> {
        if self.instance().is_watchful() || peer.is_failed(held) {
            return None;
        }
        let mut r = Reader::new(there);
        let head = r.word()?;
        match wire::kind_of(head) {
            kind::MATCH | kind::RNDV => self.match_streamed(held, peer, head, r, len),
            kind::FRAG => {
                let (id, at) = (r.word()?, r.word()?);
                let req = self.instance().own(held).ids().get(id)?;
                let header = (there.len() - r.rest().len()) as u64;
                let room = len - header;
                if !self.transfers().awaits_fragment(req, peer.proc(), at, room) {
                    return None;
                }
                let streamed = Streamed { req, header, at, room, part: StreamedPart::Fragment };
                peer.flow(held).begin_streamed(streamed);
                Some(())
            }
            _ => None,
        }
    }

    /// Matches a MATCH or RNDV message of which the first part has come, and notes the request as the one that its
    /// parts go to. `None`: it is refused, and nothing happened.
    fn match_streamed(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        head: u64,
        r: Reader<'_>,
        len: u64,
    ) -> Option<()> {
        let (completer, about, header) = self.meet_beginning(held, peer, head, r, len)?;
        let room = completer.total();
        set_status(&completer, about.key, about.msg_len, room);
        completer.be_receiving();
        let req = completer.park(held.ctx());
        let goes_on = about.kind == kind::RNDV && about.len < room.min(about.msg_len);
        let part = if goes_on { StreamedPart::First } else { StreamedPart::Whole(about) };
        let streamed = Streamed { req, header, at: 0, room: room.min(about.len), part };
        peer.flow(held).begin_streamed(streamed);
        if goes_on {
            self.transfers().ask_for_rest(held, req, &Incoming::without_payload(about), false);
        }
        Some(())
    }

    /// Takes the posted receive out of its shard that a MATCH or RNDV message of `len` bytes meets, of which the first part has come: the receive, the message, and how long
    /// its header is. `None`: it is to be handled when all of it is there, and nothing happened.
    pub(super) fn meet_beginning(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        head: u64,
        r: Reader<'_>,
        len: u64,
    ) -> Option<(Completer, Envelope, u64)> {
        let flags = wire::flags_of(head);
        let stamped = held.is_among() && flags == flag::STAMPED;
        if !stamped && flags & !flag::SYNC != 0 {
            return None;
        }
        let before = r.rest().len();
        let (mut inc, _) = Incoming::read(head, r, peer.proc(), held.ctx())?;
        let header = (size_of::<u64>() + before - inc.payload.len()) as u64;
        inc.about.len = len - header;
        if inc.kind == kind::MATCH {
            inc.about.msg_len = inc.len;
        }
        if held.is_among() && !stamped && !inc.is_plain() && self.order().is_wide() {
            // See `arrive`.
            return None;
        }
        let (comms, held) = self.comms.beside(held);
        let Found::Comm(comm) = comms.find(head) else { return None };
        let unknown = !comm.has_source(wire::source_of(inc.key));
        if unknown || inc.what_is_wrong(flags).is_some() {
            return None;
        }
        let mut shard = comm.shard_of(inc.key, held.entry(), held.who());
        if stamped && !shard.order.matches_stamped_at_once() {
            return None;
        }
        let completer = shard.meet(inc.arrival(comm.index()), held.entry())?;
        Some((completer, inc.about, header))
    }

    /// Stores the bytes from `from` to the end of `there` of the message that comes from a peer, `len` bytes with its
    /// header, in the request's buffer; ends or continues the receive when all has come.
    #[inline(always)]
    fn store_part(&self, held: &mut CriGuard<'_>, peer: &Peer, there: &[u8], from: u64, len: u64) {
        let Some(&Streamed { req, header, at, room, .. }) = peer.flow(held).streamed() else { return };
        let (from, to) = (from.max(header), there.len() as u64);
        let end = to.min(header + room);
        if from < end {
            let at = at + from - header;
            // SAFETY: it ends within the room there is; the request is not over (`close` would have taken it from here).
            unsafe { req.store(&self.instance().config().copies, at, &there[from as usize..end as usize]) };
        }
        if to < len {
            return;
        }
        let Some(Streamed { part, .. }) = peer.flow(held).end_streamed() else { return };
        match part {
            StreamedPart::First => {}
            StreamedPart::Fragment => self.transfers().fragment_stored(held, req, room),
            StreamedPart::Whole(about) if about.is_plain() => {
                self.peers().consumed(&about, Hand::Held(held));
                self.requests().complete(req.claim(held), held.entry());
            }
            StreamedPart::Whole(about) => {
                self.transfers().ask_for_rest(held, req, &Incoming::without_payload(about), false);
            }
        }
    }
}
