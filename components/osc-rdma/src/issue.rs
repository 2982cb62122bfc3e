//! Issuing the pieces of an operation on one context, under its CRI.
//!
//! A piece that finds no room waits, with the CRI given back, until there is: progress of the same context ends that. Operations that another thread issues on the
//! context meanwhile wait behind it ([`crate::queue::Queue`]), so what was issued first is offered first. The first failure
//! ends the operation: what is not issued by then is not going to be.

use crate::batch::{Member, Members};
use crate::call::Call;
use crate::local::{Local, Scratch};
use crate::op::{Draft, FinalStep, OwnPiece, Waiting};
use crate::peer::Route;
use crate::piece::{Piece, Stretch, puts};
use crate::room::RoomWait;
use crate::window::RdmaWindow;
use crate::writes::Kind;
use core::marker::PhantomData;
use oxmpi_btl::cap;
use oxmpi_mca::{CriGuard, Status};
use oxmpi_osc_support::{Entries, Entry, Results};

/// A batch of so many puts is not worth a request to the target.
const BY_THEMSELVES: usize = 2;

/// An operation as it is issued: how it begins, its pieces one by one, and what is noted behind them.
trait Issuing {
    /// For whoever issues it.
    type Made;

    /// On the context that is held.
    fn begin(&mut self, held: &mut CriGuard<'_>) -> (OwnPiece, Self::Made);
    /// Whether it has what its pieces need; if not, the operation has failed.
    fn may_go(&mut self, _: &OwnPiece, _: &mut CriGuard<'_>) -> bool {
        true
    }
    fn next(&mut self) -> Option<Piece<'_>>;
    /// All are issued (`whole`), or one has failed. The context is held.
    fn end(&mut self, held: &mut CriGuard<'_>, whole: bool);
}

/// Writes that are noted in the record of their lane.
pub struct Noted<P> {
    pub kind: Kind,
    /// Their end says that they are at the target.
    pub ends_there: bool,
    /// They are, or will be, complete for the program without a wait for that.
    pub settled: bool,
    /// Before the pieces are issued; else behind them.
    pub first: bool,
    /// Addresses and lengths.
    pub places: P,
}

/// None are.
pub const NOTHING: Option<Noted<core::iter::Empty<(u64, u64)>>> = None;

impl Call<'_> {
    /// Starts an operation on the calling thread's context.
    pub fn launch<'p>(
        &mut self,
        route: Route<'_>,
        op: Draft,
        pieces: impl Iterator<Item = Piece<'p>>,
        noted: Option<Noted<impl Iterator<Item = (u64, u64)>>>,
    ) {
        let begin = |held: &mut CriGuard<'_>, op: Draft| (op.begin(held, route), ());
        self.issue_own(route, op, begin, pieces, noted)
    }

    /// The same for one that the caller waits for.
    pub fn set_off<'p>(
        &mut self,
        route: Route<'_>,
        op: Draft,
        pieces: impl Iterator<Item = Piece<'p>>,
        noted: Option<Noted<impl Iterator<Item = (u64, u64)>>>,
    ) -> Waiting {
        let begin = |held: &mut CriGuard<'_>, op: Draft| op.begin_waited(held, route);
        self.issue_own(route, op, begin, pieces, noted)
    }

    /// On the calling thread's context, behind what waits there.
    fn issue_own<'p, T>(
        &mut self,
        route: Route<'_>,
        op: Draft,
        begin: impl FnMut(&mut CriGuard<'_>, Draft) -> (OwnPiece, T),
        pieces: impl Iterator<Item = Piece<'p>>,
        noted: Option<Noted<impl Iterator<Item = (u64, u64)>>>,
    ) -> T {
        let ctx = self.context(route.link());
        if route.lane(ctx).batch.waits() {
            self.send_batch(route, ctx);
        }
        let (win, op) = (self.win, Some(op));
        self.issue(route, ctx, &mut Pieces { win, route, op, begin, pieces, noted, named: PhantomData })
    }

    /// Issues a flush of the transport's behind what was written, as one more operation.
    pub fn flush_lane(&mut self, route: Route<'_>, ctx: u32) {
        self.issue(route, ctx, &mut LaneFlush { route, issued: false });
    }

    /// Sends what waits on a context.
    pub fn send_batch(&mut self, route: Route<'_>, ctx: u32) {
        let win = self.win;
        self.issue(route, ctx, &mut SentBatch::new(win, route));
    }

    fn issue<T>(&mut self, route: Route<'_>, ctx: u32, op: &mut impl Issuing<Made = T>) -> T {
        let mut held = self.enter(ctx);
        let (own, made) = op.begin(&mut held);
        let queue = &route.lane(ctx).queue;
        let ticket = queue.join(&mut held);
        // How often the context was entered.
        let (mut entries, mut whole) = (1, op.may_go(&own, &mut held));
        while whole && let Some(piece) = op.next() {
            let offer = |held: &mut CriGuard<'_>| match queue.is_next(held, ticket) {
                true => piece.offer(held, route, &own),
                // The operation before it has found no room.
                false => Status::NO_RESOURCE,
            };
            let (mut answer, mut wait) = (offer(&mut held), RoomWait::default());
            while answer == Status::NO_RESOURCE {
                drop(held);
                let waited = self.wait_for_room(ctx, &mut wait);
                held = self.enter(ctx);
                entries += 1;
                answer = if waited.is_err() { waited } else { offer(&mut held) };
            }
            whole = own.count(&mut held, answer);
        }
        queue.leave(&mut held, ticket);
        op.end(&mut held, whole);
        if own.is_put() {
            let pool = own.local().map_or(0, Local::locks);
            route.lane(ctx).note_put(&mut held, entries + pool);
        }
        own.end(&mut held);
        made
    }
}

/// An operation of which all is known before.
struct Pieces<'a, 'p, B, I, P> {
    win: &'a RdmaWindow,
    route: Route<'a>,
    op: Option<Draft>,
    begin: B,
    pieces: I,
    noted: Option<Noted<P>>,
    /// As long as this is, what the pieces name is.
    named: PhantomData<Piece<'p>>,
}

impl<'p, T, B, I, P> Issuing for Pieces<'_, 'p, B, I, P>
where
    B: FnMut(&mut CriGuard<'_>, Draft) -> (OwnPiece, T),
    I: Iterator<Item = Piece<'p>>,
    P: Iterator<Item = (u64, u64)>,
{
    type Made = T;

    fn begin(&mut self, held: &mut CriGuard<'_>) -> (OwnPiece, T) {
        let made = (self.begin)(held, self.op.take().unwrap_or_default());
        if let Some(noted) = self.noted.take_if(|noted| noted.first) {
            note(self.win, self.route, held, noted);
        }
        made
    }
    fn next(&mut self) -> Option<Piece<'_>> {
        self.pieces.next()
    }
    fn end(&mut self, held: &mut CriGuard<'_>, _: bool) {
        if let Some(noted) = self.noted.take() {
            note(self.win, self.route, held, noted);
        }
    }
}

fn note(
    win: &RdmaWindow,
    route: Route<'_>,
    held: &mut CriGuard<'_>,
    noted: Noted<impl Iterator<Item = (u64, u64)>>,
) {
    if !win.rules.unordered() {
        let Noted { kind, ends_there, settled, places, .. } = noted;
        route.link().note_writes(held, kind, ends_there, settled, places);
    }
}

/// A flush of what was written on a lane.
struct LaneFlush<'a> {
    route: Route<'a>,
    issued: bool,
}

impl Issuing for LaneFlush<'_> {
    type Made = ();

    fn begin(&mut self, held: &mut CriGuard<'_>) -> (OwnPiece, ()) {
        let own = Draft::default().begin(held, self.route);
        // It is counted: whoever finds nothing written finds this flush under way. SYNC POINT with `begin_settling`.
        self.route.lane(held.ctx()).flushed(held);
        (own, ())
    }
    fn next(&mut self) -> Option<Piece<'_>> {
        (!core::mem::replace(&mut self.issued, true)).then_some(Piece::Flush)
    }
    fn end(&mut self, _: &mut CriGuard<'_>, _: bool) {}
}

/// Operations that waited in a batch.
struct SentBatch<'a> {
    win: &'a RdmaWindow,
    route: Route<'a>,
    members: Members,
    /// Puts of the transport write them; else a list does.
    alone: Option<std::vec::IntoIter<Piece<'a>>>,
    /// Where results go in the operation's local memory.
    results: Option<Results>,
    /// Why they cannot be sent: there is no memory for the results.
    failed: Status,
    /// They are complete for the program.
    settled: bool,
    listed: bool,
}

impl<'a> SentBatch<'a> {
    fn new(win: &'a RdmaWindow, route: Route<'a>) -> SentBatch<'a> {
        let (members, failed) = (Members::default(), Status::OK);
        SentBatch { win, route, members, alone: None, results: None, failed, settled: false, listed: false }
    }

    fn ends_there(&self) -> bool {
        self.alone.is_none() || self.route.link().remote_done
    }

    fn note(&self, held: &mut CriGuard<'_>) {
        let (ends_there, settled) = (self.ends_there(), self.settled);
        for kind in [Kind::TRANSFER, Kind::ACCUMULATE] {
            let places = self.members.places(kind);
            note(self.win, self.route, held, Noted { kind, ends_there, settled, first: true, places });
        }
    }

    fn entries(&self) -> Entries<'_> {
        let (all, registration) = (self.members.all(), &self.route.peer().data);
        let mut entries = Entries::new(all.len(), self.results);
        let mut behind = 0;
        for member in all {
            let at = member.result.map(|(_, len)| {
                let at = behind;
                behind += len.next_multiple_of(8) as u64;
                at
            });
            let Member { op, flags, compare, remote, .. } = *member;
            let entry = Entry::new(op, remote, registration, self.members.data_of(member));
            entries.push(Entry { flags, compare, result: at, ..entry });
        }
        entries
    }

    /// Local memory with the data of few puts, which the transport itself writes, where it can.
    fn local_of_puts(&self) -> Option<Scratch> {
        let (link, all) = (self.route.link(), self.members.all());
        let own = link.reach.btl().emulated & cap::PUT == 0;
        if all.len() > BY_THEMSELVES || !own || !self.members.are_puts_apart() {
            return None;
        }
        let mut local = self.win.scratch(link, self.members.data().len()).ok()?;
        local.bytes_mut().copy_from_slice(self.members.data());
        Some(local)
    }

    /// As puts of the transport's.
    fn puts(&self) -> std::vec::IntoIter<Piece<'a>> {
        let registration = &self.route.peer().data;
        let stretches = self.members.all().iter().map(|put| Stretch {
            local: put.at as u64,
            remote: put.remote,
            len: put.len as u64,
            registration,
        });
        puts(self.route, stretches).collect::<Vec<_>>().into_iter()
    }

    /// Local memory for all results, and their ways from there; a failure is the operation's.
    fn make_room(&mut self, op: &mut Draft) {
        match self.win.scratch(self.route.link(), self.members.results()).map(Local::Scratch) {
            Ok(local) => {
                self.results = Some(local.results());
                op.local = Some(local);
                op.final_step = FinalStep::scatter(
                    self.members.all().iter().filter_map(|member| member.result).collect(),
                );
            }
            Err(status) => self.failed = status,
        }
    }
}

impl Issuing for SentBatch<'_> {
    type Made = ();

    fn begin(&mut self, held: &mut CriGuard<'_>) -> (OwnPiece, ()) {
        let (route, lane) = (self.route, self.route.lane(held.ctx()));
        self.members = lane.batch.take(held);
        let mut op = Draft::default();
        op.is_put = self.members.ordered.is_empty() && self.members.results() == 0;
        op.ordered = core::mem::take(&mut self.members.ordered);
        if self.members.results() > 0 {
            self.make_room(&mut op);
        } else if let Some(local) = self.local_of_puts() {
            op.local = Some(Local::Scratch(local));
            self.alone = Some(self.puts());
        }
        let own = op.begin(held, route);
        self.settled = route.link().fences.has_batch(held.ctx());
        if self.settled || !self.ends_there() {
            self.note(held);
        }
        lane.batch.sent(held);
        route.link().fences.batch_is_sent_if(self.settled, held);
        (own, ())
    }

    fn may_go(&mut self, own: &OwnPiece, held: &mut CriGuard<'_>) -> bool {
        self.failed.is_ok() || own.count(held, self.failed)
    }

    fn next(&mut self) -> Option<Piece<'_>> {
        if let Some(alone) = &mut self.alone {
            return alone.next();
        }
        let first = !core::mem::replace(&mut self.listed, true);
        // A batch has room for no more than a list has.
        (first && !self.members.all().is_empty()).then(|| Piece::List(self.entries()))
    }

    fn end(&mut self, held: &mut CriGuard<'_>, whole: bool) {
        // A flush of another thread's comes before those that find no room, so they are noted again when all are issued.
        if whole && !self.ends_there() {
            self.note(held);
        }
        let lane = self.route.lane(held.ctx());
        lane.batch.give_back(held, core::mem::take(&mut self.members));
    }
}
