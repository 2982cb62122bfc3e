//! Memory that the ranks of a communicator share (MPI 5.0 §12.2.3): one piece of the node's memory, in which each rank has a
//! part. All ask the node for it by the same key, which follows from the communicator; every rank makes the pages of its
//! own part exist, so that pages lie near those who asked for them.
//!
//! All ranks learn whether all have it, so they succeed or fail together. Then the key is given up: the memory is gone
//! with the last process that has it mapped.

use crate::objects::Communicator;
use crate::shared_memory::{Part, SharedMemory, Wish};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Entry;
use oxmpi_wireup::mapping::{self, Mapping};

/// On the wire: bytes, unit, node, apart; little-endian words.
const WORDS: usize = 4;

/// Computes where the parts of the ranks lie, and the length of all: without gaps, or each on pages of its own, as rank
/// 0 wishes. `None`: more than there are addresses.
fn places(wishes: &[Wish], page: u64) -> Option<(Box<[Part]>, u64)> {
    let apart = wishes.first().is_some_and(|w| w.apart);
    let mut end = 0u64;
    let mut parts = Vec::with_capacity(wishes.len());
    for wish in wishes {
        parts.push(Part { offset: end, bytes: wish.bytes, disp_unit: wish.disp_unit });
        end = end.checked_add(wish.bytes)?;
        if apart {
            end = end.checked_next_multiple_of(page)?;
        }
    }
    usize::try_from(end).ok().filter(|end| isize::try_from(*end).is_ok())?;
    Some((parts.into(), end))
}

impl Communicator {
    /// Makes zeroed memory that all ranks of the communicator share, with a part for each. Called by all ranks, which
    /// must be on one node; all succeed or all fail.
    pub fn share_memory(&self, entry: &mut Entry, wish: Wish) -> Result<SharedMemory, Error> {
        let node = u64::from(self.instance().job().node);
        let words = [wish.bytes, wish.disp_unit as u64, node, wish.apart.into()];
        let all = self.tell_all(entry, &words.map(u64::to_le))?;
        let word = |rank: usize, at: usize| u64::from_le(all[rank * WORDS + at]);
        let ranks = 0..self.size() as usize;
        if let Some(far) = ranks.clone().find(|rank| word(*rank, 2) != node) {
            let message =
                format!("rank {far} of the communicator is on another node; memory cannot be shared with it");
            return Err(Error::new(ErrorKind::RmaShared, message));
        }
        let wishes: Vec<Wish> = ranks
            .map(|r| Wish { bytes: word(r, 0), disp_unit: word(r, 1) as i64, apart: word(r, 3) != 0 })
            .collect();
        let Some((parts, len)) = places(&wishes, oxmpi_system::page_size() as u64) else {
            return Err(Error::new(
                ErrorKind::NoMem,
                "the ranks ask for more memory than there are addresses",
            ));
        };
        if len == 0 {
            return Ok(SharedMemory { mapping: Mapping::NONE, parts });
        }
        self.segment(entry, parts, len)
    }

    /// Gets memory of length `len` from the node under a key that follows from the communicator, maps it and makes the
    /// pages of this rank's part. Called by all ranks.
    fn segment(&self, entry: &mut Entry, parts: Box<[Part]>, len: u64) -> Result<SharedMemory, Error> {
        let [high, low] = self.gid();
        let key = format!("comm/{high:016x}{low:016x}/{}", self.next_child());
        let own = parts[self.rank() as usize];
        let client = &self.instance().client();
        // Nobody asks the kernel for pages before all have seen that there is enough for all.
        let memory =
            mapping::check_free_memory(len).and_then(|()| client.share(&key, len).map_err(|why| why.message));
        let outcome = self.agreed(entry, memory).and_then(|(memory, _)| {
            let mapping = Mapping::new(&memory, len, (own.offset, own.bytes));
            self.agreed(entry, mapping.map(|mapping| SharedMemory { mapping, parts }))
        });
        client.give_up(&key);
        outcome
    }

    /// Returns this rank's outcome if all ranks have succeeded, else an error that names the first rank which has not.
    /// Called by all ranks.
    fn agreed<T>(&self, entry: &mut Entry, own: Result<T, String>) -> Result<T, Error> {
        let missing = self.first_without(entry, own.is_ok())?;
        match (own, missing) {
            (Ok(own), None) => Ok(own),
            (Err(why), _) => Err(Error::new(ErrorKind::NoMem, format!("shared memory: {why}"))),
            (Ok(_), Some(rank)) => Err(Error::new(
                ErrorKind::NoMem,
                format!("shared memory: rank {rank} of the communicator has none"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(bytes: u64, apart: bool) -> Wish {
        Wish { bytes, disp_unit: 1, apart }
    }

    #[test]
    fn parts_lie_side_by_side_or_on_pages_of_their_own() {
        let offsets = |wishes: &[Wish]| {
            places(wishes, 4096).map(|(parts, end)| (parts.iter().map(|p| p.offset).collect::<Vec<_>>(), end))
        };
        let close = [wish(10, false), wish(0, false), wish(7, true)];
        assert_eq!(offsets(&close), Some((vec![0, 10, 10], 17)));
        let apart = [wish(10, true), wish(0, true), wish(4097, false), wish(1, true)];
        assert_eq!(offsets(&apart), Some((vec![0, 4096, 4096, 12288], 16384)));
        assert_eq!(offsets(&[wish(u64::MAX, false), wish(2, false)]), None);
        assert_eq!(offsets(&[wish(1 << 63, false)]), None);
    }
}
