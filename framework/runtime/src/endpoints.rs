//! Endpoints: communicators in which a process has several ranks (Sridharan et al. 2014, §III).
//!
//! **Numbers.** A rank is a process and an endpoint in there ([`ProcId`]). The first endpoint that a rank of the parent asks for is that rank
//! itself; the others get the lowest numbers of the process that the parent does not have, by the parent's ranks and then by index. So
//! endpoints of a world are numbered from 0, one for each rank gives a communicator with the parent's group, and endpoints made of endpoints
//! are different ranks. Two communicators made of one parent name the same ranks by the same numbers, as two made by
//! [`Communicator::dup`] do.
//!
//! **Making them** takes one exchange of the counts over the parent, and a flag in the same word where a rank asks for what it cannot have, so that
//! all give the same answer. Each endpoint is a [`Communicator`] of its own, with one global id: point-to-point layers tell them apart by the
//! number in the header, and have neighbouring endpoints of a process, in this communicator and in what is made of it, on contexts of their own.

use crate::gid::{self, Origin};
use crate::group::ProcId;
use crate::info::Info;
use crate::objects::Communicator;
use crate::plan::Plan;
use crate::wires::{Choice, GATHERING};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Entry;
use std::collections::HashMap;
use std::sync::Arc;

/// Most endpoints of a process in one communicator: their numbers have 16 bits, and one value is kept free.
pub const MOST: u32 = 65_535;

/// Numbers the ranks of a new communicator, by the parent's ranks and then by index: its members, and the rank of the
/// first endpoint of each of the parent's ranks. An error where a process would have more than [`MOST`] endpoints.
fn number(parent: &[ProcId], counts: &[u32]) -> Result<(Vec<ProcId>, Vec<usize>), Error> {
    let mut of_process: HashMap<u32, u64> = HashMap::new();
    for (member, count) in parent.iter().zip(counts) {
        *of_process.entry(member.proc).or_default() += u64::from(*count);
    }
    if let Some((proc, all)) = of_process.iter().filter(|(_, all)| **all > u64::from(MOST)).min() {
        let text = format!("process {proc} of the job would have {all} endpoints; the most are {MOST}");
        return Err(Error::new(ErrorKind::Endpoints, text));
    }
    let mut taken: HashMap<u32, Vec<u16>> = HashMap::new();
    for member in parent {
        taken.entry(member.proc).or_default().push(member.endpoint);
    }
    let mut free: HashMap<u32, Box<dyn Iterator<Item = u16>>> = HashMap::new();
    for (proc, mut taken) in taken {
        taken.sort_unstable();
        free.insert(proc, Box::new((0..=u16::MAX).filter(move |n| taken.binary_search(n).is_err())));
    }
    let (mut members, mut firsts) = (Vec::new(), Vec::with_capacity(counts.len()));
    for (member, count) in parent.iter().zip(counts) {
        firsts.push(members.len());
        for index in 0..*count {
            let endpoint = match index {
                0 => Some(member.endpoint),
                _ => free.get_mut(&member.proc).and_then(|free| free.next()),
            };
            let Some(endpoint) = endpoint else {
                let text = format!("process {} of the job has no number left for an endpoint", member.proc);
                return Err(Error::new(ErrorKind::Endpoints, text));
            };
            members.push(ProcId { proc: member.proc, endpoint });
        }
    }
    Ok((members, firsts))
}

impl Communicator {
    /// Makes a communicator in which the calling rank has `count` ranks, and returns a handle for each, by rank
    /// (`mpi-ext.h`, MPIX_Comm_create_endpoints). Collective over this communicator, or over the local group of an
    /// inter-communicator. Where a rank gives an error in place of a count, it gets that back and all others
    /// [`ErrorKind::Arg`]; more than [`MOST`] for a process are [`ErrorKind::Endpoints`] at all ranks.
    pub fn create_endpoints(
        &self,
        entry: &mut Entry,
        count: Result<u32, Error>,
        info: &Info,
    ) -> Result<Vec<Arc<Communicator>>, Error> {
        let parent = self.local().unwrap_or(self);
        let nth = parent.next_child();
        let own = Choice { color: count.as_ref().ok().copied(), key: 0 };
        let choices = parent.gather_choices(entry, own).map_err(|s| Error::status(s, GATHERING))?;
        let count = count?;
        if let Some(rank) = choices.iter().position(|choice| choice.color.is_none()) {
            return Err(Error::new(ErrorKind::Arg, format!("an argument of rank {rank} has no valid value")));
        }
        let counts: Vec<u32> = choices.iter().filter_map(|choice| choice.color).collect();
        let (members, firsts) = number(parent.group().members(), &counts)?;
        let first = firsts[parent.rank() as usize];
        let gid = gid::child(parent.gid(), nth, Origin::Endpoints, 0);
        let own = members[first..first + count as usize].to_vec();
        let group = parent.group().made(members);
        let make = |me: ProcId| {
            let plan = Plan { info: info.clone(), ..Plan::new(gid, group.seen_by(me)) };
            Communicator::make(parent.shared_instance(), plan)
        };
        own.into_iter().map(make).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(proc: u32, endpoint: u16) -> ProcId {
        ProcId { proc, endpoint }
    }

    #[test]
    fn endpoints_of_processes_are_numbered_from_0() {
        let parent = [id(4, 0), id(2, 0), id(9, 0)];
        let (members, firsts) = number(&parent, &[2, 0, 3]).unwrap();
        assert_eq!(members, [id(4, 0), id(4, 1), id(9, 0), id(9, 1), id(9, 2)]);
        assert_eq!(firsts, [0, 2, 2]);
        assert_eq!(number(&parent, &[1, 1, 1]).unwrap().0, parent);
    }

    #[test]
    fn endpoints_of_endpoints_are_ranks_of_their_own() {
        let parent = [id(0, 0), id(0, 2), id(1, 0)];
        let (members, firsts) = number(&parent, &[3, 2, 1]).unwrap();
        assert_eq!(members, [id(0, 0), id(0, 1), id(0, 3), id(0, 2), id(0, 4), id(1, 0)]);
        assert_eq!(firsts, [0, 3, 5]);
    }

    #[test]
    fn a_process_has_no_more_than_the_header_can_name() {
        let parent = [id(0, 0), id(0, 1)];
        let (members, _) = number(&parent, &[65_000, 535]).unwrap();
        let distinct: std::collections::HashSet<_> = members.iter().collect();
        assert_eq!((members.len(), distinct.len()), (65_535, 65_535));
        assert_eq!(number(&parent, &[65_000, 536]).unwrap_err().kind, ErrorKind::Endpoints);
    }
}
