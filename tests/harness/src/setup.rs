//! The setup of a test: the component, and the patience.

use core::time::Duration;
use oxmpi_mca::Descriptor;

/// A component and the jobs it is tested in.
#[derive(Clone, Debug)]
pub struct Setup {
    pub(crate) descriptor: *const Descriptor,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) patience: Duration,
    pub(crate) whole: bool,
}

// SAFETY: a descriptor is an immutable static of a component that is never unloaded.
unsafe impl Send for Setup {}
// SAFETY: as above.
unsafe impl Sync for Setup {}

impl Setup {
    /// Every parameter at its default.
    pub fn new(descriptor: *const Descriptor) -> Setup {
        Setup { descriptor, params: Vec::new(), patience: Duration::from_secs(240), whole: false }
    }

    /// Sets a parameter, by its full name.
    pub fn param(mut self, name: &str, value: &str) -> Setup {
        self.params.push((name.into(), value.into()));
        self
    }

    /// Verbs that a component may leave out are there: it is a failure if one is not.
    pub fn whole(mut self) -> Setup {
        self.whole = true;
        self
    }

    /// How long a job may take.
    pub fn patience(mut self, patience: Duration) -> Setup {
        self.patience = patience;
        self
    }
}
