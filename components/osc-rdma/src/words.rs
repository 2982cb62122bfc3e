//! State words of ranks: by the processor where they are mapped, by a transport's atomics elsewhere.

use crate::call::Call;
use crate::issue::Amo;
use crate::locks::Words;
use crate::peer::{Link, Peer};
use oxmpi_btl::{RegHandle, amo};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};

impl Peer {
    /// A word that can be used here.
    pub fn mapped_word(&self, word: u64) -> Option<&AtomicU64> {
        // SAFETY: the rank's state has all words of the layout, and stays as long as the window.
        (!self.words.is_null()).then(|| unsafe { &*self.words.add(word as usize) })
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
        self.atomic(peer, link, peer.remote_words + 8 * word, peer.state.handle(), amo)
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
