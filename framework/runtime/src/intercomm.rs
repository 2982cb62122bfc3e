//! Inter-communicators (MPI 5.0 §7.6): two groups that have no rank in common, each of which sends to the
//! ranks of the other.
//!
//! **Parts.** A [`Communicator`] with a remote group: its rank and size are those of the local group, what
//! messages name are ranks of the remote one. Its id is the same on both sides. Beside it, each side has
//! a communicator of the local group alone, whose id follows from it, for what a side does among
//! itself (the local phases of collectives, and of the constructors here).
//!
//! **Leaders.** Rank 0 of each side speaks for it: it tells the other side's what it has to know and passes the
//! answer on in its own group ([`Communicator::swap`]). To make an inter-communicator from nothing the user
//! names the leaders and a communicator both are in.
//!
//! **Several jobs.** Where the two groups are of more than one job, each side tells the other what its processes say of themselves, by the leaders, since
//! not all need know each other (`dynamic/acquaint.rs`).

use crate::gid::{self, Gid, Origin};
use crate::group::{Group, ProcId};
use crate::info::Info;
use crate::objects::Communicator;
use crate::wires::{Wire, tag};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::{Entry, Status};
use std::sync::Arc;

/// The leader's part of making an inter-communicator.
pub struct Bridge<'a> {
    /// A communicator both leaders are in.
    pub peer: &'a Communicator,
    /// The other leader's rank in it.
    pub remote_leader: u32,
    /// Tells calls apart that run at once.
    pub tag: i32,
}

impl Communicator {
    /// Makes an inter-communicator of this group and another one (MPI_Intercomm_create). All ranks of both groups call
    /// it; `bridge` is given by the leader of each. The groups may have no rank in common.
    pub fn create_inter_with(
        &self,
        entry: &mut Entry,
        leader: u32,
        bridge: Option<Bridge<'_>>,
    ) -> Result<Arc<Communicator>, Error> {
        if self.remote().is_some() {
            return Err(Error::new(ErrorKind::Comm, "local_comm is an inter-communicator"));
        }
        // A leader that fails tells its group, which would wait for ever otherwise.
        let told = (self.rank() == leader).then(|| match &bridge {
            Some(bridge) => self.meet(entry, bridge),
            None => Err(Error::new(ErrorKind::Intern, "the leader of an inter-communicator without a peer")),
        });
        let failure = told.as_ref().and_then(|t| t.as_ref().err()).cloned();
        let bytes = told.map(|t| Ok(t.unwrap_or_default()));
        let bytes = self.spread(entry, leader, bytes, tag::SPREAD)?;
        if let Some(error) = failure {
            return Err(error);
        }
        let Some((gid, members)) = bytes.split_first_chunk::<16>() else {
            return Err(Error::new(
                ErrorKind::Other,
                "the leader of the local group could not reach the other",
            ));
        };
        let instance = self.instance();
        if instance.are_of_this_job(members) && self.is_of_one_job() {
            let members = instance.decode_members(members)?;
            return self.join(gid::decode(*gid), members, Info::new());
        }
        let profiles = self.collect_profiles(entry, leader);
        let theirs = bridge.map(|bridge| {
            let words = profiles.as_ref().map(|all| &all[..]).map_err(|_| Status::PEER_FAILED);
            let wire = bridge.peer.wire(Wire::Leaders).map_err(|_| Status::INTERNAL)?;
            wire.exchange_any(entry, words, bridge.remote_leader as i32, bridge.tag)
        });
        let theirs = self.spread(entry, leader, theirs, tag::SPREAD)?;
        let held = instance.acquaint(&theirs, None, |_| None)?;
        let made = instance
            .listen_to(&held)
            .and_then(|()| self.join(gid::decode(*gid), instance.decode_members(members)?, Info::new()));
        instance.let_go(held, made.is_ok());
        made
    }

    /// Whether all its members are of this process's job.
    fn is_of_one_job(&self) -> bool {
        self.group().strangers(self.instance().job().job_size).is_empty()
    }

    /// Exchanges groups with the other leader; called by the leader. Returns the new communicator's id and the other
    /// group's members, encoded.
    fn meet(&self, entry: &mut Entry, bridge: &Bridge<'_>) -> Result<Vec<u8>, Error> {
        let wire = bridge.peer.wire(Wire::Leaders)?;
        let own = self.instance().fresh_gid();
        let mut ours = gid::encode(own).to_vec();
        ours.extend(self.instance().encode_members(self.group().members()));
        let failed = |s: Status| Error::status(s, "meeting the leader of the other group");
        let mut theirs =
            wire.exchange_any(entry, Ok(&ours), bridge.remote_leader as i32, bridge.tag).map_err(failed)?;
        let Some(gid) = theirs.first_chunk_mut::<16>() else { return Err(failed(Status::PEER_FAILED)) };
        *gid = gid::encode(gid::pair(own, gid::decode(*gid)));
        Ok(theirs)
    }

    /// Makes the inter-communicator of this group and the given remote members, without messages.
    pub(crate) fn join(
        &self,
        gid: Gid,
        members: Vec<ProcId>,
        info: Info,
    ) -> Result<Arc<Communicator>, Error> {
        let remote = self.group().made(members);
        self.check_disjoint(&remote)?;
        self.child(gid, self.group().clone(), Some(remote), info)
    }

    /// Checks that the remote group has members and none in common with this one.
    fn check_disjoint(&self, remote: &Group) -> Result<(), Error> {
        match self.group().intersection(remote).members().first() {
            None if remote.size() > 0 => Ok(()),
            None => Err(Error::new(ErrorKind::Group, "the remote group has no member")),
            Some(both) => {
                let what = format!("{} is in both groups", self.instance().describe_process(both.proc));
                Err(Error::new(ErrorKind::Comm, what))
            }
        }
    }

    /// Makes an inter-communicator of this communicator's group and the remote group, which the leader names
    /// (MPI_Intercomm_create_from_groups, after the local communicator was made from its group). The id is equal on
    /// both sides and given by both leaders, in `lead`.
    pub fn create_inter_from_groups(
        &self,
        entry: &mut Entry,
        leader: u32,
        lead: Option<(Gid, &Group)>,
        info: Info,
    ) -> Result<Arc<Communicator>, Error> {
        let told = lead.map(|(id, remote)| {
            let mut bytes = gid::encode(id).to_vec();
            bytes.extend(self.instance().encode_members(remote.members()));
            Ok(bytes)
        });
        let bytes = self.spread(entry, leader, told, tag::SPREAD)?;
        let Some((gid, members)) = bytes.split_first_chunk::<16>() else {
            return Err(Error::new(ErrorKind::Other, "the leader of the local group named no other"));
        };
        self.join(gid::decode(*gid), self.instance().decode_members(members)?, info)
    }

    /// Makes one communicator of both groups (MPI_Intercomm_merge): the side whose leader says `high` comes last; where
    /// both say the same, the side whose first member has the lower number in the job comes first; of two jobs the one with the lower id.
    pub fn merge(&self, entry: &mut Entry, high: bool) -> Result<Arc<Communicator>, Error> {
        let nth = self.next_child();
        let Some(remote) = self.remote_group() else {
            return Err(Error::new(ErrorKind::Comm, "comm is no inter-communicator"));
        };
        let (ours, theirs) = self.swap(entry, Ok(&[high.into()]))?;
        // The same at all ranks, whatever job they are of.
        let first = |g: &Group| g.members().first().map(|m| self.instance().order(*m));
        let we_follow = match (ours.first(), theirs.first()) {
            (Some(ours), Some(theirs)) if ours != theirs => *ours != 0,
            _ => first(self.group()) > first(remote),
        };
        let (low, high) = if we_follow { (remote, self.group()) } else { (self.group(), remote) };
        let members = low.members().iter().chain(high.members()).copied().collect();
        let gid = gid::child(self.gid(), nth, Origin::Merge, 0);
        self.child(gid, self.group().made(members), None, Info::new())
    }

    /// Makes an inter-communicator of a subgroup of each side (MPI_Comm_create on an inter-communicator); `nth` is the
    /// number of this constructor call. `None`: a subgroup is empty, or the caller is not in its side's.
    pub(crate) fn create_inter(
        &self,
        entry: &mut Entry,
        group: &Group,
        nth: u64,
    ) -> Result<Option<Arc<Communicator>>, Error> {
        let (_, theirs) = self.swap(entry, Ok(&self.instance().encode_members(group.members())))?;
        let remote = group.made(self.instance().decode_members(&theirs)?);
        let known = self.remote_group().is_some_and(|all| remote.difference(all).size() == 0);
        if !known {
            return Err(Error::new(
                ErrorKind::Group,
                "the other side's group has members that are not there",
            ));
        }
        if group.rank().is_none() || remote.size() == 0 {
            return Ok(None);
        }
        let gid = gid::child(self.gid(), nth, Origin::Create, 0);
        self.child(gid, group.clone(), Some(remote), Info::new()).map(Some)
    }

    /// Exchanges bytes between the leaders of both sides of an inter-communicator and spreads them to all ranks: this
    /// side's and the other side's. Only the leaders' `ours` count: an error ends the call on both sides. Called by all ranks of both
    /// sides.
    pub(crate) fn swap(
        &self,
        entry: &mut Entry,
        ours: Result<&[u8], Status>,
    ) -> Result<(Vec<u8>, Vec<u8>), Error> {
        let Some(local) = self.local() else {
            return Err(Error::new(ErrorKind::Intern, "there is no other side"));
        };
        let both = match self.rank() {
            0 => Some(self.exchange_any(entry, ours, 0, tag::SPLIT).and_then(|theirs| {
                let ours = ours?;
                let mut both = (ours.len() as u64).to_le_bytes().to_vec();
                both.extend_from_slice(ours);
                both.extend(theirs);
                Ok(both)
            })),
            _ => None,
        };
        let both = local.spread(entry, 0, both, tag::SPREAD)?;
        let parts = both.split_first_chunk::<8>().and_then(|(len, rest)| {
            let at = usize::try_from(u64::from_le_bytes(*len)).ok()?;
            rest.split_at_checked(at)
        });
        match parts {
            Some((ours, theirs)) => Ok((ours.to_vec(), theirs.to_vec())),
            None => Err(Error::status(Status::PEER_FAILED, "passing on what the remote group said")),
        }
    }
}
