//! State words of ranks: by the processor where they are mapped, by a transport's atomics elsewhere.

use crate::call::Call;
use crate::issue::{Amo, Issue};
use crate::local::Local;
use crate::op::Op;
use crate::operate::Waiter;
use crate::peer::{Link, OwnWords, Peer};
use crate::state_words::{Change, Step, Words};
use crate::wire::word;
use oxmpi_btl::{RegHandle, amo};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};

impl Peer {
    /// The words of a duplicate, if that has this one.
    fn own(&self, word: u64) -> Option<&OwnWords> {
        self.own.as_deref().filter(|_| !word::is_shared(word))
    }

    /// A word that can be used here.
    pub fn mapped_word(&self, word: u64) -> Option<&AtomicU64> {
        let words = self.own(word).map_or(self.words, |own| own.words);
        // SAFETY: the rank's state has all words of the layout, and stays as long as the window.
        (!words.is_null()).then(|| unsafe { &*words.add(word as usize) })
    }

    /// Where a word is for the transport.
    pub fn remote_word(&self, word: u64) -> (u64, *const RegHandle) {
        let own = self.own(word).map(|own| (own.remote, own.registration.handle()));
        let (words, handle) = own.unwrap_or((self.remote_words, self.state.handle()));
        (words + 8 * word, handle)
    }
}

impl Call<'_> {
    /// Updates a word of a rank by its transport, and answers the word before.
    pub fn atomic(
        &self,
        peer: &Peer,
        link: &Link,
        remote: u64,
        handle: *const RegHandle,
        amo: Amo,
    ) -> Result<u64, Status> {
        let local = self.scratch(link, 8)?;
        self.run(peer, link, |pieces| {
            pieces.atomic(amo, remote, handle, Some((&local, 0)));
        })?;
        // SAFETY: as wide as the operand, and the slot has room for the widest.
        unsafe {
            match amo.flags & amo::WIDTH_32 {
                0 => Ok(local.at().cast::<u64>().read()),
                _ => Ok(local.at().cast::<u32>().read().into()),
            }
        }
    }

    fn update(&self, peer: &Peer, word: u64, amo: Amo) -> Result<u64, Status> {
        let link = peer.link.as_ref().ok_or(Status::UNREACHABLE)?;
        let (at, handle) = peer.remote_word(word);
        self.atomic(peer, link, at, handle, amo)
    }

    pub fn add_at(&self, peer: &Peer, word: u64, value: u64) -> Result<u64, Status> {
        match peer.mapped_word(word) {
            // SYNC POINT with every other update of the word.
            Some(at) => Ok(at.fetch_add(value, Ordering::SeqCst)),
            None => self.update(peer, word, Amo { op: amo::ADD, flags: 0, operand: value, compare: 0 }),
        }
    }

    pub fn swap_if_at(&self, peer: &Peer, word: u64, from: u64, to: u64) -> Result<u64, Status> {
        match peer.mapped_word(word) {
            // SYNC POINT as above.
            Some(at) => {
                let swapped = at.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
                Ok(swapped.unwrap_or_else(|now| now))
            }
            None => {
                let amo = Amo { op: amo::COMPARE_SWAP, flags: 0, operand: to, compare: from };
                self.update(peer, word, amo)
            }
        }
    }
}

/// A step on its way: by whom it is waited for, where the old word comes, and on which context.
struct Begun {
    waiter: Waiter,
    local: Local,
    ctx: u32,
}

impl Call<'_> {
    /// Adds; it is one more operation under way to the rank, and a failure is told by the next synchronisation.
    pub fn add_later(&self, peer: &Peer, word: u64, value: u64) -> Result<(), Status> {
        let (None, Some(link)) = (peer.mapped_word(word), &peer.link) else {
            return self.add_at(peer, word, value).map(|_| ());
        };
        let (at, handle) = peer.remote_word(word);
        let mut pieces = Issue::begin(*self, link, Op::new(self.rdma(), peer));
        pieces.atomic(Amo { op: amo::ADD, flags: 0, operand: value, compare: 0 }, at, handle, None);
        pieces.end();
        Ok(())
    }

    fn step_at(&self, peer: &Peer, step: Step) -> Result<u64, Status> {
        match step.change {
            Change::Add(value) => self.add_at(peer, step.word, value),
            Change::SwapIf { from, to } => self.swap_if_at(peer, step.word, from, to),
        }
    }

    /// Starts a step by the rank's transport; the caller has the place of its result.
    fn begin(&self, peer: &Peer, link: &Link, step: Step, begun: &mut Begun) {
        let (operand, compare, op) = match step.change {
            Change::Add(value) => (value, 0, amo::ADD),
            Change::SwapIf { from, to } => (to, from, amo::COMPARE_SWAP),
        };
        let (amo, (at, handle)) = (Amo { op, flags: 0, operand, compare }, peer.remote_word(step.word));
        let Begun { waiter, local, ctx } = begun;
        *ctx = self.set_off(waiter, peer, link, |pieces| {
            pieces.atomic(amo, at, handle, Some((local, 0)));
        });
    }
}

impl Words for Call<'_> {
    fn add(&self, rank: u32, word: u64, value: u64) -> Result<u64, Status> {
        self.add_at(self.peer(rank)?, word, value)
    }
    fn read(&self, rank: u32, word: u64) -> Result<u64, Status> {
        let peer = self.peer(rank)?;
        match peer.mapped_word(word) {
            // SYNC POINT with every update of the word.
            Some(at) => Ok(at.load(Ordering::SeqCst)),
            None => self.add_at(peer, word, 0),
        }
    }
    fn swap_if(&self, rank: u32, word: u64, from: u64, to: u64) -> Result<u64, Status> {
        self.swap_if_at(self.peer(rank)?, word, from, to)
    }
    fn add_later(&self, rank: u32, word: u64, value: u64) -> Result<(), Status> {
        Call::add_later(self, self.peer(rank)?, word, value)
    }

    /// Those that go by transports are under way at the same time.
    fn both(&self, steps: [Step; 2]) -> Result<[u64; 2], Status> {
        let peers = [self.peer(steps[0].rank)?, self.peer(steps[1].rank)?];
        let far = |i: usize| match (peers[i].mapped_word(steps[i].word), &peers[i].link) {
            (None, Some(link)) => Some(link),
            _ => None,
        };
        let (Some(first), Some(second)) = (far(0), far(1)) else {
            return Ok([self.step_at(peers[0], steps[0])?, self.step_at(peers[1], steps[1])?]);
        };
        let place = |link| -> Result<Begun, Status> {
            Ok(Begun { waiter: Waiter::default(), local: self.scratch(link, 8)?, ctx: 0 })
        };
        let mut begun = [place(first)?, place(second)?];
        for (i, link) in [first, second].into_iter().enumerate() {
            self.begin(peers[i], link, steps[i], &mut begun[i]);
        }
        // Both end before either's place goes.
        let ended = begun.each_ref().map(|begun| self.finish(&begun.waiter, begun.ctx));
        for end in ended {
            end?;
        }
        // SAFETY: a word each, as wide as the operand.
        Ok(begun.each_ref().map(|begun| unsafe { begun.local.at().cast::<u64>().read() }))
    }
}
