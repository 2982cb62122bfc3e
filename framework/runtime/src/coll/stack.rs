//! The stack of collective modules of a communicator: components are asked, their offers laid over one another.

use super::slot::{NAMES, SLOTS};
use crate::group::Group;
use crate::host_requests::schedule::numbers::Numbers;
use crate::objects::{CollStack, Instance, Layer, Served, StackParts};
use crate::plan::{ExcludedComponents, Plan};
use oxmpi_coll::{CollArgs, CollComm, CollFn, CollOffer, CollTable, flag};
use oxmpi_loading::accept::accepted::CollComponent;
use oxmpi_mca::Status;
use std::ffi::c_void;
use std::iter;
use std::ptr::{null, null_mut};

/// The functions of a component's table as an array in the order of [`Slot`](super::Slot); `None`: the component has no such
/// collective.
fn slots(table: &CollTable) -> [Option<CollFn>; SLOTS] {
    [
        table.barrier,
        table.bcast,
        table.reduce,
        table.allreduce,
        table.allgather,
        table.gather,
        table.scatter,
        table.alltoall,
        table.gatherv,
        table.scatterv,
        table.allgatherv,
        table.alltoallv,
        table.alltoallw,
        table.scan,
        table.exscan,
        table.reduce_scatter,
        table.reduce_scatter_block,
        table.neighbor_allgather,
        table.neighbor_allgatherv,
        table.neighbor_alltoall,
        table.neighbor_alltoallv,
        table.neighbor_alltoallw,
    ]
}

/// Stands in the stack for a collective that no component has: answers NOT_SUPPORTED.
extern "C" fn not_supported(_: *mut c_void, _: *const CollComm, _: *const CollArgs) -> Status {
    Status::NOT_SUPPORTED
}

/// A layer in which no component serves any collective.
const NOBODY: Layer = [(not_supported as CollFn, null_mut()); SLOTS];

/// A component's offer for a communicator.
struct Offer {
    priority: i32,
    served: Served,
    table: CollTable,
    plans: CollTable,
}

/// Reads a component's table, however long it is, into one of ours.
///
/// # Safety
/// `table` must point to at least as many bytes as its size field says, if that can be read.
unsafe fn read_table(table: *const CollTable) -> Option<CollTable> {
    const HEAD: usize = 8;
    if table.is_null() || !table.is_aligned() {
        return None;
    }
    // SAFETY: the size field is the first four bytes of every version of the table.
    let size = unsafe { *(table as *const u32) } as usize;
    if size < HEAD || !size.is_multiple_of(8) {
        return None;
    }
    let mut own = CollTable::default();
    // SAFETY: both are readable and writable for the smaller size; an absent slot is a null pointer,
    // which is `None`.
    unsafe {
        let n = size.min(size_of::<CollTable>());
        std::ptr::copy_nonoverlapping(table as *const u8, (&raw mut own).cast::<u8>(), n);
    }
    Some(own)
}

impl CollStack {
    /// An empty stack, for communicators of the library's own: every collective answers NOT_SUPPORTED.
    pub fn none(instance: &Instance) -> CollStack {
        let components = instance.coll_components();
        let numbers = Numbers::default();
        let parts = StackParts::default();
        CollStack {
            slots: NOBODY,
            plans: NOBODY,
            served: Vec::new(),
            numbers,
            components,
            services: instance.coll_services(),
            oversubscribed: 0,
            parts,
        }
    }

    /// Asks every collective component about a new communicator and lays their offers over one another; for an
    /// inter-communicator (`num_remote` is not 0) asks those that take such. Components may not communicate yet.
    pub fn build(instance: &Instance, plan: &Plan, rank: u32, num_remote: u32) -> CollStack {
        let services = instance.coll_services();
        let components = instance.coll_components();
        let (num_nodes, node) = nodes(instance, &plan.group, rank);
        let name = plan.name.as_str();
        let own = instance.job().job_size;
        let remote = plan.remote.as_ref().map(|remote| &remote.group);
        let crosses = iter::once(&plan.group).chain(remote).any(|group| !group.strangers(own).is_empty());
        // The launcher's word, not this process's parameter: ranks choose algorithms by it. Jobs have different words,
        // so where several meet all take the careful one.
        let oversubscribed = (crosses || instance.facts().oversubscribed).into();
        let comm = CollComm {
            size: size_of::<CollComm>() as u32,
            num_ranks: plan.group.size(),
            rank,
            oversubscribed,
            comm: null_mut(),
            thread: null_mut(),
            services,
            num_remote,
            planning: 0,
            local: null(),
            num_nodes,
            node,
        };
        let mut offers = Vec::new();
        for (i, c) in components.iter().enumerate() {
            if num_remote > 0 && c.module.flags & flag::INTER == 0 || is_left_out(c, &plan.excluded) {
                continue;
            }
            let mut offer = CollOffer::NONE;
            let status = (c.module.comm_query)(c.module.state, &comm, &mut offer);
            if status == Status::NOT_AVAILABLE {
                continue;
            }
            // Ranks that go on would choose otherwise than this one, and wait for it.
            if status == Status::PANICKED {
                instance.component_panicked("coll", c.name, "being asked about a communicator");
            }
            // SAFETY: a component's tables are statics of it; it may have none of plans.
            let (table, plans) = unsafe { (read_table(offer.table), read_table(offer.plans)) };
            match table {
                Some(table) if !status.is_err() => offers.push(Offer {
                    priority: offer.priority,
                    served: Served { component: i, module: offer.module },
                    table,
                    plans: plans.unwrap_or_default(),
                }),
                _ => {
                    let why = if status.is_err() { status.name() } else { "its table cannot be read" };
                    instance
                        .logger()
                        .warn("coll", &format!("{}: does not serve communicator {name}: {why}", c.name));
                }
            }
        }
        Self::lay(instance, offers, components, oversubscribed, name)
    }

    /// Makes the stack from the components' offers: by ascending priority each overwrites the slots of those before it.
    /// Modules of components that serve nothing in the end are given back.
    fn lay(
        instance: &Instance,
        mut offers: Vec<Offer>,
        components: &[CollComponent],
        oversubscribed: u32,
        name: &str,
    ) -> CollStack {
        // Stable: at equal priority the component that was found first wins, so it is laid last.
        offers.reverse();
        offers.sort_by_key(|offer| offer.priority);
        let mut used = vec![false; offers.len()];
        let mut layer = |what: &str, table: fn(&Offer) -> &CollTable| {
            let mut out = NOBODY;
            let mut chosen: [Option<usize>; SLOTS] = [None; SLOTS];
            for (at, offer) in offers.iter().enumerate() {
                for (i, f) in slots(table(offer)).into_iter().enumerate() {
                    if let Some(f) = f {
                        (out[i], chosen[i]) = ((f, offer.served.module), Some(at));
                    }
                }
            }
            for (i, at) in chosen.iter().enumerate() {
                let by = at.map_or("nobody", |at| components[offers[at].served.component].name);
                instance.logger().debug("coll", &format!("communicator {name}: {what}{} by {by}", NAMES[i]));
            }
            chosen.into_iter().flatten().for_each(|at| used[at] = true);
            out
        };
        let (slots, plans) = (layer("", |offer| &offer.table), layer("plan of ", |offer| &offer.plans));
        let mut served = Vec::new();
        for (offer, used) in offers.into_iter().zip(used) {
            if used {
                served.push(offer.served);
            } else {
                let c = &components[offer.served.component].module;
                (c.comm_free)(c.state, offer.served.module);
            }
        }
        let (numbers, parts) = (Numbers::default(), StackParts::default());
        let services = instance.coll_services();
        CollStack { slots, plans, served, numbers, components, services, oversubscribed, parts }
    }

    /// Gives the components' modules back; no collective is called afterwards.
    pub fn free(&self) {
        // SAFETY: components live as long as the instance, which the communicator keeps alive.
        let components = unsafe { &*self.components };
        for s in &self.served {
            let c = &components[s.component].module;
            (c.comm_free)(c.state, s.module);
        }
    }
}

/// Whether the plan of a communicator excludes this component from being asked.
fn is_left_out(component: &CollComponent, excluded: &ExcludedComponents) -> bool {
    match excluded {
        ExcludedComponents::Nobody => false,
        ExcludedComponents::Named(name) => component.name == name,
        ExcludedComponents::Nesting => component.module.flags & flag::NESTS != 0,
    }
}

/// Number of nodes that have ranks of a group, and the number of the node of rank `rank` among them.
fn nodes(instance: &Instance, group: &Group, rank: u32) -> (u32, u32) {
    if instance.facts().map.nodes() == 1 && group.strangers(instance.job().job_size).is_empty() {
        return (1, 0);
    }
    let places = group.places(|proc| instance.place_of(proc));
    (places.num_nodes(), places.get(rank).map_or(0, |place| place.node))
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn one(_: *mut c_void, _: *const CollComm, _: *const CollArgs) -> Status {
        Status::OK
    }

    #[test]
    fn a_short_table_is_read_as_far_as_it_goes() {
        #[repr(C)]
        struct Short {
            size: u32,
            version: u32,
            barrier: Option<CollFn>,
            bcast: Option<CollFn>,
            /// Bytes behind the table that are not slots.
            noise: [u64; 8],
        }
        let mut short = Short { size: 24, version: 1, barrier: Some(one), bcast: None, noise: [7; 8] };
        let read = |s: &Short| {
            // SAFETY: `s` is longer than any size the test writes into it.
            unsafe { read_table((s as *const Short).cast()) }
        };
        let table = read(&short).expect("readable");
        assert!(table.barrier.is_some() && table.bcast.is_none() && table.reduce.is_none());
        for bad in [0, 4, 7, 13] {
            short.size = bad;
            assert!(read(&short).is_none(), "size {bad}");
        }
        // SAFETY: null is answered without a look.
        assert!(unsafe { read_table(null()) }.is_none());
    }
}
