//! Issuing the pieces of an operation on one context, under its CRI.
//!
//! A piece that finds no room waits, with the CRI given back, until there is: progress of the same context ends that. The first failure
//! ends the operation: what is not issued by then is not going to be.

use crate::batch::Puts;
use crate::call::Call;
use crate::local::{Local, Scratch};
use crate::op::{Draft, OwnPiece, Waiting};
use crate::peer::Route;
use crate::piece::{Entries, Entry, Piece, Stretch, puts};
use crate::window::RdmaWindow;
use crate::writes::Kind;
use core::marker::PhantomData;
use oxmpi_btl::{LIST_PUT, cap};
use oxmpi_mca::{CriGuard, Status};

/// A batch of so many puts is not worth a request to the target.
const BY_THEMSELVES: usize = 2;

/// An operation as it is issued: how it begins, its pieces one by one, and what is noted behind them.
trait Issuing {
    /// For whoever issues it.
    type Made;

    /// On the context that is held.
    fn begin(&mut self, held: &mut CriGuard<'_>) -> (OwnPiece, Self::Made);
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

    /// On the calling thread's context, behind the puts that wait there.
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

    /// Sends the puts that wait on a context.
    pub fn send_batch(&mut self, route: Route<'_>, ctx: u32) {
        let (win, puts) = (self.win, Puts::default());
        let mut batch = SentBatch { win, route, puts, alone: None, settled: false, listed: false };
        self.issue(route, ctx, &mut batch);
    }

    fn issue<T>(&mut self, route: Route<'_>, ctx: u32, op: &mut impl Issuing<Made = T>) -> T {
        let mut held = self.enter(ctx);
        let (own, made) = op.begin(&mut held);
        // How often the context was entered.
        let (mut entries, mut whole) = (1, true);
        while whole && let Some(piece) = op.next() {
            let mut answer = piece.offer(&mut held, route, &own);
            while answer == Status::NO_RESOURCE {
                drop(held);
                let waited = self.turn(ctx);
                held = self.enter(ctx);
                entries += 1;
                answer = if waited.is_err() { waited } else { piece.offer(&mut held, route, &own) };
            }
            whole = own.count(&mut held, answer);
        }
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

/// Puts that waited in a batch.
struct SentBatch<'a> {
    win: &'a RdmaWindow,
    route: Route<'a>,
    puts: Puts,
    /// Puts of the transport write them; else a list does.
    alone: Option<std::vec::IntoIter<Piece<'a>>>,
    /// They are complete for the program.
    settled: bool,
    listed: bool,
}

impl SentBatch<'_> {
    fn ends_there(&self) -> bool {
        self.alone.is_none() || self.route.link().remote_done
    }

    fn note(&self, held: &mut CriGuard<'_>) {
        let (kind, ends_there, settled) = (Kind::TRANSFER, self.ends_there(), self.settled);
        let places = self.puts.places();
        note(self.win, self.route, held, Noted { kind, ends_there, settled, first: true, places });
    }

    fn entries(&self) -> Entries<'_> {
        let (all, registration) = (self.puts.all(), &self.route.peer().data);
        let mut entries = Entries::new(all.len(), None);
        for put in all {
            entries.push(Entry::new(LIST_PUT, put.remote, registration, self.puts.data_of(put)));
        }
        entries
    }

    /// Local memory with the data of few puts, which the transport itself writes, where it can.
    fn local(&self) -> Option<Scratch> {
        let (link, all) = (self.route.link(), self.puts.all());
        let own = link.reach.btl().emulated & cap::PUT == 0;
        if all.len() > BY_THEMSELVES || !own || !self.puts.are_apart() {
            return None;
        }
        let mut local = self.win.scratch(link, self.puts.data().len()).ok()?;
        local.bytes_mut().copy_from_slice(self.puts.data());
        Some(local)
    }
}

impl Issuing for SentBatch<'_> {
    type Made = ();

    fn begin(&mut self, held: &mut CriGuard<'_>) -> (OwnPiece, ()) {
        let (route, lane) = (self.route, self.route.lane(held.ctx()));
        self.puts = lane.batch.take(held);
        let local = self.local();
        if local.is_some() {
            let registration = &route.peer().data;
            let all = self.puts.all().iter();
            let stretches = all.map(|put| Stretch {
                local: put.at as u64,
                remote: put.remote,
                len: put.len as u64,
                registration,
            });
            self.alone = Some(puts(route, stretches).collect::<Vec<_>>().into_iter());
        }
        let mut op = Draft::default();
        (op.local, op.is_put) = (local.map(Local::Scratch), true);
        let own = op.begin(held, route);
        self.settled = route.link().fences.has_batch(held.ctx());
        if self.settled || !self.ends_there() {
            self.note(held);
        }
        lane.batch.sent(held);
        route.link().fences.batch_is_sent_if(self.settled, held);
        (own, ())
    }

    fn next(&mut self) -> Option<Piece<'_>> {
        if let Some(alone) = &mut self.alone {
            return alone.next();
        }
        let first = !core::mem::replace(&mut self.listed, true);
        // A batch has room for no more than a list has.
        (first && !self.puts.all().is_empty()).then(|| Piece::List(self.entries()))
    }

    fn end(&mut self, held: &mut CriGuard<'_>, whole: bool) {
        // A flush of another thread's comes before those that find no room, so they are noted again when all are issued.
        if whole && !self.ends_there() {
            self.note(held);
        }
        let lane = self.route.lane(held.ctx());
        lane.batch.give_back(held, core::mem::take(&mut self.puts));
    }
}
