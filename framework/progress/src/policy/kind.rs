//! The kinds of policies: makes one of a kind, and says which locks it can do with and whether its turns are side by side.

use super::Policy;
use super::one_lock::OneLock;
use super::own_first::OwnFirst;
use super::rotation::{Rotation, Start};
use super::serial::Serial;

/// The policies that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// [`OwnFirst`].
    #[default]
    OwnFirst,
    /// [`Serial`].
    Serial,
    /// [`OneLock`].
    OneLock,
    /// [`Rotation`] that begins with the thread's own context.
    DedicatedThenAll,
    /// [`Rotation`] that begins with the next context.
    RoundRobin,
}

impl Kind {
    /// Makes a policy of that kind.
    pub(crate) fn policy(self) -> Box<dyn Policy> {
        match self {
            Kind::OwnFirst => Box::new(OwnFirst),
            Kind::Serial => Box::new(Serial::new()),
            Kind::OneLock => Box::new(OneLock::new()),
            Kind::DedicatedThenAll => Box::new(Rotation::new(Start::Own)),
            Kind::RoundRobin => Box::new(Rotation::new(Start::Next)),
        }
    }

    /// Whether the policy deals with locks of contexts that have owners (`oxmpi_mca::biased`). Where it does not, contexts
    /// have to have locks without: an attempt at the lock of an owner that is elsewhere fails for ever.
    pub fn takes_from_owners(self) -> bool {
        matches!(self, Kind::OwnFirst | Kind::Serial)
    }

    /// Whether one thread at a time makes turns.
    pub fn is_serial(self) -> bool {
        matches!(self, Kind::Serial | Kind::OneLock)
    }

    /// Whether threads make turns beside each other whatever the number of contexts.
    pub fn is_always_concurrent(self) -> bool {
        matches!(self, Kind::DedicatedThenAll | Kind::RoundRobin)
    }
}

/// A policy, and how many threads may make turns by it at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rule {
    pub kind: Kind,
    /// 0: any number.
    pub most_threads: u32,
}
