//! Messages of constructors of communicators, in front of the communicator that they make.
//!
//! **Wires.** A call that only some ranks of a communicator make, with a user's tag to tell calls apart,
//! needs all tags for itself. Its messages go over a communicator of the same group that each rank makes
//! when it first needs it; one for each kind of call.
//!
//! **Failures.** A rank that some other is not reached by goes on with its pattern, as a collective does: the ranks behind it wait for
//! its messages. In their place it sends what ends their receives with the error ([`Communicator::tell`]), so that all of them end.

use crate::gid::{self, Gid, Origin};
use crate::group::Group;
use crate::info::Info;
use crate::message::Envelope;
use crate::objects::{Communicator, Remote};
use crate::plan::Plan;
use crate::request::Header;
use oxmpi_loading::error::Error;
use oxmpi_mca::{Entry, MsgStatus, Status};
use std::sync::Arc;

/// Tags of the host's own messages: below all tags of collectives (which count down from -100).
pub(crate) mod tag {
    /// Colours and keys of a split; what the leaders of an inter-communicator tell each other.
    pub const SPLIT: i32 = i32::MIN + 1;
    /// Facts that a leader passes on to its group.
    pub const SPREAD: i32 = i32::MIN + 2;
    /// The words of ranks about a collective component that they have prepared.
    pub const PREPARE: i32 = i32::MIN + 3;
    /// The words of all ranks of a group, on their way to one.
    pub const COLLECT: i32 = i32::MIN + 4;
}

/// Kinds of calls that have a wire.
#[derive(Clone, Copy)]
pub(crate) enum Wire {
    /// The leader's id for a `create_group`.
    Group = 0,
    /// Facts that two leaders exchange to make an inter-communicator.
    Leaders = 1,
}

/// Doing of a split in the words of an error.
pub(crate) const GATHERING: &str = "exchanging the colours of a split";

/// One rank's part of a split. Little-endian on the wire: colour, has a colour, key.
pub(crate) const ENTRY: usize = 9;

#[derive(Clone, Copy)]
pub(crate) struct Choice {
    pub color: Option<u32>,
    pub key: i32,
}

impl Choice {
    /// Encodes a choice for the wire.
    pub(crate) fn encode(self) -> [u8; ENTRY] {
        let mut out = [0; ENTRY];
        out[..4].copy_from_slice(&self.color.unwrap_or(0).to_le_bytes());
        out[4] = self.color.is_some().into();
        out[5..].copy_from_slice(&self.key.to_le_bytes());
        out
    }
    /// Decodes a choice from the wire.
    pub(crate) fn decode(bytes: &[u8; ENTRY]) -> Choice {
        let [c0, c1, c2, c3, has, k0, k1, k2, k3] = *bytes;
        let color = u32::from_le_bytes([c0, c1, c2, c3]);
        Choice { color: (has != 0).then_some(color), key: i32::from_le_bytes([k0, k1, k2, k3]) }
    }
}

/// Computes parent and children of a place in the binomial tree over `n` places, of which 0 is the root: a place's
/// parent has the lowest set bit of its number cleared, its children one more bit set below that.
pub(crate) fn tree(place: u32, n: u32) -> (u32, impl Iterator<Item = u32>) {
    let limit = if place == 0 { n.next_power_of_two() } else { place & place.wrapping_neg() };
    let steps = std::iter::successors(Some(limit >> 1), |step| Some(step >> 1)).take_while(|step| *step > 0);
    (place & place.wrapping_sub(1), steps.map(move |step| place + step).filter(move |child| *child < n))
}

impl Communicator {
    /// Makes a communicator with this id and group; with a remote group an inter-communicator. The rank prefers the
    /// same context as in this one.
    pub(crate) fn child(
        &self,
        gid: Gid,
        group: Group,
        remote: Option<Group>,
        info: Info,
    ) -> Result<Arc<Communicator>, Error> {
        self.child_on(self.hint(), gid, group, remote, info)
    }

    /// Sends bytes to rank `to` and receives from rank `from` at the same time, and waits for both. These are ranks of
    /// this communicator, or of the remote group if it is an inter-communicator. `out` is an error where an earlier message has
    /// failed: rank `to` hears of it. PEER_FAILED: fewer bytes came than `into` has room for.
    pub(crate) fn exchange(
        &self,
        entry: &mut Entry,
        out: Result<&[u8], Status>,
        to: usize,
        into: &mut [u8],
        from: usize,
        tag: i32,
    ) -> Result<(), Status> {
        let len = into.len() as u64;
        let place = self.instance().incoming(into);
        let (from, to) = (Envelope::new(from as i32, tag), Envelope::new(to as i32, tag));
        // SAFETY: the receive is waited for below, and the place is borrowed until then.
        let post = |entry: &mut Entry| self.irecv(entry, unsafe { place.for_later() }, from);
        let posted = self.can_come_from(from.rank).and_then(|()| post(entry));
        let sent = self.put_or_tell(entry, out.and_then(|out| posted.map(|_| out)), to);
        let got = self.take(entry, posted?);
        sent?;
        if got.error.is_err() {
            return Err(got.error);
        }
        // A peer that sends less than the protocol says is not one we can go on with.
        if got.bytes == len { Ok(()) } else { Err(Status::PEER_FAILED) }
    }

    /// Receives bytes from a rank, blocking. PEER_FAILED: fewer bytes came than `into` has room for.
    pub(crate) fn get(&self, entry: &mut Entry, into: &mut [u8], from: Envelope) -> Result<(), Status> {
        let len = into.len() as u64;
        self.can_come_from(from.rank)?;
        let mut status = MsgStatus::EMPTY;
        let got = self.recv(entry, self.instance().incoming(into), from, &mut status);
        match () {
            () if got.is_err() => Err(got),
            () if status.error.is_err() => Err(status.error),
            () if status.bytes != len => Err(Status::PEER_FAILED),
            () => Ok(()),
        }
    }

    /// Sends bytes to a rank, blocking.
    pub(crate) fn put(&self, entry: &mut Entry, out: &[u8], to: Envelope) -> Result<(), Status> {
        self.send(entry, self.instance().outgoing(out), to).ok().map(|_| ())
    }

    /// Sends bytes to a rank, blocking, or tells it that they do not come; the error that was given, or of the sending.
    pub(crate) fn put_or_tell(
        &self,
        entry: &mut Entry,
        out: Result<&[u8], Status>,
        to: Envelope,
    ) -> Result<(), Status> {
        match out {
            Ok(out) => self.put(entry, out, to),
            Err(error) => {
                self.tell(entry, error, to);
                Err(error)
            }
        }
    }

    /// The internal communicator for the messages of one kind of constructor calls that only some ranks make; made at
    /// the first call, without messages.
    pub(crate) fn wire(&self, kind: Wire) -> Result<Arc<Communicator>, Error> {
        let mut wires = self.wires().lock();
        let place = &mut wires[kind as usize];
        if let Some(wire) = place {
            return Ok(wire.clone());
        }
        let gid = gid::child(self.gid(), 0, Origin::Wire, kind as u64);
        let (remote, hint) = (self.remote().cloned(), self.hint());
        let plan = Plan { remote, bare: true, hint, ..Plan::new(gid, self.group().clone()) };
        Ok(place.insert(Communicator::make(self.shared_instance(), plan)?).clone())
    }

    /// Makes a communicator with this id and group, in which the rank prefers the context `hint`; with a remote group
    /// an inter-communicator and the communicator of its local group.
    pub(crate) fn child_on(
        &self,
        hint: Option<u32>,
        gid: Gid,
        group: Group,
        remote: Option<Group>,
        info: Info,
    ) -> Result<Arc<Communicator>, Error> {
        let instance = self.shared_instance();
        let remote = match remote {
            None => None,
            Some(remote) => {
                let first = group.members().first().copied().unwrap_or(group.me());
                let local = Plan {
                    bare: true,
                    hint,
                    ..Plan::new(gid::child(gid, 0, Origin::Local, instance.mark(first)), group.clone())
                };
                Some(Remote { group: remote, local: Communicator::make(instance, local)? })
            }
        };
        Communicator::make(instance, Plan { remote, info, hint, ..Plan::new(gid, group) })
    }

    /// Gathers the choices of all ranks, by rank, with Bruck's allgather: log2(n) rounds whatever n; block `i` of the
    /// buffer is the choice of rank (me + i) mod n.
    pub(crate) fn gather_choices(&self, entry: &mut Entry, mine: Choice) -> Result<Vec<Choice>, Status> {
        let (n, me) = (self.size() as usize, self.rank() as usize);
        let mut blocks = vec![0u8; n * ENTRY];
        blocks[..ENTRY].copy_from_slice(&mine.encode());
        let (mut have, mut so_far) = (1, Ok(()));
        while have < n {
            let count = have.min(n - have);
            let (to, from) = ((me + n - have) % n, (me + have) % n);
            let (done, rest) = blocks.split_at_mut(have * ENTRY);
            let ours = so_far.map(|()| &done[..count * ENTRY]);
            let met = self.exchange(entry, ours, to, &mut rest[..count * ENTRY], from, tag::SPLIT);
            so_far = so_far.and(met);
            have += count;
        }
        so_far?;
        let (entries, _) = blocks.as_chunks::<ENTRY>();
        let mut choices = vec![mine; n];
        for (i, entry) in entries.iter().enumerate() {
            choices[(me + i) % n] = Choice::decode(entry);
        }
        Ok(choices)
    }

    /// Ends the receive that waits for this rank's next message with an error. A rank that cannot be told knows by itself: it does not
    /// reach this one either.
    #[cold]
    pub(crate) fn tell(&self, entry: &mut Entry, error: Status, to: Envelope) {
        if let Ok(req) = self.isend_failure(entry, to, error) {
            self.take(entry, req);
        }
    }

    /// Waits for a request of the caller's, returns its status and releases it.
    pub(crate) fn take(&self, entry: &mut Entry, req: Header) -> MsgStatus {
        self.instance().wait(entry, req);
        // SAFETY: complete, and ours until it is released.
        unsafe {
            let status = req.status();
            req.release(entry);
            status
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_survives_the_wire() {
        for color in [None, Some(0), Some(u32::MAX)] {
            for key in [i32::MIN, -1, 0, 7, i32::MAX] {
                let back = Choice::decode(&Choice { color, key }.encode());
                assert_eq!((back.color, back.key), (color, key));
            }
        }
    }

    /// Every member but the leader has one parent, which names it as a child.
    #[test]
    fn the_tree_reaches_everyone_once() {
        for n in 1u32..40 {
            let mut reached = vec![0; n as usize];
            for me in 0..n {
                for child in tree(me, n).1 {
                    reached[child as usize] += 1;
                    assert_eq!(tree(child, n).0, me, "{n}: child and parent agree");
                }
            }
            assert!(reached[0] == 0 && reached[1..].iter().all(|&r| r == 1), "{n}: {reached:?}");
        }
    }
}
