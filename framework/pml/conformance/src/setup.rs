//! The setup of a test: the component, the transports it runs over, and the patience.

use core::time::Duration;
use oxmpi_mca::Descriptor;

/// A kind of transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Messages only.
    Messages,
    /// The same with room for two messages of each source.
    Narrow,
    /// `get` over registered memory, in pieces that complete later.
    Gets,
    /// `put` and `flush` over registered memory, likewise.
    Puts,
    /// `get` of memory that needs no registration, done when the call returns.
    Reads,
}

impl Wire {
    pub const ALL: [Wire; 5] = [Wire::Messages, Wire::Narrow, Wire::Gets, Wire::Puts, Wire::Reads];

    /// Bytes of a handle of registered memory; 0: memory needs no registration.
    pub(crate) fn handle_size(self) -> u32 {
        if matches!(self, Wire::Gets | Wire::Puts) { 24 } else { 0 }
    }
}

/// A component and the jobs it is tested in.
#[derive(Clone, Debug)]
pub struct Setup {
    pub(crate) descriptor: *const Descriptor,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) patience: Duration,
}

impl Setup {
    /// Every parameter at its default.
    pub fn new(descriptor: *const Descriptor) -> Setup {
        Setup { descriptor, params: Vec::new(), patience: Duration::from_secs(120) }
    }

    /// Sets a parameter, named without framework and component.
    pub fn param(mut self, name: &str, value: &str) -> Setup {
        self.params.push((name.into(), value.into()));
        self
    }

    /// How long a request may take before a check gives up.
    pub fn patience(mut self, patience: Duration) -> Setup {
        self.patience = patience;
        self
    }
}
