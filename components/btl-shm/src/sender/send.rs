//! Sending: which way a message takes into its lane, and lanes that are connected.

use crate::device::Shm;
use crate::ring::{Location, Mapped, Producer, RingMem, Room};
use crate::segment::cells::{CellMem, place_of};
use crate::segment::doorbell::{self, light_barrier};
use crate::segment::ready::InboxMem;
use crate::sender::lane::{
    ALWAYS_IN_CELLS, Claim, Endpoint, HURRIED, LINES_AHEAD, Lane, SHORT_IN_A_ROW, SINGLES,
};
use crate::sender::writing::{HALVED, SHORT, copy_short, write, write_halves, write_lines, write_pieces};
use crate::sys::{self, Mapping, Shortage};
use crate::wire::ring::FIRST_BULK;
use crate::wire::{GRANULE, MAX_SHORT, PER_LINE, PIECE, Place, THIS_RINGS, lines_of, pieces_of, slot};
use oxmpi_btl::Message;
use oxmpi_mca::Status;
use oxmpi_mca::sync::Ordering;

impl Shm {
    /// The verb. The fast path is a short message into a ring with room: no call, no read-modify-write,
    /// and one cache line to the receiver if header and payload have up to 56 bytes.
    #[inline(always)]
    pub(crate) fn send_on(&self, endpoint: &Endpoint, ctx: u32, msg: &Message<'_>) -> Status {
        if ctx >= self.contexts() {
            return Status::BAD_PARAM;
        }
        // SAFETY: the module has a lane per peer and context, and this is a verb of that context.
        let lane = unsafe { (*endpoint.lanes.add(ctx as usize)).get() };
        let desc = msg.desc();
        let (header, payload) = (desc.hdr_len as usize, desc.len as usize);
        let len = header + payload;
        // A message that short is less than max_send_size, whose least value params.rs sets.
        let short = header <= SHORT && payload <= SHORT && len <= PER_LINE as usize && desc.pack.is_none();
        if !short || !lane.producer.has_lines(1) {
            return self.send_any(lane, ctx, msg);
        }
        // A lock that is taken before this line is ours would wait for it.
        lane.producer.mem().fetch_to_write(lane.producer.tail() + LINES_AHEAD);
        let at = lane.producer.mem().line_data(lane.producer.tail());
        // SAFETY: the descriptor is valid for the call; the line at the tail is free and takes them.
        unsafe {
            copy_short(desc.hdr, at, header);
            copy_short(desc.payload, at.add(header), payload);
        }
        lane.producer.publish_line(len as u64, msg.tag());
        self.published(lane)
    }

    /// Messages that are longer, packed, or meet a ring without room.
    #[inline(never)]
    fn send_any(&self, lane: &mut Lane, ctx: u32, msg: &Message<'_>) -> Status {
        let len = msg.total_len() as u64;
        if len > SHORT_IN_A_ROW {
            // The turns of our own progress tell whether we did anything but send since the last one.
            let turn = self.receiver(ctx).map_or(0, |receiver| receiver.turns());
            let in_a_row = core::mem::replace(&mut lane.turn, turn) == turn;
            lane.singles = if in_a_row { 0 } else { lane.singles.saturating_add(1) };
            if (len <= ALWAYS_IN_CELLS || self.all_in_cells(msg)) && self.sent_in_cell(lane, msg, len) {
                return Status::OK;
            }
            if len > MAX_SHORT || in_a_row {
                return self.send_long(lane, ctx, msg, len);
            }
        }
        let lines = lines_of(len);
        if !lane.producer.has_lines(lines) || len > self.max_send_size() {
            let status = self.make_way(lane, ctx, len, lines, 0);
            if status != Status::OK {
                return status;
            }
        }
        write_lines(&mut lane.producer, msg);
        self.published(lane)
    }

    fn send_long(&self, lane: &mut Lane, ctx: u32, msg: &Message<'_>, len: u64) -> Status {
        // Parts save time where the receiver waits for this message; of those sent in a row it does not wait
        // for the later ones, and they take the sender longer. Data that goes past the cache is not fetched early.
        let pieces = self.pieces_for(msg, len);
        let parts = lane.singles > 0
            && pieces == 1
            && !self.limits().goes_past(msg.payload_len())
            && msg.header().len() <= SHORT;
        let lines = if parts { 2 } else { pieces };
        let size = slot(len);
        let one_by_one = lane.singles >= SINGLES;
        let find = |lane: &Lane| lane.producer.find_bulk(size, lines, one_by_one);
        let known = find(lane).filter(|_| len <= self.max_send_size());
        let at = match known {
            Some(at) => at,
            None => match self.make_way(lane, ctx, len, lines, size) {
                Status::OK => match find(lane) {
                    Some(at) => at,
                    None => return Status::NO_RESOURCE,
                },
                status => return status,
            },
        };
        // Lines that are ours are written faster than a receiver could be told of a half of them. Most of them will do.
        let ours = parts && lane.claim.from == at && lane.claim.to - at >= size - size / 4;
        if parts && one_by_one {
            let in_time = lane.claim.to > 0;
            lane.hurried =
                if in_time { lane.hurried.saturating_sub(1) } else { (lane.hurried + 1).min(2 * HURRIED) };
            lane.claim = Claim::of(size);
            if let Some(receiver) = self.receiver(ctx) {
                receiver.prepare_for(lane.peer);
            }
        }
        if lane.hurried >= HURRIED && self.sent_in_cell(lane, msg, len) {
            return Status::OK;
        }
        if parts && !ours && msg.total_len() >= HALVED {
            write_halves(&mut lane.producer, at, msg, self.limits());
        } else if pieces > 1 {
            let to = lane.producer.mem().bulk_at(at);
            write_pieces(&mut lane.producer, Location::Bulk(at), to, msg, self.limits());
        } else {
            // SAFETY: `size` bytes of bulk are free there, and the message is no longer.
            unsafe { write(msg, lane.producer.mem().bulk_at(at), self.limits()) };
            lane.producer.publish_long(at, len, msg.tag());
        }
        self.published(lane)
    }

    /// Whether nothing is faster than a cell for this message: one whose lines are not read before they are written.
    #[inline(always)]
    fn all_in_cells(&self, msg: &Message<'_>) -> bool {
        msg.payload_len() >= self.limits().string && msg.desc().pack.is_none()
    }

    /// In how many pieces it is announced, where it may be. The header goes with the first one.
    #[inline(always)]
    fn pieces_for(&self, msg: &Message<'_>, len: u64) -> u64 {
        let may_be = self.all_in_cells(msg) && (msg.header().len() as u64) < PIECE - GRANULE;
        if may_be { pieces_of(len) } else { 1 }
    }

    /// Sends a long message in a cell, if one with room for it is in our hand.
    fn sent_in_cell(&self, lane: &mut Lane, msg: &Message<'_>, len: u64) -> bool {
        if self.limits().goes_past(msg.payload_len()) || len > self.max_send_size() {
            return false;
        }
        let pieces = self.pieces_for(msg, len);
        let Some((which, cell)) = lane.cell_for(len, pieces) else { return false };
        if lane.bare >> which & 1 != 0 && !self.supply(lane, which) {
            return false;
        }
        let limits = self.limits().in_cells();
        if pieces > 1 {
            write_pieces(&mut lane.producer, Location::Cell(which), cell.at, msg, limits);
        } else {
            // SAFETY: the cell is ours and has room.
            unsafe { write(msg, cell.at, limits) };
            lane.producer.publish_cell(which, len, msg.tag());
        }
        lane.hand.give(which);
        self.published(lane);
        true
    }

    /// Gets memory for a cell of our own ring. False: there is none, and the pair goes on without this cell.
    #[cold]
    #[inline(never)]
    fn supply(&self, lane: &mut Lane, which: u64) -> bool {
        lane.bare &= !(1 << which);
        let index = place_of(which).1;
        let supplied = lane.at.is_some_and(|place| self.segment().reserve_cell(place, index).is_ok());
        if !supplied {
            lane.hand.give(which);
        }
        supplied
    }

    /// The cell in which a message of the peer lies. An error: it cannot be looked at now; `None`: no message can lie there.
    pub(crate) fn cell_of_peer(
        &self,
        lane: &mut Lane,
        ctx: u32,
        which: u64,
        far: &Mapped,
    ) -> Result<Option<CellMem>, Status> {
        // One behind a ring of an earlier life of ours may be under way still.
        let (near, index) = place_of(which);
        if near && lane.ring.is_none() {
            let status = self.connect(lane, ctx);
            if status != Status::OK {
                return Err(status);
            }
        }
        let ring = if near { lane.producer.mem() } else { far };
        let cell = ring.cell(index);
        Ok(cell.filter(|_| !lane.hand.has(which)))
    }

    /// Asks a peer for help with a read; false: no room for that now.
    pub(crate) fn send_assist(&self, endpoint: &Endpoint, ctx: u32, call: &[u8]) -> bool {
        // SAFETY: the module has a lane per peer and context, and this is a verb of that context.
        let lane = unsafe { (*endpoint.lanes.add(ctx as usize)).get() };
        if !lane.producer.has_lines(1) && self.make_way(lane, ctx, call.len() as u64, 1, 0) != Status::OK {
            return false;
        }
        let at = lane.producer.mem().line_data(lane.producer.tail());
        // SAFETY: the line at the tail is free, and a call is shorter than a line.
        unsafe { core::ptr::copy_nonoverlapping(call.as_ptr(), at, call.len()) };
        lane.producer.publish_assist(call.len() as u64);
        self.published(lane);
        true
    }

    /// Steps that follow the publishing of a message.
    #[inline(always)]
    fn published(&self, lane: &Lane) -> Status {
        light_barrier();
        // SYNC POINT with `doorbell::unwatch` and `arm`.
        if lane.producer.mem().notification().load(Ordering::Relaxed) == lane.quiet {
            return Status::OK;
        }
        self.tell(lane)
    }

    /// Tells a receiver that does not watch the ring.
    #[cold]
    #[inline(never)]
    fn tell(&self, lane: &Lane) -> Status {
        if doorbell::notify(lane.producer.mem().notification(), &lane.inbox, self.local_rank()) {
            sys::wake(core::ptr::from_ref(lane.inbox.bell()).cast());
        }
        Status::OK
    }

    /// Everything that can stand between a message and its place in the ring. OK: go on.
    #[cold]
    #[inline(never)]
    fn make_way(&self, lane: &mut Lane, ctx: u32, len: u64, lines: u64, bulk: u64) -> Status {
        if len > self.max_send_size() {
            return Status::BAD_PARAM;
        }
        if lane.ring.is_none() {
            let status = self.connect(lane, ctx);
            if status != Status::OK {
                return status;
            }
        }
        let mut room = lane.producer.make_room(lines, bulk);
        if room == Room::Full
            && bulk > 0
            && lane.partial
            && let Some(place) = lane.at
        {
            // Rows of long messages have filled what had memory of the bulk; where there is no more that will have to do.
            match self.segment().reserve_rest(place) {
                Ok(()) => {
                    lane.partial = false;
                    lane.producer.use_bulk(u64::MAX);
                    room = lane.producer.make_room(lines, bulk);
                }
                Err(why) if bulk > FIRST_BULK => return self.no_memory(place.len(), why),
                Err(_) => {}
            }
        }
        match room {
            Room::Free => Status::OK,
            Room::Full => {
                // A sleeping receiver would never free its space.
                self.tell(lane);
                Status::NO_RESOURCE
            }
            Room::Garbage(head) => {
                self.peer_broke(
                    lane.peer,
                    &format!("says it has read as far as {head:#x}, which was never sent"),
                );
                Status::PEER_FAILED
            }
        }
    }

    /// Gives the lane its ring: the one of an earlier life, or a new one.
    fn connect(&self, lane: &mut Lane, ctx: u32) -> Status {
        let (segment, me) = (self.segment(), self.local_rank());
        if segment.identity(lane.peer).is_some_and(|peer| ctx >= peer.contexts) {
            // It has fewer contexts than we; nobody would read there.
            return Status::NOT_SUPPORTED;
        }
        let (place, ring) = match segment.find_ring(lane.peer, ctx, me) {
            Ok(Some(place)) => match segment.map(place) {
                Ok(ring) => (place, ring),
                Err(errno) => return self.no_memory(place.len(), Shortage::Refused(errno)),
            },
            Ok(None) => match self.new_ring(lane, ctx) {
                Ok(made) => made,
                Err((bytes, why)) => return self.no_memory(bytes, why),
            },
            Err(word) => {
                self.peer_broke(lane.peer, &format!("has {word:#x} where our own ring's place should be"));
                return Status::PEER_FAILED;
            }
        };
        // SAFETY: the ring is mapped as long as the lane keeps `ring`, which is as long as the producer.
        let mem = unsafe { Mapped::new(ring.base(), place.log2, place.several) };
        let Some(producer) = Producer::adopt(mem) else {
            self.peer_broke(lane.peer, "left the ring to it in a state that no sender can go on from");
            return Status::PEER_FAILED;
        };
        if producer.tail() == 0 {
            for which in (0..mem.cells()).rev().map(|index| THIS_RINGS + 2 * index) {
                lane.hand.take(which, 0);
                lane.bare |= 1 << which;
            }
        }
        lane.producer = producer;
        if 1 << place.log2 > FIRST_BULK {
            lane.producer.use_bulk(FIRST_BULK);
            lane.partial = true;
        }
        lane.at = Some(place);
        lane.quiet = self.barriers().quiet();
        lane.ring = Some(ring);
        segment.publish_ring(lane.peer, ctx, me, place);
        Status::OK
    }

    /// Makes a ring: of the usual size, or where memory is short the smallest that will do.
    fn new_ring(&self, lane: &mut Lane, ctx: u32) -> Result<(Place, Mapping), (u64, Shortage)> {
        let mut shortage = None;
        // Long messages go through them, or one will do.
        let several = self.limits().string < usize::MAX;
        for log2 in self.ring_log2(ctx) {
            // The place of an earlier attempt serves a ring of its size and every smaller one.
            let place = match lane.place {
                Some(place) if place.log2 >= log2 => Place { log2, ..place },
                _ => match self.segment().place_ring(log2, several) {
                    Some(place) => *lane.place.insert(place),
                    None => {
                        return Err((
                            Place::len_for(log2, several),
                            Shortage::Refused(rustix::io::Errno::OVERFLOW),
                        ));
                    }
                },
            };
            match self.segment().map_new(place) {
                Ok(ring) => return Ok((place, ring)),
                Err(why) => shortage = Some((place.len(), why)),
            }
        }
        Err(shortage.unwrap_or((0, Shortage::Refused(rustix::io::Errno::NOMEM))))
    }

    fn no_memory(&self, bytes: u64, why: Shortage) -> Status {
        self.report_shortage("ring-no-memory", bytes, &why.to_string());
        Status::OUT_OF_MEMORY
    }
}
