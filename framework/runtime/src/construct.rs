//! Making communicators from communicators (MPI 5.0 §7.4); what is special to inter-communicators is
//! in `intercomm`, messages between constructors in `wires`.
//!
//! Ids need no agreement (`gid`): `dup` and `create` send nothing, `split` only the colours and keys,
//! `create_group` only the leader's id. The PML keeps messages for a communicator that a rank has
//! not made yet, so nobody waits for anybody.

use crate::gid::{self, Gid, Origin};
use crate::group::{Group, ProcId};
use crate::info::Info;
use crate::message::Envelope;
use crate::objects::Communicator;
use crate::wires::{Choice, ENTRY, GATHERING, Wire, tree};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::{Entry, Status};
use std::sync::Arc;

/// The members of a group that chose `color`, ordered by key and then by rank. `choices` come in the order of the
/// group's ranks.
fn chosen(group: &Group, choices: impl Iterator<Item = Choice>, color: u32) -> Vec<ProcId> {
    let mut ranks: Vec<(i32, usize)> =
        choices.enumerate().filter(|(_, c)| c.color == Some(color)).map(|(rank, c)| (c.key, rank)).collect();
    ranks.sort_unstable();
    ranks.iter().map(|&(_, rank)| group.members()[rank]).collect()
}

impl Communicator {
    /// Makes a communicator of the same ranks with the given hints; those of this communicator are not taken over (MPI
    /// 5.0 §7.4.2). Sends nothing and waits for nobody.
    pub fn dup(&self, info: Option<&Info>) -> Result<Arc<Communicator>, Error> {
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
        entry: &mut Entry,
        color: Option<u32>,
        key: i32,
    ) -> Result<Option<Arc<Communicator>>, Error> {
        let nth = self.next_child();
        let choices = self.local().unwrap_or(self).gather_choices(entry, Choice { color, key });
        let failed = |s: Status| Error::status(s, GATHERING);
        let theirs = match self.remote() {
            None => None,
            Some(remote) => {
                // The other side hears of a failure, too.
                let ours =
                    choices.clone().map(|all| all.iter().flat_map(|c| c.encode()).collect::<Vec<u8>>());
                let swapped = self.swap(entry, ours.as_deref().map_err(|s| *s));
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
        entry: &mut Entry,
        colors: &[Option<u32>],
        key: i32,
    ) -> Result<Option<(usize, Arc<Communicator>)>, Error> {
        if self.remote().is_some() {
            return Err(Error::new(ErrorKind::Comm, "comm is an inter-communicator"));
        }
        for (place, &color) in colors.iter().enumerate() {
            let nth = self.next_child();
            let choices =
                self.gather_choices(entry, Choice { color, key }).map_err(|s| Error::status(s, GATHERING))?;
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
    pub fn create(&self, entry: &mut Entry, group: &Group) -> Result<Option<Arc<Communicator>>, Error> {
        let nth = self.next_child();
        self.check_subgroup(group)?;
        let group = &group.seen_by(self.group().me());
        if self.remote().is_some() {
            return self.create_inter(entry, group, nth);
        }
        let (Some(first), Some(_)) = (group.members().first(), group.rank()) else { return Ok(None) };
        let gid = gid::child(self.gid(), nth, Origin::Create, self.instance().mark(*first));
        self.child(gid, group.clone(), None, Info::new()).map(Some)
    }

    /// Makes a communicator of a subgroup (MPI_Comm_create_group); called by the subgroup's members only, whose leader
    /// sends them the new id. `tag` tells calls apart that run at once. `None`: the caller is not a member.
    pub fn create_group(
        &self,
        entry: &mut Entry,
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
        let gid = wire.spread_gid(entry, group, me, own, tag)?;
        self.child(gid, group.clone(), None, Info::new()).map(Some)
    }

    /// Checks that all members of `group` are in this communicator.
    fn check_subgroup(&self, group: &Group) -> Result<(), Error> {
        let stranger = group.difference(self.group());
        match stranger.members().first() {
            None => Ok(()),
            Some(m) => Err(Error::new(
                ErrorKind::Group,
                format!(
                    "the group has a member ({}) that is not in the communicator",
                    self.instance().describe_process(m.proc)
                ),
            )),
        }
    }

    /// Sends the leader's id to all members along a binomial tree over the group's ranks, and returns it. `own` is the
    /// id at the leader (rank 0 of the group), `None` elsewhere; `me` is the caller's rank in the group.
    fn spread_gid(
        &self,
        entry: &mut Entry,
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
            None => self.get(entry, &mut bytes, Envelope::new(rank_of(parent), tag)),
        };
        let mut sent = got;
        for child in children {
            let to = Envelope::new(rank_of(child), tag);
            sent = sent.and(self.put_or_tell(entry, got.map(|()| &bytes[..]), to));
        }
        sent.map_err(failed)?;
        Ok(gid::decode(bytes))
    }
}
