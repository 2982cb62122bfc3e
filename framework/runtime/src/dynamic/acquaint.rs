//! Getting to know processes of other jobs, and parting from them.
//!
//! Ranks are named on the wire by job, rank and endpoint ([`Instance::encode_members`]), which is the same in all processes; what each of them
//! says of itself besides travels once, when a communicator of several jobs is made.

use super::profile::Profile;
use super::strangers::Parted;
use crate::group::ProcId;
use crate::objects::Instance;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::ProcName;
use oxmpi_wireup::Secret;
use oxmpi_wireup::jobs::JobsRequest;

/// Bytes of a member on the wire: name and endpoint.
const MEMBER: usize = 16 + 2;

/// Processes that have become known for the time of a call, each held once.
#[derive(Debug, Default)]
pub(crate) struct Held(Vec<u32>);

impl Instance {
    /// This process as others are told of it.
    pub(crate) fn own_profile(&self) -> Profile {
        let facts = self.facts();
        Profile {
            name: self.name_of(facts.rank).unwrap_or_default(),
            tree: facts.tree,
            site: facts.site(),
            node: facts.node,
            local_rank: facts.local_rank,
            keeper: self.client().keeper().to_owned(),
            published: self.client().published(),
        }
    }

    /// Encodes a list of members for the wire.
    pub(crate) fn encode_members(&self, members: &[ProcId]) -> Vec<u8> {
        let mut out = Vec::with_capacity(members.len() * MEMBER);
        for m in members {
            out.extend_from_slice(&self.name_of(m.proc).unwrap_or_default().bytes);
            out.extend_from_slice(&m.endpoint.to_le_bytes());
        }
        out
    }

    /// Decodes a list of members from the wire; an incomplete last one is left out. An error: one of them is not known here.
    pub(crate) fn decode_members(&self, bytes: &[u8]) -> Result<Vec<ProcId>, Error> {
        names(bytes)
            .map(|(name, endpoint)| match self.index_of(&name) {
                Some(proc) => Ok(ProcId { proc, endpoint }),
                None => Err(Error::new(
                    ErrorKind::Group,
                    "the remote group has a process that is not connected with this one",
                )),
            })
            .collect()
    }

    /// Whether all members of an encoded list are of this process's job.
    pub(crate) fn are_of_this_job(&self, bytes: &[u8]) -> bool {
        let own = self.job().job_id.to_le_bytes();
        names(bytes).all(|(name, _)| name.bytes[..8] == own)
    }

    /// Gets to know the processes that describe themselves in `profiles`, of which those of the own job are left out, and holds each. `segment_of` says in which
    /// segment one has a place, and where. An error: a description cannot be read; then none is known by it.
    pub(crate) fn acquaint(
        &self,
        mut profiles: &[u8],
        bridge: Option<&Secret>,
        segment_of: impl Fn(&ProcName) -> Option<(u32, u32)>,
    ) -> Result<Held, Error> {
        let mut all = Vec::new();
        while !profiles.is_empty() {
            all.push(Profile::decode(&mut profiles).map_err(|why| Error::new(ErrorKind::Other, why))?);
        }
        let sizes = (self.job().job_size, self.facts().map.nodes());
        let (own, mut held) = (self.job().job_id, Held::default());
        for profile in all.into_iter().filter(|profile| profile.job() != own) {
            let (job, segment) = (profile.job(), segment_of(&profile.name));
            let added = self.strangers().add(sizes, profile, segment, bridge);
            held.0.push(added.proc);
            if added.first_of_job {
                self.tell_of_link(job, true);
            }
        }
        Ok(held)
    }

    /// Ends the holds of a call. Communicators that were made in it have their own.
    pub(crate) fn let_go(&self, held: Held, made: bool) {
        let parted = self.strangers().release(&held.0, !made);
        self.part_from(&parted);
    }

    /// Tells mpirun that this process is connected with a job, or is no more. A daemon that is gone need not know.
    pub(crate) fn tell_of_link(&self, job: u64, on: bool) {
        let _ = self.client().ask_of_jobs(JobsRequest::Linked { job, on });
    }

    /// Drops all that is left of processes that are known no more.
    pub(crate) fn part_from(&self, parted: &Parted) {
        for &proc in &parted.procs {
            let is_freed = self.pml().is_none_or(|pml| !(pml.table.peer_parted)(pml.state, proc).is_err());
            self.unreach(proc, is_freed);
            self.cards().known.lock().remove(&proc);
        }
        parted.jobs.iter().for_each(|job| self.tell_of_link(*job, false));
    }

    /// Has all transports polled from now on: processes of other jobs may call by any of them.
    pub(crate) fn wake_transports(&self) {
        let (Some(contexts), Some(parts)) = (self.waiting().engine().contexts(), self.parts()) else {
            return;
        };
        let others =
            parts.btls().iter().filter(|btl| btl.attrs().flags & oxmpi_btl::BtlAttrs::ONLY_SELF == 0);
        others.for_each(|btl| contexts.polling().activate(btl));
    }

    /// Makes endpoints to the held processes that share memory with this one, so that their messages are looked for, and has other
    /// transports polled for the rest. Their transports are those that carry first messages in either direction.
    pub(crate) fn listen_to(&self, held: &Held) -> Result<(), Error> {
        let mut far = false;
        for &proc in &held.0 {
            let at = self.strangers().whereabouts(proc);
            if at.is_none_or(|at| at.segment.is_none()) {
                far = true;
                continue;
            }
            let reached =
                self.reach(proc).map_err(|s| Error::status(s, "reaching a process of another job"))?;
            // SAFETY: the host's own list, which stays.
            let reached = unsafe { reached.get() };
            if let Some(contexts) = self.waiting().engine().contexts() {
                reached.iter().for_each(|reach| contexts.polling().activate(reach.btl()));
            }
        }
        if far {
            self.wake_transports();
        }
        Ok(())
    }
}

impl Held {
    /// Indices of the processes.
    pub(crate) fn procs(&self) -> &[u32] {
        &self.0
    }
}

/// Names and endpoints of an encoded list.
pub(crate) fn names(bytes: &[u8]) -> impl Iterator<Item = (ProcName, u16)> {
    let (entries, _) = bytes.as_chunks::<MEMBER>();
    entries.iter().map(|entry| {
        let mut name = ProcName::default();
        name.bytes.copy_from_slice(&entry[..16]);
        (name, u16::from_le_bytes([entry[16], entry[17]]))
    })
}
