//! Answers to messages that name a communicator by its global id: the receiver's index, once for each rank that asks, so
//! that later headers need no prefix (`comm.rs`).

use crate::communicators::comm::Comm;
use crate::communicators::index::Found;
use crate::receive::receiver::Receiver;
use crate::wire::{self, Arrived, Prefix, kind};
use oxmpi_mca::CriGuard;

impl Receiver {
    /// Tells the sender of a message with a prefix our index of the communicator, by a CID message, once for each rank.
    pub fn answer_prefix(&self, held: &mut CriGuard<'_>, comm: &Comm, rank: i32, proc: u32, theirs: &Prefix) {
        if !comm.is_from(rank, proc) {
            return self.peers().bad_header(held, proc, "a source rank that is not the sender's");
        }
        if comm.is_revoked() {
            return;
        }
        let (Ok((route, _)), Ok(peer)) =
            (self.peers().route(comm, rank, held.entry()), self.peers().flow(proc, held.ctx(), held.entry()))
        else {
            return self.peers().bad_header(held, proc, "a communicator on which it cannot be answered");
        };
        if !route.answer() {
            return;
        }
        let mut h = wire::Header::new(&[
            wire::head(kind::CID, 0, theirs.endpoint, theirs.index),
            wire::source_tag(comm.my_rank(), 0),
            0,
        ]);
        h.push_prefix(&comm.prefix());
        self.peers().control(held, peer, h);
    }

    /// Handles the content of a CID message: keeps the receiver's index in the route, so that later headers to that
    /// rank need no prefix.
    pub fn learn_index(&self, held: &mut CriGuard<'_>, head: u64, rank: i32, proc: u32, theirs: &Prefix) {
        let (comms, mut held) = self.comms.beside(held);
        let comm = match comms.find(head) {
            Found::Comm(comm) => comm,
            Found::Gone => return,
            Found::NotYet | Found::Nonsense => {
                return self.peers().bad_header(&mut held, proc, "an index nobody was told");
            }
        };
        if !comm.has_gid(theirs.gid) {
            return;
        }
        match (comm.place(rank), comm.route_made(rank)) {
            (Some((p, endpoint)), Some(route)) if p == proc && endpoint == theirs.endpoint => {
                route.learn(wire::head(kind::MATCH, 0, endpoint, theirs.index));
            }
            _ => self.peers().bad_header(&mut held, proc, "an answer nobody asked for"),
        }
    }

    /// Handles CID: the receiver's answer to a prefix, which tells its index of the communicator. `None`: the header is
    /// cut off.
    pub fn on_index(&self, held: &mut CriGuard<'_>, arrived: &Arrived<'_>) -> Option<()> {
        let Arrived { head, rest: mut r, proc, .. } = *arrived;
        let rank = wire::source_of(r.word()?);
        r.word()?;
        let prefix = r.prefix()?;
        if prefix.version != wire::VERSION {
            self.peers().bad_header(held, proc, "another wire version in an answer");
        } else {
            self.learn_index(held, head, rank, proc, &prefix);
        }
        Some(())
    }
}
