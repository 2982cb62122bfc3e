//! Communicators come and go: the PML takes them in and forgets them, collective components are asked and get their modules back.
//!
//! MPI handles and pending operations hold [`Arc`]s. When the last goes, or when the instance is finalized, the communicator is closed, once. The
//! arrays that a [`CommDesc`] points to live until the PML's object is gone, as the contract demands: they are fields of the communicator.

use crate::counts::CommCalls;
use crate::objects::{CollStack, Communicator, Hot, Instance, Text};
use crate::plan::{Plan, assertions};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::StrRef;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU64, Ordering};
use oxmpi_pml::CommDesc;
use oxmpi_system::locks::Mutex;
use std::ptr::{null, null_mut};
use std::sync::{Arc, OnceLock};

/// Info key that names the matching engine of a communicator.
const MATCHING_KEY: &str = "oxmpi_matching";

impl Communicator {
    /// Closes the parts of the communicator and frees the memory of their nodes, when the component modules that used them
    /// have been given back.
    fn close_parts(&self) {
        for part in self.coll.parts.made.lock().drain(..) {
            part.close();
        }
        for (part, memory) in self.coll.parts.memory.lock().drain(..) {
            part.close();
            drop(memory);
        }
    }

    /// Makes a communicator: adds it to the PML and builds its stack of collective components. An error if the calling
    /// rank is not in the plan's group.
    pub(crate) fn make(instance: &Arc<Instance>, plan: Plan) -> Result<Arc<Communicator>, Error> {
        let Some(rank) = plan.group.rank() else {
            return Err(Error::new(ErrorKind::Intern, "a communicator is made for a rank outside its group"));
        };
        let Some(pml) = instance.pml() else {
            return Err(Error::new(ErrorKind::Intern, "there is no point-to-point layer"));
        };
        // The communicator has the group, and that the lists, for as long as the PML has them.
        let peers = plan.remote.as_ref().map_or(&plan.group, |r| &r.group);
        let (procs, endpoints) = (peers.procs(), peers.endpoints());
        let matching = plan.info.get(MATCHING_KEY).unwrap_or_default().to_owned();
        let desc = CommDesc {
            size: size_of::<CommDesc>() as u32,
            flags: assertions(&plan.info),
            gid: plan.gid,
            my_rank: rank as i32,
            num_peers: peers.size(),
            procs: procs.as_ptr(),
            endpoints: if endpoints.is_empty() { null() } else { endpoints.as_ptr() },
            my_endpoint: plan.group.me().endpoint,
            has_fixed_index: plan.fixed_index.is_some().into(),
            fixed_index: plan.fixed_index.unwrap_or(0),
            matching: StrRef::of(&matching),
            fifo_hint: plan.hint.unwrap_or(oxmpi_pml::NO_HINT),
            reserved: 0,
        };
        let mut comm = null_mut();
        let status = (pml.table.add_comm)(pml.state, &desc, &mut comm);
        if status.is_err() {
            return Err(Error::status(status, "the point-to-point layer does not take the communicator"));
        }
        let hot = Hot {
            state: pml.state,
            comm,
            send: pml.table.send,
            isend: pml.table.isend,
            recv: pml.table.recv,
            irecv: pml.table.irecv,
            instance: Arc::as_ptr(instance),
            rank,
        };
        let num_remote = plan.remote.as_ref().map_or(0, |r| r.group.size());
        let communicator = Arc::new(Communicator {
            hot,
            size: plan.group.size(),
            gid: plan.gid,
            coll: match plan.bare {
                true => CollStack::none(instance),
                false => CollStack::build(instance, &plan, rank, num_remote),
            },
            group: plan.group,
            remote: plan.remote,
            hint: plan.hint,
            wires: Mutex::new([None, None]),
            children: AtomicU64::new(0),
            text: Mutex::new(Text { name: plan.name, info: plan.info }),
            closed: AtomicBool::new(false),
            reading: Mutex::new(()),
            truncated: Mutex::new(None),
            calls: CommCalls::default(),
            parting: AtomicBool::new(false),
            holds: !plan.bare,
            meeting: OnceLock::new(),
            instance: instance.clone(),
            _matching: matching,
        });
        instance.remember(&communicator);
        let own = instance.job().job_size;
        if communicator.holds {
            communicator.groups().for_each(|group| instance.strangers().hold(group.strangers(own)));
        }
        Ok(communicator)
    }

    /// Frees the collective modules, keeps the PML's counts and takes the communicator from the PML; later calls do
    /// nothing, nor does one in a forked child.
    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) || self.instance.in_child() {
            return;
        }
        self.coll.free();
        self.close_parts();
        if let Some(counts) = self.ask_counts() {
            self.instance.keep_counts(&counts);
        }
        let _nobody_reads = self.reading.lock();
        if let Some(meeting) = self.meeting.get() {
            meeting.close();
        }
        if let Some(pml) = self.instance.pml() {
            let status = (pml.table.del_comm)(pml.state, self.hot.comm);
            if status.is_err() {
                self.instance.logger().warn("pml", &format!("communicator {}: {status}", self.name()));
            }
        }
        // Those of the same processes that only the library uses go before the processes may be known no more.
        let wires = std::mem::take(&mut *self.wires.lock());
        drop(wires);
        if let Some(remote) = self.remote.as_ref().filter(|remote| Arc::strong_count(&remote.local) == 1) {
            remote.local.close();
        }
        self.release_strangers();
    }

    /// When it closes the processes of other jobs in it that are in no other communicator are known no more (MPI_Comm_disconnect). All its messages have
    /// come, on both sides.
    pub fn part_at_close(&self) {
        self.parting.store(true, Ordering::Release);
    }

    /// The groups that messages may name: the remote one, if there is one, and the own.
    fn groups(&self) -> impl Iterator<Item = &crate::group::Group> {
        std::iter::once(&self.group).chain(self.remote.as_ref().map(|remote| &remote.group))
    }

    /// Ends this communicator's hold on processes of other jobs; where it was disconnected those that nobody holds any more go.
    fn release_strangers(&self) {
        let (own, part) = (self.instance.job().job_size, self.parting.load(Ordering::Acquire));
        for group in self.groups().filter(|group| self.holds && !group.strangers(own).is_empty()) {
            let parted = self.instance.strangers().release(group.strangers(own), part);
            self.instance.part_from(&parted);
        }
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        self.close();
    }
}
