//! Process sets by name, and communicators from a group alone (MPI 5.0 §11.3, §7.4.2).
//!
//! **No message is sent.** All members of a group call in the same order for one tag (calls at the
//! same time must differ in the tag), so the job, the members, the tag and how many communicators
//! were made of those give all of them the same id ([`crate::gid::from_group`]). As with all others, the PML
//! keeps messages for a communicator that a rank has not made yet.

use crate::gid::{self, Gid, Origin};
use crate::group::{Group, ProcId};
use crate::info::Info;
use crate::objects::{Communicator, Instance};
use crate::plan::Plan;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Entry;
use std::sync::Arc;

/// Names of the process sets every process has: the standard's two, and the processes of its node.
pub const NAMES: [&str; 3] = ["mpi://WORLD", "mpi://SELF", "mpix://SHARED"];

impl Instance {
    /// Process sets this rank knows, in their order.
    pub fn psets(&self) -> &'static [&'static str] {
        &NAMES
    }

    /// The group of a process set, for a session; `None`: there is no such set. Case does not count, as in all URIs'
    /// schemes and authorities.
    pub fn pset(&self, name: &str, session: u64) -> Option<Group> {
        let id = |proc| ProcId { proc, endpoint: 0 };
        let members = match NAMES.iter().position(|n| n.eq_ignore_ascii_case(name))? {
            0 => (0..self.job().job_size).map(id).collect(),
            1 => vec![self.me()],
            _ => self.facts().local_ranks.iter().map(|&r| id(r)).collect(),
        };
        Some(Group::of_session(members, self.me(), session))
    }

    /// Makes a communicator of a group whose members all call this, and nobody else, without messages. `tag` tells
    /// calls apart that run at the same time.
    pub fn communicator_from_group(
        self: &Arc<Instance>,
        group: &Group,
        tag: &str,
        info: Info,
    ) -> Result<Arc<Communicator>, Error> {
        if group.rank().is_none() {
            return Err(Error::new(ErrorKind::Group, "the calling process is not in the group"));
        }
        let key = self.id_of(group, tag);
        let gid = gid::child(key, self.count_of(key, group.me()), Origin::FromGroup, 0);
        let plan = Plan { info, ..Plan::new(gid, group.clone()) };
        Communicator::make(self, plan)
    }

    /// Makes an inter-communicator of two groups without a common member; all members of both call it. `remote`, the
    /// other group, is needed from the leader only. The two leaders exchange nothing but what the communicator itself
    /// needs: both know both groups, and count alike.
    pub fn intercommunicator_from_groups(
        self: &Arc<Instance>,
        entry: &mut Entry,
        local: &Group,
        leader: u32,
        remote: Option<&Group>,
        tag: &str,
        info: Info,
    ) -> Result<Arc<Communicator>, Error> {
        // No tag of a user has this character.
        let own = self.communicator_from_group(local, &format!("\0inter {tag}"), Info::new())?;
        let lead = remote.map(|remote| {
            let pair = gid::pair(self.id_of(local, tag), self.id_of(remote, tag));
            (gid::child(pair, self.count_of(pair, local.me()), Origin::Inter, 0), remote)
        });
        own.create_inter_from_groups(entry, leader, lead, info)
    }

    /// Computes the id that the members of a group make of it and a tag, without messages.
    fn id_of(&self, group: &Group, tag: &str) -> Gid {
        gid::from_group(group.members().iter().map(|member| self.mark(*member)), tag)
    }

    /// Counts a communicator made of an id, and returns how many an endpoint of this process has made of it before.
    fn count_of(&self, id: Gid, me: ProcId) -> u64 {
        let mut counts = self.births().from_groups.lock();
        let count = counts.entry((id, me.endpoint)).or_insert(0);
        *count += 1;
        *count - 1
    }
}
