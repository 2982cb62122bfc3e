//! The suite every point-to-point layer (PML) must pass, and the job it runs in.
//!
//! The suite plays host to several ranks *in one process*: it opens the component once for each of them, gives it a transport
//! that lies in memory, and drives it through the `repr(C)` table alone. So it runs on linked-in and loaded components
//! alike, in whatever language, and needs no launcher, no device and no other component.
//!
//! In a component's `tests/conformance.rs`:
//!
//! ```ignore
//! use oxmpi_pml_conformance::{Setup, suite};
//! suite!(Setup::new(pml_mine::descriptor()));
//! ```
//!
//! [`run_all`] does the same for a component that was loaded. The environment variable `OXMPI_CHECK` names one check to run
//! alone.
//!
//! **A check** is a function in a file of `checks/` that registers itself ([`check!`]); crates outside may register more. It is
//! run over every [`Wire`].
//!
//! **Always checked, in every check:** verbs of the transport are called with the lock of their CRI held once there may be
//! several threads; one-sided verbs come with handles of memory that is registered; nothing is registered at
//! the end; no peer is reported broken unless the check expects it; nobody calls `fatal`.

mod checks;
mod host;
mod job;
mod net;
mod open;
mod setup;
mod transport;

pub use job::{Caller, Comm, Job};
pub use linkme;
pub use oxmpi_testing::{CommSpec, Req, data};
pub use setup::{Setup, Wire};

/// A check, and the job it wants.
pub struct Check {
    pub name: &'static str,
    pub ranks: u32,
    /// The host says MPI_THREAD_MULTIPLE, and there are several communication resources.
    pub threads: bool,
    pub run: fn(&Job),
}

/// Registers a check: `check!(name, ranks: 2, |job| { … });`. With `threads,` in front of the closure the host says
/// MPI_THREAD_MULTIPLE.
#[macro_export]
macro_rules! check {
    ($name:ident, ranks: $ranks:expr, threads, $run:expr) => { $crate::check!(@make $name, $ranks, true, $run); };
    ($name:ident, ranks: $ranks:expr, $run:expr) => { $crate::check!(@make $name, $ranks, false, $run); };
    (@make $name:ident, $ranks:expr, $threads:expr, $run:expr) => {
        const _: () = {
            #[$crate::linkme::distributed_slice($crate::PML_CHECKS)]
            #[linkme(crate = $crate::linkme)]
            static CHECK: $crate::Check =
                $crate::Check { name: stringify!($name), ranks: $ranks, threads: $threads, run: $run };
        };
    };
}

/// Makes a `#[test]` that runs every check with the given [`Setup`].
#[macro_export]
macro_rules! suite {
    ($setup:expr) => {
        #[test]
        fn conformance() {
            $crate::run_all(&$setup);
        }
    };
}

/// Every check; the linker fills it.
#[linkme::distributed_slice]
pub static PML_CHECKS: [Check];

/// Every check, by name.
pub fn checks() -> Vec<&'static Check> {
    oxmpi_testing::checks::sorted(&*PML_CHECKS, |check| check.name)
}

/// Runs every check, one after the other, over every wire, naming each.
pub fn run_all(setup: &Setup) {
    for check in oxmpi_testing::checks::chosen(&*PML_CHECKS, |check| check.name) {
        for wire in Wire::ALL {
            eprintln!("{} ({wire:?})", check.name);
            run(setup, check, wire);
        }
    }
}

/// Runs one check over one wire.
pub fn run(setup: &Setup, check: &Check, wire: Wire) {
    let job = Job::new(setup, wire, check.ranks, check.threads);
    (check.run)(&job);
    job.end();
}
