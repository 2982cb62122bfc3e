//! A rank's part of the rounds of aggregators: it announces what it has there, and sends or receives the data.

use crate::domains::{Domains, NEVER};
use crate::setting::Setting;
use crate::wire::{HEADER, Header, List};
use oxmpi_fcoll::{Call, Memory, Range, Request};
use oxmpi_mca::Status;

/// An aggregator that this rank has data for.
struct Line {
    /// Its place among the aggregators, and its rank.
    owner: u64,
    rank: u32,
    /// The announcement on its way, and its message.
    header: Memory,
    sent: Option<Request>,
    /// The round that was announced last; [`NEVER`]: there is no more.
    round: u64,
}

/// Packed data on its way.
#[derive(Default)]
struct Store {
    packed: Option<Memory>,
    requests: Vec<Request>,
    list: Vec<u8>,
    /// Parts of the view whose data is in `packed`, to be unpacked when it has come.
    to_unpack: Vec<Span>,
}

/// A part of the view: first byte, number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub position: u64,
    pub len: u64,
}

/// A rank's data in a round of an aggregator.
pub struct Part {
    pub spans: Vec<Span>,
    pub list: Vec<u8>,
    pub bytes: u64,
}

/// The part of an exchange that has a rank's own data.
#[derive(Default)]
pub struct Sending {
    /// Bytes of the rank's whole access.
    bytes: u64,
    lines: Vec<Line>,
    stores: [Store; 2],
    turn: usize,
}

impl Sending {
    /// For a rank with that range.
    pub fn new(call: &Call<'_>, domains: &Domains, mine: Range) -> Result<Sending, Status> {
        let mut lines = Vec::new();
        for (owner, rank) in (0u64..).zip(call.aggregators()) {
            if mine.bytes > 0 && *rank != call.rank() && domains.touches(owner, mine.first, mine.end) {
                lines.push(Line {
                    owner,
                    rank: *rank,
                    header: call.memory(HEADER)?,
                    sent: None,
                    round: NEVER,
                });
            }
        }
        Ok(Sending { bytes: mine.bytes, lines, stores: Default::default(), turn: 0 })
    }

    /// The next round to take part in, and of whom.
    pub fn next(&self) -> (u64, u64) {
        self.lines.iter().map(|line| (line.round, line.owner)).min().unwrap_or((NEVER, 0))
    }

    /// Messages under way.
    pub fn requests(&mut self) -> Vec<Request> {
        let of_lines = self.lines.iter_mut().filter_map(|line| line.sent.take());
        let of_stores = self.stores.iter_mut().flat_map(|store| store.requests.drain(..));
        of_lines.chain(of_stores).collect()
    }

    /// Unpacks what has come.
    pub fn unpack(&mut self, call: &Call<'_>) {
        self.stores.iter_mut().for_each(|store| store.unpack(call));
    }
}

impl Store {
    fn unpack(&mut self, call: &Call<'_>) {
        let Some(packed) = self.packed else { return };
        let mut at = 0;
        for span in self.to_unpack.drain(..) {
            // SAFETY: the data has come, and nobody else uses store or user's memory meanwhile.
            unsafe { to_user(call, span, packed.at().wrapping_add(at)) };
            at += span.len as usize;
        }
    }

    /// Room for the packed data of any round.
    fn room(&mut self, call: &Call<'_>, bytes: u64) -> Result<Memory, Status> {
        match self.packed {
            Some(memory) => Ok(memory),
            None => Ok(*self.packed.insert(call.memory(bytes)?)),
        }
    }
}

/// Packs a part of the access from the user's memory.
///
/// # Safety
/// `out` has room for it, and nobody writes the user's memory.
pub unsafe fn from_user(call: &Call<'_>, span: Span, out: *mut u8) {
    let access = call.access();
    // SAFETY: the host's promise about the access's memory, and the caller's about `out`.
    unsafe {
        oxmpi_datatype::pack(
            call.memtype(),
            access.count,
            access.memory,
            span.position - access.from,
            out,
            span.len,
        )
    };
}

/// Unpacks a part of the access into the user's memory.
///
/// # Safety
/// `from` has so many bytes, and nobody else uses the user's memory.
pub unsafe fn to_user(call: &Call<'_>, span: Span, from: *const u8) {
    let access = call.access();
    // SAFETY: as above.
    unsafe {
        oxmpi_datatype::unpack(
            call.memtype(),
            access.count,
            access.memory,
            span.position - access.from,
            from,
            span.len,
        )
    };
}

/// Where the data of these parts lies in the user's memory, if that is one block.
pub fn in_user_memory(call: &Call<'_>, spans: &[Span]) -> Option<*mut u8> {
    match spans {
        [span] => call.memory_of_access().one_block(span.position - call.access().from, span.len),
        _ => None,
    }
}

/// The data of this rank in a round.
pub fn part(call: &Call<'_>, domains: &Domains, (round, owner): (u64, u64)) -> Part {
    let (access, view) = (call.access(), call.view());
    let end = access.from + access.len;
    let (mut list, mut spans) = (List::default(), Vec::<Span>::new());
    for (from, to) in domains.segments(round, owner) {
        let first = view.position(from).max(access.from);
        if first >= end {
            break;
        }
        let behind = view.position(to).min(end);
        if behind <= first {
            continue;
        }
        view.blocks(first, behind - first).for_each(|(offset, len)| list.block(offset, len));
        list.cut();
        match spans.last_mut() {
            Some(last) if last.position + last.len == first => last.len += behind - first,
            _ => spans.push(Span { position: first, len: behind - first }),
        }
    }
    let bytes = spans.iter().map(|span| span.len).sum();
    Part { spans, list: list.into_bytes(), bytes }
}

/// The first round of an aggregator, with a byte at `from` or behind, in which this rank has data.
fn next_round(call: &Call<'_>, domains: &Domains, owner: u64, from: Option<u64>) -> u64 {
    let (access, view) = (call.access(), call.view());
    let mut from = from;
    while let Some(offset) = from.and_then(|from| domains.next_of(owner, from)) {
        let position = view.position(offset).max(access.from);
        if position >= access.from + access.len {
            break;
        }
        let Some(found) = view.offset(position) else { break };
        if domains.owner(found) == owner {
            return domains.round(found);
        }
        from = Some(found);
    }
    NEVER
}

/// The announcement of the first round with data, from byte `from` of the file on.
pub fn announcement(call: &Call<'_>, domains: &Domains, owner: u64, from: Option<u64>) -> Header {
    match next_round(call, domains, owner, from) {
        NEVER => Header::LAST,
        round => {
            let part = part(call, domains, (round, owner));
            Header::new(round, part.bytes, &part.list)
        }
    }
}

/// The first byte of the file behind a round of an aggregator.
pub fn behind(domains: &Domains, round: u64, owner: u64) -> Option<u64> {
    domains.segments(round, owner).next().and_then(|(from, _)| domains.behind_round(from))
}

impl Sending {
    /// Announces this rank's first rounds.
    pub fn announce_first(&mut self, setting: &Setting, call: &Call<'_>) -> Result<(), Status> {
        for line in 0..self.lines.len() {
            let header = announcement(call, &setting.domains, self.lines[line].owner, Some(0));
            self.announce(setting, call, line, header)?;
        }
        Ok(())
    }

    fn announce(
        &mut self,
        setting: &Setting,
        call: &Call<'_>,
        line: usize,
        header: Header,
    ) -> Result<(), Status> {
        let line = &mut self.lines[line];
        line.round = header.round;
        // SAFETY: the last announcement has arrived; the plan's memory, and a type that lives as long as the exchange.
        unsafe {
            line.header.at().cast::<Header>().write(header);
            line.sent = Some(call.send(line.header.at(), HEADER, &setting.byte, line.rank)?);
        }
        Ok(())
    }

    /// Takes part in a round: waits until the store of two tasks ago is free, and goes on with `next`.
    pub fn send(
        mut self,
        setting: Setting,
        call: &Call<'_>,
        task: (u64, u64),
        next: impl FnOnce(Sending, &Call<'_>) -> Result<(), Status> + Send + 'static,
    ) -> Result<(), Status> {
        let Some(line) = self.lines.iter().position(|line| line.owner == task.1) else {
            return Err(Status::INTERNAL);
        };
        let mut requests: Vec<Request> = self.lines[line].sent.take().into_iter().collect();
        requests.append(&mut self.stores[self.turn].requests);
        call.wait(&mut requests)?;
        call.then(move |call, lost| {
            self.send_part(&setting, call, line, task, lost)?;
            next(self, call)
        })
    }

    fn send_part(
        &mut self,
        setting: &Setting,
        call: &Call<'_>,
        line: usize,
        task: (u64, u64),
        lost: bool,
    ) -> Result<(), Status> {
        let (domains, rank) = (setting.domains, self.lines[line].rank);
        let store = &mut self.stores[self.turn];
        self.turn ^= 1;
        if lost {
            store.to_unpack.clear();
        } else {
            store.unpack(call);
        }
        let part = part(call, &domains, task);
        store.list = part.list;
        if store.list.len() > crate::wire::INLINE {
            let len = store.list.len() as u64;
            // SAFETY: the list is not touched until the store's turn comes again.
            store.requests.push(unsafe { call.send(store.list.as_ptr(), len, &setting.byte, rank)? });
        }
        let in_place = in_user_memory(call, &part.spans);
        let place = match in_place {
            Some(place) => place,
            None => store.room(call, domains.image_bytes().min(self.bytes))?.at(),
        };
        if call.writes() {
            if in_place.is_none() {
                let mut at = place;
                for span in &part.spans {
                    // SAFETY: a window's data fits the store, which is free.
                    unsafe { from_user(call, *span, at) };
                    at = at.wrapping_add(span.len as usize);
                }
            }
            // SAFETY: neither the store nor the user's memory changes while the message is under way.
            store.requests.push(unsafe { call.send(place, part.bytes, &setting.byte, rank)? });
        } else {
            // SAFETY: the place is the message's until the store's turn comes again.
            store.requests.push(unsafe { call.recv(place, part.bytes, &setting.byte, rank)? });
            if in_place.is_none() {
                store.to_unpack = part.spans;
            }
        }
        let next = if lost {
            Header::LAST
        } else {
            announcement(call, &domains, task.1, behind(&domains, task.0, task.1))
        };
        self.announce(setting, call, line, next)
    }
}
