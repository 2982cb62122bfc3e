//! The setup of a test: the component, and how much of it is tested.

use core::time::Duration;
use oxmpi_mca::Descriptor;

/// Whom a BTL should reach among the ranks of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Itself,
    Others,
    Everyone,
}

impl Reach {
    pub fn covers(self, from: u32, to: u32) -> bool {
        match self {
            Reach::Itself => from == to,
            Reach::Others => from != to,
            Reach::Everyone => true,
        }
    }
}

/// A component and the job it is tested in.
#[derive(Clone, Debug)]
pub struct Setup {
    pub(crate) descriptor: *const Descriptor,
    pub(crate) reach: Reach,
    pub(crate) ranks: u32,
    pub(crate) cris: u32,
    pub(crate) threaded: bool,
    pub(crate) module: usize,
    pub(crate) patience: Duration,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) connects: bool,
    pub(crate) grows: bool,
}

impl Setup {
    /// Three ranks, two communication resources, every parameter at its default.
    pub fn new(descriptor: *const Descriptor) -> Setup {
        Setup {
            descriptor,
            reach: Reach::Others,
            ranks: 3,
            cris: 2,
            threaded: false,
            module: 0,
            patience: Duration::from_secs(20),
            params: Vec::new(),
            connects: false,
            grows: false,
        }
    }

    pub fn reach(mut self, reach: Reach) -> Setup {
        self.reach = reach;
        self
    }

    pub fn ranks(mut self, ranks: u32) -> Setup {
        self.ranks = ranks;
        self
    }

    /// Communication resources the host offers; a module makes as many contexts, or fewer.
    pub fn cris(mut self, cris: u32) -> Setup {
        self.cris = cris;
        self
    }

    /// Whether the host says MPI_THREAD_MULTIPLE (checks that use threads say so themselves).
    pub fn threaded(mut self, threaded: bool) -> Setup {
        self.threaded = threaded;
        self
    }

    /// Which of the component's modules is driven.
    pub fn module(mut self, module: usize) -> Setup {
        self.module = module;
        self
    }

    /// How long nothing may happen before a check gives up waiting.
    pub fn patience(mut self, patience: Duration) -> Setup {
        self.patience = patience;
        self
    }

    /// The transport makes a connection when two processes first talk, and says NO_RESOURCE until both have made progress: every
    /// check begins with connections that are there.
    pub fn connects(mut self) -> Setup {
        self.connects = true;
        self
    }

    /// The transport reaches processes of further jobs in segments that the host tells (`HostServices::segment`).
    pub fn grows(mut self) -> Setup {
        self.grows = true;
        self
    }

    /// Sets a parameter, named without framework and component.
    pub fn param(mut self, name: &str, value: &str) -> Setup {
        self.params.push((name.into(), value.into()));
        self
    }
}
