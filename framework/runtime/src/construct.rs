//! Making communicators from communicators (MPI 5.0 §7.4).
//!
//! Ids need no agreement (`gid`): `dup` and `create` send nothing, `split` only the colours and keys,
//! `create_group` only the leader's id. The PML keeps messages for a communicator that a rank has
//! not made yet, so nobody waits for anybody.

use crate::communicator::{Communicator, Plan};
use crate::error::{Error, ErrorKind};
use crate::gid::{self, Gid, Origin};
use crate::group::{Group, ProcId};
use crate::info::Info;
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_pml::mode;
use std::sync::Arc;

/// Tags of the host's own messages: below all tags of collectives (which count down from -100).
mod tag {
    /// Colours and keys of a split.
    pub const SPLIT: i32 = i32::MIN + 1;
    /// The leader's id for a `create_group` with user tag 0; others follow upwards. User tags that
    /// differ by 2^30 share one: such calls must not run at once in one group.
    pub const GROUP: i32 = i32::MIN + 2;
    pub const GROUP_RANGE: i32 = 1 << 30;
}

/// One rank's part of a split. Little-endian on the wire: colour, has a colour, key.
const ENTRY: usize = 9;

#[derive(Clone, Copy)]
struct Choice {
    color: Option<u32>,
    key: i32,
}

impl Choice {
    fn encode(self) -> [u8; ENTRY] {
        let mut out = [0; ENTRY];
        out[..4].copy_from_slice(&self.color.unwrap_or(0).to_le_bytes());
        out[4] = self.color.is_some().into();
        out[5..].copy_from_slice(&self.key.to_le_bytes());
        out
    }
    fn decode(bytes: &[u8; ENTRY]) -> Choice {
        let [c0, c1, c2, c3, has, k0, k1, k2, k3] = *bytes;
        let color = u32::from_le_bytes([c0, c1, c2, c3]);
        Choice { color: (has != 0).then_some(color), key: i32::from_le_bytes([k0, k1, k2, k3]) }
    }
}

/// What tells the children of one call apart where each group is a child: its first member.
fn which(first: ProcId) -> u64 {
    u64::from(first.proc) << 16 | u64::from(first.endpoint)
}

impl Communicator {
    /// The same ranks again. `info` replaces this communicator's hints, which otherwise are kept.
    pub fn dup(&self, _thread: *mut ThreadCtx, info: Option<&Info>) -> Result<Arc<Communicator>, Error> {
        let gid = gid::child(self.gid(), self.next_child(), Origin::Dup, 0);
        let info = info.cloned().unwrap_or_else(|| self.info());
        self.child(gid, self.group().clone(), info)
    }

    /// One communicator per colour, ranks ordered by key and then by rank here. No colour: `None`.
    pub fn split(
        &self,
        thread: *mut ThreadCtx,
        color: Option<u32>,
        key: i32,
    ) -> Result<Option<Arc<Communicator>>, Error> {
        let nth = self.next_child();
        let choices = self.gather_choices(thread, Choice { color, key })?;
        let Some(mine) = color else { return Ok(None) };
        let mut ranks: Vec<(i32, usize)> = choices
            .iter()
            .enumerate()
            .filter(|(_, c)| c.color == Some(mine))
            .map(|(rank, c)| (c.key, rank))
            .collect();
        ranks.sort_unstable();
        let members = self.group().members();
        let members = ranks.iter().map(|&(_, rank)| members[rank]).collect();
        let group = Group::new(members, self.group().me());
        let gid = gid::child(self.gid(), nth, Origin::Split, mine.into());
        self.child(gid, group, Info::new()).map(Some)
    }

    /// A communicator of a subgroup; called by all ranks of this one. Groups of one call may be
    /// disjoint. `None`: the caller is not in its group.
    pub fn create(&self, _thread: *mut ThreadCtx, group: &Group) -> Result<Option<Arc<Communicator>>, Error> {
        let nth = self.next_child();
        self.check_subgroup(group)?;
        let (Some(first), Some(_)) = (group.members().first(), group.rank()) else { return Ok(None) };
        let gid = gid::child(self.gid(), nth, Origin::Create, which(*first));
        self.child(gid, group.clone(), Info::new()).map(Some)
    }

    /// A communicator of a subgroup; called by the subgroup's members only. `tag` tells calls apart
    /// that run at once. `None`: the caller is not a member.
    pub fn create_group(
        &self,
        thread: *mut ThreadCtx,
        group: &Group,
        tag: i32,
    ) -> Result<Option<Arc<Communicator>>, Error> {
        self.check_subgroup(group)?;
        let Some(me) = group.rank() else { return Ok(None) };
        let own = (me == 0).then(|| self.instance().fresh_gid());
        let gid = self.spread_gid(thread, group, me, own, tag::GROUP + (tag.max(0) % tag::GROUP_RANGE))?;
        self.child(gid, group.clone(), Info::new()).map(Some)
    }

    fn child(&self, gid: Gid, group: Group, info: Info) -> Result<Arc<Communicator>, Error> {
        let name = String::new();
        Communicator::make(self.shared_instance(), Plan { gid, group, name, info, fixed_index: None })
    }

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

    /// All ranks' choices, by rank. Bruck's allgather: log2(n) rounds whatever n; block `i` of the
    /// buffer is the choice of rank (me + i) mod n.
    fn gather_choices(&self, thread: *mut ThreadCtx, mine: Choice) -> Result<Vec<Choice>, Error> {
        let (n, me) = (self.size() as usize, self.rank() as usize);
        let mut blocks = vec![0u8; n * ENTRY];
        blocks[..ENTRY].copy_from_slice(&mine.encode());
        let mut have = 1;
        while have < n {
            let count = have.min(n - have);
            let (to, from) = ((me + n - have) % n, (me + have) % n);
            let (done, rest) = blocks.split_at_mut(have * ENTRY);
            let what = "exchanging the colours of a split";
            self.exchange(thread, &done[..count * ENTRY], to, &mut rest[..count * ENTRY], from, tag::SPLIT)
                .map_err(|s| Error::status(s, what))?;
            have += count;
        }
        let (entries, _) = blocks.as_chunks::<ENTRY>();
        let mut choices = vec![mine; n];
        for (i, entry) in entries.iter().enumerate() {
            choices[(me + i) % n] = Choice::decode(entry);
        }
        Ok(choices)
    }

    /// Sends and receives at once.
    fn exchange(
        &self,
        thread: *mut ThreadCtx,
        out: &[u8],
        to: usize,
        into: &mut [u8],
        from: usize,
        tag: i32,
    ) -> Result<(), Status> {
        let byte = self.instance().byte_type();
        let len = into.len() as u64;
        let recv = self.quiet_irecv(thread, into.as_mut_ptr(), len, byte, from as i32, tag)?;
        let sent =
            self.quiet_send(thread, out.as_ptr(), out.len() as u64, byte, to as i32, tag, mode::STANDARD);
        let got = self.take(thread, recv);
        if sent.is_err() {
            return Err(sent);
        }
        if got.error.is_err() {
            return Err(got.error);
        }
        // A peer that sends less than the protocol says is not one we can go on with.
        if got.bytes == len { Ok(()) } else { Err(Status::PEER_FAILED) }
    }

    fn take(&self, thread: *mut ThreadCtx, req: *mut RequestHeader) -> MsgStatus {
        self.instance().wait(thread, req);
        // SAFETY: complete, and ours until it is released.
        unsafe {
            let status = (*req).status;
            ((*(*req).ops).release)(req);
            status
        }
    }

    /// The leader's id to all members, along a binomial tree over the group's ranks.
    fn spread_gid(
        &self,
        thread: *mut ThreadCtx,
        group: &Group,
        me: u32,
        own: Option<Gid>,
        tag: i32,
    ) -> Result<Gid, Error> {
        let n = group.size();
        let here: Vec<u32> = (0..n).collect();
        let ranks = group.translate(&here, self.group())?;
        let rank_of = |r: u32| ranks[r as usize].map_or(-1, |r| r as i32);
        let failed = |s: Status| Error::status(s, "passing on the id of a new communicator");
        let byte = self.instance().byte_type();
        let mut bytes = [0u8; 16];
        let gid = match own {
            Some(gid) => gid,
            None => {
                let parent = me & (me - 1);
                let mut status = MsgStatus::EMPTY;
                let from = rank_of(parent);
                let got = self.quiet_recv(thread, bytes.as_mut_ptr(), 16, byte, from, tag, &mut status);
                if got.is_err() || status.error.is_err() || status.bytes != 16 {
                    let why = if got.is_err() { got } else { status.error };
                    return Err(failed(if why.is_err() { why } else { Status::PEER_FAILED }));
                }
                let (words, _) = bytes.as_chunks::<8>();
                [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])]
            }
        };
        bytes[..8].copy_from_slice(&gid[0].to_le_bytes());
        bytes[8..].copy_from_slice(&gid[1].to_le_bytes());
        // Children of `me`: me + 2^k for every k below its lowest set bit (the leader: any k).
        let limit = if me == 0 { n.next_power_of_two() } else { me & me.wrapping_neg() };
        let mut step = limit >> 1;
        while step > 0 {
            if me + step < n {
                let to = rank_of(me + step);
                let sent = self.quiet_send(thread, bytes.as_ptr(), 16, byte, to, tag, mode::STANDARD);
                if sent.is_err() {
                    return Err(failed(sent));
                }
            }
            step >>= 1;
        }
        Ok(gid)
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
                let limit = if me == 0 { n.next_power_of_two() } else { me & me.wrapping_neg() };
                let mut step = limit >> 1;
                while step > 0 {
                    if me + step < n {
                        reached[(me + step) as usize] += 1;
                        assert_eq!((me + step) & (me + step - 1), me, "{n}: child and parent agree");
                    }
                    step >>= 1;
                }
            }
            assert!(reached[0] == 0 && reached[1..].iter().all(|&r| r == 1), "{n}: {reached:?}");
        }
    }
}
