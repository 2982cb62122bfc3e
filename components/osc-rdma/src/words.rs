//! State words of ranks: by the processor where they are mapped, by a transport's atomics elsewhere.

use crate::call::Call;
use crate::issue::NOTHING;
use crate::local::{Local, Scratch};
use crate::op::{Draft, Waiting};
use crate::peer::{Met, OwnWords, Peer, Route};
use crate::piece::{Amo, Piece, RemoteAmo};
use crate::state_words::{Change, Step, Words};
use crate::wire::word;
use core::iter::once;
use oxmpi_btl::amo;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use oxmpi_osc_support::RemoteRegistration;

impl Peer {
    /// The words of a duplicate, if that has this one.
    fn own(&self, word: u64) -> Option<&OwnWords> {
        self.own.as_deref().filter(|_| !word::is_shared(word))
    }

    /// A word that can be used here.
    pub fn mapped_word(&self, word: u64) -> Option<&AtomicU64> {
        let words = self.own(word).map_or(self.words, |own| own.words);
        // SAFETY: the rank's state has all words of the layout, and stays as long as the window.
        (!words.is_null()).then(|| unsafe { &*words.get().add(word as usize) })
    }

    /// Where a word is for the transport.
    pub fn remote_word(&self, word: u64) -> (u64, &RemoteRegistration) {
        let own = self.own(word).map(|own| (own.remote, &own.registration));
        let (words, registration) = own.unwrap_or((self.remote_words, &self.state));
        (words + 8 * word, registration)
    }
}

/// An atomic on a word, with the old one at the beginning of local memory if it is wanted.
fn on_word<'p>(route: Route<'p>, word: u64, amo: Amo, wanted: bool) -> Piece<'p> {
    let (remote, registration) = route.peer().remote_word(word);
    Piece::Atomic(RemoteAmo { amo, remote, registration, result: wanted.then_some(0) })
}

fn adding(value: u64) -> Amo {
    Amo { op: amo::ADD, flags: 0, operand: value, compare: 0 }
}

fn swapping(from: u64, to: u64) -> Amo {
    Amo { op: amo::COMPARE_SWAP, flags: 0, operand: to, compare: from }
}

impl Call<'_> {
    /// Updates a word of a rank by its transport, and answers the word before.
    pub fn atomic(
        &mut self,
        route: Route<'_>,
        remote: u64,
        registration: &RemoteRegistration,
        amo: Amo,
    ) -> Result<u64, Status> {
        let local = self.scratch(route.link(), if amo.flags & amo::WIDTH_32 == 0 { 8 } else { 4 })?;
        let piece = Piece::Atomic(RemoteAmo { amo, remote, registration, result: Some(0) });
        let old = self.run(route, Some(local), once(piece))?;
        Ok(crate::task::element(old.bytes()))
    }

    fn update(&mut self, peer: Met<'_>, word: u64, amo: Amo) -> Result<u64, Status> {
        let route = peer.route().ok_or(Status::UNREACHABLE)?;
        let (remote, registration) = route.peer().remote_word(word);
        self.atomic(route, remote, registration, amo)
    }

    pub fn add_at(&mut self, peer: Met<'_>, word: u64, value: u64) -> Result<u64, Status> {
        match peer.mapped_word(word) {
            // SYNC POINT with every other update of the word.
            Some(at) => Ok(at.fetch_add(value, Ordering::SeqCst)),
            None => self.update(peer, word, adding(value)),
        }
    }

    pub fn swap_if_at(&mut self, peer: Met<'_>, word: u64, from: u64, to: u64) -> Result<u64, Status> {
        match peer.mapped_word(word) {
            // SYNC POINT as above.
            Some(at) => {
                let swapped = at.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
                Ok(swapped.unwrap_or_else(|now| now))
            }
            None => self.update(peer, word, swapping(from, to)),
        }
    }

    /// Adds; it is one more operation under way to the rank, and a failure is told by the next synchronisation.
    pub fn add_later(&mut self, peer: Met<'_>, word: u64, value: u64) -> Result<(), Status> {
        match (peer.mapped_word(word), peer.route()) {
            (None, Some(route)) => {
                let piece = on_word(route, word, adding(value), false);
                self.launch(route, Draft::default(), once(piece), NOTHING);
                Ok(())
            }
            _ => self.add_at(peer, word, value).map(|_| ()),
        }
    }

    fn step_at(&mut self, peer: Met<'_>, step: Step) -> Result<u64, Status> {
        match step.change {
            Change::Add(value) => self.add_at(peer, step.word, value),
            Change::SwapIf { from, to } => self.swap_if_at(peer, step.word, from, to),
        }
    }

    /// Starts a step by the rank's transport.
    fn begin(&mut self, route: Route<'_>, step: Step, local: Scratch) -> Waiting {
        let amo = match step.change {
            Change::Add(value) => adding(value),
            Change::SwapIf { from, to } => swapping(from, to),
        };
        let mut op = Draft::default();
        op.local = Some(Local::Scratch(local));
        self.set_off(route, op, once(on_word(route, step.word, amo, true)), NOTHING)
    }
}

impl Words for Call<'_> {
    fn add(&mut self, rank: u32, word: u64, value: u64) -> Result<u64, Status> {
        let peer = self.peer(rank)?;
        self.add_at(peer, word, value)
    }
    fn read(&mut self, rank: u32, word: u64) -> Result<u64, Status> {
        let peer = self.peer(rank)?;
        match peer.mapped_word(word) {
            // SYNC POINT with every update of the word.
            Some(at) => Ok(at.load(Ordering::SeqCst)),
            None => self.add_at(peer, word, 0),
        }
    }
    fn swap_if(&mut self, rank: u32, word: u64, from: u64, to: u64) -> Result<u64, Status> {
        let peer = self.peer(rank)?;
        self.swap_if_at(peer, word, from, to)
    }
    fn add_later(&mut self, rank: u32, word: u64, value: u64) -> Result<(), Status> {
        let peer = self.peer(rank)?;
        Call::add_later(self, peer, word, value)
    }

    /// Those that go by transports are under way at the same time.
    fn both(&mut self, steps: [Step; 2]) -> Result<[u64; 2], Status> {
        let peers = [self.peer(steps[0].rank)?, self.peer(steps[1].rank)?];
        let route = |i: usize| match peers[i].mapped_word(steps[i].word) {
            None => peers[i].route(),
            Some(_) => None,
        };
        let (Some(first), Some(second)) = (route(0), route(1)) else {
            return Ok([self.step_at(peers[0], steps[0])?, self.step_at(peers[1], steps[1])?]);
        };
        let locals = [self.scratch(first.link(), 8)?, self.scratch(second.link(), 8)?];
        let [one, other] = locals;
        let begun = [self.begin(first, steps[0], one), self.begin(second, steps[1], other)];
        let mut old = [0; 2];
        for (waiting, old) in begun.into_iter().zip(&mut old) {
            *old = self.finish(waiting)?.word();
        }
        Ok(old)
    }
}
