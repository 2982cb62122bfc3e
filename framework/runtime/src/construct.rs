//! Making communicators from communicators (MPI 5.0 §7.4); what is special to inter-communicators is
//! in `intercomm`.
//!
//! Ids need no agreement (`gid`): `dup` and `create` send nothing, `split` only the colours and keys,
//! `create_group` only the leader's id. The PML keeps messages for a communicator that a rank has
//! not made yet, so nobody waits for anybody.
//!
//! **Wires.** A call that only some ranks of a communicator make, with a user's tag to tell calls apart,
//! needs all tags for itself. Its messages go over a communicator of the same group that each rank makes
//! when it first needs it; one for each kind of call.
//!
//! **Failures.** A rank that some other is not reached by goes on with its pattern, as a collective does: the ranks behind it wait for
//! its messages. In their place it sends what ends their receives with the error ([`Communicator::tell`]), so that all of them end.

use crate::gid::{self, Gid, Origin};
use crate::group::{Group, ProcId};
use crate::info::Info;
use crate::objects::{Communicator, Remote};
use crate::plan::Plan;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_pml::mode;
use std::sync::Arc;

/// Tags of the host's own messages: below all tags of collectives (which count down from -100).
pub(crate) mod tag {
    /// Colours and keys of a split; what the leaders of an inter-communicator tell each other.
    pub const SPLIT: i32 = i32::MIN + 1;
    /// Facts that a leader passes on to its group.
    pub const SPREAD: i32 = i32::MIN + 2;
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
const ENTRY: usize = 9;

#[derive(Clone, Copy)]
pub(crate) struct Choice {
    pub color: Option<u32>,
    pub key: i32,
}

impl Choice {
    /// Encodes a choice for the wire.
    fn encode(self) -> [u8; ENTRY] {
        let mut out = [0; ENTRY];
        out[..4].copy_from_slice(&self.color.unwrap_or(0).to_le_bytes());
        out[4] = self.color.is_some().into();
        out[5..].copy_from_slice(&self.key.to_le_bytes());
        out
    }
    /// Decodes a choice from the wire.
    fn decode(bytes: &[u8; ENTRY]) -> Choice {
        let [c0, c1, c2, c3, has, k0, k1, k2, k3] = *bytes;
        let color = u32::from_le_bytes([c0, c1, c2, c3]);
        Choice { color: (has != 0).then_some(color), key: i32::from_le_bytes([k0, k1, k2, k3]) }
    }
}

/// The members of a group that chose `color`, ordered by key and then by rank. `choices` come in the order of the
/// group's ranks.
fn chosen(group: &Group, choices: impl Iterator<Item = Choice>, color: u32) -> Vec<ProcId> {
    let mut ranks: Vec<(i32, usize)> =
        choices.enumerate().filter(|(_, c)| c.color == Some(color)).map(|(rank, c)| (c.key, rank)).collect();
    ranks.sort_unstable();
    ranks.iter().map(|&(_, rank)| group.members()[rank]).collect()
}

/// Packs the first member of a group into a word, which tells the children of one constructor call apart where each
/// group becomes a child.
fn which(first: ProcId) -> u64 {
    u64::from(first.proc) << 16 | u64::from(first.endpoint)
}

/// Computes parent and children of a place in the binomial tree over `n` places, of which 0 is the root: a place's
/// parent has the lowest set bit of its number cleared, its children one more bit set below that.
pub(crate) fn tree(place: u32, n: u32) -> (u32, impl Iterator<Item = u32>) {
    let limit = if place == 0 { n.next_power_of_two() } else { place & place.wrapping_neg() };
    let steps = std::iter::successors(Some(limit >> 1), |step| Some(step >> 1)).take_while(|step| *step > 0);
    (place & place.wrapping_sub(1), steps.map(move |step| place + step).filter(move |child| *child < n))
}

impl Communicator {
    /// Makes a communicator of the same ranks with the given hints; those of this communicator are not taken over (MPI
    /// 5.0 §7.4.2). Sends nothing and waits for nobody.
    pub fn dup(&self, _thread: *mut ThreadCtx, info: Option<&Info>) -> Result<Arc<Communicator>, Error> {
        let gid = gid::child(self.gid(), self.next_child(), Origin::Dup, 0);
        let info = info.cloned().unwrap_or_default();
        self.child(gid, self.group().clone(), self.remote_group().cloned(), info)
    }

    /// Makes a communicator of the same ranks, in which the calling rank prefers `context` for its messages (`None`: no
    /// preference). Each rank gives its own preference. Sends nothing.
    pub fn dup_on(&self, context: Option<u32>) -> Result<Arc<Communicator>, Error> {
        let gid = gid::child(self.gid(), self.next_child(), Origin::Dup, 0);
        self.child_on(context, gid, self.group().clone(), self.remote_group().cloned(), Info::new())
    }

    /// Makes one communicator for each colour, with ranks ordered by key and then by their rank here (MPI_Comm_split).
    /// `None`: the caller gave no colour, or on an inter-communicator the other side has nobody of that colour.
    pub fn split(
        &self,
        thread: *mut ThreadCtx,
        color: Option<u32>,
        key: i32,
    ) -> Result<Option<Arc<Communicator>>, Error> {
        let nth = self.next_child();
        let choices = self.local().unwrap_or(self).gather_choices(thread, Choice { color, key });
        let failed = |s: Status| Error::status(s, GATHERING);
        let theirs = match self.remote() {
            None => None,
            Some(remote) => {
                // The other side hears of a failure, too.
                let ours =
                    choices.clone().map(|all| all.iter().flat_map(|c| c.encode()).collect::<Vec<u8>>());
                let swapped = self.swap(thread, ours.as_deref().map_err(|s| *s));
                let (_, theirs) = ours.map_err(failed).and(swapped)?;
                let (entries, _) = theirs.as_chunks::<ENTRY>();
                if entries.len() != remote.group.size() as usize {
                    return Err(Error::status(Status::PEER_FAILED, "exchanging the colours of a split"));
                }
                Some((remote, entries.iter().map(Choice::decode).collect::<Vec<_>>()))
            }
        };
        let choices = choices.map_err(failed)?;
        let Some(mine) = color else { return Ok(None) };
        let group = self.group().made(chosen(self.group(), choices.into_iter(), mine));
        let remote = theirs.map(|(r, theirs)| r.group.made(chosen(&r.group, theirs.into_iter(), mine)));
        if remote.as_ref().is_some_and(|r| r.size() == 0) {
            return Ok(None);
        }
        let gid = gid::child(self.gid(), nth, Origin::Split, mine.into());
        self.child(gid, group, remote, Info::new()).map(Some)
    }

    /// Splits by the first of several colours that some ranks do not share, so that every part is smaller than this
    /// communicator. All ranks give as many. `None`: there is no such colour, or the caller has none of
    /// that place; else also its place.
    pub fn split_by_first(
        &self,
        thread: *mut ThreadCtx,
        colors: &[Option<u32>],
        key: i32,
    ) -> Result<Option<(usize, Arc<Communicator>)>, Error> {
        if self.remote().is_some() {
            return Err(Error::new(ErrorKind::Comm, "comm is an inter-communicator"));
        }
        for (place, &color) in colors.iter().enumerate() {
            let nth = self.next_child();
            let choices = self
                .gather_choices(thread, Choice { color, key })
                .map_err(|s| Error::status(s, GATHERING))?;
            if choices.iter().all(|c| c.color == color) {
                continue;
            }
            let Some(mine) = color else { return Ok(None) };
            let group = self.group().made(chosen(self.group(), choices.into_iter(), mine));
            let gid = gid::child(self.gid(), nth, Origin::Split, mine.into());
            return self.child(gid, group, None, Info::new()).map(|made| Some((place, made)));
        }
        Ok(None)
    }

    /// Makes a communicator of a subgroup (MPI_Comm_create); called by all ranks of this one. The groups that ranks
    /// give in one call may be disjoint. `None`: the caller is not in its group.
    pub fn create(&self, thread: *mut ThreadCtx, group: &Group) -> Result<Option<Arc<Communicator>>, Error> {
        let nth = self.next_child();
        self.check_subgroup(group)?;
        let group = &group.seen_by(self.group().me());
        if self.remote().is_some() {
            return self.create_inter(thread, group, nth);
        }
        let (Some(first), Some(_)) = (group.members().first(), group.rank()) else { return Ok(None) };
        let gid = gid::child(self.gid(), nth, Origin::Create, which(*first));
        self.child(gid, group.clone(), None, Info::new()).map(Some)
    }

    /// Makes a communicator of a subgroup (MPI_Comm_create_group); called by the subgroup's members only, whose leader
    /// sends them the new id. `tag` tells calls apart that run at once. `None`: the caller is not a member.
    pub fn create_group(
        &self,
        thread: *mut ThreadCtx,
        group: &Group,
        tag: i32,
    ) -> Result<Option<Arc<Communicator>>, Error> {
        if self.remote().is_some() {
            return Err(Error::new(ErrorKind::Comm, "comm is an inter-communicator"));
        }
        self.check_subgroup(group)?;
        let group = &group.seen_by(self.group().me());
        let Some(me) = group.rank() else { return Ok(None) };
        let wire = self.wire(Wire::Group)?;
        let own = (me == 0).then(|| self.instance().fresh_gid());
        let gid = wire.spread_gid(thread, group, me, own, tag)?;
        self.child(gid, group.clone(), None, Info::new()).map(Some)
    }

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

    /// Makes a communicator with this id and group, in which the rank prefers the context `hint`; with a remote group
    /// an inter-communicator and the communicator of its local group.
    fn child_on(
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
                    ..Plan::new(gid::child(gid, 0, Origin::Local, which(first)), group.clone())
                };
                Some(Remote { group: remote, local: Communicator::make(instance, local)? })
            }
        };
        Communicator::make(instance, Plan { remote, info, hint, ..Plan::new(gid, group) })
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

    /// Checks that all members of `group` are in this communicator.
    fn check_subgroup(&self, group: &Group) -> Result<(), Error> {
        let stranger = group.difference(self.group());
        match stranger.members().first() {
            None => Ok(()),
            Some(m) => Err(Error::new(
                ErrorKind::Group,
                format!("the group has a member (process {}) that is not in the communicator", m.proc),
            )),
        }
    }

    /// Gathers the choices of all ranks, by rank, with Bruck's allgather: log2(n) rounds whatever n; block `i` of the
    /// buffer is the choice of rank (me + i) mod n.
    pub(crate) fn gather_choices(&self, thread: *mut ThreadCtx, mine: Choice) -> Result<Vec<Choice>, Status> {
        let (n, me) = (self.size() as usize, self.rank() as usize);
        let mut blocks = vec![0u8; n * ENTRY];
        blocks[..ENTRY].copy_from_slice(&mine.encode());
        let (mut have, mut so_far) = (1, Ok(()));
        while have < n {
            let count = have.min(n - have);
            let (to, from) = ((me + n - have) % n, (me + have) % n);
            let (done, rest) = blocks.split_at_mut(have * ENTRY);
            let ours = so_far.map(|()| &done[..count * ENTRY]);
            let met = self.exchange(thread, ours, to, &mut rest[..count * ENTRY], from, tag::SPLIT);
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

    /// Sends bytes to rank `to` and receives from rank `from` at the same time, and waits for both. These are ranks of
    /// this communicator, or of the remote group if it is an inter-communicator. `out` is an error where an earlier message has
    /// failed: rank `to` hears of it. PEER_FAILED: fewer bytes came than `into` has room for.
    pub(crate) fn exchange(
        &self,
        thread: *mut ThreadCtx,
        out: Result<&[u8], Status>,
        to: usize,
        into: &mut [u8],
        from: usize,
        tag: i32,
    ) -> Result<(), Status> {
        let byte = self.instance().byte_type();
        let len = into.len() as u64;
        let posted = self
            .can_come_from(from as i32)
            .and_then(|()| self.irecv(thread, into.as_mut_ptr(), len, byte, from as i32, tag));
        let sent = self.put_or_tell(thread, out.and_then(|out| posted.map(|_| out)), to as i32, tag);
        let got = self.take(thread, posted?);
        sent?;
        if got.error.is_err() {
            return Err(got.error);
        }
        // A peer that sends less than the protocol says is not one we can go on with.
        if got.bytes == len { Ok(()) } else { Err(Status::PEER_FAILED) }
    }

    /// Sends bytes to a rank, blocking, or tells it that they do not come; the error that was given, or of the sending.
    pub(crate) fn put_or_tell(
        &self,
        thread: *mut ThreadCtx,
        out: Result<&[u8], Status>,
        to: i32,
        tag: i32,
    ) -> Result<(), Status> {
        match out {
            Ok(out) => self.put(thread, out, to, tag),
            Err(error) => {
                self.tell(thread, error, to, tag);
                Err(error)
            }
        }
    }

    /// Ends the receive that waits for this rank's next message with an error. A rank that cannot be told knows by itself: it does not
    /// reach this one either.
    #[cold]
    fn tell(&self, thread: *mut ThreadCtx, error: Status, to: i32, tag: i32) {
        if let Ok(req) = self.isend_failure(thread, to, tag, error) {
            self.take(thread, req);
        }
    }

    /// Sends bytes to a rank, blocking.
    pub(crate) fn put(&self, thread: *mut ThreadCtx, out: &[u8], to: i32, tag: i32) -> Result<(), Status> {
        let byte = self.instance().byte_type();
        let sent = self.send(thread, out.as_ptr(), out.len() as u64, byte, to, tag, mode::STANDARD);
        if sent.is_err() { Err(sent) } else { Ok(()) }
    }

    /// Receives bytes from a rank, blocking. PEER_FAILED: fewer bytes came than `into` has room for.
    pub(crate) fn get(
        &self,
        thread: *mut ThreadCtx,
        into: &mut [u8],
        from: i32,
        tag: i32,
    ) -> Result<(), Status> {
        let (byte, len) = (self.instance().byte_type(), into.len() as u64);
        self.can_come_from(from)?;
        let mut status = MsgStatus::EMPTY;
        let got = self.recv(thread, into.as_mut_ptr(), len, byte, from, tag, &mut status);
        match () {
            () if got.is_err() => Err(got),
            () if status.error.is_err() => Err(status.error),
            () if status.bytes != len => Err(Status::PEER_FAILED),
            () => Ok(()),
        }
    }

    /// Waits for a request of the caller's, returns its status and releases it.
    fn take(&self, thread: *mut ThreadCtx, req: *mut RequestHeader) -> MsgStatus {
        self.instance().wait(thread, req);
        // SAFETY: complete, and ours until it is released.
        unsafe {
            let status = (*req).status;
            ((*(*req).ops).release)(req, thread);
            status
        }
    }

    /// Sends the leader's id to all members along a binomial tree over the group's ranks, and returns it. `own` is the
    /// id at the leader (rank 0 of the group), `None` elsewhere; `me` is the caller's rank in the group.
    fn spread_gid(
        &self,
        thread: *mut ThreadCtx,
        group: &Group,
        me: u32,
        own: Option<Gid>,
        tag: i32,
    ) -> Result<Gid, Error> {
        let here: Vec<u32> = (0..group.size()).collect();
        let ranks = group.translate(&here, self.group())?;
        let rank_of = |r: u32| ranks[r as usize].map_or(-1, |r| r as i32);
        let failed = |s: Status| Error::status(s, "passing on the id of a new communicator");
        let mut bytes = own.map_or([0; 16], gid::encode);
        let (parent, children) = tree(me, group.size());
        let got = match own {
            Some(_) => Ok(()),
            None => self.get(thread, &mut bytes, rank_of(parent), tag),
        };
        let mut sent = got;
        for child in children {
            sent = sent.and(self.put_or_tell(thread, got.map(|()| &bytes[..]), rank_of(child), tag));
        }
        sent.map_err(failed)?;
        Ok(gid::decode(bytes))
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
