//! Messages that are taken while their sender still writes them.
//!
//! A transport may **offer** a message of which only a part is there ([`AmParts`](oxmpi_mca::AmParts)). It is taken if it is one
//! that carries much payload, and a request is waiting for that: MATCH and RNDV in their plain forms, which are matched then, and
//! FRAG. Each part goes to the user's buffer when it comes; of a rendezvous the rest is asked for at once, so that
//! the sender goes on without a break. Everything else is refused, and comes once more when all of it is there, the
//! ordinary way: nothing here keeps, counts or complains.
//!
//! Between the parts the request is RECEIVING, and belongs to the lock of the CRI with all that is in [`Streamed`], of which there is one
//! at most for each peer and FIFO. If the peer is closed meanwhile, the request fails, and what still comes goes nowhere.

use crate::communicators::index::Found;
use crate::peers::peer::Peer;
use crate::peers::streamed::{Streamed, StreamedPart};
use crate::receive::incoming::Incoming;
use crate::receive::meet::{meet, status_of};
use crate::receive::receiver::Receiver;
use crate::state::guarded::Held;
use crate::wire::{self, Reader, flag, kind};
use core::ffi::c_void;
use core::ptr::null;
use oxmpi_mca::PartDesc;
use oxmpi_mca::host::receive::TAKEN;

/// The transport's callback for a part of a message that its sender still writes; registered beside
/// [`entry`](crate::receive::arrive::entry). Returns 0 if the message is refused, else TAKEN and what the transport is
/// to do next.
pub extern "C" fn entry_parts(ctx: *mut c_void, part: *const PartDesc) -> u32 {
    // SAFETY: `enable` registered the receiver; the transport passes a descriptor that is valid for the call.
    let (receiver, part) = unsafe { (&*ctx.cast::<Receiver>(), &*part) };
    let msg = &part.message;
    // SAFETY: the transport's caller holds the lock of the context for longer than this call.
    let held = unsafe { receiver.instance().inherit(msg.ctx, receiver.instance().threaded()) };
    // SAFETY: so much of the message is there.
    let there = unsafe { core::slice::from_raw_parts(msg.data, part.to as usize) };
    let Ok(peer) = receiver.peers().flow(msg.proc, msg.ctx, held.threaded) else { return 0 };
    if part.from == 0 && receiver.take_streamed(&held, peer, there, msg.len).is_none() {
        return 0;
    }
    receiver.store_part(&held, peer, there, part.from, msg.len);
    TAKEN | receiver.instance().cri(msg.ctx).take_stop()
}

impl Receiver {
    /// Takes a message of `len` bytes of which `there` has come, if it is a MATCH or RNDV that meets a posted receive,
    /// or the fragment that is due. `None`: it is refused, and nothing happened. No payload is stored yet.
    fn take_streamed(&self, held: &Held<'_>, peer: &Peer, there: &[u8], len: u64) -> Option<()> {
        if self.instance().is_watchful() || peer.is_failed() {
            return None;
        }
        let mut r = Reader::new(there);
        let head = r.word()?;
        match wire::kind_of(head) {
            kind::MATCH | kind::RNDV => self.match_streamed(held, peer, head, r, len),
            kind::FRAG => {
                let (id, at) = (r.word()?, r.word()?);
                let req = self.instance().cri(held.ctx).ids().with(held, |t| t.get(id))?;
                let header = (there.len() - r.rest().len()) as u64;
                let room = len - header;
                if !self.transfers().awaits_fragment(req, peer.proc(), at, room) {
                    return None;
                }
                let streamed = Streamed { req, header, at, room, part: StreamedPart::Fragment };
                peer.begin_streamed(held, streamed);
                Some(())
            }
            _ => None,
        }
    }

    /// Matches a MATCH or RNDV message of which the first part has come, and notes the request as the one that its
    /// parts go to. `None`: it is refused, and nothing happened.
    fn match_streamed(&self, held: &Held<'_>, peer: &Peer, head: u64, r: Reader<'_>, len: u64) -> Option<()> {
        let flags = wire::flags_of(head);
        let stamped = held.threaded && flags == flag::STAMPED;
        if !stamped && flags & !flag::SYNC != 0 {
            return None;
        }
        let before = r.rest().len();
        let (mut inc, _, payload) = Incoming::read(head, r, peer.proc(), held.ctx)?;
        let header = (size_of::<u64>() + before - payload.len()) as u64;
        inc.len = len - header;
        if inc.kind == kind::MATCH {
            inc.msg_len = inc.len;
        }
        if held.threaded && !stamped && !inc.is_plain() && self.order().is_wide() {
            // See `arrive`.
            return None;
        }
        let Found::Comm(comm) = self.comms.with(held, |t| t.find(head)) else { return None };
        let unknown = !comm.has_source(wire::source_of(inc.key));
        if unknown || inc.what_is_wrong(flags, payload).is_some() {
            return None;
        }
        let mut shard = comm.shard_of(inc.key, held.threaded, held.who);
        if stamped && !shard.order.matches_stamped_at_once() {
            return None;
        }
        let req = meet(&mut shard, inc.arrival(comm.index()), held.threaded)?;
        drop(shard);
        let room = req.total();
        req.set_status(status_of(&inc, room));
        req.be_receiving();
        inc.payload = null();
        let goes_on = inc.kind == kind::RNDV && inc.len < room.min(inc.msg_len);
        let part = if goes_on { StreamedPart::First } else { StreamedPart::Whole(inc) };
        let streamed = Streamed { req, header, at: 0, room: room.min(inc.len), part };
        peer.begin_streamed(held, streamed);
        if goes_on {
            self.transfers().ask_for_rest(held, req, &inc, false);
        }
        Some(())
    }

    /// Stores the bytes from `from` to the end of `there` of the message that a peer is writing, `len` bytes with its
    /// header, in the request's buffer; ends or continues the receive when all has come.
    fn store_part(&self, held: &Held<'_>, peer: &Peer, there: &[u8], from: u64, len: u64) {
        let Some(streamed) = peer.streamed(held) else { return };
        let Streamed { req, header, at, room, part } = streamed;
        let (from, to) = (from.max(header), there.len() as u64);
        let end = to.min(header + room);
        if from < end {
            let part = &there[from as usize..end as usize];
            let at = at + from - header;
            // SAFETY: it ends within the room there is; the request is not over (`close` would have taken it from here).
            unsafe { req.store(&self.instance().config().copies, at, part.as_ptr(), part.len() as u64) };
        }
        if to < len {
            return;
        }
        peer.end_streamed(held);
        match part {
            StreamedPart::First => {}
            StreamedPart::Fragment => self.transfers().fragment_stored(held, req, room),
            StreamedPart::Whole(inc) if inc.is_plain() => {
                self.peers().consumed(&inc, Some(held), held.threaded);
                self.requests().complete(req, held.threaded);
            }
            StreamedPart::Whole(inc) => self.transfers().ask_for_rest(held, req, &inc, false),
        }
    }
}
