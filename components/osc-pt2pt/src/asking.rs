//! Operations that a target's listener carries out: their records are gathered as a question, and its answer ends those that get something.
//!
//! **Order.** Questions to a rank are carried out in the order in which they are asked, and messages of records in theirs. Records of messages (long data and layouts, notifications,
//! synchronisation) come behind the questions before them, of which they name the number ([`crate::wire::kind::AFTER`]). Nothing is asked before all
//! records that went by messages are answered (`Peer::may_be_asked`): until the next MPI_Win_flush operations go by messages, too. So accumulates of an origin keep their order, and
//! what was completed locally comes before what follows.

use crate::line::{Awaited, Line, carries_questions};
use crate::state::LockedState;
use crate::wire::{HEAD, Head, begin_question, room_of};
use core::sync::atomic::Ordering;
use oxmpi_mca::cri::set_of;
use oxmpi_osc_support::{Destination, Elements, Pending, module_key};

/// A record as it is asked.
pub struct Asking<'a> {
    pub target: u32,
    pub head: Head,
    pub layout: &'a [u8],
    /// Where the answer goes, if there is one.
    pub takes: Option<Elements<'a>>,
}

impl Asking<'_> {
    /// Bytes of the record.
    fn len(&self) -> usize {
        HEAD + self.layout.len() + self.head.inline().unwrap_or(usize::MAX / 2)
    }

    /// Bytes of the answer.
    fn answer(&self) -> Option<usize> {
        self.takes.map(|_| usize::try_from(self.head.len).unwrap_or(usize::MAX / 2))
    }
}

impl LockedState<'_> {
    /// Whether the target's listener can be asked for an operation now.
    pub fn can_ask(&mut self, asking: &Asking<'_>) -> bool {
        let peer = self.peer(asking.target);
        if !peer.may_be_asked() {
            return false;
        }
        if !core::mem::replace(&mut peer.met, true) {
            let line = self.line_to(asking.target);
            self.peer(asking.target).line = line;
        }
        let line = self.peer(asking.target).line.as_ref();
        line.is_some_and(|line| line.has_room(asking.len(), asking.answer()))
    }

    /// The line to a rank's listener, by the first transport that both have and that carries questions.
    fn line_to(&self, rank: u32) -> Option<Box<Line>> {
        let (core, comm) = (self.core, &self.core.link.comm);
        let asking = &core.asking;
        if rank == comm.rank() || asking.each == 0 {
            return None;
        }
        let theirs = asking.registrations.chunks_exact(asking.each).nth(rank as usize)?;
        let reached = comm.reach(rank).ok()?.iter().filter(|reach| carries_questions(reach.btl()));
        let registered = |module| theirs.iter().find(|registration| registration.module == module);
        let (reach, registration) =
            reached.filter_map(|reach| Some((reach, registered(module_key(reach.btl()))?))).next()?;
        let line = Line::new(*reach, asking.cri, *registration, asking.ended.clone())?;
        asking.contexts.fetch_or(set_of(line.ctx()), Ordering::Relaxed);
        Some(Box::new(line))
    }

    /// Adds an operation that can be asked for to the question that is gathered. `data` appends [`Head::inline`] bytes. It has its request as long as it is open; one that
    /// is over at the origin gives it back.
    pub fn gather(
        &mut self,
        asking: &Asking<'_>,
        mut request: Option<Pending>,
        data: impl FnOnce(&mut Vec<u8>),
    ) -> Option<Pending> {
        let (core, rank) = (self.core, asking.target);
        let (me, settings) = (core.link.comm.rank(), core.common.settings);
        let limit = settings.batch(settings.message);
        let gathered = self.peer(rank).line.as_ref().map(|line| !line.question.is_empty());
        let joins = self.peer(rank).line.as_ref().map(|l| l.joins(asking.len(), asking.answer(), limit));
        if gathered == Some(true) && joins == Some(false) {
            self.ask(rank);
        }
        let Some(line) = self.peer(rank).line.as_mut() else { return request };
        let question = &mut line.question;
        if question.is_empty() {
            begin_question(me, &mut question.records);
        }
        asking.head.write(&mut question.records);
        question.records.extend_from_slice(asking.layout);
        data(&mut question.records);
        let mut hurries = question.records.len() + HEAD > limit;
        if let (Some(takes), Some(len)) = (asking.takes, asking.answer()) {
            // An operation with a request does not wait for a synchronisation.
            hurries |= request.is_some();
            let (destination, request) = (Destination::of(&takes), request.take());
            question.answer += room_of(len);
            question.awaited.push(Awaited { len, destination, request });
        }
        if hurries {
            self.ask(rank);
        } else {
            self.list(rank);
        }
        request
    }
}
