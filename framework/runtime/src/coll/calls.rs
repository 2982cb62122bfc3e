//! Calls of what was chosen for a communicator: each collective, and the functions that make plans.

use super::slot::Slot;
use crate::objects::{CollStack, Communicator};
use crate::places::Places;
use oxmpi_coll::{CollArgs, CollComm, CollServices};
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{Entry, Status};
use std::ffi::c_void;
use std::ptr::null;

impl CollStack {
    /// Calls the component that serves this collective on communicator `c`, in the calling thread, and returns its
    /// status. It may wait and run the user's code; behind that the entry is brought up to date.
    ///
    /// # Safety
    /// What the arguments point to is there during the call, as [`CollArgs`] has it.
    #[inline]
    pub unsafe fn run(&self, slot: Slot, c: &Communicator, entry: &mut Entry, args: &CollArgs) -> Status {
        let mut comm = self.seen(c, entry);
        let (f, module) = self.layers().blocking[slot as usize];
        let status = match c.local() {
            None => f(module, &comm, args),
            Some(local) => {
                let local = self.seen(local, entry);
                (comm.num_remote, comm.local) = (c.num_peers(), &local);
                f(module, &comm, args)
            }
        };
        c.instance().renew(entry);
        status
    }

    /// The error that goes in place of data in the collective under way, if this rank has none (`CollServices::call_lost`).
    pub(super) fn lost(&self) -> Status {
        Status(self.parts.lost.load(Ordering::Relaxed))
    }

    /// Sets that error, or OK, for the collectives that follow; what it was before.
    pub(super) fn replace_lost(&self, error: Status) -> Status {
        Status(self.parts.lost.swap(error.0, Ordering::Relaxed))
    }

    /// Calls the component's planning function of a collective, which writes the steps of a plan down through
    /// `services`. `places` are what the component gets as its communicator and as that of the local group.
    ///
    /// # Safety
    /// What the arguments point to is there as long as the plan. The services, which take what `places` has as their first argument, are there during the call.
    pub unsafe fn plan(
        &self,
        slot: Slot,
        c: &Communicator,
        entry: &mut Entry,
        args: &CollArgs,
        services: *const CollServices,
        places: [*mut c_void; 2],
    ) -> Status {
        let (f, module) = self.layers().plans[slot as usize];
        // SAFETY: the caller's promise.
        unsafe { self.planning(c, entry, services, places, |comm| f(module, comm, args)) }
    }

    /// Runs `call` with the communicator that a component gets to write steps down through `services`. `places` are as for [`CollStack::plan`].
    ///
    /// # Safety
    /// The services, which take what `places` has as their first argument, are there during the call.
    pub unsafe fn planning(
        &self,
        c: &Communicator,
        entry: &Entry,
        services: *const CollServices,
        places: [*mut c_void; 2],
        call: impl FnOnce(&CollComm) -> Status,
    ) -> Status {
        let seen = |c: &Communicator, comm| CollComm { comm, services, planning: 1, ..self.seen(c, entry) };
        let mut comm = seen(c, places[0]);
        match c.local() {
            None => call(&comm),
            Some(local) => {
                let local = seen(local, places[1]);
                (comm.num_remote, comm.local) = (c.num_peers(), &local);
                call(&comm)
            }
        }
    }

    /// Makes the description of a communicator that a component gets as argument of a call.
    #[inline]
    pub(super) fn seen(&self, c: &Communicator, entry: &Entry) -> CollComm {
        let (num_nodes, node) = c.nodes();
        CollComm {
            size: size_of::<CollComm>() as u32,
            num_ranks: c.size(),
            rank: c.rank(),
            oversubscribed: self.oversubscribed,
            comm: c.host_comm_ptr(),
            thread: entry.thread(),
            services: self.services,
            num_remote: 0,
            planning: 0,
            local: null(),
            num_nodes,
            node,
        }
    }
}

impl Communicator {
    /// The place (node, number on the node, process) of each rank of the (local) group.
    pub(crate) fn places(&self) -> &Places {
        let instance = self.instance();
        self.group().places(|proc| instance.place_of(proc))
    }

    /// Number of nodes that have ranks of the (local) group, and the number of this process's node among them.
    fn nodes(&self) -> (u32, u32) {
        let instance = self.instance();
        if instance.facts().map.nodes() == 1 && self.group().strangers(instance.job().job_size).is_empty() {
            return (1, 0);
        }
        let places = self.places();
        (places.num_nodes(), places.get(self.rank()).map_or(0, |place| place.node))
    }
}
