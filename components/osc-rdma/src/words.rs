//! State words of ranks: by the processor where they are mapped, by a transport's atomics elsewhere.

use crate::call::Call;
use crate::issue::{Amo, Issue};
use crate::locks::Words;
use crate::op::Op;
use crate::peer::{Link, OwnWords, Peer};
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
    fn remote_word(&self, word: u64) -> (u64, *const RegHandle) {
        let own = self.own(word).map(|own| (own.remote, own.way.handle()));
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

    /// Adds, and does not wait where that takes a transport: the next flush of the rank does, and tells a failure.
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

impl Words for Call<'_> {
    fn add(&self, rank: u32, word: u64, value: u64) -> Result<u64, Status> {
        self.add_at(self.peer(rank)?, word, value)
    }
    fn swap_if(&self, rank: u32, word: u64, from: u64, to: u64) -> Result<u64, Status> {
        self.swap_if_at(self.peer(rank)?, word, from, to)
    }
}
