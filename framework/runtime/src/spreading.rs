//! Bytes of any length among the ranks of a communicator along a binomial tree, and between two leaders: in front of communicators that are being made.
//!
//! An error in place of bytes, or on their way, goes down or up the tree in place of a length, and nothing follows.

use crate::message::Envelope;
use crate::objects::Communicator;
use crate::wires::{tag, tree};
use oxmpi_loading::error::Error;
use oxmpi_mca::{Entry, Status};

/// More ranks than this no job has; a length from a peer is checked against it.
const MOST_MEMBERS: usize = 1 << 24;

impl Communicator {
    /// Exchanges bytes with one rank; lengths go first, since neither knows the other's. An error in place of `out`, or on the way of
    /// the lengths, is one at both, and nothing follows.
    pub(crate) fn exchange_any(
        &self,
        entry: &mut Entry,
        out: Result<&[u8], Status>,
        with: i32,
        tag: i32,
    ) -> Result<Vec<u8>, Status> {
        let (mut len, with) = ([0u8; 8], with as usize);
        let ours = out.map(|out| (out.len() as u64).to_le_bytes());
        let ours = ours.as_ref().map(|len| &len[..]).map_err(|s| *s);
        self.exchange(entry, ours, with, &mut len, with, tag)?;
        let mut into = room(len)?;
        self.exchange(entry, out, with, &mut into, with, tag)?;
        Ok(into)
    }

    /// Sends the bytes of rank `root` to all ranks along a binomial tree, and returns them. `own` is given by the root
    /// alone; called by all. An error in place of the bytes, or on their way, goes down the tree in place of a length.
    pub(crate) fn spread(
        &self,
        entry: &mut Entry,
        root: u32,
        own: Option<Result<Vec<u8>, Status>>,
        tag: i32,
    ) -> Result<Vec<u8>, Error> {
        let failed = |s: Status| Error::status(s, "passing on what a leader said");
        let n = self.size();
        let rank_of = |place: u32| ((place + root) % n) as i32;
        let (parent, children) = tree((self.rank() + n - root) % n, n);
        let bytes = own.unwrap_or_else(|| self.get_any(entry, Envelope::new(rank_of(parent), tag)));
        let mut sent = Ok(());
        for child in children {
            let put = self.put_any(entry, &bytes, Envelope::new(rank_of(child), tag));
            sent = sent.and(put);
        }
        sent.and(bytes).map_err(failed)
    }

    /// Collects bytes of all ranks at rank `root`, each rank's whole and in no order; the others get what has come through them. Called by
    /// all.
    pub(crate) fn collect(&self, entry: &mut Entry, root: u32, own: Vec<u8>) -> Result<Vec<u8>, Error> {
        let n = self.size();
        let rank_of = |place: u32| ((place + root) % n) as i32;
        let place = (self.rank() + n - root) % n;
        let (parent, children) = tree(place, n);
        let mut all = Ok(own);
        for child in children {
            match (&mut all, self.get_any(entry, Envelope::new(rank_of(child), tag::COLLECT))) {
                (Ok(all), Ok(bytes)) => all.extend(bytes),
                (_, Err(why)) => all = Err(why),
                (Err(_), Ok(_)) => {}
            }
        }
        let sent = match place {
            0 => Ok(()),
            _ => self.put_any(entry, &all, Envelope::new(rank_of(parent), tag::COLLECT)),
        };
        sent.and(all).map_err(|s| Error::status(s, "collecting what ranks say"))
    }

    /// Receives bytes behind their length.
    fn get_any(&self, entry: &mut Entry, from: Envelope) -> Result<Vec<u8>, Status> {
        let mut len = [0u8; 8];
        self.get(entry, &mut len, from)?;
        let mut bytes = room(len)?;
        self.get(entry, &mut bytes, from)?;
        Ok(bytes)
    }

    /// Sends bytes behind their length, or the error in their place.
    fn put_any(
        &self,
        entry: &mut Entry,
        bytes: &Result<Vec<u8>, Status>,
        to: Envelope,
    ) -> Result<(), Status> {
        let len = bytes.as_ref().map(|bytes| (bytes.len() as u64).to_le_bytes()).map_err(|s| *s);
        self.put_or_tell(entry, len.as_ref().map(|len| &len[..]).map_err(|s| *s), to)?;
        self.put(entry, bytes.as_ref().map_or(&[], |all| all), to)
    }
}

/// Makes a buffer of as many bytes as a peer has announced; PEER_FAILED: more than any message of these has.
fn room(len: [u8; 8]) -> Result<Vec<u8>, Status> {
    match usize::try_from(u64::from_le_bytes(len)) {
        Ok(len) if len <= 64 + MOST_MEMBERS * 16 => Ok(vec![0; len]),
        _ => Err(Status::PEER_FAILED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absurd_length_is_refused() {
        assert_eq!(room(u64::MAX.to_le_bytes()), Err(Status::PEER_FAILED));
        assert_eq!(room(3u64.to_le_bytes()), Ok(vec![0; 3]));
    }
}
