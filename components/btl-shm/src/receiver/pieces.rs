//! Taking messages that lie in cells, whole or while they are written.
//!
//! A long message in a cell is announced when its first piece is written, and each further piece when that is. The part of it that is
//! there is offered to the layer above (partial delivery, [`oxmpi_btl::BtlAttrs::PARTIAL_DELIVERY`]), which takes it if it knows where to: then each piece is
//! copied out while the sender writes the next one. Where nobody takes it so (no receive is posted for it, mostly), it is handed up
//! like any other, once all of it is there.
//!
//! Nobody waits for a sender: where the next piece does not come soon the turn is over, how much was handed up stays with the
//! ring ([`Incoming::handed_up`]), and a later turn goes on. Meanwhile nothing that lies behind the message is looked at, so the pieces
//! of a message follow each other. A message of which a part is missing does not keep a receiver from sleeping: its
//! sender rings when all of it is there.

use crate::context::{At, Context};
use crate::device::Shm;
use crate::receiver::handover::{FETCHED, PATIENCE};
use crate::receiver::incoming::{InPieces, Incoming};
use crate::ring::{Location, Rest, fetch_all};
use crate::segment::cells::{CellMem, seen_from_here};
use crate::wire::with_pieces;
use oxmpi_btl::{Answer, Arrival, Bytes};

/// Bytes prefetched of a message in pieces while it is matched.
const FETCHED_OF_PIECES: u64 = 4 << 10;

impl Shm {
    /// Hands up a message in a cell, and keeps the cell for our own messages. Returns the answer of its receiver;
    /// `None`: the cell cannot be looked at now, or the message is garbage.
    #[inline(never)]
    pub(crate) fn take_cell(
        &self,
        at: &mut At<'_>,
        incoming: &mut Incoming,
        which: u64,
        len: u64,
        tag: u8,
    ) -> Option<Answer> {
        let ctx = at.number();
        let cell = self.cell_of(at, ctx, incoming, which, len)?;
        fetch_all(cell.at.addr(), len.min(FETCHED));
        // SAFETY: the message is no longer than its cell, which is the peer's until we keep it, and stays mapped.
        let answer = self.hand_up(at, incoming, unsafe { Bytes::new(cell.at, len) }, tag);
        self.keep_cell(at, incoming, which, len, 1);
        Some(answer)
    }

    /// Hands up the pieces of a message that are written, and waits a little for further ones. True: the whole message
    /// has been handed up, and the ring moved on; false: a later turn goes on.
    #[inline(never)]
    pub(crate) fn take_pieces(&self, at: &mut At<'_>, incoming: &mut Incoming, msg: InPieces) -> bool {
        let ctx = at.number();
        let place = match msg.location {
            Location::Cell(which) => match self.cell_of(at, ctx, incoming, which, msg.len) {
                Some(cell) => cell.at,
                None => return false,
            },
            Location::Bulk(position) => incoming.ring.mem().bulk_at(position),
        };
        if incoming.handed_up > 0 && incoming.begun != Some(msg) {
            // Its line says something else than when the first part of it went up.
            self.garbage(incoming, msg.len);
            return false;
        }
        incoming.begun = Some(msg);
        if incoming.handed_up == 0 {
            fetch_all(place.addr(), FETCHED_OF_PIECES);
        }
        // SAFETY: the message is no longer than its cell, or within the bulk, and its place is the peer's until the ring moves on.
        let bytes = unsafe { Bytes::new(place, msg.len) };
        let mut pieces = 1;
        loop {
            // All that is missing, if it is there: longer copies are faster. A look at a line that will be written next would take
            // it from its writer, so the last one is looked at instead.
            if incoming.ring.has_line(msg.line + msg.lines - 1, 1) == Rest::Here {
                pieces = msg.lines;
            }
            let (from, to) = (incoming.handed_up, with_pieces(msg.len, pieces));
            if to == msg.len && from == 0 {
                self.hand_up(at, incoming, bytes, msg.tag);
            } else if to > from {
                let arrival = Arrival { proc: incoming.proc, tag: msg.tag, bytes, link: 0 };
                if at.deliver_part(self.host(), arrival, from, to).took() {
                    incoming.handed_up = to;
                }
            }
            if pieces == msg.lines {
                break;
            }
            match incoming.ring.has_line(msg.line + pieces, PATIENCE) {
                Rest::Here => pieces += 1,
                Rest::Missing => return false,
                Rest::Garbage(word) => {
                    self.garbage(incoming, word);
                    return false;
                }
            }
        }
        incoming.handed_up = 0;
        match msg.location {
            Location::Cell(which) => self.keep_cell(at, incoming, which, msg.len, msg.lines),
            Location::Bulk(position) => incoming.ring.advance_long(position, msg.len, msg.lines),
        }
        true
    }

    /// The cell that the peer calls `which`. `None`: its ring cannot be mapped now, or no message of `len` bytes can
    /// lie there, which closes the ring as garbage.
    #[inline(always)]
    fn cell_of(
        &self,
        cx: &mut Context,
        ctx: u32,
        incoming: &mut Incoming,
        which: u64,
        len: u64,
    ) -> Option<CellMem> {
        let outgoing = cx.outgoing_mut(incoming.source);
        match self.cell_of_peer(outgoing, ctx, seen_from_here(which), incoming.ring.mem()) {
            Ok(Some(cell)) if len <= cell.size => Some(cell),
            Ok(_) => {
                self.garbage(incoming, which);
                None
            }
            Err(_) => None,
        }
    }

    /// Moves the ring behind a message of `lines` lines in cell `which`, and takes the cell into our pool. `end`:
    /// bytes from the cell's beginning to the message's end. (The callback, which may have sent, is over.)
    #[inline(always)]
    fn keep_cell(&self, cx: &mut Context, incoming: &Incoming, which: u64, end: u64, lines: u64) {
        incoming.ring.advance(lines);
        cx.outgoing_mut(incoming.source).keep_cell(seen_from_here(which), end, incoming.ring.mem());
    }
}
