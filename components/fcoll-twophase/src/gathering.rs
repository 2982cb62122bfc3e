//! An aggregator's part: it learns who has data in its next round, collects that in an image and writes it, or reads the image and hands it out.

use crate::domains::{Domains, NEVER};
use crate::image::{Covered, Extent, first_missing, type_of};
use crate::sending::{self, Span};
use crate::setting::Setting;
use crate::wire::{self, HEADER, Header, Run};
use oxmpi_datatype::TypeRef;
use oxmpi_fbtl::Piece;
use oxmpi_fbtl::transfer::{READ, WRITE};
use oxmpi_fcoll::{Call, Memory, Outcome, Range, Request};
use oxmpi_mca::Status;

/// A rank that may have data for this aggregator.
struct Peer {
    rank: u32,
    /// The place for its next announcement.
    header: Memory,
    /// The last announcement, of a round that is not done.
    announced: Header,
    last: Option<u64>,
    /// A rest of a list on its way.
    list: Vec<u8>,
}

/// An image, and what is under way with it.
struct Slot {
    /// Memory for images, once there was one.
    image: Option<Memory>,
    result: Memory,
    requests: Vec<Request>,
    /// Types that messages name.
    types: Vec<TypeRef>,
    /// A transfer was started that is to be looked at.
    writes: bool,
}

/// The part of an exchange of an aggregator.
pub struct Gathering {
    /// This rank's place among the aggregators.
    pub owner: u64,
    peers: Vec<Peer>,
    slots: [Slot; 2],
    turn: usize,
    /// Announcements that have come since they were looked at last.
    unread: bool,
    /// The outcome of this aggregator's work.
    outcome: Outcome,
}

/// A rank that takes part in a round, and its data in the image.
struct Guest {
    peer: usize,
    kind: TypeRef,
}

impl Gathering {
    /// For the aggregator at that place; `None`: no rank has data for it.
    pub fn new(
        call: &Call<'_>,
        domains: &Domains,
        ranges: &[Range],
        owner: u64,
    ) -> Result<Option<Gathering>, Status> {
        let touches = |range: &Range| range.bytes > 0 && domains.touches(owner, range.first, range.end);
        let ranks: Vec<u32> =
            (0..).zip(ranges).filter(|(_, range)| touches(range)).map(|(rank, _)| rank).collect();
        if ranks.is_empty() {
            return Ok(None);
        }
        let headers = call.memory(HEADER * ranks.len() as u64)?;
        let peer = |(i, rank): (u64, u32)| Peer {
            rank,
            header: headers.part(HEADER * i, HEADER),
            announced: Header::LAST,
            last: None,
            list: Vec::new(),
        };
        let slot = || -> Result<Slot, Status> {
            Ok(Slot {
                image: None,
                result: call.result()?,
                requests: Vec::new(),
                types: Vec::new(),
                writes: false,
            })
        };
        Ok(Some(Gathering {
            owner,
            peers: (0..).zip(ranks).map(peer).collect(),
            slots: [slot()?, slot()?],
            turn: 0,
            unread: false,
            outcome: Outcome::FINE,
        }))
    }

    /// The lowest round that somebody has announced.
    pub fn next_round(&self) -> u64 {
        self.peers.iter().map(|peer| peer.announced.round).min().unwrap_or(NEVER)
    }

    /// Messages under way.
    pub fn requests(&mut self) -> Vec<Request> {
        self.slots.iter_mut().flat_map(|slot| slot.requests.drain(..)).collect()
    }

    /// The outcome, when all writes have ended.
    pub fn outcome(&mut self) -> Outcome {
        let outcomes = self.slots.iter_mut().map(Slot::written);
        outcomes.fold(self.outcome, Outcome::and)
    }
}

impl Slot {
    /// Memory for an image of which so much has data. The first one gets as much as it needs, and what is not enough for a later one is replaced by a whole one: so there are at most two.
    fn image(&mut self, call: &Call<'_>, domains: &Domains, bytes: u64) -> Result<Memory, Status> {
        let bytes = match self.image {
            Some(image) if image.len() >= bytes => return Ok(image),
            Some(_) => domains.image_bytes(),
            None => bytes,
        };
        // A whole one as the bits count it.
        Ok(*self.image.insert(call.memory(bytes.next_multiple_of(64))?))
    }

    /// The outcome of the write that was started last, which has ended.
    fn written(&mut self) -> Outcome {
        if !core::mem::take(&mut self.writes) {
            return Outcome::FINE;
        }
        Outcome { status: self.result().1, end: u64::MAX }
    }

    fn result(&self) -> (u64, Status) {
        let at = self.result.at();
        // SAFETY: a place of the plan for a result; the transfer has ended.
        unsafe { (at.cast::<u64>().read(), Status(at.wrapping_add(8).cast::<i32>().read())) }
    }
}

impl Gathering {
    /// Starts to receive the first announcement of each rank; this rank's own is put in its place.
    pub fn receive_first(&mut self, setting: &Setting, call: &Call<'_>) -> Result<Vec<Request>, Status> {
        let everybody: Vec<usize> = (0..self.peers.len()).collect();
        self.receive_headers(setting, call, &everybody, false)
    }

    fn receive_headers(
        &mut self,
        setting: &Setting,
        call: &Call<'_>,
        peers: &[usize],
        lost: bool,
    ) -> Result<Vec<Request>, Status> {
        let mut requests = Vec::new();
        self.unread = true;
        for peer in peers {
            let peer = &mut self.peers[*peer];
            let place = peer.header.at().cast::<Header>();
            let own = peer.rank == call.rank();
            let from =
                peer.last.map_or(Some(0), |round| sending::behind(&setting.domains, round, self.owner));
            let known = if own && !lost {
                sending::announcement(call, &setting.domains, self.owner, from)
            } else {
                // It stays where the message fails.
                Header::LAST
            };
            peer.announced.round = NEVER;
            // SAFETY: the place is free, since the last announcement was looked at; it is the message's until it was waited for, and the type lives as long as the exchange.
            unsafe {
                place.write(known);
                if !own {
                    requests.push(call.recv(place.cast(), HEADER, &setting.byte, peer.rank)?);
                }
            }
        }
        Ok(requests)
    }

    /// Looks at announcements that have come. One that cannot be ends what its rank has to say, and is this rank's error.
    pub fn check_headers(&mut self, setting: &Setting) {
        if !core::mem::take(&mut self.unread) {
            return;
        }
        for peer in &mut self.peers {
            // SAFETY: whoever comes here has waited for announcements; all bytes are initialised.
            let header = unsafe { peer.header.at().cast::<Header>().read() };
            if header.is_valid(peer.last, setting.domains.image_bytes()) {
                peer.announced = header;
            } else {
                peer.announced = Header::LAST;
                self.outcome.status = Status::MISMATCH;
            }
        }
    }

    /// An aggregator's task: first the lists that did not fit into announcements.
    pub fn gather(
        mut self,
        setting: Setting,
        call: &Call<'_>,
        round: u64,
        next: impl FnOnce(Gathering, &Call<'_>) -> Result<(), Status> + Send + 'static,
    ) -> Result<(), Status> {
        let mut requests = core::mem::take(&mut self.slots[self.turn].requests);
        for peer in self.peers.iter_mut().filter(|peer| peer.announced.round == round) {
            if peer.announced.is_inline() || peer.rank == call.rank() {
                continue;
            }
            peer.list = vec![0; peer.announced.list as usize];
            let (at, len) = (peer.list.as_mut_ptr(), peer.announced.list);
            // SAFETY: the list is the message's until it was waited for.
            requests.push(unsafe { call.recv(at, len, &setting.byte, peer.rank)? });
        }
        call.wait(&mut requests)?;
        call.then(move |call, lost| {
            let slot = &mut self.slots[self.turn];
            slot.types.clear();
            self.outcome = self.outcome.and(slot.written());
            let (guests, covered) = self.guests(&setting, call, round, lost)?;
            if call.writes() {
                self.collect(setting, call, (round, lost), (guests, covered), next)
            } else {
                self.fetch(setting, call, (round, lost), (guests, covered), next)
            }
        })
    }

    /// The ranks that take part in a round, and their bytes together. A rank whose list was lost has none.
    fn guests(
        &mut self,
        setting: &Setting,
        call: &Call<'_>,
        round: u64,
        lost: bool,
    ) -> Result<(Vec<Guest>, Covered), Status> {
        let domains = setting.domains;
        let mut all = Vec::new();
        let owner = self.owner;
        for (i, peer) in self.peers.iter_mut().enumerate().filter(|(_, peer)| peer.announced.round == round) {
            let header = peer.announced;
            let long = core::mem::take(&mut peer.list);
            let own = (peer.rank == call.rank()).then(|| sending::part(call, &domains, (round, owner)).list);
            let list = own.as_deref().unwrap_or(if header.is_inline() {
                &header.inline[..header.list as usize]
            } else {
                &long
            });
            let runs = match wire::runs(list, header.bytes, &domains, round, owner) {
                Some(runs) => runs,
                // Its data comes all the same, to nowhere in particular.
                None => {
                    if !lost {
                        self.outcome.status = Status::MISMATCH;
                    }
                    let first = domains.segments(round, owner).next().map_or(0, |(from, _)| from);
                    vec![Run { offset: first, len: header.bytes, count: 1, stride: header.bytes }]
                }
            };
            all.push((i, runs));
            peer.last = Some(round);
        }
        let covered = Covered::of(all.iter().flat_map(|(_, runs)| runs), &domains);
        let guest = |(peer, runs): &(usize, Vec<Run>)| {
            type_of(runs, &domains, covered.base(), &setting.byte).map(|kind| Guest { peer: *peer, kind })
        };
        let guests = all.iter().map(guest).collect::<Result<_, _>>()?;
        Ok((guests, covered))
    }

    /// Receives the data of a round, and writes it while the next one is collected.
    fn collect(
        mut self,
        setting: Setting,
        call: &Call<'_>,
        (round, lost): (u64, bool),
        (guests, covered): (Vec<Guest>, Covered),
        next: impl FnOnce(Gathering, &Call<'_>) -> Result<(), Status> + Send + 'static,
    ) -> Result<(), Status> {
        let peers: Vec<usize> = guests.iter().map(|guest| guest.peer).collect();
        let (turn, owner) = (self.turn, self.owner);
        self.turn ^= 1;
        let mut requests = Vec::new();
        let image = self.slots[turn].image(call, &setting.domains, covered.bytes())?;
        for guest in guests {
            let (slot, rank) = (&mut self.slots[turn], self.peers[guest.peer].rank);
            if rank == call.rank() {
                let spans = sending::part(call, &setting.domains, (round, owner)).spans;
                put_own(call, &spans, image, &guest.kind);
            } else {
                // SAFETY: the image is the messages' until they were waited for, the type lives in the slot. Of bytes that several ranks write any may stay.
                requests.push(unsafe { call.recv(image.at(), 1, &guest.kind, rank)? });
            }
            slot.types.push(guest.kind);
        }
        requests.extend(self.receive_headers(&setting, call, &peers, lost)?);
        call.wait(&mut requests)?;
        // The write of the other image ends meanwhile.
        call.settle()?;
        call.then(move |call, lost| {
            if lost || self.outcome.status.is_err() {
                return next(self, call);
            }
            let slot = &mut self.slots[turn];
            let pieces = placed(&covered.extents(&setting.domains, round, owner), image);
            slot.writes = true;
            // SAFETY: the image is the transfer's until `settle`, behind which its turn comes again.
            unsafe { call.transfer(WRITE, &pieces, &slot.result, true)? };
            next(self, call)
        })
    }

    /// Reads a round, and sends each rank its data while the next one is read.
    fn fetch(
        mut self,
        setting: Setting,
        call: &Call<'_>,
        (round, lost): (u64, bool),
        (guests, covered): (Vec<Guest>, Covered),
        next: impl FnOnce(Gathering, &Call<'_>) -> Result<(), Status> + Send + 'static,
    ) -> Result<(), Status> {
        let peers: Vec<usize> = guests.iter().map(|guest| guest.peer).collect();
        let (turn, owner) = (self.turn, self.owner);
        self.turn ^= 1;
        let slot = &mut self.slots[turn];
        let extents = covered.extents(&setting.domains, round, owner);
        let fine = !lost && !self.outcome.status.is_err();
        let image = slot.image(call, &setting.domains, covered.bytes())?;
        if fine {
            // SAFETY: the image is free, and the transfer's until the step behind.
            unsafe { call.transfer(READ, &placed(&extents, image), &slot.result, false)? };
        }
        let mut requests = self.receive_headers(&setting, call, &peers, lost)?;
        call.wait(&mut requests)?;
        call.then(move |call, _| {
            let slot = &mut self.slots[turn];
            let (moved, status) = if fine { slot.result() } else { (0, Status::OK) };
            let end = first_missing(&extents, moved).filter(|_| fine && !status.is_err()).unwrap_or(u64::MAX);
            self.outcome = self.outcome.and(Outcome { status, end });
            clear_behind(&extents, moved, image);
            for guest in guests {
                let rank = self.peers[guest.peer].rank;
                if rank == call.rank() {
                    let spans = sending::part(call, &setting.domains, (round, owner)).spans;
                    take_own(call, &spans, image, &guest.kind);
                } else {
                    // SAFETY: the image stays as it is until its messages were waited for, the type lives in the slot.
                    slot.requests.push(unsafe { call.send(image.at(), 1, &guest.kind, rank)? });
                }
                slot.types.push(guest.kind);
            }
            next(self, call)
        })
    }
}

/// Bytes of an image as pieces of a transfer.
fn placed(extents: &[Extent], image: Memory) -> Vec<Piece> {
    let place = |at: u64| image.at().wrapping_add(at as usize);
    extents.iter().map(|all| Piece { offset: all.offset, memory: place(all.at), len: all.len }).collect()
}

/// Fills what a read did not bring with zeros, so that no other data is handed out for it.
fn clear_behind(extents: &[Extent], moved: u64, image: Memory) {
    let mut left = moved;
    for extent in extents {
        let there = left.min(extent.len);
        left -= there;
        let rest = image.part(extent.at + there, extent.len - there);
        // SAFETY: a part of an image of this rank, whose transfer has ended.
        unsafe { rest.at().write_bytes(0, rest.len() as usize) };
    }
}

/// Puts this rank's own data into its image.
fn put_own(call: &Call<'_>, spans: &[Span], image: Memory, kind: &TypeRef) {
    let (bytes, mut packed) = (kind.packed, Vec::new());
    let from = match sending::in_user_memory(call, spans) {
        Some(place) => place,
        None => {
            packed.resize(bytes as usize, 0u8);
            let mut at = packed.as_mut_ptr();
            for span in spans {
                // SAFETY: the spans have as many bytes as the type.
                unsafe { sending::from_user(call, *span, at) };
                at = at.wrapping_add(span.len as usize);
            }
            packed.as_mut_ptr()
        }
    };
    // SAFETY: the type is on the image, which no message uses yet.
    unsafe { oxmpi_datatype::unpack(kind, 1, image.at(), 0, from, bytes) };
}

/// Takes this rank's own data out of its image.
fn take_own(call: &Call<'_>, spans: &[Span], image: Memory, kind: &TypeRef) {
    let (bytes, mut packed) = (kind.packed, Vec::new());
    let place = sending::in_user_memory(call, spans);
    let to = place.unwrap_or_else(|| {
        packed.resize(bytes as usize, 0u8);
        packed.as_mut_ptr()
    });
    // SAFETY: the type is on the image, which nobody writes; the place has so many bytes.
    unsafe { oxmpi_datatype::pack(kind, 1, image.at(), 0, to, bytes) };
    if place.is_none() {
        let mut at = to;
        for span in spans {
            // SAFETY: the spans have as many bytes as the type.
            unsafe { sending::to_user(call, *span, at) };
            at = at.wrapping_add(span.len as usize);
        }
    }
}
