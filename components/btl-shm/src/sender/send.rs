//! Sending: which way a message takes into its ring, and how an outgoing end gets its ring.

use crate::context::{At, Context};
use crate::device::Shm;
use crate::ring::{Location, Mapped, Producer, RingMem, Room};
use crate::segment::cells::{CellMem, place_of};
use crate::segment::doorbell::{self, light_barrier};
use crate::segment::inbox::InboxMem;
use crate::segment::map::Segment;
use crate::sender::outgoing::{LINES_AHEAD, Outgoing, SHORT_IN_A_ROW};
use crate::sender::writing::{SHORT, copy_short, write, write_lines, write_pieces};
use crate::sys::{self, Mapping, Shortage};
use crate::wire::ring::FIRST_BULK;
use crate::wire::{GRANULE, MAX_SHORT, PER_LINE, PIECE, Place, THIS_RINGS, lines_of, pieces_of, slot};
use oxmpi_btl::Message;
use oxmpi_mca::Status;
use oxmpi_mca::sync::Ordering;

impl Shm {
    /// Carries out the verb send. The fast path is a short message into a ring with room: no call, no
    /// read-modify-write, and one cache line to the receiver if header and payload have up to 56 bytes.
    #[inline(always)]
    pub(crate) fn send_on(&self, at: &mut At<'_>, peer: u32, msg: &Message<'_>) -> Status {
        let ctx = at.number();
        let Context { outgoing, receiver, .. } = &mut **at;
        let Some(outgoing) = outgoing.get_mut(peer as usize) else {
            // Not `at` itself, which is in registers.
            return self.send_further(at, ctx, peer, msg);
        };
        let desc = msg.desc();
        let (header, payload) = (desc.hdr_len as usize, desc.len as usize);
        let len = header + payload;
        // A message that short is less than max_send_size, whose least value params.rs sets.
        let short = header <= SHORT && payload <= SHORT && len <= PER_LINE as usize && desc.pack.is_none();
        if !short || !outgoing.producer.has_line() {
            return self.send_any(outgoing, ctx, msg, receiver.turns());
        }
        // A lock that is taken before this line is ours would wait for it.
        outgoing.producer.mem().fetch_to_write(outgoing.producer.tail() + LINES_AHEAD);
        let next = outgoing.producer.next_line();
        let at = next.mem().line_data(next.line());
        // SAFETY: the descriptor is valid for the call; the line at the tail is free and takes them.
        unsafe {
            copy_short(desc.hdr, at, header);
            copy_short(desc.payload, at.add(header), payload);
        }
        next.publish(len as u64, msg.tag());
        self.end_send(outgoing)
    }

    /// Sends a message to a peer of a further segment. `NOT_SUPPORTED`: that has no words for this context.
    #[cold]
    #[inline(never)]
    fn send_further(&self, cx: &mut Context, ctx: u32, peer: u32, msg: &Message<'_>) -> Status {
        if !self.meet(cx, ctx, peer) {
            return Status::NOT_SUPPORTED;
        }
        let turns = cx.receiver.turns();
        self.send_any(cx.outgoing_mut(peer), ctx, msg, turns)
    }

    /// Sends a message that is longer or packed, or meets a ring without room, by whichever way fits: lines, a cell or
    /// the bulk. The turns of our own progress tell whether we did anything but send since the last one.
    #[inline(never)]
    fn send_any(&self, outgoing: &mut Outgoing, ctx: u32, msg: &Message<'_>, turn: u64) -> Status {
        let len = msg.total_len() as u64;
        if len > SHORT_IN_A_ROW {
            let in_a_row = core::mem::replace(&mut outgoing.turn, turn) == turn;
            if self.try_send_in_cell(outgoing, msg, len) {
                return Status::OK;
            }
            if len > MAX_SHORT || in_a_row {
                return self.send_long(outgoing, ctx, msg, len);
            }
        }
        let lines = lines_of(len);
        if !outgoing.producer.has_lines(lines) || len > self.max_send_size() {
            let status = self.make_ring_room(outgoing, ctx, len, lines, 0);
            if status != Status::OK {
                return status;
            }
        }
        write_lines(&mut outgoing.producer, msg);
        self.end_send(outgoing)
    }

    /// Sends a message through the bulk of the ring, in pieces where that pays. `NO_RESOURCE`: there is no room now.
    fn send_long(&self, outgoing: &mut Outgoing, ctx: u32, msg: &Message<'_>, len: u64) -> Status {
        let (lines, size) = (self.pieces_for(msg, len), slot(len));
        let find = |outgoing: &Outgoing| outgoing.producer.find_bulk(size, lines);
        let known = find(outgoing).filter(|_| len <= self.max_send_size());
        let at = match known {
            Some(at) => at,
            None => match self.make_ring_room(outgoing, ctx, len, lines, size) {
                Status::OK => match find(outgoing) {
                    Some(at) => at,
                    None => return Status::NO_RESOURCE,
                },
                status => return status,
            },
        };
        let to = outgoing.producer.mem().bulk_at(at);
        if lines > 1 {
            // SAFETY: `size` bytes of bulk are free there, and the message is no longer.
            unsafe { write_pieces(&mut outgoing.producer, Location::Bulk(at), to, msg) };
        } else {
            // SAFETY: `size` bytes of bulk are free there, and the message is no longer.
            unsafe { write(msg, to, self.limits()) };
            outgoing.producer.publish_long(at, len, msg.tag());
        }
        self.end_send(outgoing)
    }

    /// Whether the payload is copied by string, so that its lines are not read before they are written.
    #[inline(always)]
    fn goes_by_string(&self, msg: &Message<'_>) -> bool {
        msg.payload_len() >= self.limits().string && msg.desc().pack.is_none()
    }

    /// In how many pieces, each with a line, a message of `len` bytes is announced: several only where it goes by
    /// string and its header fits into the first one.
    #[inline(always)]
    fn pieces_for(&self, msg: &Message<'_>, len: u64) -> u64 {
        let may_be = self.goes_by_string(msg) && (msg.header().len() as u64) < PIECE - GRANULE;
        if may_be { pieces_of(len) } else { 1 }
    }

    /// Sends a long message in a cell. False: we hold none with room for it, and nothing was sent.
    fn try_send_in_cell(&self, outgoing: &mut Outgoing, msg: &Message<'_>, len: u64) -> bool {
        if self.limits().goes_past_cache(msg.payload_len()) || len > self.max_send_size() {
            return false;
        }
        let pieces = self.pieces_for(msg, len);
        let Some((which, cell)) = outgoing.cell_for(len, pieces) else { return false };
        if outgoing.bare >> which & 1 != 0 && !self.supply(outgoing, which) {
            return false;
        }
        if pieces > 1 {
            // SAFETY: the cell is ours and has room.
            unsafe { write_pieces(&mut outgoing.producer, Location::Cell(which), cell.at, msg) };
        } else {
            // SAFETY: the cell is ours and has room.
            unsafe { write(msg, cell.at, self.limits().in_cells()) };
            outgoing.producer.publish_cell(which, len, msg.tag());
        }
        outgoing.cells.give(which);
        self.end_send(outgoing);
        true
    }

    /// Reserves memory for a cell behind our own ring before its first use. False: there is none, and the pair goes on
    /// without this cell.
    #[cold]
    #[inline(never)]
    fn supply(&self, outgoing: &mut Outgoing, which: u64) -> bool {
        outgoing.bare &= !(1 << which);
        let index = place_of(which).1;
        let supplied = outgoing.at.zip(self.segment_of(outgoing.peer));
        let supplied =
            supplied.is_some_and(|(place, joined)| joined.segment.reserve_cell(place, index).is_ok());
        if !supplied {
            outgoing.cells.give(which);
        }
        supplied
    }

    /// The memory of the cell in which a message of the peer lies. `None`: no message can lie there, so the peer wrote
    /// garbage. An error: our ring cannot be mapped now; try again later.
    pub(crate) fn cell_of_peer(
        &self,
        outgoing: &mut Outgoing,
        ctx: u32,
        which: u64,
        far: &Mapped,
    ) -> Result<Option<CellMem>, Status> {
        // One behind a ring of an earlier life of ours may be under way still.
        let (near, index) = place_of(which);
        if near && outgoing.ring.is_none() {
            let status = self.connect(outgoing, ctx);
            if status != Status::OK {
                return Err(status);
            }
        }
        let ring = if near { outgoing.producer.mem() } else { far };
        let cell = ring.cell(index);
        Ok(cell.filter(|_| !outgoing.cells.has(which)))
    }

    /// Asks a peer, by a line in the ring to it, for help with a read; `call` is shorter than a line. False: there is
    /// no room now.
    pub(crate) fn send_assist(&self, outgoing: &mut Outgoing, ctx: u32, call: &[u8]) -> bool {
        if !outgoing.producer.has_line()
            && self.make_ring_room(outgoing, ctx, call.len() as u64, 1, 0) != Status::OK
        {
            return false;
        }
        let next = outgoing.producer.next_line();
        let call = &call[..call.len().min(PER_LINE as usize)];
        // SAFETY: the line at the tail is free, and has room for that much.
        unsafe {
            core::ptr::copy_nonoverlapping(call.as_ptr(), next.mem().line_data(next.line()), call.len());
        }
        next.publish_assist(call.len() as u64);
        self.end_send(outgoing);
        true
    }

    /// Ends every send: runs the light barrier and reads the notification word, to wake a receiver that does not watch
    /// the ring. Returns OK.
    #[inline(always)]
    fn end_send(&self, outgoing: &Outgoing) -> Status {
        light_barrier();
        // SYNC POINT with `doorbell::unwatch` and `arm`.
        if outgoing.producer.mem().notification().load(Ordering::Relaxed) == outgoing.quiet {
            return Status::OK;
        }
        self.tell(outgoing)
    }

    /// Sets the ready bit at a receiver that does not watch the ring, and wakes it if it sleeps. Returns OK.
    #[cold]
    #[inline(never)]
    fn tell(&self, outgoing: &Outgoing) -> Status {
        if doorbell::notify(outgoing.producer.mem().notification(), &outgoing.inbox, outgoing.me) {
            sys::wake(outgoing.inbox.bell());
        }
        Status::OK
    }

    /// Looks for room for a message of `len` bytes in `lines` lines and `bulk` bytes of bulk: connects the ring if
    /// need be, and reads the receiver's heads. OK: there is room; `NO_RESOURCE`: not now.
    #[cold]
    #[inline(never)]
    fn make_ring_room(&self, outgoing: &mut Outgoing, ctx: u32, len: u64, lines: u64, bulk: u64) -> Status {
        if len > self.max_send_size() {
            return Status::BAD_PARAM;
        }
        if outgoing.ring.is_none() {
            let status = self.connect(outgoing, ctx);
            if status != Status::OK {
                return status;
            }
        }
        let mut room = outgoing.producer.make_room(lines, bulk);
        if room == Room::Full
            && bulk > 0
            && outgoing.partial
            && let Some((place, joined)) = outgoing.at.zip(self.segment_of(outgoing.peer))
        {
            // Rows of long messages have filled what had memory of the bulk; where there is no more that will have to do.
            match joined.segment.reserve_rest(place) {
                Ok(()) => {
                    outgoing.partial = false;
                    outgoing.producer.use_bulk(u64::MAX);
                    room = outgoing.producer.make_room(lines, bulk);
                }
                Err(why) if bulk > FIRST_BULK => return self.no_memory(place.len(), why),
                Err(_) => {}
            }
        }
        match room {
            Room::Free => Status::OK,
            Room::Full => {
                // A sleeping receiver would never free its space.
                self.tell(outgoing);
                Status::NO_RESOURCE
            }
            Room::Garbage(head) => {
                self.peer_broke(
                    outgoing.peer,
                    &format!("says it has read as far as {head:#x}, which was never sent"),
                );
                Status::PEER_FAILED
            }
        }
    }

    /// Connects the outgoing end to its ring: the one that an earlier life of this rank made, or a new one. Tells the
    /// receiver where it lies.
    fn connect(&self, outgoing: &mut Outgoing, ctx: u32) -> Status {
        let Some(joined) = self.segment_of(outgoing.peer) else { return Status::UNREACHABLE };
        let (segment, me, peer) = (&joined.segment, outgoing.me, joined.place(outgoing.peer));
        if segment.identity(peer).is_some_and(|peer| ctx >= peer.contexts) {
            // It has fewer contexts than we; nobody would read there.
            return Status::NOT_SUPPORTED;
        }
        let (place, ring) = match segment.find_ring(peer, ctx, me) {
            Ok(Some(place)) => match segment.map(place) {
                Ok(ring) => (place, ring),
                Err(errno) => return self.no_memory(place.len(), Shortage::Refused(errno)),
            },
            Ok(None) => match self.new_ring(segment, outgoing, ctx) {
                Ok(made) => made,
                Err((bytes, why)) => return self.no_memory(bytes, why),
            },
            Err(word) => {
                self.peer_broke(
                    outgoing.peer,
                    &format!("has {word:#x} where our own ring's place should be"),
                );
                return Status::PEER_FAILED;
            }
        };
        // SAFETY: the ring is mapped as long as the outgoing end keeps `ring`, which is as long as the producer.
        let mem = unsafe { Mapped::new(ring.base(), place.log2, place.several) };
        let Some(producer) = Producer::adopt(mem) else {
            self.peer_broke(outgoing.peer, "left the ring to it in a state that no sender can go on from");
            return Status::PEER_FAILED;
        };
        if producer.tail() == 0 {
            for which in (0..mem.cells()).rev().map(|index| THIS_RINGS + 2 * index) {
                outgoing.cells.take(which, 0);
                outgoing.bare |= 1 << which;
            }
        }
        outgoing.producer = producer;
        if 1 << place.log2 > FIRST_BULK {
            outgoing.producer.use_bulk(FIRST_BULK);
            outgoing.partial = true;
        }
        outgoing.at = Some(place);
        outgoing.quiet = self.barriers().quiet_word();
        outgoing.ring = Some(ring);
        segment.publish_ring(peer, ctx, me, place);
        Status::OK
    }

    /// Gives out a place for a ring in the peer's segment and maps it: of the usual size, or where memory is short of the smallest that will
    /// do. An error names the bytes that could not be had, and why.
    fn new_ring(
        &self,
        segment: &Segment,
        outgoing: &mut Outgoing,
        ctx: u32,
    ) -> Result<(Place, Mapping), (u64, Shortage)> {
        let mut shortage = None;
        // Long messages go through them, or one will do.
        let several = self.limits().string < usize::MAX;
        for log2 in self.ring_log2(ctx) {
            // The place of an earlier attempt serves a ring of its size and every smaller one.
            let place = match outgoing.place {
                Some(place) if place.log2 >= log2 => Place { log2, ..place },
                _ => match segment.place_ring(log2, several) {
                    Some(place) => *outgoing.place.insert(place),
                    None => {
                        return Err((
                            Place::len_for(log2, several),
                            Shortage::Refused(rustix::io::Errno::OVERFLOW),
                        ));
                    }
                },
            };
            match segment.map_new(place) {
                Ok(ring) => return Ok((place, ring)),
                Err(why) => shortage = Some((place.len(), why)),
            }
        }
        Err(shortage.unwrap_or((0, Shortage::Refused(rustix::io::Errno::NOMEM))))
    }

    /// Tells the user (once) that memory for a ring is short, and returns the status for that.
    fn no_memory(&self, bytes: u64, why: Shortage) -> Status {
        self.report_shortage("ring-no-memory", bytes, &why.to_string());
        Status::OUT_OF_MEMORY
    }
}
