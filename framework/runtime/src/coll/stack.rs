//! The stack of collective modules of a communicator: components are asked for their offers.

use crate::group::Group;
use crate::objects::{CollStack, Instance, Offer, Readiness, Served};
use crate::plan::{ExcludedComponents, Plan};
use oxmpi_coll::{CollComm, CollOffer, CollTable, flag};
use oxmpi_loading::accept::accepted::CollComponent;
use oxmpi_mca::Status;
use std::iter;
use std::ptr::{null, null_mut};

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
        CollStack::with(instance, Vec::new(), instance.coll_components(), 0)
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
                Some(table) if !status.is_err() => {
                    let is_prepared = num_remote == 0 && c.module.comm_prepare.is_some();
                    let readiness = if is_prepared { Readiness::Unprepared } else { Readiness::Ready };
                    offers.push(Offer {
                        priority: offer.priority,
                        served: Served { component: i, module: offer.module },
                        table,
                        plans: plans.unwrap_or_default(),
                        readiness: readiness.into(),
                    });
                }
                _ => {
                    let why = if status.is_err() { status.name() } else { "its table cannot be read" };
                    instance
                        .logger()
                        .warn("coll", &format!("{}: does not serve communicator {name}: {why}", c.name));
                }
            }
        }
        Self::of_offers(instance, offers, components, oversubscribed, name)
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
    use oxmpi_coll::{CollArgs, CollFn};
    use std::ffi::c_void;

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
