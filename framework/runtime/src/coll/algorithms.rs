//! Counts collectives, and plans of collectives, by component and algorithm.
//!
//! A component lists the names of its algorithms in its module (`CollModule::algorithms`) and tells the number of the one that a collective goes by
//! (`CollServices::took`). The counters are words of the instance that all threads raise, so they are kept only while somebody asks for counting
//! (`mpi_spc_attach`, `mpi_spc_dump_enabled`, a performance variable that is started); otherwise a collective pays a look at that number. They are
//! made when they are first needed.

use crate::objects::{AlgorithmCounter, Communicator, Instance};
use oxmpi_loading::accept::accepted::CollComponent;
use oxmpi_mca::{Status, StrRef};
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter for each algorithm of a component, at its number.
fn counters_of(component: &CollComponent) -> Vec<AlgorithmCounter> {
    // SAFETY: a static list of the component, which is open.
    let names = unsafe { component.module.algorithms.get() };
    let counter = |name: &StrRef| {
        // SAFETY: as above.
        let name = unsafe { name.get() }.unwrap_or("unnamed");
        AlgorithmCounter { name: format!("coll_{}_{name}", component.name), taken: AtomicU64::new(0) }
    };
    names.iter().map(counter).collect()
}

impl Instance {
    /// The counters of each component, in the order of components; none before these are open.
    fn algorithm_counters(&self) -> &[Vec<AlgorithmCounter>] {
        let components = self.coll_components();
        if components.is_empty() {
            return &[];
        }
        self.counting_state().algorithms.get_or_init(|| components.iter().map(counters_of).collect())
    }

    /// How often each algorithm was taken while counting was asked for: `coll_`, component, operation and algorithm, with the number. Those of components that are
    /// open, in an order that stays.
    pub fn algorithms_taken(&self) -> impl Iterator<Item = (&str, u64)> {
        let all = self.algorithm_counters().iter().flatten();
        all.map(|counter| (counter.name.as_str(), counter.taken.load(Ordering::Relaxed)))
    }
}

impl Communicator {
    /// Counts a collective of this communicator that goes by an algorithm of a component, if counting is asked for.
    #[inline]
    pub(crate) fn note_algorithm(&self, component: StrRef, algorithm: u32) -> Status {
        if !self.instance().counting() {
            return Status::OK;
        }
        // SAFETY: the component's text is readable during the call.
        self.count_algorithm(unsafe { component.get() }, algorithm)
    }

    #[cold]
    fn count_algorithm(&self, component: Option<&str>, algorithm: u32) -> Status {
        let instance = self.instance();
        let is_it = |c: &CollComponent| component == Some(c.name);
        let counters = instance.coll_components().iter().position(is_it);
        let counters = counters.and_then(|at| instance.algorithm_counters().get(at));
        match counters.and_then(|all| all.get(algorithm as usize)) {
            Some(counter) => {
                counter.taken.fetch_add(1, Ordering::Relaxed);
                Status::OK
            }
            None => Status::BAD_PARAM,
        }
    }
}
