//! Offers of a communicator's components, laid over one another: they say who serves which collective.
//!
//! From lowest to highest priority each offer overwrites the slots of those before it. A component that has something to prepare
//! (`CollModule::comm_prepare`) is not called before that: a function of the host's stands in its slots ([`CollStack::decide`] tells who is meant),
//! prepares it in all ranks, and has the offers laid anew by what came of it; before the communicator has had some collectives it calls the next
//! component instead. So a collective pays nothing for this but the load of the layers' address.
//!
//! Layers that were replaced are kept, since a call that began before may still read them; there are as many as components were prepared.

use super::slot::{NAMES, SLOTS};
use crate::objects::{CollStack, Instance, Layer, Layers, Offer, Readiness};
use oxmpi_coll::{CollArgs, CollComm, CollFn, CollTable};
use oxmpi_loading::accept::accepted::CollComponent;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};

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

/// Stands in the stack for a component of which the ranks could not agree; what is passed as its module is the error.
extern "C" fn undecided(error: *mut c_void, _: *const CollComm, _: *const CollArgs) -> Status {
    Status(error.addr() as u32 as i32)
}

/// A layer in which no component serves any collective.
const NOBODY: Layer = [(not_supported as CollFn, null_mut()); SLOTS];

impl Layers {
    /// Layers in which no component serves any collective.
    pub const NOBODY: Layers = Layers { blocking: NOBODY, plans: NOBODY };
}

/// The component's function and module of each slot; of a component that is to be prepared `preparer`, with the slot's number.
fn lay(offers: &[Offer], preparer: CollFn) -> Layers {
    let mut layers = Layers::NOBODY;
    for offer in offers {
        let readiness = *offer.readiness.lock();
        if readiness == Readiness::Refused {
            continue;
        }
        let module = offer.served.module;
        for (i, f) in slots(&offer.table).into_iter().enumerate() {
            let Some(f) = f else { continue };
            layers.blocking[i] = match readiness {
                Readiness::Unprepared | Readiness::Preparing => (preparer, without_provenance_mut(i)),
                Readiness::Undecided(error) => (undecided, without_provenance_mut(error.0 as u32 as usize)),
                Readiness::Ready | Readiness::Refused => (f, module),
            };
        }
        for (i, f) in slots(&offer.plans).into_iter().enumerate() {
            if let Some(f) = f {
                layers.plans[i] = (f, module);
            }
        }
    }
    layers
}

impl CollStack {
    /// Makes the stack from the components' offers. Modules of components that can serve nothing in the end are given back.
    pub(super) fn of_offers(
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
        let mut tell = |what: &str, table: fn(&Offer) -> &CollTable| {
            for (slot, collective) in NAMES.iter().enumerate() {
                let mut by = "nobody";
                for (at, offer) in offers.iter().enumerate().rev() {
                    if slots(table(offer))[slot].is_none() {
                        continue;
                    }
                    used[at] = true;
                    if by == "nobody" {
                        by = components[offer.served.component].name;
                    }
                    // A component that may be taken out has those below it in reserve.
                    if *offer.readiness.lock() == Readiness::Ready {
                        break;
                    }
                }
                instance.logger().debug("coll", &format!("communicator {name}: {what}{collective} by {by}"));
            }
        };
        tell("", |offer| &offer.table);
        tell("plan of ", |offer| &offer.plans);
        let mut kept = Vec::new();
        for (offer, used) in offers.into_iter().zip(used) {
            if used {
                kept.push(offer);
            } else {
                let c = &components[offer.served.component].module;
                (c.comm_free)(c.state, offer.served.module);
            }
        }
        CollStack::with(instance, kept, components, oversubscribed)
    }

    /// The layers that serve now.
    #[inline]
    pub(super) fn layers(&self) -> &Layers {
        // SAFETY: an entry of `kept`, boxed, which goes with the stack.
        unsafe { &*self.layers.load(Ordering::Acquire) }
    }

    /// The component that a collective is to be prepared for: number of its offer. `None`: whoever serves it is ready.
    pub(super) fn decide(&self, slot: usize) -> Option<usize> {
        let serves = |offer: &&Offer| {
            *offer.readiness.lock() != Readiness::Refused && slots(&offer.table)[slot].is_some()
        };
        let (at, offer) = self.offers.iter().enumerate().rev().find(|(_, offer)| serves(offer))?;
        matches!(*offer.readiness.lock(), Readiness::Unprepared | Readiness::Preparing).then_some(at)
    }

    /// The one that serves a collective while the one that is meant to is not prepared: the next one that is ready, for the first calls of the communicator
    /// (`coll_base_prepare_after`). `None`: it is to be prepared now.
    pub(super) fn meanwhile(&self, slot: usize, prepare_after: u32) -> Option<(CollFn, *mut c_void)> {
        let early = self.early.load(Ordering::Relaxed);
        if early >= prepare_after {
            return None;
        }
        let is_ready = |offer: &&Offer| *offer.readiness.lock() == Readiness::Ready;
        let mut others = self.offers.iter().rev().filter(is_ready);
        let served = others.find_map(|offer| Some((slots(&offer.table)[slot]?, offer.served.module)))?;
        self.early.store(early + 1, Ordering::Relaxed);
        Some(served)
    }

    /// Takes the preparation of an offer; false: another thread has it.
    pub(super) fn begin_preparing(&self, at: usize) -> bool {
        let mut readiness = self.offers[at].readiness.lock();
        let is_free = *readiness == Readiness::Unprepared;
        if is_free {
            *readiness = Readiness::Preparing;
        }
        is_free
    }

    /// Lays the offers anew with what came of the preparation of one.
    pub(super) fn end_preparing(&self, at: usize, outcome: Readiness, preparer: CollFn) {
        *self.offers[at].readiness.lock() = outcome;
        let mut layers = Box::new(lay(&self.offers, preparer));
        let now = &raw mut *layers;
        self.kept.lock().push(layers);
        // SYNC POINT with `layers`.
        self.layers.store(now, Ordering::Release);
    }

    /// The name of a component that is served, its priority here, its module and its functions.
    pub(super) fn offered(&self, at: usize) -> (&CollComponent, i32, *mut c_void) {
        let offer = &self.offers[at];
        // SAFETY: components live as long as the instance, which the communicator keeps alive.
        let components = unsafe { &*self.components };
        (&components[offer.served.component], offer.priority, offer.served.module)
    }

    /// Gives the components' modules back; no collective is called afterwards.
    pub fn free(&self) {
        for at in 0..self.offers.len() {
            let (component, _, module) = self.offered(at);
            (component.module.comm_free)(component.module.state, module);
        }
    }

    /// A stack of offers, of which each serves something.
    pub(super) fn with(
        instance: &Instance,
        offers: Vec<Offer>,
        components: &[CollComponent],
        oversubscribed: u32,
    ) -> CollStack {
        let mut layers = Box::new(lay(&offers, instance.coll_preparer()));
        CollStack {
            layers: (&raw mut *layers).into(),
            kept: vec![layers].into(),
            offers,
            early: AtomicU32::new(0),
            numbers: Default::default(),
            components,
            services: instance.coll_services(),
            oversubscribed,
            parts: Default::default(),
        }
    }
}
