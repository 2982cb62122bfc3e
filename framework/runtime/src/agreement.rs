//! Agreement of all ranks of a communicator on something: words, bytes, the first that lacks something, the
//! least status.

use crate::coll::slot::Slot;
use crate::objects::Communicator;
use oxmpi_coll::CollArgs;
use oxmpi_loading::error::Error;
use oxmpi_mca::{Entry, Status};

/// Turns the status of a collective among the ranks of a communicator into the host's error.
pub(crate) fn did(status: Status) -> Result<(), Error> {
    if status.is_err() {
        Err(Error::status(status, "what the ranks of a communicator tell each other"))
    } else {
        Ok(())
    }
}

impl Communicator {
    /// Gathers words of all ranks by an allgather: each rank gives the same number of words, and the result holds those
    /// of all ranks, by rank.
    pub(crate) fn tell_all(&self, entry: &mut Entry, words: &[u64]) -> Result<Vec<u64>, Error> {
        let mut all = vec![0u64; words.len() * self.size() as usize];
        let bytes = size_of_val(words);
        // SAFETY: words are bytes, and any bytes are words.
        let (own, room) = unsafe {
            (
                std::slice::from_raw_parts(words.as_ptr().cast(), bytes),
                std::slice::from_raw_parts_mut(all.as_mut_ptr().cast(), bytes * self.size() as usize),
            )
        };
        self.tell_all_bytes(entry, own, room)?;
        Ok(all)
    }

    /// Gathers bytes of all ranks by an allgather: each rank gives the same number of bytes, and `all`, which has room
    /// for those of all ranks, is filled by rank.
    pub(crate) fn tell_all_bytes(&self, entry: &mut Entry, own: &[u8], all: &mut [u8]) -> Result<(), Error> {
        assert_eq!(all.len(), own.len() * self.size() as usize, "room for the bytes of all ranks");
        let byte = self.instance().byte_type();
        let args = CollArgs {
            sendbuf: own.as_ptr(),
            sendcount: own.len() as u64,
            sendtype: byte,
            recvbuf: all.as_mut_ptr(),
            recvcount: own.len() as u64,
            recvtype: byte,
            ..CollArgs::NONE
        };
        // SAFETY: the slices are borrowed for the call, which gathers from as many ranks as `all` has room for.
        did(unsafe { self.coll.run(Slot::Allgather, self, entry, &args) })
    }

    /// Finds the first rank whose `has` is false, by an allgather; `None`: it is true at all ranks. Called by all
    /// ranks, and returns when all have called it.
    pub fn first_without(&self, entry: &mut Entry, has: bool) -> Result<Option<u32>, Error> {
        let all = self.tell_all(entry, &[u64::from(has)])?;
        Ok(all.iter().position(|has| *has == 0).map(|rank| rank as u32))
    }

    /// Gathers the statuses of all ranks and returns the least, so that a failure at one rank is a failure at all.
    /// Called by all ranks.
    pub(crate) fn least(&self, entry: &mut Entry, own: Status) -> Result<Status, Error> {
        let all = self.tell_all(entry, &[u64::from(own.0.cast_unsigned()).to_le()])?;
        let statuses = all.into_iter().map(|word| (u64::from_le(word) as u32).cast_signed());
        Ok(Status(statuses.min().unwrap_or(own.0)))
    }
}
