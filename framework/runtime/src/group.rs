//! Groups: ordered sets of ranks, and MPI's operations on them (MPI 5.0 §7.3). Purely local.
//!
//! Data that follows from the members alone and has an entry for each of them (lists for the PML, places) is made when it is first asked for and kept beside
//! the members. So communicators and windows that are made of the same group share it, and one more of them costs nothing for each rank.

use crate::places::Places;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::ProcPlace;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// One rank of the job: its process and its endpoint in there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ProcId {
    /// Index of the process: its rank in the job, or a higher number for one of another job.
    pub proc: u32,
    /// Which of the process's local ranks; 0 where a process is one rank.
    pub endpoint: u16,
}

/// Result of [`Group::compare`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupCompare {
    /// Same members, same order.
    Ident,
    /// Same members, other order.
    Similar,
    Unequal,
}

/// The members, and what follows from them: see the file's head.
#[derive(Debug)]
struct Members {
    all: Box<[ProcId]>,
    procs: OnceLock<Box<[u32]>>,
    endpoints: OnceLock<Box<[u16]>>,
    places: OnceLock<Places>,
    strangers: OnceLock<Box<[u32]>>,
}

#[derive(Debug)]
struct Inner {
    members: Arc<Members>,
    me: ProcId,
    rank: Option<u32>,
    session: u64,
}

/// An ordered set of ranks, as one rank sees it. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Group(Arc<Inner>);

impl Group {
    /// Makes a group of the world. `members` are in rank order, each once; `me` is the calling rank, member or not.
    pub fn new(members: Vec<ProcId>, me: ProcId) -> Group {
        Group::of_session(members, me, 0)
    }

    /// Makes a group that belongs to the session of this number; 0 is the world. `members` are in rank order, each
    /// once; `me` is the calling rank, member or not. Groups made of it, and communicators made of those, belong to the
    /// session too.
    pub fn of_session(members: Vec<ProcId>, me: ProcId, session: u64) -> Group {
        let (procs, endpoints, places, strangers) = Default::default();
        let members = Members { all: members.into(), procs, endpoints, places, strangers };
        Group::shared(Arc::new(members), me, session)
    }

    /// Makes a group that shares the list of members with others, and finds the rank of `me` in it.
    fn shared(members: Arc<Members>, me: ProcId, session: u64) -> Group {
        let rank = members.all.iter().position(|&m| m == me).map(|r| r as u32);
        Group(Arc::new(Inner { members, me, rank, session }))
    }

    /// Makes a group without members.
    pub fn empty(me: ProcId) -> Group {
        Group::new(Vec::new(), me)
    }

    /// The number of members.
    pub fn size(&self) -> u32 {
        self.members().len() as u32
    }

    /// The calling rank's number in here; `None`: not a member.
    pub fn rank(&self) -> Option<u32> {
        self.0.rank
    }

    /// The calling rank.
    pub fn me(&self) -> ProcId {
        self.0.me
    }

    /// The members, by rank.
    pub fn members(&self) -> &[ProcId] {
        &self.0.members.all
    }

    /// The members' processes, in rank order; as long as any group of the same members.
    pub(crate) fn procs(&self) -> &[u32] {
        self.0.members.procs.get_or_init(|| self.members().iter().map(|m| m.proc).collect())
    }

    /// The members' endpoint numbers, in rank order; an empty list if all are 0.
    pub(crate) fn endpoints(&self) -> &[u16] {
        self.0.members.endpoints.get_or_init(|| match self.members().iter().any(|m| m.endpoint != 0) {
            true => self.members().iter().map(|m| m.endpoint).collect(),
            false => Box::default(),
        })
    }

    /// The members' processes that are of other jobs than the own one, which has `own` processes, once each.
    pub(crate) fn strangers(&self, own: u32) -> &[u32] {
        self.0.members.strangers.get_or_init(|| {
            let mut all: Vec<u32> =
                self.members().iter().map(|m| m.proc).filter(|&proc| proc >= own).collect();
            all.sort_unstable();
            all.dedup();
            all.into()
        })
    }

    /// The members' places, in rank order; computed at the first call by `place_of`, which tells where a process is and
    /// must be the same instance's in each call.
    pub(crate) fn places(&self, place_of: impl Fn(u32) -> ProcPlace) -> &Places {
        self.0
            .members
            .places
            .get_or_init(|| Places::new(self.members().iter().map(|m| (m.proc, m.endpoint)), place_of))
    }

    /// The session it comes from; 0: the world.
    pub fn session(&self) -> u64 {
        self.0.session
    }

    /// Makes a group of these members in which `me` is the calling rank; shares the list.
    pub fn seen_by(&self, me: ProcId) -> Group {
        match me == self.0.me {
            true => self.clone(),
            false => Group::shared(self.0.members.clone(), me, self.0.session),
        }
    }

    /// Makes a group of other members, with this one's calling rank and session.
    pub fn made(&self, members: Vec<ProcId>) -> Group {
        Group::of_session(members, self.0.me, self.0.session)
    }

    /// The members with these ranks, in this order; each rank once.
    pub fn incl(&self, ranks: &[u32]) -> Result<Group, Error> {
        self.check_distinct(ranks)?;
        Ok(self.made(ranks.iter().map(|&r| self.members()[r as usize]).collect()))
    }

    /// All but the members with these ranks, in this group's order.
    pub fn excl(&self, ranks: &[u32]) -> Result<Group, Error> {
        let out = self.check_distinct(ranks)?;
        let kept = self.members().iter().zip(&out).filter(|(_, out)| !**out).map(|(&m, _)| m);
        Ok(self.made(kept.collect()))
    }

    /// Makes a group of the members with ranks given as (first, last, stride) triplets, in that order; each rank once
    /// (MPI_Group_range_incl).
    pub fn range_incl(&self, ranges: &[[i32; 3]]) -> Result<Group, Error> {
        self.incl(&self.expand(ranges)?)
    }

    /// Makes a group of all but the members with ranks given as (first, last, stride) triplets, in this group's order
    /// (MPI_Group_range_excl).
    pub fn range_excl(&self, ranges: &[[i32; 3]]) -> Result<Group, Error> {
        self.excl(&self.expand(ranges)?)
    }

    /// This group's members, then those of `other` that are not in this group.
    pub fn union(&self, other: &Group) -> Group {
        let mine = self.index();
        let more = other.members().iter().filter(|m| !mine.contains_key(m));
        self.made(self.members().iter().chain(more).copied().collect())
    }

    /// Members of both, in this group's order.
    pub fn intersection(&self, other: &Group) -> Group {
        let theirs = other.index();
        self.made(self.members().iter().filter(|m| theirs.contains_key(m)).copied().collect())
    }

    /// Members of this group that are not in `other`.
    pub fn difference(&self, other: &Group) -> Group {
        let theirs = other.index();
        self.made(self.members().iter().filter(|m| !theirs.contains_key(m)).copied().collect())
    }

    /// The rank in `other` of each of these ranks; `None` where it is not a member there.
    pub fn translate(&self, ranks: &[u32], other: &Group) -> Result<Vec<Option<u32>>, Error> {
        // A few ranks are looked for one by one; many are worth an index.
        let index = (ranks.len() > 4).then(|| other.index());
        let find = |m: ProcId| match &index {
            Some(index) => index.get(&m).copied(),
            None => other.members().iter().position(|&o| o == m).map(|r| r as u32),
        };
        ranks.iter().map(|&r| self.member(r).map(find)).collect()
    }

    /// Compares members and their order (MPI_Group_compare).
    pub fn compare(&self, other: &Group) -> GroupCompare {
        if Arc::ptr_eq(&self.0, &other.0) || self.members() == other.members() {
            return GroupCompare::Ident;
        }
        if self.size() != other.size() {
            return GroupCompare::Unequal;
        }
        let theirs = other.index();
        match self.members().iter().all(|m| theirs.contains_key(m)) {
            true => GroupCompare::Similar,
            false => GroupCompare::Unequal,
        }
    }

    /// Makes a map from members to ranks.
    fn index(&self) -> HashMap<ProcId, u32> {
        self.members().iter().enumerate().map(|(r, &m)| (m, r as u32)).collect()
    }

    /// The member with this rank; an error if there is none.
    fn member(&self, rank: u32) -> Result<ProcId, Error> {
        self.members().get(rank as usize).copied().ok_or_else(|| {
            let last = i64::from(self.size()) - 1;
            Error::new(ErrorKind::Rank, format!("rank {rank} is not in the group: its ranks are 0 to {last}"))
        })
    }

    /// Checks that the given ranks exist and come once each, and marks them: true for each rank of the group that is
    /// given.
    fn check_distinct(&self, ranks: &[u32]) -> Result<Vec<bool>, Error> {
        let mut seen = vec![false; self.members().len()];
        for &r in ranks {
            self.member(r)?;
            if std::mem::replace(&mut seen[r as usize], true) {
                return Err(Error::new(ErrorKind::Rank, format!("rank {r} is given twice")));
            }
        }
        Ok(seen)
    }

    /// Lists the ranks of (first, last, stride) triplets; an error if a stride is 0 or a rank is outside the group.
    fn expand(&self, ranges: &[[i32; 3]]) -> Result<Vec<u32>, Error> {
        let mut ranks = Vec::new();
        for &[first, last, stride] in ranges {
            let bad =
                |what: &str| Error::new(ErrorKind::Arg, format!("range ({first}, {last}, {stride}) {what}"));
            if stride == 0 {
                return Err(bad("has stride 0"));
            }
            // Only the ends need a look: what lies between them is between them.
            let (first, last, stride) = (i64::from(first), i64::from(last), i64::from(stride));
            if first < 0 || first >= i64::from(self.size()) {
                return Err(Error::new(ErrorKind::Rank, bad("starts outside the group").message));
            }
            let turns = (last - first) / stride;
            if (last - first).signum() * stride.signum() < 0 {
                continue;
            }
            let end = first + turns * stride;
            if end < 0 || end >= i64::from(self.size()) {
                return Err(Error::new(ErrorKind::Rank, bad("ends outside the group").message));
            }
            ranks.extend((0..=turns).map(|i| (first + i * stride) as u32));
        }
        Ok(ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(proc: u32) -> ProcId {
        ProcId { proc, endpoint: 0 }
    }
    fn group(procs: &[u32]) -> Group {
        Group::new(procs.iter().map(|&p| id(p)).collect(), id(3))
    }
    fn procs(g: &Group) -> Vec<u32> {
        g.members().iter().map(|m| m.proc).collect()
    }

    #[test]
    fn set_operations_keep_mpi_order() {
        let (a, b) = (group(&[5, 3, 1]), group(&[3, 4, 5, 0]));
        assert_eq!(procs(&a.union(&b)), [5, 3, 1, 4, 0]);
        assert_eq!(procs(&a.intersection(&b)), [5, 3]);
        assert_eq!(procs(&a.difference(&b)), [1]);
        assert_eq!((a.rank(), b.rank(), a.difference(&b).rank()), (Some(1), Some(0), None));
        assert_eq!(a.translate(&[0, 1, 2], &b).unwrap(), [Some(2), Some(0), None]);
        assert_eq!(a.translate(&[2, 1, 0, 0, 1, 2], &b).unwrap()[1], Some(0));
    }

    #[test]
    fn what_follows_from_the_members_is_made_once() {
        let asked = core::cell::Cell::new(0);
        let place_of = |proc| {
            asked.set(asked.get() + 1);
            ProcPlace { node: proc / 4, local_rank: 0, local: 0, distance: 0 }
        };
        let a = group(&[5, 3, 1]);
        let (same, seen) = (a.clone(), a.seen_by(id(5)));
        let first = a.places(place_of);
        assert!(core::ptr::eq(first, same.places(place_of)) && core::ptr::eq(first, seen.places(place_of)));
        assert_eq!((asked.get(), first.num_nodes()), (3, 2), "once for each member");
        assert_eq!((a.procs(), a.endpoints()), (&[5, 3, 1][..], &[][..]));
        assert_eq!(a.procs().as_ptr(), seen.procs().as_ptr());
        let two = Group::new(vec![id(1), ProcId { proc: 1, endpoint: 1 }], id(1));
        assert_eq!((two.procs(), two.endpoints()), (&[1, 1][..], &[0, 1][..]));
    }

    #[test]
    fn compare() {
        let a = group(&[5, 3, 1]);
        assert_eq!(a.compare(&a.clone()), GroupCompare::Ident);
        assert_eq!(a.compare(&group(&[5, 3, 1])), GroupCompare::Ident);
        assert_eq!(a.compare(&group(&[1, 3, 5])), GroupCompare::Similar);
        assert_eq!(a.compare(&group(&[1, 3, 6])), GroupCompare::Unequal);
        assert_eq!(a.compare(&group(&[5, 3])), GroupCompare::Unequal);
        let two_endpoints = Group::new(vec![id(1), ProcId { proc: 1, endpoint: 1 }], id(1));
        assert_eq!(two_endpoints.compare(&group(&[1, 1])), GroupCompare::Unequal);
    }

    #[test]
    fn inclusion_exclusion_and_ranges() {
        let a = group(&[9, 8, 7, 6, 5]);
        assert_eq!(procs(&a.incl(&[4, 0]).unwrap()), [5, 9]);
        assert_eq!(procs(&a.excl(&[4, 0]).unwrap()), [8, 7, 6]);
        assert_eq!(a.incl(&[5]).unwrap_err().class(), 6);
        assert_eq!(a.incl(&[1, 1]).unwrap_err().class(), 6);
        assert_eq!(procs(&a.range_incl(&[[4, 0, -2], [1, 1, 5]]).unwrap()), [5, 7, 9, 8]);
        assert_eq!(procs(&a.range_excl(&[[0, 3, 2]]).unwrap()), [8, 6, 5]);
        assert_eq!(procs(&a.range_incl(&[[3, 0, 1]]).unwrap()), [] as [u32; 0], "no rank in the range");
        assert_eq!(a.range_incl(&[[0, 5, 1]]).unwrap_err().class(), 6);
        assert_eq!(a.range_incl(&[[0, 4, 0]]).unwrap_err().class(), 13);
        assert_eq!(a.range_incl(&[[i32::MIN, i32::MAX, 1]]).unwrap_err().class(), 6);
    }
}
